"""What a study names by path, looked at while it is planned: no job starts for a folder that is not there."""

from pathlib import Path

from ttrlab.config.catalogue import PathModel
from ttrlab.config.study import Plan
from ttrlab.files import read_json

TEMPLATES = ("chat_template.jinja", "chat_template.json", "additional_chat_templates")
"""Where a tokenizer keeps its chat template, beside a key in ``tokenizer_config.json``."""


def check_paths(plan: Plan) -> None:
    """ValueError names the first model folder or benchmark file of the study that is not there or cannot serve."""
    for name, model in plan.catalogue.models.items():
        if model.source == "path":
            check_model(name, model)
    for name, benchmark in plan.catalogue.benchmarks.items():
        if benchmark.source == "path" and not Path(benchmark.path).is_file():
            raise ValueError(f"benchmarks.{name}.path: {benchmark.path} is no file")


def check_model(name: str, model: PathModel) -> None:
    """ValueError where the folder of the entry ``name`` is no model's, or has no chat template and the prompt style wants one."""
    folder = Path(model.path)
    if not (folder / "config.json").is_file():
        raise ValueError(f"models.{name}.path: {model.path} has no config.json, so it is no Hugging Face model folder")
    if model.prompt.template == "chat" and not has_chat_template(folder):
        raise ValueError(f"models.{name}.prompt.template is 'chat', but {model.path} has no chat template; use prompt: {{template: plain}}")


def has_chat_template(folder: Path) -> bool:
    """True where one of the files says how turns are written."""
    settings = folder / "tokenizer_config.json"
    return any((folder / file).exists() for file in TEMPLATES) or (settings.is_file() and bool(read_json(settings).get("chat_template")))
