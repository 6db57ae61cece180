"""The adapt stage's part where OpenRLHF trains on a cluster's GPUs: files, launch, watch, collect; the results are those of the loop."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ttrlab.adapt.card import model_card
from ttrlab.adapt.schedule import batch, checkpoint_steps, total_steps, total_updates
from ttrlab.config.hardware import Hardware, read_hardware
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines import import_engine
from ttrlab.engines.openrlhf import events, saved
from ttrlab.engines.openrlhf.checks import check_hardware, check_spec
from ttrlab.engines.openrlhf.command import RunFiles, command
from ttrlab.engines.openrlhf.inputs import local_weights, write_agent, write_prompts
from ttrlab.engines.openrlhf.nodes import ray_over_nodes
from ttrlab.engines.openrlhf.process import run as run_process
from ttrlab.files import digest, read_json, write_json, write_text
from ttrlab.meter import Meter
from ttrlab.stages import ladder, rundir
from ttrlab.stages.command import PROOFS
from ttrlab.stages.openrlhf_agent import Binding
from ttrlab.types import Question


class Launch:
    """One attempt at a run: where it goes on, what OpenRLHF is given, what is kept of it."""

    def __init__(self, spec: AdaptSpec, hardware: Hardware, arguments: Namespace, folder: Path) -> None:
        self.spec, self.hardware, self.folder = spec, hardware, folder
        self.files = RunFiles(folder)
        self.model = local_weights(arguments.model, spec.revision)
        self.base = arguments.model if spec.revision else spec.model
        self.last = total_steps(spec.rows, spec.training)
        self.kept = checkpoint_steps(spec.rows, spec.training)
        self.done = saved.resume_point(self.files.state, self.wanted())
        rundir.drop_after(folder, self.done)

    def wanted(self) -> list[int]:
        """Steps whose policy is still to be collected; the last one's comes from OpenRLHF's final save."""
        return [step for step in self.kept if step < self.last and not self.checkpoint(step).exists()]

    def checkpoint(self, step: int) -> Path:
        """Where evaluation looks for the policy of a step."""
        return self.folder / "checkpoints" / rundir.step_name(step)

    def command(self) -> list[str]:
        """OpenRLHF's command line."""
        updates = total_updates(self.spec.rows, self.spec.training)
        return command(self.spec, self.model, self.hardware, self.files, updates)

    def write_inputs(self, questions: Sequence[Question], arguments: Namespace) -> None:
        """Prompts, agent file, its binding, and the command as it is run."""
        training, seed = self.spec.training, self.spec.seed
        schedule = [[questions[row] for row in batch(len(questions), training, seed, step)] for step in range(1, self.last + 1)]
        write_prompts(self.files, schedule)
        write_agent(self.files)
        binding = Binding(
            run=f"ttrlab-{digest(str(self.folder))[:12]}",
            spec=self.spec,
            questions=str(Path(arguments.questions).absolute()),
            gold=str(Path(arguments.gold).absolute()) if arguments.gold else None,
            judge=arguments.judge if self.spec.judge else None,
            frozen=str(Path(arguments.frozen).absolute()) if arguments.frozen else None,
            folder=str(self.folder),
            proofs=str(PROOFS.absolute()),
            done=self.done,
            patience=self.hardware.patience,
        )
        write_text(self.files.binding, binding.model_dump_json(indent=1) + "\n")
        write_json(self.files.inputs / "command.json", {"command": self.command(), "hardware": self.hardware.model_dump()})

    def keep(self, source: Path, step: int) -> None:
        """Keep a policy as a checkpoint."""
        saved.keep_policy(source, self.checkpoint(step), model_card(self.spec, self.base, step, self.last))

    def run(self, stop: rundir.StopRequest) -> None:
        """Run OpenRLHF to its end; RuntimeError when asked to stop before, or when it ends early."""

        def tick() -> bool:
            saved.collect(self.files.state, self.wanted(), rundir.newest_step(self.folder), self.keep)
            return stop.name is not None

        with ray_over_nodes(self.hardware, self.files.inputs / "ray.log") as surroundings:
            run_process(self.command(), self.files.log, tick, surroundings)
        if stop.name:
            at = saved.latest(self.files.state)
            raise RuntimeError(f"{self.folder}: stopped by {stop.name}, saved after step {at} of {self.last}; the next call goes on there")
        newest = rundir.newest_step(self.folder)
        if newest < self.last or not self.files.final.is_dir():
            raise RuntimeError(f"{self.folder}: OpenRLHF ended after step {newest} of {self.last}; see {self.files.log}")
        saved.collect(self.files.state, self.wanted(), self.last, self.keep)
        self.keep(self.files.final, self.last)

    def join_events(self, meter: Meter) -> None:
        """Put the numbers of OpenRLHF's updates into the step records, and its seconds into the journal."""
        found = events.read_events(self.files.events)
        for step in range(1, self.last + 1):
            path = self.folder / "steps" / f"{rundir.step_name(step)}.json"
            write_json(path, read_json(path) | events.engine_numbers(found, step))
            for phase, seconds in events.phase_seconds(found, step).items():
                meter.spent(phase, step, seconds, 0.0, {})


def run_cluster(
    spec: AdaptSpec, questions: Sequence[Question], arguments: Namespace, folder: Path, meter: Meter, stop: rundir.StopRequest
) -> None:
    """All steps that are not done yet, by OpenRLHF. ValueError where the spec or the hardware does not allow it."""
    longest = spec.sampling.max_prompt_tokens + spec.sampling.max_new_tokens
    hardware = ladder.smaller_hardware(read_hardware(arguments.hardware or ""), ladder.rung(folder), longest)
    check_spec(spec)
    check_hardware(spec.training, hardware)
    launch = Launch(spec, hardware, arguments, folder.absolute())
    if not launch.checkpoint(launch.last).exists():
        launch.write_inputs(questions, arguments)
        with meter.phase("openrlhf"), ladder.recorded(folder, hardware.model_dump(), launch.files.log):
            launch.run(stop)
    meter.devices(import_engine("torch") * hardware.nodes)
    launch.join_events(meter)
