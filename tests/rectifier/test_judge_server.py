import threading
import time

import numpy as np
import pytest
from hashed import hashed_output
from served import Served

from ttrlab.adapt.decide import decide
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.judge import JudgeLimits, ServerHome
from ttrlab.rectifier.judge import JudgeItem
from ttrlab.rectifier.judgement import read_judgement
from ttrlab.rectifier.prompt import MATH
from ttrlab.rectifier.server import JudgeUnavailable, ServerJudge
from ttrlab.rewards.truer import Truer
from ttrlab.types import Question, Rollout, RolloutGroup

ITEMS = [JudgeItem(f"{i}+1=", f"It is {i + 1}.", str(i + 1)) for i in range(24)]


def judge_at(server: Served, **home) -> ServerJudge:
    settings = {"concurrency": 4, "request_seconds": 5, "restart_seconds": 20, **home}
    place = ServerHome(url=server.url, served_model="judge", **settings)
    return ServerJudge(place, MATH, JudgeLimits(), "weights", PromptStyle(where="none"))


@pytest.fixture
def served(tmp_path):
    server = Served(tmp_path)
    yield server
    if server.process is not None:
        server.kill()


def step_groups():
    """Questions whose answers have three clusters of 4, 3 and 1, so that both ranks are asked about."""
    classes = np.array([0, 1, 0, 2, 1, 0, 1, 0])
    return [
        RolloutGroup(Question(f"q{q}", f"{q}+1="), tuple(Rollout(f"{q}: {i}", answer=f"{q}.{c}") for i, c in enumerate(classes)), classes)
        for q in range(16)
    ]


def outcome(decisions):
    return [(d.rewards.tolist(), d.pseudo_label, d.abstained, dict(d.stats)) for d in decisions]


def test_judgements_are_greedy_in_order_and_read_like_any_output(served):
    served.start()
    found = judge_at(served).judge(ITEMS)
    texts = [hashed_output(MATH.render(item)) for item in ITEMS]
    assert [(j.score, j.reason) for j in found] == [(r.score, r.reason) for r in map(read_judgement, texts)]
    assert [j.tokens for j in found] == [len(text.split()) for text in texts]
    assert {j.valid for j in found} == {True, False}
    assert set(served.log.read_text().splitlines()) == {"0 4096"}


def test_a_server_killed_and_restarted_in_the_middle_of_a_step_changes_no_decision(served):
    served.start("--delay", "0.02")
    _, undisturbed = decide(Truer(), step_groups(), judge_at(served))
    before, kills = served.answered, []

    def disturb():
        for extra in (5, 12):
            while served.answered < before + extra:
                time.sleep(0.005)
            served.kill()
            kills.append(served.answered)
            time.sleep(0.3)
            served.start("--delay", "0.02")

    thread = threading.Thread(target=disturb)
    thread.start()
    _, disturbed = decide(Truer(), step_groups(), judge_at(served))
    thread.join()
    assert len(kills) == 2
    assert all(before < answered < served.answered for answered in kills)
    assert outcome(disturbed) == outcome(undisturbed)
    assert {d.abstained for d in undisturbed} == {True, False}
    assert any(d.stats["accepted_rank2"] for d in undisturbed)


def test_a_server_that_starts_late_is_waited_for(served):
    threading.Timer(0.3, served.start).start()
    assert len(judge_at(served).judge(ITEMS[:2])) == 2


def test_a_dead_server_is_an_error_that_names_it_and_never_an_abstention(served):
    with pytest.raises(JudgeUnavailable, match=rf"http://127.0.0.1:{served.port}/tokenize did not answer for 0.3 s.*start it again"):
        decide(Truer(), step_groups(), judge_at(served, restart_seconds=0.3))


def test_a_server_that_dies_for_good_in_the_middle_stops_the_step(served):
    served.start("--delay", "0.02")
    judge = judge_at(served, restart_seconds=0.5)
    judge.check()
    threading.Timer(0.1, served.kill).start()
    start = time.monotonic()
    with pytest.raises(JudgeUnavailable, match="/v1/chat/completions did not answer"):
        judge.judge(ITEMS * 10)
    assert time.monotonic() - start < 5


def test_a_busy_server_is_asked_again(served):
    served.start("--mode", "busy")
    assert [j.score for j in judge_at(served, concurrency=1).judge(ITEMS[:3])] == [
        read_judgement(hashed_output(MATH.render(item))).score for item in ITEMS[:3]
    ]


def test_a_request_that_takes_too_long_is_given_up(served):
    served.start("--delay", "3")
    with pytest.raises(JudgeUnavailable, match="ReadTimeoutError"):
        judge_at(served, request_seconds=0.2, restart_seconds=0.3).judge(ITEMS[:1])


def test_a_refused_request_is_an_error_at_once(served):
    served.start("--mode", "refuse")
    with pytest.raises(RuntimeError, match="refused the request, status 400.*too long"):
        judge_at(served).judge(ITEMS)


def test_an_answer_of_another_form_is_an_error_and_no_judgement(served):
    served.start("--mode", "odd")
    with pytest.raises(RuntimeError, match="an answer of another form"):
        judge_at(served).judge(ITEMS[:1])


@pytest.mark.parametrize("mode, fault", [("cut", "truncated"), ("silent", "no object")])
def test_truncated_and_empty_outputs_are_unresolved(served, mode, fault):
    served.start("--mode", mode)
    (found,) = judge_at(served).judge(ITEMS[:1])
    assert (found.score, found.fault) == (-1, fault)


def test_a_server_with_another_model_is_refused(served):
    served.start("--model", "other")
    with pytest.raises(RuntimeError, match=r"serves \['other'\], expected 'judge'"):
        judge_at(served).judge(ITEMS[:1])


def test_what_fits_is_counted_by_the_server(served):
    served.start()
    judge = judge_at(served)
    assert judge.fits(ITEMS[0])
    assert not judge.fits(JudgeItem("1+1=", "very " * 4096 + "long", "2"))


def test_a_plain_prompt_cannot_be_served(served):
    with pytest.raises(ValueError, match="chat template"):
        ServerJudge(ServerHome(url="http://x:1", served_model="m"), MATH, JudgeLimits(), "w", PromptStyle(template="plain"))
