"""INPUT   {cell}/evaluate/rollouts.jsonl.gz   endpoint roll-outs; the questions; the judge of a method (deployment.judges); gold to grade
OUTPUT  {cell}/deploy/{judge}/judged.jsonl.gz   the roll-outs with a judgement of every eligible one
        {cell}/deploy/{judge}/selections.csv    what each selector chooses, question by question, and its cost
        {results}/deployment.csv, judges.csv    selectors beside each other; the judges on identical pools, with paired intervals
"""

DEPLOYMENT = [f"{RESULTS}/deployment.csv", f"{RESULTS}/judges.csv"] if JUDGES.selected() else []
DEPLOYED = f"{CELLS}/deploy/{{judge}}"


localrules:
    select,
    deployment,


wildcard_constraints:
    judge="|".join(PLAN.catalogue.methods),


rule deploy:
    input:
        rollouts=f"{CELLS}/evaluate/rollouts.jsonl.gz",
        questions=f"{RESULTS}/data/{{benchmark}}/questions.jsonl",
        judge=of_cell(JUDGES.files, names=["judge"]),
        disjoint=ancient(of_cell(JUDGES.checks)),
    output:
        judged=f"{DEPLOYED}/judged.jsonl.gz",
    log:
        f"{CELLS}/logs/deploy.{{judge}}.log",
    resources:
        **needs("evaluate", of_cell(JUDGES.deployed_name, names=["judge"])),
    params:
        spec=of_cell(JUDGES.deploy, names=["judge"]),
        judge=of_cell(JUDGES.arguments, names=["judge"]),
        out=DEPLOYED,
    shell:
        "python -m ttrlab.stages.deploy --spec {params.spec:q} --rollouts {input.rollouts:q} --questions {input.questions:q}"
        " --out {params.out:q} {params.judge:q} 2> {log:q}"


rule select:
    input:
        judged=f"{DEPLOYED}/judged.jsonl.gz",
        questions=f"{RESULTS}/data/{{benchmark}}/questions.jsonl",
        gold=f"{RESULTS}/data/{{benchmark}}/gold.jsonl",
    output:
        selections=f"{DEPLOYED}/selections.csv",
        counts=f"{DEPLOYED}/counts.csv",
    log:
        f"{CELLS}/logs/select.{{judge}}.log",
    params:
        spec=of_cell(JUDGES.select, names=["judge"]),
        judged=DEPLOYED,
    shell:
        "python -m ttrlab.stages.select --spec {params.spec:q} --judged {params.judged:q} --questions {input.questions:q}"
        " --gold {input.gold:q} --selections {output.selections:q} --counts {output.counts:q} 2> {log:q}"


rule deployment:
    input:
        selections=[f"{folder}/selections.csv" for folder in JUDGES.selected()],
        counts=[f"{folder}/counts.csv" for folder in JUDGES.selected()],
    output:
        deployment=f"{RESULTS}/deployment.csv",
        judges=f"{RESULTS}/judges.csv",
        tables=tables_of("deployment", "judges"),
    log:
        f"{RESULTS}/logs/deployment.log",
    params:
        out=RESULTS,
    shell:
        "python -m ttrlab.stages.deployment --selections {input.selections:q} --counts {input.counts:q} --out {params.out:q} 2> {log:q}"
