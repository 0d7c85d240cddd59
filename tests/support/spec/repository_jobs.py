"""Small jobs in one directory, and their common findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from support.smspec_command import smspec

JOB = """\
smspec: v1
name: {name}
role: arn:aws:iam::111122223333:role/SageMakerTraining
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/{name}@sha256:{digest}
hosts: {{instance_type: ml.m5.large, count: 1, volume: 10GB}}
"""


class Reported(NamedTuple):
    code: str
    file: str
    line: int
    message: str


def job(name: str, more: str = "") -> str:
    """Return a valid spec with a separate output unless ``more`` sets one."""
    output = "" if "output:" in more else f"output: s3://models/{name}/\n"
    return JOB.format(name=name, digest="0" * 64) + output + more


def reported(directory: Path, *words: str, **specs: str) -> list[Reported]:
    """Write specs (``a__b`` is a/b.yaml), validate the directory or ``words``, and return the SM7 findings."""
    for name, text in specs.items():
        path = directory / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    records = json.loads(smspec("validate", *(words or ["."]), "--format", "json", cwd=directory).out)
    # SM331 is told of entries that expect one of these.
    found = [Reported(r["code"], r["file"], r["line"], r["message"]) for r in records]
    return [one for one in found if one.code.startswith("SM7") or one.code == "SM331"]


def codes(directory: Path, *words: str, **specs: str) -> list[str]:
    return [one.code for one in reported(directory, *words, **specs)]
