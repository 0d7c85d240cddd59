"""A botocore and a sagemaker-core that are newer than this smspec, as directories for PYTHONPATH."""

from __future__ import annotations

import glob
import gzip
import json
import os
from pathlib import Path

from smspec.service.facts.installed_packages import service_model

MEMBER, VALUE, TYPE, SIZE = "CapacityReservationId", "ZSTD", "ml.p9.48xlarge", "ml.m5.96xlarge"


def newer_botocore(directory: Path, version: str = "1.999.0") -> Path:
    """Write a botocore whose model has a new member, a new structure, new values, and a higher limit."""
    model = service_model()
    assert model is not None
    shapes: dict[str, dict] = model["shapes"]
    shapes["ResourceConfig"]["members"][MEMBER] = {"shape": MEMBER}
    shapes[MEMBER] = {"type": "string", "min": 3, "max": 12, "pattern": "(a+)+$"}
    shapes["OutputCompressionType"]["enum"].append(VALUE)
    shapes["TrainingInstanceType"]["enum"] += [TYPE, SIZE]
    shapes["InputDataConfig"]["max"] += 10
    shapes["TrainingInputMode"]["enum"].remove("Pipe")
    shapes["CreateTrainingJobRequest"]["required"].append("Tags")
    shapes["CreateTrainingJobRequest"]["members"]["GreenConfig"] = {"shape": "GreenConfig"}
    members = {"Level": {"shape": "GreenLevel"}, "Until": {"shape": "Timestamp"}}
    shapes["GreenConfig"] = {"type": "structure", "required": ["Level"], "members": members}
    shapes["GreenLevel"] = {"type": "integer", "min": 1, "max": 3}
    shapes["Timestamp"] = {"type": "timestamp"}
    place = directory / "botocore" / "data" / "sagemaker" / "2017-07-24"
    place.mkdir(parents=True)
    (directory / "botocore" / "__init__.py").write_text("raise ImportError('this package is only read')\n")
    with gzip.open(place / "service-2.json.gz", "wt") as file:
        json.dump({"shapes": {name: shape for name, shape in shapes.items() if name in _reachable(shapes)}}, file)
    return _distribution(directory, "botocore", version)


def newer_sagemaker_core(directory: Path, tag: str, version: str = "99.1.0") -> Path:
    """Write a sagemaker-core with one more image of PyTorch. The tag has its version, processor, and Python."""
    release, processor, python = tag.split("-")
    listed = {
        "repository": "pytorch-training",
        "py_versions": [python],
        "registries": {"us-west-2": "763104351884"},
    }
    training = {"processors": [processor], "version_aliases": {}, "versions": {release: listed}}
    place = directory / "sagemaker" / "core" / "image_uri_config"
    place.mkdir(parents=True)
    (place / "pytorch.json").write_text(json.dumps({"training": training}))
    return _distribution(directory, "sagemaker-core", version)


def _distribution(directory: Path, name: str, version: str) -> Path:
    for other in glob.glob(os.path.join(directory, f"{name.replace('-', '_')}-*.dist-info")):
        os.rename(other, f"{other}.gone")
    metadata = directory / f"{name.replace('-', '_')}-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return directory


def _reachable(shapes: dict[str, dict]) -> set[str]:
    found: set[str] = set()
    waiting = ["CreateTrainingJobRequest"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            shape = shapes[name]
            parts = [
                *shape.get("members", {}).values(),
                *(shape[key] for key in ("member", "key", "value") if key in shape),
            ]
            waiting += [part["shape"] for part in parts]
    return found
