"""Specs and files of the jobs behind the judges of a study: sources, rectifiers, frozen checkpoints."""

from ttrlab.config.judge import JudgeConfig
from ttrlab.config.rectify import DeploySpec, RectifierJobs, SelectSpec, SourceJobs, rectifier_jobs
from ttrlab.config.specs import cell_name, judge_spec
from ttrlab.config.study import Cell
from ttrlab.stages.plan import Jobs

PARTS = ("fit", "calibration")


class JudgeJobs:
    """Lookups by the names of sources, rectifiers and selections, which are the wildcards of their rules.

    {results}/sources/{source}/         disjoint.json, warm_up/, fit/rollouts.jsonl.gz, calibration/rollouts.jsonl.gz
    {results}/rectifiers/{rectifier}/   label/, train/, frozen/{selection}.json beside frozen/{selection}/, its weights
    """

    def __init__(self, jobs: Jobs) -> None:
        self.jobs, self.plan, self.results = jobs, jobs.plan, jobs.results
        self.sources: dict[str, SourceJobs] = {}
        self.rectifiers: dict[str, RectifierJobs] = {}
        self.freezes: dict[tuple[str, str], str] = {}
        self._targets: dict[str, set[str]] = {}
        for cell in self.plan.cells:
            for judge in self.plan.judges(cell):
                trained = rectifier_jobs(self.plan, cell, judge)
                if trained is not None:
                    self.sources[trained.source.name] = trained.source
                    self.rectifiers[trained.name] = trained
                    self.freezes[trained.name, trained.frozen] = trained.freeze.model_dump_json()
                    self._targets.setdefault(trained.source.name, set()).add(cell.benchmark)

    def questions(self, source: str, part: str) -> str:
        """The questions of one part of a source."""
        return f"{self.results}/data/{self._benchmark(source, part)}/questions.jsonl"

    def parts(self, source: str) -> list[str]:
        """The questions of both parts of a source."""
        return [self.questions(source, part) for part in PARTS]

    def gold(self, rectifier: str, part: str) -> str:
        """Source gold of one part of a rectifier's source."""
        return f"{self.results}/data/{self._benchmark(self.rectifiers[rectifier].source.name, part)}/gold.jsonl"

    def _benchmark(self, source: str, part: str) -> str:
        return self.sources[source].benchmarks[PARTS.index(part)]

    def targets(self, source: str) -> list[str]:
        """The questions of every target that a judge with this source meets."""
        return [f"{self.results}/data/{benchmark}/questions.jsonl" for benchmark in sorted(self._targets[source])]

    def policy(self, source: str) -> str:
        """Weights of the policy that samples a source."""
        return self.jobs.weights(self.sources[source].policy)

    def policy_name(self, source: str) -> str:
        """The policy that samples a source, by its name in the catalogue."""
        return self.sources[source].policy

    def policy_files(self, source: str) -> list[str]:
        """Files of the workflow that the policy depends on."""
        return self.jobs.weight_files(self.sources[source].policy)

    def warm_up(self, source: str) -> str:
        """The spec of the policy's warm-up; ValueError for a source without one."""
        spec = self.sources[source].warm_up
        if spec is None:
            raise ValueError(f"source {source!r} has no warm-up")
        return spec.model_dump_json()

    def warm_up_questions(self, source: str) -> list[str]:
        """The questions of the policy's warm-up; none without one."""
        spec = self.sources[source].warm_up
        return [f"{self.results}/data/{spec.benchmark}/questions.jsonl"] if spec else []

    def warmed_up(self, source: str) -> list[str]:
        """The manifest of the policy's warm-up; nothing without one."""
        return [f"{self.results}/sources/{source}/warm_up/manifest.json"] if self.sources[source].warm_up else []

    def samples(self, source: str, part: str) -> str:
        """The spec of sampling one part of a source."""
        return self.sources[source].samples[PARTS.index(part)].model_dump_json()

    def rollouts(self, rectifier: str, part: str) -> str:
        """The roll-outs that a rectifier's candidates are made from."""
        return f"{self.results}/sources/{self.rectifiers[rectifier].source.name}/{part}/rollouts.jsonl.gz"

    def source_questions(self, rectifier: str, part: str) -> str:
        """The questions of one part of a rectifier's source."""
        return self.questions(self.rectifiers[rectifier].source.name, part)

    def label(self, rectifier: str) -> str:
        """The spec of labelling a rectifier's candidates."""
        return self.rectifiers[rectifier].label.model_dump_json()

    def train(self, rectifier: str) -> str:
        """The spec of training a rectifier."""
        return self.rectifiers[rectifier].train.model_dump_json()

    def freeze(self, rectifier: str, selection: str) -> str:
        """The spec of choosing a rectifier's checkpoint."""
        return self.freezes[rectifier, selection]

    def start(self, rectifier: str) -> str:
        """Weights that a rectifier's training starts from."""
        return self.jobs.weights(self.rectifiers[rectifier].model)

    def start_name(self, rectifier: str) -> str:
        """The model that a rectifier's training starts from, by its name in the catalogue."""
        return self.rectifiers[rectifier].model

    def start_files(self, rectifier: str) -> list[str]:
        """Files of the workflow that the untrained judge depends on."""
        return self.jobs.weight_files(self.rectifiers[rectifier].model)

    def checks(self, cell: Cell) -> list[str]:
        """The proofs that the sources of trained judges and the cell's target are disjoint."""
        trained = [rectifier_jobs(self.plan, cell, judge) for judge in self.plan.judges(cell)]
        return sorted({f"{self.results}/sources/{one.source.name}/disjoint.json" for one in trained if one is not None})

    def files(self, cell: Cell, deployed: str | None = None) -> list[str]:
        """Files of the workflow that a cell's judge depends on: a frozen record, or those of a model used as it is.

        The judge is that of the cell's own method (none: no files), or that of the method ``deployed``.
        """
        judge = self._judge(cell, deployed)
        if judge is None:
            return []
        frozen = self._frozen(cell, judge)
        return self.jobs.weight_files(judge.model) if frozen is None else [f"{frozen}.json"]

    def arguments(self, cell: Cell, deployed: str | None = None) -> list[str]:
        """How that judge is named on a stage's command line."""
        judge = self._judge(cell, deployed)
        if judge is None:
            return []
        frozen = self._frozen(cell, judge)
        return ["--judge", self.jobs.weights(judge.model)] if frozen is None else ["--judge", frozen, "--frozen", f"{frozen}.json"]

    def _judge(self, cell: Cell, deployed: str | None) -> JudgeConfig | None:
        return self.plan.judge(cell) if deployed is None else self.plan.deployed(cell)[deployed]

    def _frozen(self, cell: Cell, judge: JudgeConfig) -> str | None:
        trained = rectifier_jobs(self.plan, cell, judge)
        return None if trained is None else f"{self.results}/rectifiers/{trained.name}/frozen/{trained.frozen}"

    def deploy(self, cell: Cell, deployed: str) -> str:
        """The spec of judging a cell's endpoint."""
        return DeploySpec(judge=judge_spec(self.plan, self.plan.deployed(cell)[deployed])).model_dump_json()

    def deployed_name(self, cell: Cell, deployed: str) -> str:
        """The judge's model of an endpoint's judging, by its name in the catalogue."""
        return self.plan.deployed(cell)[deployed].model

    def select(self, cell: Cell, deployed: str) -> str:
        """The spec of grading the selectors' choices."""
        judge = self.plan.deployed(cell)[deployed]
        return SelectSpec(cell=cell_name(cell), judge=deployed, lab=judge.prompt == "lab").model_dump_json()

    def selected(self) -> list[str]:
        """The folders of every judged endpoint of the study."""
        return [f"{self.jobs.folder(cell)}/deploy/{judge}" for cell in self.plan.cells for judge in self.plan.deployed(cell)]
