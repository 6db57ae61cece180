import pytest

from ttrlab.config.catalogue import PromptStyle
from ttrlab.rectifier.prompt import MATH, JudgeItem, JudgePrompt, judge_style

ITEM = JudgeItem("What is 1+1?", "It is $\\frac{4}{2}$.", "2")


def test_the_prompt_holds_problem_solution_and_answer_and_nothing_is_left_to_fill():
    text = MATH.render(ITEM)
    assert all(part in text for part in (ITEM.question, ITEM.solution, f"candidate is: {ITEM.answer}\n"))
    assert "{{" not in text


def test_a_candidate_cannot_reach_into_the_template():
    hostile = JudgeItem("Q", "{{answer}} \\g<0> {problem} %(answer)s", "A-1")
    assert JudgePrompt("t", "{{problem}}|{{solution}}|{{answer}}").render(hostile) == "Q|{{answer}} \\g<0> {problem} %(answer)s|A-1"


def test_the_wording_asks_for_an_own_solution_and_a_reason_with_an_integer_score():
    assert "on your own" in MATH.template
    assert '{"reason": ' in MATH.template
    assert '"score": <integer from 0 to 10>' in MATH.template


def test_the_wording_shows_neither_gold_nor_categories_nor_votes():
    assert not any(
        word in MATH.template.lower() for word in ("majority", "minority", "vote", "consensus", "gold", "reference", "other candidates")
    )


def test_the_hash_changes_with_version_and_text():
    base = JudgePrompt("a", "{{problem}}{{solution}}{{answer}}")
    assert base.hash == JudgePrompt("a", base.template).hash
    assert len({base.hash, JudgePrompt("b", base.template).hash, JudgePrompt("a", base.template + " ").hash}) == 3


def test_the_shipped_wording_is_known_by_its_hash_so_a_change_needs_a_new_version():
    assert (MATH.version, MATH.hash[:16]) == ("math-1", "c2db09c3f427f144")


@pytest.mark.parametrize(
    "template", ["{{problem}}{{solution}}", "{{problem}}{{solution}}{{answer}}{{answer}}", "{{problem}}{{solution}}{{answer}}{{gold}}"]
)
def test_a_template_that_misses_or_adds_a_field_is_refused(template):
    with pytest.raises(ValueError, match="must use each of"):
        JudgePrompt("x", template)


def test_a_judge_is_asked_without_the_instruction_and_demonstrations_for_answering():
    style = judge_style(PromptStyle(where="user", demonstrations=(("1+1", "2"),), template_arguments={"enable_thinking": True}))
    assert style.messages("judge this", "math") == [{"role": "user", "content": "judge this"}]
    assert style.template_arguments == {"enable_thinking": True}
