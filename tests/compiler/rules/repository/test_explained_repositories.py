"""The SM7 pages: the first pair of specs has the finding, the second does not."""

import json
import re

import pytest

from smspec.diagnostics.explanation import explanation
from support.smspec_command import smspec

CODES = [f"SM70{number}" for number in range(1, 9)]
WHOLE = {
    "smspec": "v1",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "image": "111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr@sha256:" + "0" * 64,
    "hosts": {"instance_type": "ml.m5.large", "count": 1},
}


def write(directory, piece):
    """Write the specs of an example, each under a line with its name; a job gets what it lacks."""
    parts = re.split(r"^# (\S+\.yaml)\n", piece, flags=re.MULTILINE)[1:]
    for file, text in zip(parts[::2], parts[1::2], strict=True):
        defaults = {**WHOLE, "output": f"s3://models/{file}/"} if "name:" in text else {}
        lines = [f"{key}: {json.dumps(value)}\n" for key, value in defaults.items() if f"{key}:" not in text]
        (directory / file).parent.mkdir(exist_ok=True)
        (directory / file).write_text(text + "".join(lines))


def codes(directory):
    """Return the codes of the findings between several specs."""
    records = json.loads(smspec("validate", ".", "--format", "json", cwd=directory).out)
    return {record["code"] for record in records if record["code"].startswith("SM7")}


@pytest.mark.parametrize("code", CODES)
def test_example_fails_and_its_fix_passes(code, tmp_path):
    wrong, right = re.findall(r"```yaml\n(.*?)```", explanation(code), re.DOTALL)
    for name, piece in (("wrong", wrong), ("right", right)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, piece)
    assert code in codes(tmp_path / "wrong")
    assert codes(tmp_path / "right") == set()
