"""Jobs as authors write them, read as the compiler does."""

from __future__ import annotations

import json

from smspec.plan import BuildInputs
from smspec.source import Document, ListedFile, Listing, SourceText
from smspec.spec.decoding import decode
from smspec.spec.layers import merged
from smspec.spec.model import JobSpec
from smspec.spec.shape import shape_findings
from smspec.spec.yaml import read

IMAGE_URI = "111122223333.dkr.ecr.us-west-2.amazonaws.com/ready:1"
PLAIN = {
    "smspec": "v1",
    "name": "ctr-linear",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "region": "us-west-2",
    "image": {"base": "python:3.12-slim-bookworm"},
    "source": {"dir": "src/"},
    "entry_point": {"script": "train.py"},
    "channels": {"train": {"s3": "s3://example-data/ctr/train/"}},
    "hosts": {"instance_type": "ml.c5.xlarge", "count": 2, "volume": "50GB"},
    "output": {"s3": "s3://example-models/ctr/"},
}


def spec(**changes) -> dict[str, object]:
    """Return a plain job with keys replaced; None takes a key out."""
    return {key: value for key, value in {**PLAIN, **changes}.items() if value is not None}


def document(written: dict[str, object] | str) -> Document:
    """Return the merged document of a spec in YAML or JSON data."""
    text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
    return merged([read(SourceText(name="job.yaml", text=text))], None, {})


def decoded(written: dict[str, object] | str) -> JobSpec:
    """Return the job of a spec that has its shape."""
    tree = document(written)
    assert shape_findings(tree) == []
    return decode(tree)


def job(**changes) -> JobSpec:
    """Return a plain job with keys of its spec replaced; None takes a key out."""
    return decoded(spec(**changes))


def listing(*paths: str) -> Listing:
    """Return a listing of files whose contents are their paths; those below ``bin/`` are executable."""
    files = [
        ListedFile(
            path=path,
            origin=f"/somewhere/{path}",
            executable=path.startswith("bin/"),
            size=len(path),
            sha256=(path.encode().hex() + "0" * 64)[:64],
        )
        for path in sorted(paths, key=str.encode)
    ]
    return Listing(files=tuple(files))


def build_inputs(*paths: str, requirements: bytes | None = None) -> BuildInputs:
    """Return what a plan is made of; the source holds ``paths``, or else one script."""
    return BuildInputs(
        source=listing(*(paths or ("train.py",))),
        runtime=listing("__init__.py", "main.py"),
        templates="0" * 64,
        requirements=requirements,
    )
