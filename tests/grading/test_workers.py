"""Workers: killed when late, replaced, shared by threads and event loops, shut down cleanly; proofs on disk survive torn lines."""

import asyncio
import json
import multiprocessing
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from ttrlab.grading import Verdict, equal, use_cache
from ttrlab.grading.cache import ProofCache, current
from ttrlab.grading.limits import PROOF_SECONDS
from ttrlab.grading.workers import Pool, Worker, shutdown

QUESTION = json.dumps({"a": [[[], "1"]], "b": [[[], "1"]]})


def test_threads_and_an_event_loop_share_the_workers() -> None:
    pairs = [(f"{k}!\\lfloor x\\rfloor\\sin x", f"2\\cdot {k}!\\lfloor x\\rfloor\\sin(x/2)\\cos(x/2)") for k in range(2, 8)]
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda pair: equal(*pair), pairs)) == {Verdict.YES}

    async def inside() -> list[Verdict]:
        return await asyncio.gather(*(asyncio.to_thread(equal, *pair) for pair in pairs))

    assert set(asyncio.run(inside())) == {Verdict.YES}


def test_a_late_worker_is_killed_and_its_place_taken_by_a_new_one() -> None:
    pool = Pool()
    assert pool.ask(QUESTION, 60.0)[0] == '"yes"\n'
    (first,) = [worker for worker in pool.places.queue if worker is not None]
    first.process.send_signal(signal.SIGSTOP)  # it will be late, however fast the machine is
    assert pool.ask(QUESTION, 0.1)[0] is None
    assert first.process.returncode is not None
    assert pool.ask(QUESTION, 60.0)[0] == '"yes"\n'
    pool.close()


def test_a_dead_worker_gives_no_answer_and_is_reaped() -> None:
    worker = Worker()
    worker.process.kill()
    worker.process.wait()
    assert worker.ask(QUESTION, 60.0) is None
    worker.kill()
    assert worker.process.returncode is not None


def test_shutdown_ends_the_workers_and_the_next_question_starts_new_ones() -> None:
    assert equal("9\\lceil x\\rceil\\sin x", "18\\lceil x\\rceil\\sin(x/2)\\cos(x/2)") is Verdict.YES
    shutdown()
    assert equal("11\\lceil x\\rceil\\sin x", "22\\lceil x\\rceil\\sin(x/2)\\cos(x/2)") is Verdict.YES


def test_the_proofs_of_one_comparison_share_their_seconds() -> None:
    hard = [f"\\sin({k}^{{1/7}}x)\\ln(1+\\sin({k}^{{1/5}}x))^{{1/3}}" for k in range(2, 12)]
    hard_turned = [
        f"\\ln(1+\\sin({k}^{{1/5}}x))^{{1/3}}\\frac{{\\sin^2({k}^{{1/7}}x)}}{{\\sin({k}^{{1/7}}x)}}+\\ln(e^{{x-x}})" for k in range(2, 12)
    ]
    assert equal("7\\lceil x\\rceil\\sin x", "14\\lceil x\\rceil\\sin(x/2)\\cos(x/2)") is Verdict.YES
    start = time.process_time()
    assert isinstance(equal(",".join(hard), ",".join(hard_turned)), Verdict)
    assert time.process_time() - start + PROOF_SECONDS < 2.0


def test_a_spawned_process_grades() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
        assert processes.submit(equal, "17\\lceil x\\rceil\\sin(x/2)\\cos(x/2)", "8.5\\lceil x\\rceil\\sin x").result() is Verdict.YES


def test_a_question_beyond_the_limits_is_undecided_in_time() -> None:
    deep = "+".join(f"\\sin({k}^{{1/7}})\\sin(x^{{{k}/9}}+1)^{{1/3}}" for k in range(2, 12))
    start = time.process_time()
    verdict = equal(f"({deep})^3", f"({deep})^2({deep})")
    assert isinstance(verdict, Verdict)
    assert time.process_time() - start + PROOF_SECONDS < 2.0  # CPU: the clock on the wall runs on while other jobs have the processor


def test_proofs_are_kept_on_disk_and_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    use_cache(tmp_path)
    assert equal("13\\lceil x\\rceil\\sin x", "26\\lceil x\\rceil\\sin(x/2)\\cos(x/2)") is Verdict.YES
    cache = current()
    assert cache is not None
    assert len(cache.known) == 1
    use_cache(None)
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes() + b'["torn", "ye')
    assert len(ProofCache(tmp_path).known) == 1


def test_another_grammar_version_does_not_read_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ProofCache(tmp_path).put("q", (Verdict.YES, "proved"))
    assert ProofCache(tmp_path).get("q") == (Verdict.YES, "proved")
    monkeypatch.setattr("ttrlab.grading.cache.GRAMMAR", "other")
    assert ProofCache(tmp_path).get("q") is None
