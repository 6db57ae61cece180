"""INPUT   the scores and audits of all cells
OUTPUT  {results}/summary.csv     every cell: model, benchmark, method, seed, metric, value, n, ...
        {results}/tables, figures
        {results}/mlflow.json     what results/mlflow.db holds of this study (one database for all studies, `make ui`)
"""

SCORES = [f"{JOBS.folder(cell)}/scores.csv" for cell in PLAN.cells]
QUESTIONS = [f"{JOBS.folder(cell)}/questions.csv" for cell in PLAN.cells]
ADAPTED = [path for cell in PLAN.cells for path in JOBS.adapted(cell)]
AUDITS = [path.replace("adapt/manifest.json", "audit.csv") for path in ADAPTED]
FIGURES = ["endpoints", "learning_curves"] + (["reward_audit"] if AUDITS else [])
REPORT = [
    f"{RESULTS}/summary.csv",
    f"{RESULTS}/mlflow.json",
    f"{RESULTS}/page/index.html",
]


localrules:
    aggregate,
    track,


rule aggregate:
    input:
        scores=SCORES,
        questions=QUESTIONS,
        audits=AUDITS,
        adapted=ADAPTED,
    output:
        summary=report(f"{RESULTS}/summary.csv", category="Tables", caption="../docs/captions/summary.rst"),
        questions=f"{RESULTS}/questions.csv",
        steps=f"{RESULTS}/steps.csv",
        audit=f"{RESULTS}/audit.csv",
        endpoints=report(f"{RESULTS}/tables/endpoints.csv", category="Tables", caption="../docs/captions/endpoints.rst"),
        main=f"{RESULTS}/tables/main.md",
        svg=expand(f"{RESULTS}/figures/{{figure}}.svg", figure=FIGURES),
        png=report(expand(f"{RESULTS}/figures/{{figure}}.png", figure=FIGURES), category="Figures", caption="../docs/captions/figures.rst"),
    log:
        f"{RESULTS}/logs/aggregate.log",
    params:
        spec=JOBS.aggregate(),
        plan=FROZEN,
        cells=f"{RESULTS}/cells",
        out=RESULTS,
    shell:
        "python -m ttrlab.stages.aggregate --spec {params.spec:q} --plan {params.plan:q} --cells {params.cells:q}"
        " --out {params.out:q} 2> {log:q}"


rule track:
    input:
        scores=SCORES,
        audits=AUDITS,
        adapted=ADAPTED,
    output:
        receipt=f"{RESULTS}/mlflow.json",
    log:
        f"{RESULTS}/logs/track.log",
    params:
        spec=JOBS.aggregate(),
        plan=FROZEN,
        cells=f"{RESULTS}/cells",
        database="results/mlflow.db",
    shell:
        "python -m ttrlab.stages.track --spec {params.spec:q} --plan {params.plan:q} --cells {params.cells:q}"
        " --database {params.database:q} --receipt {output.receipt:q} 2> {log:q}"
