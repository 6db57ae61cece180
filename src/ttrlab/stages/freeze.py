"""Choose a rectifier's checkpoint by its judgements on the calibration candidates, and freeze it with its hash."""

import shutil
from pathlib import Path

from tqdm import tqdm

from ttrlab.config.rectify import FreezeSpec
from ttrlab.engines import open_sampler
from ttrlab.files import HASHES, atomic_folder, hashes, is_whole, read_jsonl, write_json
from ttrlab.rectifier.calibrate import CheckpointScore, checkpoint_score, choose_checkpoint, counts_by_question, frozen_record
from ttrlab.rectifier.judge import SamplerJudge
from ttrlab.rectifier.prompt import PROMPTS, judge_style
from ttrlab.rectifier.source import Candidate
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.rundir import step_name


def main() -> None:
    """Judge ``--candidates`` with every checkpoint below ``--trained``, copy the chosen one to ``--out``; ``--record`` says why."""
    arguments = parse(__doc__, "trained", "candidates", "out", "record")
    spec = read_spec(FreezeSpec, arguments.spec)
    prompt, limits, style = PROMPTS[spec.judge.wording], spec.judge.limits, judge_style(spec.judge.style)
    candidates = [Candidate.from_json(row) for row in read_jsonl(Path(arguments.candidates))]
    checkpoints = {step: Path(arguments.trained) / "checkpoints" / step_name(step) for step in spec.steps}
    scores: list[CheckpointScore] = []
    for step, folder in tqdm(checkpoints.items(), unit="checkpoint", disable=None):
        if not is_whole(folder):
            raise ValueError(f"{folder}: missing or damaged; rerun the training: snakemake -f {Path(arguments.trained) / 'manifest.json'}")
        sampler = open_sampler(spec.engine, str(folder), None, style, "math")
        judge = SamplerJudge(sampler, sampler.prompt_tokens, prompt, limits, step_name(step))
        scores.append(checkpoint_score(step, counts_by_question(judge, candidates)))
    chosen = choose_checkpoint(scores, spec.selection)
    out = Path(arguments.out)
    with atomic_folder(out) as target:
        shutil.copytree(checkpoints[chosen.step], target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(HASHES))
    weights = {name: value for name, value in hashes(out).items() if name != HASHES}
    write_json(Path(arguments.record), frozen_record(chosen, scores, spec.selection, weights, prompt, limits))


if __name__ == "__main__":
    run(main)
