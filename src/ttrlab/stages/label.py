"""Sort a source's roll-outs into labelled candidates by source gold: four categories, and a report of counts. The target is not read."""

from collections import Counter
from pathlib import Path

from ttrlab.benchmarks import read_gold, read_questions
from ttrlab.config.rectify import LabelSpec
from ttrlab.engines import open_prompter
from ttrlab.evaluate.metrics import gold_of, grade
from ttrlab.files import write_json, write_jsonl
from ttrlab.grading import classes, use_cache
from ttrlab.pools import read_pool
from ttrlab.rectifier.prompt import PROMPTS, JudgeItem, judge_style
from ttrlab.rectifier.source import Candidate, Dropped, source_candidates, source_report
from ttrlab.stages.command import PROOFS, parse, read_spec, run


def main() -> None:
    """Write the ``--candidates`` of the pool ``--rollouts`` and their ``--report``. ``--model``: the judge's, for its tokenizer alone."""
    arguments = parse(__doc__, "rollouts", "questions", "gold", "model", "candidates", "report")
    use_cache(PROOFS)
    spec = read_spec(LabelSpec, arguments.spec)
    judge = spec.judge
    prompter = open_prompter(arguments.model, judge.revision, judge_style(judge.style), "math")
    texts = {question.id: question.prompt for question in read_questions(Path(arguments.questions))}
    gold = {question_id: entry.answer for question_id, entry in read_gold(Path(arguments.gold)).items()}

    def fits(item: JudgeItem) -> bool:
        return prompter.count(PROMPTS[judge.wording].render(item)) <= judge.limits.input_tokens

    kept: list[Candidate] = []
    dropped: Counter[Dropped] = Counter()
    for row in read_pool(Path(arguments.rollouts)):
        labels = grade(row.answers, gold_of(row.question_id, gold))
        candidates, out = source_candidates(row, texts[row.question_id], classes(row.answers), labels, fits)
        kept += candidates
        dropped += out
    write_jsonl(Path(arguments.candidates), (candidate.to_json() for candidate in kept))
    write_json(Path(arguments.report), source_report(kept, dropped, spec.alphas))


if __name__ == "__main__":
    run(main)
