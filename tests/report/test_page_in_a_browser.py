"""The page in headless Chromium, opened from disk: hostile text stays text, 500 questions x 64 roll-outs open at once."""

import html
import re
import shutil
import subprocess
import time

import pytest

from tests.report.test_page import build
from tests.report.world import make_plan, write_study
from ttrlab.files import write_jsonl
from ttrlab.rectifier.judge import JudgeItem, content_key

HOSTILE = (
    "<script>document.documentElement.dataset.hacked = 1</script></script>"
    "<img src=x onerror=\"document.documentElement.dataset.hacked = 1\"><svg onload='document.documentElement.dataset.hacked = 1'>"
    '<a href="javascript:document.documentElement.dataset.hacked = 1">click</a> \u2028\u2029 ]]> --> \'); alert(1); // '
    r"$\href{javascript:document.documentElement.dataset.hacked=1}{\text{go}}$ $\includegraphics{http://x/y.png}$ $\htmlData{hacked=1}{x}$ "
    r"$\def\a{\a\a}\a$ \[\frac{1\] $\text{<img src=x onerror=document.documentElement.dataset.hacked=1>}$"
)

PROBE = """
const wait = () => new Promise((done) => setTimeout(done, 20));
(async () => {
  while (!document.documentElement.dataset.ready) await wait();
  for (const tab of document.querySelectorAll(".tabs button")) {
    tab.click();
    for (const row of document.querySelectorAll("tr.row")) row.click();
    await wait();
  }
  for (const link of document.querySelectorAll("#main a:not([href^='#'])")) link.click();
  document.documentElement.dataset.scripts = document.scripts.length;
  document.documentElement.dataset.stories = document.querySelectorAll(".story").length;
})();
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """A function from a page's file and address to the document after its scripts have run."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    profile = tmp_path_factory.mktemp("profile")

    def document(path, address=""):
        options = ["--virtual-time-budget=3000", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        done = subprocess.run(
            [program, *options, "--dump-dom", f"{path.as_uri()}#{address}"], capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    return document


def attribute(document, name):
    found = re.search(rf'<html[^>]* data-{name}="([^"]*)"', document)
    return None if found is None else found[1]


def timed(chromium, path, address):
    """Seconds on the wall, the better of two tries, and the document; the browser's own clock is virtual."""
    tries = []
    for _ in range(2):
        start = time.perf_counter()
        seen = chromium(path, address)
        tries.append((time.perf_counter() - start, seen))
    return min(tries)


def with_probe(page):
    (page / "probe.js").write_text(PROBE)
    index = page / "index.html"
    index.write_text(index.read_text().replace("</body>", '<script src="probe.js"></script></body>'))
    return index


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    study = write_study(folder / "study", make_plan(2), 2, text=HOSTILE, prompt=HOSTILE + " {}")
    return with_probe(build(study, folder / "page"))


@pytest.mark.browser
def test_hostile_text_would_run_if_it_were_markup(chromium, tmp_path):
    (tmp_path / "naive.html").write_text(f"<!doctype html><html><body>{HOSTILE}</body></html>")
    assert attribute(chromium(tmp_path / "naive.html"), "hacked") == "1"


@pytest.mark.browser
@pytest.mark.parametrize("address", ["/pair/0", "/pair/0/question/1"])
def test_hostile_rollouts_and_questions_run_no_script(chromium, hostile, address):
    seen = chromium(hostile, address)
    assert attribute(seen, "ready") is not None
    assert attribute(seen, "hacked") is None
    assert attribute(seen, "scripts") == "10"
    assert html.escape("<img src=x onerror=", quote=False) in seen
    assert not [tag for tag in ("<img src=x", "<svg onload", '<a href="javascript', "<script>document") if tag in seen]
    if "question" in address:
        assert int(attribute(seen, "stories")) > 0


@pytest.fixture(scope="module")
def mathematical(tmp_path_factory):
    """A study of formulas, in which a judge was asked about a roll-out of the last sample."""
    folder = tmp_path_factory.mktemp("maths")
    prompt, text = r"Find $x^2$ and \[\sqrt{y}.\] It costs $5 or $6. Case {}.", r"so \(z=1\) but $\frac{1$ and $\href{https://x}{y}$"
    study = write_study(folder / "study", make_plan(1), 1, text=text, prompt=prompt)
    item = JudgeItem(prompt.replace("{}", "0"), f"{text} oracle #0", "1")
    reason = r"the step $z=1$ is wrong <b>!</b>"
    judgement = {"key": "k", "content": content_key(item), "score": 3, "reason": reason, "tokens": 5, "fault": None}
    write_jsonl(study / "cells/m/b/oracle/seed0/adapt/judgements.jsonl", [judgement])
    return with_probe(build(study, folder / "page"))


@pytest.mark.browser
def test_maths_is_typeset_without_a_network_and_what_katex_refuses_stays_as_written(chromium, mathematical):
    seen = chromium(mathematical, "/pair/0/question/0")
    assert 'class="katex-display"' in seen
    assert 'title="$x^2$"' in seen
    assert "costs $5 or $6." in seen
    assert r"$\frac{1$" in seen
    assert r"$\href{https://x}{y}$" in seen
    assert "katex-error" not in seen


@pytest.mark.browser
def test_the_judges_score_and_reason_stand_below_the_rollout(chromium, mathematical):
    seen = chromium(mathematical, "/pair/0/question/0")
    assert "The judge gave 3 of 10." in seen
    assert "&lt;b&gt;!&lt;/b&gt;" in seen
    assert 'title="$z=1$"' in seen


@pytest.mark.browser
def test_claims_stand_first_with_their_verdicts(chromium, tmp_path):
    study = write_study(tmp_path / "study", make_plan(1), 1)
    seen = chromium(build(study, tmp_path / "page") / "index.html", "/")
    assert seen.index("Paper against measured") < seen.index("The grid")
    assert "✗ contradicted" in seen
    assert "4.0" in seen


@pytest.mark.browser
def test_a_missing_chunk_is_said_and_not_waited_for(chromium, hostile, tmp_path):
    copy = tmp_path / "page"
    shutil.copytree(hostile.parent, copy)
    (copy / "data" / "pair-0.js").unlink()
    assert "This view cannot be shown: data/pair-0.js cannot be read" in chromium(copy / "index.html", "/pair/0")


@pytest.mark.browser
def test_five_hundred_questions_with_64_rollouts_open_in_two_seconds(chromium, tmp_path):
    study = write_study(
        tmp_path / "study",
        make_plan(500, seeds=(0,), methods=("base", "majority")),
        500,
        n=64,
        text="a step of reasoning, then another. " * 8,
    )
    index = build(study, tmp_path / "page") / "index.html"
    (tmp_path / "blank.html").write_text("<!doctype html>")
    blank, _ = timed(chromium, tmp_path / "blank.html", "")
    for address, shown in (("/pair/0", "500 of 500 questions"), ("/pair/0/question/499", "64 roll-outs")):
        seconds, seen = timed(chromium, index, address)
        assert shown in seen
        assert seconds - blank < 2
