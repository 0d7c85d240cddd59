"""The explanation pages: the first spec has the finding, the second does not."""

import json
import re

import pytest
import yaml

from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.proof import CODES as OF_PROOFS
from support.script.read_programs import findings
from support.smspec_command import smspec

OF_FILES = ("SM541", "SM542", "SM553")
CODES = [
    code
    for code in explained_codes()
    if code.startswith("SM5") and code not in OF_PROOFS and ("```python" in explanation(code) or code in OF_FILES)
]
OF_MODULES = [code for code in CODES if "SM517" <= code <= "SM523" or code in (*OF_FILES, "SM556", "SM558", "SM561")]
OTHERS = {"train.ipynb": "{}\n", "run.sh": "pip install numpy\nexec python3 train.py\n", "start.sh": "cd .\r\n"}
JOB = {
    "smspec": "v1",
    "name": "ctr",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "region": "us-west-2",
    "image": {"base": "python:3.12-slim-bookworm"},
    "hosts": {"instance_type": "ml.m5.large", "count": 1, "volume": "10GB"},
    "output": "s3://example-models/ctr/",
    "source": "src/",
    "entry_point": "train.py",
}


def example(code, index):
    """Return the script and the piece of a spec of an example; a page may have one script for both."""
    page = explanation(code)
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    programs = programs or ["print('training')\n"]
    assert len(programs) in (1, 2)
    piece = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[index]
    return programs[min(index, len(programs) - 1)], yaml.safe_load(piece)


def found(code, index, directory):
    program, piece = example(code, index)
    if code not in OF_MODULES:
        return {finding.code for finding in findings(program, **piece)}
    entry = {**JOB, **piece}["entry_point"]
    handler = entry.get("pipe_loop", "") if isinstance(entry, dict) else ""
    (directory / "src").mkdir()
    (directory / "src" / (f"{handler.partition(':')[0] or 'train'}.py")).write_text(program)
    for name, text in OTHERS.items():
        (directory / "src" / name).write_text(text)
    (directory / "job.yaml").write_text(json.dumps({**JOB, **piece}))
    records = json.loads(smspec("validate", "--format", "json", cwd=directory).out)
    return {record["code"] for record in records} - {"SM512"}


@pytest.mark.parametrize("code", CODES)
def test_example_has_its_finding(code, tmp_path):
    assert found(code, 0, tmp_path) == {code}


@pytest.mark.parametrize("code", CODES)
def test_fixed_example_has_no_finding(code, tmp_path):
    assert found(code, 1, tmp_path) == set()
