"""INPUT   the study and config/cost.yaml; for the actual cost, the cells' cost files, written by their jobs
OUTPUT  {results}/price.txt, price.csv         what the study would cost: `snakemake price`, no part of `all`
        {results}/tables/cost.csv, cost.md     what it did cost, by cell and phase
"""


localrules:
    price,
    cost,


rule price:
    output:
        text=f"{RESULTS}/price.txt",
        table=f"{RESULTS}/price.csv",
    log:
        f"{RESULTS}/logs/price.log",
    params:
        plan=FROZEN,
        cost=f"{workflow.basedir}/config/cost.yaml",
    shell:
        "python -m ttrlab.stages.price --plan {params.plan:q} --cost {params.cost:q} --text {output.text:q} --out {output.table:q} 2> {log:q}"


rule cost:
    input:
        scores=SCORES,
        audits=AUDITS,
    output:
        table=report(f"{RESULTS}/tables/cost.csv", category="Tables", caption="../docs/captions/cost.rst"),
        readable=f"{RESULTS}/tables/cost.md",
    log:
        f"{RESULTS}/logs/cost.log",
    params:
        spec=JOBS.aggregate(),
        plan=FROZEN,
        results=RESULTS,
    shell:
        "python -m ttrlab.stages.cost --spec {params.spec:q} --plan {params.plan:q} --results {params.results:q}"
        " --table {output.table:q} --readable {output.readable:q} 2> {log:q}"
