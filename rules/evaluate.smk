"""INPUT   {cell}/adapt/manifest.json (or the model itself for base), the questions; gold for score and audit
OUTPUT  {cell}/evaluate/rollouts.jsonl.gz   endpoint roll-outs, the last checkpoint
        {cell}/curve/rollouts.jsonl.gz      roll-outs of earlier checkpoints, for the learning curve
        {cell}/scores.csv, questions.csv    metrics with n and denominators; the same per question
        {cell}/curves.csv                   the main metric of every question (rows) at every checkpoint (columns)
        {cell}/audit.csv                    what the training rewards were worth, joined with gold afterwards
"""


localrules:
    score,
    audit,


rule evaluate:
    input:
        questions=f"{RESULTS}/data/{{benchmark}}/questions.jsonl",
        model=of_name(JOBS.weight_files, "model"),
        adapted=of_cell(JOBS.adapted),
    output:
        rollouts=f"{CELLS}/evaluate/rollouts.jsonl.gz",
        greedy=f"{CELLS}/evaluate/greedy.jsonl.gz",
    log:
        f"{CELLS}/logs/evaluate.log",
    resources:
        **needs("evaluate", of_name(str, "model")),
    params:
        spec=of_cell(JOBS.spec, "evaluate"),
        model=of_name(JOBS.weights, "model"),
        adapted=f"{CELLS}/adapt",
    shell:
        "python -m ttrlab.stages.evaluate --spec {params.spec:q} --questions {input.questions:q} --model {params.model:q}"
        " --adapted {params.adapted:q} --rollouts {output.rollouts:q} --greedy {output.greedy:q} 2> {log:q}"


rule curve:
    input:
        questions=f"{RESULTS}/data/{{benchmark}}/questions.jsonl",
        model=of_name(JOBS.weight_files, "model"),
        adapted=of_cell(JOBS.adapted),
    output:
        rollouts=f"{CELLS}/curve/rollouts.jsonl.gz",
        greedy=f"{CELLS}/curve/greedy.jsonl.gz",
    log:
        f"{CELLS}/logs/curve.log",
    resources:
        **needs("evaluate", of_name(str, "model")),
    params:
        spec=of_cell(JOBS.spec, "curve"),
        model=of_name(JOBS.weights, "model"),
        adapted=f"{CELLS}/adapt",
    shell:
        "python -m ttrlab.stages.evaluate --spec {params.spec:q} --questions {input.questions:q} --model {params.model:q}"
        " --adapted {params.adapted:q} --rollouts {output.rollouts:q} --greedy {output.greedy:q} 2> {log:q}"


rule score:
    input:
        pools=of_cell(JOBS.pools),
        greedy=f"{CELLS}/evaluate/greedy.jsonl.gz",
        gold=f"{RESULTS}/data/{{benchmark}}/gold.jsonl",
    output:
        scores=f"{CELLS}/scores.csv",
        questions=f"{CELLS}/questions.csv",
        curves=f"{CELLS}/curves.csv",
    log:
        f"{CELLS}/logs/score.log",
    params:
        spec=of_cell(JOBS.spec, "score"),
    shell:
        "python -m ttrlab.stages.score --spec {params.spec:q} --gold {input.gold:q} --pools {input.pools:q} --greedy {input.greedy:q}"
        " --scores {output.scores:q} --questions {output.questions:q} --curves {output.curves:q} 2> {log:q}"


rule audit:
    input:
        adapted=f"{CELLS}/adapt/manifest.json",
        gold=f"{RESULTS}/data/{{benchmark}}/gold.jsonl",
    output:
        audit=f"{CELLS}/audit.csv",
    log:
        f"{CELLS}/logs/audit.log",
    params:
        spec=of_cell(JOBS.spec, "audit"),
        adapted=f"{CELLS}/adapt",
    shell:
        "python -m ttrlab.stages.audit --spec {params.spec:q} --gold {input.gold:q} --adapted {params.adapted:q}"
        " --audit {output.audit:q} 2> {log:q}"
