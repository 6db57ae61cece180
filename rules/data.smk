"""INPUT   the catalogue's entries (a hub id, a file, the lab's generator)
OUTPUT  {results}/data/{benchmark}/questions.jsonl   what an adaptation may read
        {results}/data/{benchmark}/gold.jsonl        what it may not
        {results}/models/{model}/model/              lab models, pre-trained here
"""


localrules:
    prepare,


rule prepare:
    output:
        questions=f"{RESULTS}/data/{{benchmark}}/questions.jsonl",
        gold=f"{RESULTS}/data/{{benchmark}}/gold.jsonl",
        manifest=f"{RESULTS}/data/{{benchmark}}/manifest.json",
    log:
        f"{RESULTS}/logs/prepare/{{benchmark}}.log",
    params:
        spec=of_name(JOBS.prepare, "benchmark"),
    shell:
        "python -m ttrlab.stages.prepare --spec {params.spec:q} --questions {output.questions:q}"
        " --gold {output.gold:q} --manifest {output.manifest:q} 2> {log:q}"


rule pretrain:
    output:
        report=f"{RESULTS}/models/{{model}}/regimes.json",
        manifest=f"{RESULTS}/models/{{model}}/manifest.json",
    log:
        f"{RESULTS}/logs/pretrain/{{model}}.log",
    resources:
        **needs("other"),
    params:
        spec=of_name(JOBS.pretrain, "model"),
        model=of_name(JOBS.weights, "model"),
    shell:
        "python -m ttrlab.stages.pretrain --spec {params.spec:q} --out {params.model:q}"
        " --report {output.report:q} --manifest {output.manifest:q} 2> {log:q}"
