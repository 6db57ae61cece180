import json
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.benchmarks.rows import gpqa_rows, math_rows, write_jsonl
from ttrlab.benchmarks import load_benchmark, overlaps, read_gold, read_questions, write_benchmark
from ttrlab.config.catalogue import Columns, GeneratedBenchmark, HubBenchmark, PathBenchmark, Split
from ttrlab.types import Question

MATH = Columns(id="unique_id", level="level", subject="subject")
GPQA = Columns(id="Record ID", question="Question", answer="Correct Answer", options=tuple(f"Incorrect Answer {k}" for k in (1, 2, 3)))


def entry(path, rows, **more):
    return PathBenchmark(path=str(path), rows=rows, **{"columns": MATH, **more})


def test_a_file_becomes_questions_gold_and_tags(tmp_path):
    loaded = load_benchmark("toy", entry(write_jsonl(tmp_path / "toy.jsonl", math_rows(2)), 2))
    assert [question.id for question in loaded.questions] == ["test/algebra/0.json", "test/algebra/1.json"]
    assert loaded.gold == {"test/algebra/0.json": "0", "test/algebra/1.json": "1"}
    assert loaded.tags["test/algebra/1.json"] == {"level": 2, "subject": "Algebra"}


def test_rows_without_an_id_column_are_named_by_source_and_row(tmp_path):
    path = write_jsonl(tmp_path / "toy.jsonl", math_rows(6))
    loaded = load_benchmark("toy5", entry(path, 1, columns=Columns(), where={"level": 5}))
    assert [question.id for question in loaded.questions] == ["toy/4"]


def test_answers_stay_as_published_and_numbers_become_text(tmp_path):
    rows = [{"problem": "a?", "answer": "025"}, {"problem": "b?", "answer": 142.0}, {"problem": "c?", "answer": 7}]
    loaded = load_benchmark("toy", entry(write_jsonl(tmp_path / "t.jsonl", rows), 3, columns=Columns()))
    assert list(loaded.gold.values()) == ["025", "142.0", "7"]


def test_a_filter_compares_numbers_and_texts_alike(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("problem,answer,level\na?,1,4\nb?,2,5\n")
    assert len(load_benchmark("toy", entry(path, 1, columns=Columns(), where={"level": 5})).questions) == 1


@pytest.mark.parametrize(
    "change, message",
    [
        ({"answer": None}, r"line 2, column 'answer': missing"),
        ({"answer": "  "}, r"line 2, column 'answer': empty"),
        ({"problem": "half \ud83d"}, r"line 2, column 'problem': half of a surrogate pair"),
        ({"answer": True}, r"line 2, column 'answer': expected a text or a number, got bool"),
        ({"answer": float("nan")}, r"line 2, column 'answer': missing"),
        ({"answer": ["1"]}, r"line 2, column 'answer': expected a text or a number, got list"),
        ({"problem": ""}, r"line 2, column 'problem': empty"),
        ({"unique_id": "a\nb"}, r"line 2, column 'unique_id': an id of printable characters on one line"),
        ({"unique_id": "test/algebra/0.json"}, r"line 2: the id 'test/algebra/0\.json' stands already in .*line 1"),
        ({"problem": " how many  APPLES are in 2 baskets?"}, r"line 2: the question 'test/algebra/1\.json' has the same text as .*line 1"),
    ],
)
def test_a_bad_cell_is_named_by_file_row_and_column(tmp_path, change, message):
    rows = math_rows(3)
    rows[1] |= change
    path = write_jsonl(tmp_path / "toy.jsonl", rows)
    with pytest.raises(ValueError, match=r"toy\.jsonl, " + message):
        load_benchmark("toy", entry(path, 3))


def test_a_wrong_column_is_named_with_the_columns_there_are(tmp_path):
    path = write_jsonl(tmp_path / "toy.jsonl", math_rows(1))
    with pytest.raises(ValueError, match=r"toy\.jsonl, line 1: no column 'question'; the columns are 'problem', 'solution'"):
        load_benchmark("toy", entry(path, 1, columns=Columns(question="question")))


def test_a_column_missing_from_one_row_is_found_there(tmp_path):
    rows = math_rows(3)
    del rows[2]["level"]
    with pytest.raises(ValueError, match=r"line 3: no column 'level'"):
        load_benchmark("toy", entry(write_jsonl(tmp_path / "toy.jsonl", rows), 3))


def test_another_number_of_rows_than_stated_is_refused(tmp_path):
    path = write_jsonl(tmp_path / "toy.jsonl", math_rows(3))
    with pytest.raises(ValueError, match=r"benchmark 'toy': rows: 4 stated, but its source gives 3"):
        load_benchmark("toy", entry(path, 4))


def test_a_filter_that_leaves_nothing_is_refused(tmp_path):
    path = write_jsonl(tmp_path / "toy.jsonl", math_rows(3))
    with pytest.raises(ValueError, match=r"none of 3 rows of toy has \{'level': 9\}"):
        load_benchmark("toy", entry(path, 3, where={"level": 9}))


def test_of_doubled_questions_only_the_first_is_kept_when_asked(tmp_path):
    rows = math_rows(3)
    rows[2]["problem"] = rows[0]["problem"]
    loaded = load_benchmark("toy", entry(write_jsonl(tmp_path / "toy.jsonl", rows), 2, duplicates="first"))
    assert list(loaded.gold) == ["test/algebra/0.json", "test/algebra/1.json"]


@pytest.fixture
def gpqa(tmp_path):
    path = write_jsonl(tmp_path / "gpqa.jsonl", gpqa_rows(40))
    return lambda seed: load_benchmark("gpqa", entry(path, 40, columns=GPQA, kind="choice", seed=seed))


def test_choices_are_lettered_and_gold_is_the_letter_of_the_right_one(gpqa):
    loaded = gpqa(0)
    for i, question in enumerate(loaded.questions):
        lines = question.prompt.splitlines()
        assert lines[0] == f"Which particle is number {i}?"
        assert [line[:3] for line in lines[2:]] == ["A. ", "B. ", "C. ", "D. "]
        assert f"{loaded.gold[question.id]}. right {i}" in lines


def test_the_order_of_choices_is_fixed_by_the_seed_and_spread_over_the_letters(gpqa):
    assert gpqa(0) == gpqa(0)
    assert gpqa(0).gold != gpqa(1).gold
    assert min(Counter(gpqa(0).gold.values()).values()) >= 3


def test_the_text_of_a_choice_question_does_not_depend_on_which_option_is_right(tmp_path):
    rows = gpqa_rows(8)
    swapped = [row | {"Correct Answer": row["Incorrect Answer 1"], "Incorrect Answer 1": row["Correct Answer"]} for row in rows]
    loaded = [
        load_benchmark("gpqa", entry(write_jsonl(tmp_path / f"{i}.jsonl", table), 8, columns=GPQA, kind="choice"))
        for i, table in enumerate((rows, swapped))
    ]
    assert loaded[0].questions == loaded[1].questions
    assert all(loaded[0].gold[key] != loaded[1].gold[key] for key in loaded[0].gold)


def test_a_wrong_option_equal_to_the_answer_is_refused_without_printing_it(tmp_path):
    rows = gpqa_rows(2)
    rows[1]["Incorrect Answer 2"] = rows[1]["Correct Answer"]
    with pytest.raises(ValueError, match=r"line 2, column 'Incorrect Answer 2': the same text as the right answer") as caught:
        load_benchmark("gpqa", entry(write_jsonl(tmp_path / "g.jsonl", rows), 2, columns=GPQA, kind="choice"))
    assert "right 1" not in str(caught.value)


def test_a_choice_without_option_columns_needs_a_letter(tmp_path):
    path = write_jsonl(tmp_path / "toy.jsonl", [{"problem": "a?", "answer": "B"}, {"problem": "b?", "answer": "both"}])
    with pytest.raises(ValueError, match=r"line 2, column 'answer': expected one capital letter"):
        load_benchmark("toy", entry(path, 2, columns=Columns(), kind="choice"))


@pytest.mark.parametrize("answer", ["abc", "5.5", "1/2", "12,34"])
def test_an_integer_benchmark_refuses_gold_that_is_none(tmp_path, answer):
    path = write_jsonl(tmp_path / "toy.jsonl", [math_rows(1)[0] | {"answer": answer}])
    with pytest.raises(ValueError, match=r"toy\.jsonl, line 1, column 'answer': kind is integer, but the answer is none"):
        load_benchmark("toy", entry(path, 1, kind="integer"))


@pytest.mark.parametrize("answer", ["033", "-7", "142.0", "1,024", 12])
def test_an_integer_benchmark_takes_gold_as_benchmark_files_write_it(tmp_path, answer):
    path = write_jsonl(tmp_path / "toy.jsonl", [math_rows(1)[0] | {"answer": answer}])
    assert list(load_benchmark("toy", entry(path, 1, kind="integer")).gold.values()) == [str(answer)]


def test_a_hub_entry_is_asked_for_by_id_config_split_and_revision(monkeypatch):
    asked = []

    def fake(path, name, *, split, revision):
        asked.append((path, name, split, revision))
        return gpqa_rows(3)

    monkeypatch.setattr("datasets.load_dataset", fake)
    benchmark = HubBenchmark(id="a/b", config="c", revision="r", hub_split="train", rows=3, columns=GPQA, kind="choice")
    assert len(load_benchmark("toy", benchmark).questions) == 3
    assert asked == [("a/b", "c", "train", "r")]


def test_a_bad_hub_cell_is_named_by_data_set_split_and_row(monkeypatch):
    rows = math_rows(3)
    rows[1]["answer"] = None
    monkeypatch.setattr("datasets.load_dataset", lambda *_, **__: rows)
    with pytest.raises(ValueError, match=r"a/b \(test\), row 2, column 'answer': missing"):
        load_benchmark("toy", HubBenchmark(id="a/b", rows=3))


def test_the_hub_library_is_imported_only_by_a_hub_entry(tmp_path):
    path = write_jsonl(tmp_path / "toy.jsonl", math_rows(2))
    program = (
        "import sys\nfrom ttrlab.benchmarks import load_benchmark\nfrom ttrlab.config.catalogue import PathBenchmark\n"
        f"load_benchmark('toy', PathBenchmark(path={str(path)!r}, rows=2))\nprint('datasets' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


REAL = [("aime24", 30), ("aime25", 30), ("amc23", 40), ("amc83", 83), ("math500", 500)]


@pytest.mark.parametrize("name, rows", REAL)
def test_real_files_load_whole(shared, tmp_path, name, rows):
    loaded = load_benchmark(name, entry(shared / "benchmarks" / f"{name}.jsonl", rows, columns=Columns(id="id")))
    write_benchmark(loaded, tmp_path / "questions.jsonl", tmp_path / "gold.jsonl")
    assert read_questions(tmp_path / "questions.jsonl") == loaded.questions
    published = [json.loads(line) for line in (shared / "benchmarks" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {key: gold.answer for key, gold in read_gold(tmp_path / "gold.jsonl").items()} == {row["id"]: row["answer"] for row in published}


@pytest.mark.parametrize("level, rows", [(1, 43), (2, 90), (3, 105), (4, 128), (5, 134)])
def test_levels_of_math500_have_their_published_sizes(shared, level, rows):
    columns = Columns(id="id", level="level", subject="subject")
    loaded = load_benchmark("l", entry(shared / "benchmarks/math500.jsonl", rows, columns=columns, where={"level": level}))
    assert {tags["level"] for tags in loaded.tags.values()} == {level}


def test_math500_splits_into_disjoint_parts_for_truer(shared):
    parts = {"fit": 100, "calibration": 30, "target": 370}

    def part(use, seed=0):
        split = Split(seed=seed, parts=parts, use=use)
        return load_benchmark(use, entry(shared / "benchmarks/math500.jsonl", parts[use], columns=Columns(id="id"), split=split))

    loaded = {use: part(use) for use in parts}
    assert len(set().union(*(value.gold for value in loaded.values()))) == 500
    assert all(value.parts == loaded["fit"].parts for value in loaded.values())
    assert overlaps(loaded["fit"].questions, loaded["target"].questions) == []
    assert overlaps(loaded["calibration"].questions, loaded["target"].questions) == []
    assert part("fit", seed=1).gold.keys() != loaded["fit"].gold.keys()


def test_amc_contains_amc23_and_neither_shares_a_question_with_aime(shared):
    def questions(name, rows):
        return load_benchmark(name, entry(shared / "benchmarks" / f"{name}.jsonl", rows, columns=Columns(id="id"))).questions

    amc, amc23 = questions("amc83", 83), questions("amc23", 40)
    found = overlaps(amc23, amc)
    assert len({pair.source for pair in found}) == 40
    assert {pair.reason for pair in found} == {"text"}
    assert overlaps(questions("aime25", 30), questions("aime24", 30)) == []


def test_a_generated_benchmark_comes_from_the_lab_with_its_regimes_as_tags(monkeypatch):
    def questions(benchmark):
        return [
            (Question(f"{regime}/{k}", f"{regime} {k}="), str(k), {"regime": regime})
            for regime, n in benchmark.mix.items()
            for k in range(n)
        ]

    monkeypatch.setitem(sys.modules, "ttrlab.benchmarks.lab", SimpleNamespace(questions=questions))
    loaded = load_benchmark("toy", GeneratedBenchmark(source="lab", rows=3, mix={"trap": 1, "floor": 2}))
    assert loaded.gold == {"trap/0": "0", "floor/0": "0", "floor/1": "1"}
    assert loaded.tags["floor/1"] == {"regime": "floor"}
