"""INPUT   the source's questions and gold, the policy that samples them, the judge's model; of a target its questions alone
OUTPUT  {results}/sources/{source}/disjoint.json              source and targets share no question: checked before anything is sampled
        {results}/sources/{source}/warm_up/manifest.json      label-free updates of the policy before it samples, where asked for
        {results}/sources/{source}/{part}/rollouts.jsonl.gz   roll-outs on the questions to fit and to calibrate on
        {results}/rectifiers/{rectifier}/label/               candidates with source gold and category; a report of counts
        {results}/rectifiers/{rectifier}/train/manifest.json  steps, judgements, checkpoints; a killed training goes on at its last step
        {results}/rectifiers/{rectifier}/frozen/{selection}.json   and the chosen weights, in the folder of that name
"""

from ttrlab.stages.judges import PARTS, JudgeJobs

JUDGES = JudgeJobs(JOBS)
SOURCES = f"{RESULTS}/sources/{{source}}"
RECTIFIERS = f"{RESULTS}/rectifiers/{{rectifier}}"


localrules:
    disjoint,
    label,


wildcard_constraints:
    source="[^/]+",
    rectifier="[^/]+",
    selection="[^/]+",
    part="|".join(PARTS),


rule disjoint:
    input:
        source=of_name(JUDGES.parts, "source"),
        targets=of_name(JUDGES.targets, "source"),
    output:
        report=f"{SOURCES}/disjoint.json",
    log:
        f"{SOURCES}/logs/disjoint.log",
    shell:
        "python -m ttrlab.stages.disjoint --source {input.source:q} --targets {input.targets:q} --report {output.report:q} 2> {log:q}"


rule warm_up:
    input:
        questions=of_name(JUDGES.warm_up_questions, "source"),
        model=of_name(JUDGES.policy_files, "source"),
        disjoint=ancient(f"{SOURCES}/disjoint.json"),
    output:
        manifest=f"{SOURCES}/warm_up/manifest.json",
    log:
        f"{SOURCES}/logs/warm_up.log",
    resources:
        **needs("adapt", of_name(JUDGES.policy_name, "source")),
    params:
        spec=of_name(JUDGES.warm_up, "source"),
        model=of_name(JUDGES.policy, "source"),
        out=f"{SOURCES}/warm_up",
    shell:
        "python -m ttrlab.stages.adapt --spec {params.spec:q} --questions {input.questions:q} --model {params.model:q}"
        " --out {params.out:q} 2> {log:q}"


rule source:
    input:
        questions=of_name(JUDGES.questions, "source", "part"),
        model=of_name(JUDGES.policy_files, "source"),
        warm_up=of_name(JUDGES.warmed_up, "source"),
        disjoint=ancient(f"{SOURCES}/disjoint.json"),
    output:
        rollouts=f"{SOURCES}/{{part}}/rollouts.jsonl.gz",
    log:
        f"{SOURCES}/logs/{{part}}.log",
    resources:
        **needs("evaluate", of_name(JUDGES.policy_name, "source")),
    params:
        spec=of_name(JUDGES.samples, "source", "part"),
        model=of_name(JUDGES.policy, "source"),
        adapted=f"{SOURCES}/warm_up",
    shell:
        "python -m ttrlab.stages.evaluate --spec {params.spec:q} --questions {input.questions:q} --model {params.model:q}"
        " --adapted {params.adapted:q} --rollouts {output.rollouts:q} 2> {log:q}"


rule label:
    input:
        rollouts=of_name(JUDGES.rollouts, "rectifier", "part"),
        questions=of_name(JUDGES.source_questions, "rectifier", "part"),
        gold=of_name(JUDGES.gold, "rectifier", "part"),
        model=of_name(JUDGES.start_files, "rectifier"),
    output:
        candidates=f"{RECTIFIERS}/label/{{part}}.jsonl.gz",
        report=f"{RECTIFIERS}/label/{{part}}.json",
    log:
        f"{RECTIFIERS}/logs/label.{{part}}.log",
    params:
        spec=of_name(JUDGES.label, "rectifier"),
        model=of_name(JUDGES.start, "rectifier"),
    shell:
        "python -m ttrlab.stages.label --spec {params.spec:q} --rollouts {input.rollouts:q} --questions {input.questions:q}"
        " --gold {input.gold:q} --model {params.model:q} --candidates {output.candidates:q} --report {output.report:q} 2> {log:q}"


rule rectify:
    input:
        candidates=f"{RECTIFIERS}/label/fit.jsonl.gz",
        model=of_name(JUDGES.start_files, "rectifier"),
    output:
        manifest=f"{RECTIFIERS}/train/manifest.json",
    log:
        f"{RECTIFIERS}/logs/rectify.log",
    resources:
        **needs("adapt", of_name(JUDGES.start_name, "rectifier")),
    params:
        spec=of_name(JUDGES.train, "rectifier"),
        model=of_name(JUDGES.start, "rectifier"),
        out=f"{RECTIFIERS}/train",
    shell:
        "python -m ttrlab.stages.rectify --spec {params.spec:q} --candidates {input.candidates:q} --model {params.model:q}"
        " --out {params.out:q} 2> {log:q}"


rule freeze:
    input:
        trained=f"{RECTIFIERS}/train/manifest.json",
        candidates=f"{RECTIFIERS}/label/calibration.jsonl.gz",
    output:
        record=f"{RECTIFIERS}/frozen/{{selection}}.json",
    log:
        f"{RECTIFIERS}/logs/freeze.{{selection}}.log",
    resources:
        **needs("evaluate", of_name(JUDGES.start_name, "rectifier")),
    params:
        spec=of_name(JUDGES.freeze, "rectifier", "selection"),
        trained=f"{RECTIFIERS}/train",
        out=f"{RECTIFIERS}/frozen/{{selection}}",
    shell:
        "python -m ttrlab.stages.freeze --spec {params.spec:q} --trained {params.trained:q} --candidates {input.candidates:q}"
        " --out {params.out:q} --record {output.record:q} 2> {log:q}"
