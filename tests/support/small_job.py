"""A small job on disk for tests that need any spec."""

from __future__ import annotations

from pathlib import Path

READY = """\
smspec: v1
name: small
role: arn:aws:iam::111122223333:role/SageMakerTraining
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
output: s3://models/small/
"""
"""A spec without files beside it."""

BUILT = """\
smspec: v1
name: small
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {base: "python:3.12-slim-bookworm"}
source: src/
entry_point: train.py
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
hyperparameters: {epochs: 2}
output: s3://models/small/
"""
"""A spec with a source, which `write_job` writes."""

PROGRAM = """\
import os
print("trained")
open(os.path.join(os.environ["SM_MODEL_DIR"], "model.txt"), "w").write("weights")
"""


def write_job(directory: Path, spec: str = BUILT, **files: str) -> Path:
    """Write job.yaml, src/train.py and more files (their names with `/` for `__`); return the path of the spec."""
    contents = {"job.yaml": spec, "src/train.py": PROGRAM, **{k.replace("__", "/"): v for k, v in files.items()}}
    for name, content in contents.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return directory / "job.yaml"
