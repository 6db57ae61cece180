"""INPUT   {results}/questions.csv, summary.csv, audit.csv, figures; the cells' stored roll-outs, decisions and gold; replays where they exist
OUTPUT  {results}/page/index.html   the study as a static page, opened from disk
"""

REPLAYS = [path for path in (f"{JOBS.folder(cell)}/replay/manifest.json" for cell in PLAN.cells) if Path(path).exists()]


localrules:
    page,


rule page:
    input:
        summary=f"{RESULTS}/summary.csv",
        questions=f"{RESULTS}/questions.csv",
        audit=f"{RESULTS}/audit.csv",
        contrasts=f"{RESULTS}/contrasts.csv",
        intervals=f"{RESULTS}/intervals.csv",
        paper=f"{RESULTS}/tables/paper.csv" if PAPERS else [],
        figures=expand(f"{RESULTS}/figures/{{figure}}.svg", figure=FIGURES),
        evidence=f"{RESULTS}/evidence",
        replays=REPLAYS,
    output:
        index=f"{RESULTS}/page/index.html",
    log:
        f"{RESULTS}/logs/page.log",
    params:
        spec=JOBS.evidence(),
        plan=FROZEN,
        results=RESULTS,
        out=f"{RESULTS}/page",
    shell:
        "python -m ttrlab.stages.page --spec {params.spec:q} --plan {params.plan:q} --results {params.results:q}"
        " --out {params.out:q} 2> {log:q}"
