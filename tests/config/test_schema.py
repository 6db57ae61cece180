import json

import pytest

from tests.workflow.world import ROOT
from ttrlab.stages.schema import schemas, write_schemas

COMMITTED = ROOT / "config" / "schema"


@pytest.mark.parametrize("name", sorted(schemas()))
def test_the_committed_schema_is_that_of_the_types(name):
    assert json.loads((COMMITTED / name).read_text()) == json.loads(json.dumps(schemas()[name])), "run `make schema`"


def test_no_schema_is_left_over():
    assert {path.name for path in COMMITTED.iterdir()} == set(schemas())


def test_writing_schemas_says_what_was_written(tmp_path):
    assert "study.json" in write_schemas(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(schemas())
