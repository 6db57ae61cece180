"""INPUT   {cell}/adapt/manifest.json with the stored training roll-outs, the questions, the gold file (joined after the decisions)
OUTPUT  {cell}/replay/summary.json, audit.csv, agreement.csv   every method of the study on this cell's roll-outs
        {cell}/replay/decisions/{method}.jsonl, audit.md, malformed.jsonl, figures

No part of `all`: `snakemake replays` for every adaptation, or for the one cell that --config names.
"""

from ttrlab.replay.spec import cell_spec

REPLAYED = [CELL] if CELL else PLAN.cells


localrules:
    replays,


rule replays:
    input:
        [f"{JOBS.folder(cell)}/replay/manifest.json" for cell in REPLAYED if JOBS.adapted(cell)],


rule replay:
    input:
        adapted=f"{CELLS}/adapt/manifest.json",
        questions=f"{RESULTS}/data/{{benchmark}}/questions.jsonl",
        gold=f"{RESULTS}/data/{{benchmark}}/gold.jsonl",
    output:
        manifest=f"{CELLS}/replay/manifest.json",
        summary=f"{CELLS}/replay/summary.json",
        audit=f"{CELLS}/replay/audit.csv",
        agreement=f"{CELLS}/replay/agreement.csv",
    log:
        f"{CELLS}/logs/replay.log",
    threads: 2
    resources:
        **needs("other"),
    params:
        spec=of_cell(cell_spec, PLAN),
        pool=f"{CELLS}/adapt",
        out=f"{CELLS}/replay",
    shell:
        "python -m ttrlab.stages.replay --spec {params.spec:q} --pool {params.pool:q} --questions {input.questions:q}"
        " --gold {input.gold:q} --out {params.out:q} --jobs {threads} > {log:q} 2>&1"
