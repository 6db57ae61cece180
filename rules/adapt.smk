"""INPUT   {results}/data/{benchmark}/questions.jsonl, the model, the frozen record of a trained judge; gold for the oracle alone
OUTPUT  {cell}/adapt/manifest.json   written last; beside it steps, roll-outs, decisions and checkpoints

A killed adaptation goes on at its last step: what lies beside the manifest is not declared as output, so it outlives the job.
The resource `hardware` says how OpenRLHF uses the GPUs (`nodes=2,gpus=8,micro_batch=4`); it is a profile's, and nothing to the torch engine.
"""


rule adapt:
    input:
        questions=f"{RESULTS}/data/{{benchmark}}/questions.jsonl",
        model=of_name(JOBS.weight_files, "model"),
        judge=of_cell(JUDGES.files),
        continued=of_cell(JOBS.continued),
        disjoint=ancient(of_cell(JUDGES.checks)),
    output:
        manifest=f"{CELLS}/adapt/manifest.json",
    log:
        f"{CELLS}/logs/adapt.log",
    wildcard_constraints:
        method="|".join(BLIND_METHODS) or "(?!)",
    resources:
        **needs("adapt", of_name(str, "model")),
    params:
        spec=of_cell(JOBS.spec, "adapt"),
        model=of_name(JOBS.weights, "model"),
        judge=of_cell(JUDGES.arguments),
        continuing=of_cell(JOBS.continuing),
        out=f"{CELLS}/adapt",
    shell:
        "python -m ttrlab.stages.adapt --spec {params.spec:q} --questions {input.questions:q}"
        " --model {params.model:q} --out {params.out:q} {params.judge:q} {params.continuing:q}"
        " --hardware={resources.hardware:q} 2> {log:q}"


rule adapt_with_gold:
    input:
        questions=f"{RESULTS}/data/{{benchmark}}/questions.jsonl",
        gold=f"{RESULTS}/data/{{benchmark}}/gold.jsonl",
        model=of_name(JOBS.weight_files, "model"),
    output:
        manifest=f"{CELLS}/adapt/manifest.json",
    log:
        f"{CELLS}/logs/adapt.log",
    wildcard_constraints:
        method="|".join(GOLD_METHODS) or "(?!)",
    resources:
        **needs("adapt", of_name(str, "model")),
    params:
        spec=of_cell(JOBS.spec, "adapt"),
        model=of_name(JOBS.weights, "model"),
        out=f"{CELLS}/adapt",
    shell:
        "python -m ttrlab.stages.adapt --spec {params.spec:q} --questions {input.questions:q}"
        " --gold {input.gold:q} --model {params.model:q} --out {params.out:q}"
        " --hardware={resources.hardware:q} 2> {log:q}"
