"""Import requests and compile the specs, for tests that compare both."""

from __future__ import annotations

import json

from smspec.importer.imported import Imported
from smspec.importer.marks import MARK
from smspec.importer.request_equality import differences
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from smspec.importer.spec_writer import WrittenSpec, write_spec
from smspec.plan.request_planning import make_plan
from smspec.source import Path, SourceText
from smspec.spec.decoding import decode
from smspec.spec.layers import merged
from smspec.spec.shape import shape_findings
from smspec.spec.yaml import read
from support.spec.job_samples import build_inputs


class ShapeFaults(Exception):
    """A spec violates the schema of a job."""


def imported(request: dict[str, object], **more: object) -> WrittenSpec:
    """Return the spec of a request."""
    return write_spec(Imported(form="a test", request=request, **more))


def imported_program(text: str) -> Imported:
    """Return the only job of a program."""
    return imported_job(found_jobs("program.py", text.encode()), None)


def without_names(value: object) -> object:
    """Return a part of a request with `?` for the variables, so that their names are free."""
    return json.loads(MARK.sub("?", json.dumps(value)))


def rendered(text: str, settings: dict[str, str] | None = None) -> dict[str, object]:
    """Return the request that a spec renders with these values of its variables.

    Raise `ShapeFaults` if it violates the schema.
    """
    tree = merged([read(SourceText(name="job.yaml", text=text))], None, settings or {})
    faults = shape_findings(tree)
    if faults:
        raise ShapeFaults(faults)
    return make_plan(decode(tree), build_inputs()).request.payload


def changed_paths(text: str, request: dict[str, object]) -> list[Path]:
    """Return the paths where the request of a spec differs from the expected one, except for a generated name."""
    payload = rendered(text)
    if "TrainingJobName" not in request:
        del payload["TrainingJobName"]
    return list(differences(payload, request))
