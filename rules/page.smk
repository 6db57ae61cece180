"""INPUT   {results}/questions.csv, summary.csv, audit.csv, figures; the cells' stored roll-outs, decisions and gold; replays where they exist
OUTPUT  {results}/contrasts.csv, tables/contrasts.md   every method against base and majority: intervals, tests, detectable effects
        {results}/intervals.csv                        every method's own score with its intervals
        {results}/page/index.html                      the study as a static page, opened from disk
"""

REPLAYS = [path for path in (f"{JOBS.folder(cell)}/replay/manifest.json" for cell in PLAN.cells) if Path(path).exists()]


localrules:
    contrasts,
    page,


rule contrasts:
    input:
        questions=f"{RESULTS}/questions.csv",
    output:
        contrasts=report(f"{RESULTS}/contrasts.csv", category="Tables", caption="../docs/captions/contrasts.rst"),
        table=f"{RESULTS}/tables/contrasts.md",
        intervals=f"{RESULTS}/intervals.csv",
    log:
        f"{RESULTS}/logs/contrasts.log",
    params:
        spec=JOBS.aggregate(),
    shell:
        "python -m ttrlab.stages.contrasts --spec {params.spec:q} --questions {input.questions:q} --contrasts {output.contrasts:q}"
        " --table {output.table:q} --intervals {output.intervals:q} 2> {log:q}"


rule page:
    input:
        summary=f"{RESULTS}/summary.csv",
        questions=f"{RESULTS}/questions.csv",
        audit=f"{RESULTS}/audit.csv",
        contrasts=f"{RESULTS}/contrasts.csv",
        intervals=f"{RESULTS}/intervals.csv",
        figures=expand(f"{RESULTS}/figures/{{figure}}.svg", figure=FIGURES),
        replays=REPLAYS,
    output:
        index=f"{RESULTS}/page/index.html",
    log:
        f"{RESULTS}/logs/page.log",
    params:
        spec=JOBS.aggregate(),
        plan=FROZEN,
        results=RESULTS,
        out=f"{RESULTS}/page",
    shell:
        "python -m ttrlab.stages.page --spec {params.spec:q} --plan {params.plan:q} --results {params.results:q}"
        " --out {params.out:q} 2> {log:q}"
