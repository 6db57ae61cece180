"""docs/your-own.md, followed to the letter: a model and questions of one's own, of an architecture that nothing here was written for."""

import json
import re
import shutil
import textwrap
from pathlib import Path

import pandas as pd
import pytest
import yaml
from transformers import AutoModelForCausalLM, GPTNeoXConfig

from tests.engines.tiny import VOCABULARY, tokenizer
from tests.workflow.world import ROOT, snakemake

TEMPLATE = "{% for m in messages %}{{ m.content }}\n\n{% endfor %}"
PAGE = (ROOT / "docs/your-own.md").read_text()


def blocks(language):
    """File name -> text of the page's code blocks whose first line names a file."""
    found = re.findall(rf"```{language}\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
    return {name: textwrap.dedent(text) for name, text in found}


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The page's files, with a tiny GPT-NeoX in the place of the model, and a whole run of its study."""
    folder = tmp_path_factory.mktemp("own")
    sizes = {"vocab_size": len(VOCABULARY), "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = GPTNeoXConfig(**sizes, max_position_embeddings=128, bos_token_id=0, eos_token_id=1)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder / "my-model")
    tokenizer().save_pretrained(folder / "my-model")
    (folder / "my-model" / "chat_template.jinja").write_text(TEMPLATE)
    files = blocks("yaml")
    assert set(files) == {"own/models/mine.yaml", "own/benchmarks/mine.yaml", "own/methods/mine.yaml", "own/study.yaml"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    rows = [{"question": f"{a}+{b}", "answer": str(a + b)} for a in range(4) for b in range(3)]
    (folder / "own" / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.copy(folder / "own" / "study.yaml", folder / "study.yaml")
    done = snakemake(folder)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder


def test_the_study_of_the_page_ends_in_scores_of_every_cell(followed):
    study = yaml.safe_load(Path(followed / "study.yaml").read_text())
    summary = pd.read_csv(followed / "results/mine/summary.csv")
    scored = summary[summary.endpoint & (summary.metric == study["evaluation"]["metrics"][0])]
    assert set(scored.method) == set(study["methods"])
    assert scored.n.unique().tolist() == [12]


def test_the_questions_reached_the_model_through_its_own_chat_template(followed):
    questions = (followed / "results/mine/data/my-questions/questions.jsonl").read_text()
    assert "answer" not in questions
    assert (followed / "results/mine/page/index.html").exists()
