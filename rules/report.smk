"""INPUT   the scores and audits of all cells
OUTPUT  {results}/summary.csv     every cell: model, benchmark, method, seed, metric, value, n, ...
        {cell}/offline            of base: regimes, recovery region, labels against votes, before any training
        {results}/evidence        figures of the evidence, each that has something to show
        {results}/tables, figures {csv,md,tex} and {svg,png}; tables/paper: every number of the study's papers beside ours, with a verdict
        {results}/contrasts.csv   every method against base and majority: intervals, tests, detectable effects
        {results}/intervals.csv   every method's own score with its intervals
        {results}/tables/overall, variance {csv,md,tex}: IQM and probability of improvement; variance by question, seed and decoding
        {results}/efficiency.csv  steps saved to the vote's plateau
        {results}/mlflow.json     what results/mlflow.db holds of this study (one database for all studies, `make ui`)
"""

SCORES = [f"{JOBS.folder(cell)}/scores.csv" for cell in PLAN.cells]
QUESTIONS = [f"{JOBS.folder(cell)}/questions.csv" for cell in PLAN.cells]
ADAPTED = [path for cell in PLAN.cells for path in JOBS.adapted(cell)]
AUDITS = [path.replace("adapt/manifest.json", "audit.csv") for path in ADAPTED]
CURVES = [f"{JOBS.folder(cell)}/curves.csv" for cell in PLAN.cells]
OFFLINE = [path for cell in PLAN.cells for path in JOBS.offline(cell)]
PAPERS = [f"{CATALOGUE}/paper/{paper}.csv" for paper in PLAN.study.evidence.papers]
CONTINUATIONS = [f"{JOBS.folder(cell)}/adapt/manifest.json" for cell in PLAN.cells if JOBS.continued(cell)]
FORMATS = ["csv", "md", "tex"]
FIGURES = ["endpoints", "learning_curves"] + (["reward_audit"] if AUDITS else [])
TABLES = ["main", "endpoints", "contrasts", "families", "overall", "variance"]
TABLES += (["paper"] if PAPERS else []) + (["budgets"] if CONTINUATIONS else [])
REPORT = [
    f"{RESULTS}/summary.csv",
    f"{RESULTS}/mlflow.json",
    f"{RESULTS}/tables/cost.csv",
    f"{RESULTS}/page/index.html",
] + expand(f"{RESULTS}/tables/{{table}}.{{format}}", table=TABLES, format=FORMATS)


def tables_of(*names):
    """The files of tables, each in every format, for Snakemake's report."""
    files = expand(f"{RESULTS}/tables/{{table}}.{{format}}", table=names, format=FORMATS)
    return report(files, category="Tables", caption="../docs/captions/tables.rst")


localrules:
    aggregate,
    track,
    contrasts,
    spread,
    efficiency,
    budgets,
    paper,
    offline,
    figures,


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
        tables=tables_of("endpoints", "main", *(["audit"] if AUDITS else [])),
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
        tables=expand(f"{RESULTS}/tables/{{table}}.md", table=[*TABLES, "cost"]),
        figures=expand(f"{RESULTS}/figures/{{figure}}.png", figure=FIGURES),
        evidence=f"{RESULTS}/evidence",
    output:
        receipt=f"{RESULTS}/mlflow.json",
    log:
        f"{RESULTS}/logs/track.log",
    params:
        spec=JOBS.aggregate(),
        plan=FROZEN,
        results=RESULTS,
        lock=f"{workflow.basedir}/envs/local.lock",
        database="results/mlflow.db",
    shell:
        "python -m ttrlab.stages.track --spec {params.spec:q} --plan {params.plan:q} --results {params.results:q} --lock {params.lock:q}"
        " --database {params.database:q} --receipt {output.receipt:q} 2> {log:q}"


rule contrasts:
    input:
        questions=f"{RESULTS}/questions.csv",
    output:
        contrasts=f"{RESULTS}/contrasts.csv",
        intervals=f"{RESULTS}/intervals.csv",
        tables=tables_of("contrasts", "families"),
    log:
        f"{RESULTS}/logs/contrasts.log",
    params:
        spec=JOBS.evidence(),
        tables=f"{RESULTS}/tables",
    shell:
        "python -m ttrlab.stages.contrasts --spec {params.spec:q} --questions {input.questions:q} --contrasts {output.contrasts:q}"
        " --intervals {output.intervals:q} --tables {params.tables:q} 2> {log:q}"


rule spread:
    input:
        questions=f"{RESULTS}/questions.csv",
    output:
        tables=tables_of("overall", "variance"),
    log:
        f"{RESULTS}/logs/spread.log",
    params:
        spec=JOBS.evidence(),
        tables=f"{RESULTS}/tables",
    shell:
        "python -m ttrlab.stages.spread --spec {params.spec:q} --questions {input.questions:q} --tables {params.tables:q} 2> {log:q}"


rule efficiency:
    input:
        curves=CURVES,
    output:
        table=report(f"{RESULTS}/efficiency.csv", category="Tables", caption="../docs/captions/efficiency.rst"),
    log:
        f"{RESULTS}/logs/efficiency.log",
    params:
        spec=JOBS.evidence(),
        plan=FROZEN,
        cells=f"{RESULTS}/cells",
    shell:
        "python -m ttrlab.stages.efficiency --spec {params.spec:q} --plan {params.plan:q} --cells {params.cells:q}"
        " --table {output.table:q} 2> {log:q}"


rule budgets:
    input:
        continuations=CONTINUATIONS,
        summary=f"{RESULTS}/summary.csv",
    output:
        tables=tables_of("budgets"),
    log:
        f"{RESULTS}/logs/budgets.log",
    params:
        spec=JOBS.aggregate(),
        plan=FROZEN,
        cells=f"{RESULTS}/cells",
        table=f"{RESULTS}/tables/budgets",
    shell:
        "python -m ttrlab.stages.budgets --spec {params.spec:q} --plan {params.plan:q} --cells {params.cells:q} --summary {input.summary:q}"
        " --table {params.table:q} 2> {log:q}"


rule paper:
    input:
        papers=PAPERS,
        questions=f"{RESULTS}/questions.csv",
        audit=f"{RESULTS}/audit.csv",
        summary=f"{RESULTS}/summary.csv",
        efficiency=f"{RESULTS}/efficiency.csv",
        offline=[path for path in OFFLINE if path.endswith("questions.csv")],
    output:
        tables=tables_of("paper"),
    log:
        f"{RESULTS}/logs/paper.log",
    params:
        spec=JOBS.evidence(),
        results=RESULTS,
        fixed=RULES,
        table=f"{RESULTS}/tables/paper",
    shell:
        "python -m ttrlab.stages.paper --spec {params.spec:q} --papers {input.papers:q} --offline {input.offline:q} --results {params.results:q}"
        " --fixed {params.fixed:q} --table {params.table:q} 2> {log:q}"


rule offline:
    input:
        rollouts=f"{CELLS}/evaluate/rollouts.jsonl.gz",
        gold=f"{RESULTS}/data/{{benchmark}}/gold.jsonl",
    output:
        questions=f"{CELLS}/offline/questions.csv",
        votes=f"{CELLS}/offline/votes.csv",
    log:
        f"{CELLS}/logs/offline.log",
    params:
        spec=of_cell(JOBS.spec, "offline"),
    shell:
        "python -m ttrlab.stages.offline --spec {params.spec:q} --rollouts {input.rollouts:q} --gold {input.gold:q}"
        " --questions {output.questions:q} --votes {output.votes:q} 2> {log:q}"


rule figures:
    input:
        offline=OFFLINE,
        questions=f"{RESULTS}/questions.csv",
        steps=f"{RESULTS}/steps.csv",
        contrasts=f"{RESULTS}/contrasts.csv",
        efficiency=f"{RESULTS}/efficiency.csv",
    output:
        folder=report(
            directory(f"{RESULTS}/evidence"), patterns=["{name}.png"], category="Figures", caption="../docs/captions/evidence.rst"
        ),
    log:
        f"{RESULTS}/logs/figures.log",
    params:
        spec=JOBS.aggregate(),
        plan=FROZEN,
        results=RESULTS,
    shell:
        "python -m ttrlab.stages.figures --spec {params.spec:q} --plan {params.plan:q} --results {params.results:q}"
        " --out {output.folder:q} 2> {log:q}"
