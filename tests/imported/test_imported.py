"""Each directory contains a training job in an importable form and the exact result of its import.

``source.*`` is what is imported, ``job.yaml`` what is printed, ``said.txt`` what is said beside it. `make golden`
rewrites the two; then read the diff.
"""

import json
from pathlib import Path

import pytest

from smspec.diagnostics import InvalidInput
from smspec.importer.request_equality import differences, expected_request
from smspec.importer.source_reader import read_source
from smspec.importer.sources import SOURCES, imported
from smspec.importer.spec_writer import write_spec
from smspec.render.spec_yaml import spec_yaml
from smspec.source import Document, Mapping, SourceText
from smspec.spec.yaml import read
from support.render.terraform_files import plan_of
from support.service.imported_requests import ShapeFaults, rendered
from support.smspec_command import smspec

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/source.*"))
INCOMPLETE = ("a-request-that-is-refused",)
REQUESTS = sorted(HERE.parent.glob("golden/*/create-training-job.json"))


def source_of(case):
    return next(case.glob("source.*"))


def settings_of(case):
    """Return values for the variables of a case that have no default, as arguments."""
    return [word for name, value in written_of(case).settings.items() for word in ("--set", f"vars.{name}={value}")]


def written_of(case):
    source = source_of(case)
    return write_spec(imported(read_source(source.name, source.read_bytes()).data))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_printed_spec_equals_the_expected_file(case, update):
    done = smspec("import", source_of(case).name, cwd=case)
    assert done.status == (case.name in INCOMPLETE)
    if update:
        (case / "job.yaml").write_text(done.out, encoding="utf-8")
        (case / "said.txt").write_text(done.err, encoding="utf-8")
    assert done.out == (case / "job.yaml").read_text(encoding="utf-8")
    assert done.err == (case / "said.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_printed_spec_validates_as_reported_by_import(case, tmp_path):
    """`validate` reports the faults that `import` reported."""
    (tmp_path / "job.yaml").write_text((case / "job.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    done = smspec("validate", "job.yaml", *settings_of(case), cwd=tmp_path)
    assert done.status == (case.name in INCOMPLETE), done.err


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in INCOMPLETE], ids=lambda case: case.name)
def test_request_round_trips(case, tmp_path):
    source = source_of(case)
    found = imported(read_source(source.name, source.read_bytes()).data)
    written = write_spec(found)
    assert written.request == found.request
    (tmp_path / "job.yaml").write_text(written.text, encoding="utf-8")
    payload = json.loads(smspec("render", "--api-json", *settings_of(case), cwd=tmp_path).out)
    if "TrainingJobName" not in found.request:
        del payload["TrainingJobName"]
    assert list(differences(payload, expected_request(found, payload))) == []


def test_every_form_has_an_example():
    detected = set()
    for case in CASES:
        data = read_source("source", source_of(case).read_bytes()).data
        detected.add(next(source for source in SOURCES if source.detect(data)))
    assert detected == set(SOURCES)


@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: path.parent.name)
def test_build_is_imported_to_the_same_request(path, tmp_path):
    done = smspec("import", str(path))
    assert done.status == 0
    assert "job_name" not in done.out, "the name is the one that the spec gives its job"
    assert "api:" not in done.out
    (tmp_path / "job.yaml").write_text(done.out, encoding="utf-8")
    again = smspec("render", "--api-json", cwd=tmp_path)
    assert json.loads(again.out) == json.loads(path.read_text(encoding="utf-8"))


def cuts(node, path=()):
    """Yield the path of every entry of a tree of mappings."""
    for key, value in node.entries if isinstance(node, Mapping) else ():
        yield (*path, key.text)
        yield from cuts(value, (*path, key.text))


def without(node, path):
    """Return a mapping without one entry."""
    entries = [
        (key, without(value, path[1:]) if key.text == path[0] else value)
        for key, value in node.entries
        if path != (key.text,)
    ]
    return Mapping(tuple(entries), node.span)


# What a job is called by and where it runs are no part of its request, but of every spec.
NO_REQUEST = ("smspec", "name", "region", "queue", "vars")


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in INCOMPLETE], ids=lambda case: case.name)
def test_every_printed_key_is_necessary(case):
    """Without any one of its keys, the spec is invalid or a different job."""
    tree = read(SourceText("job.yaml", (case / "job.yaml").read_text(encoding="utf-8")))
    settings = written_of(case).settings
    request = rendered(spec_yaml(tree), settings)
    for path in cuts(tree.root):
        if path[0] in NO_REQUEST:
            continue
        try:
            assert rendered(spec_yaml(Document(without(tree.root, path), tree.texts)), settings) != request, path
        except (InvalidInput, ShapeFaults):
            continue  # no job any more


def without_empty_lists(value):
    if isinstance(value, dict):
        return {name: without_empty_lists(inner) for name, inner in value.items() if inner != []}
    return value


@pytest.mark.parametrize("target", ["api-json", "ack", "step-functions", "batch", "terraform"])
@pytest.mark.parametrize("case", [c for c in CASES if c.name not in INCOMPLETE], ids=lambda case: case.name)
def test_exports_round_trip(case, target, tmp_path):
    (tmp_path / "job.yaml").write_text((case / "job.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    settings = settings_of(case)
    exported = smspec(
        "render", *([f"--{target}"] if target != "batch" else ["--batch", "training"]), *settings, cwd=tmp_path
    )
    text = json.dumps(plan_of(exported.out)) if target == "terraform" else exported.out
    (tmp_path / "exported").write_text(text, encoding="utf-8")
    request = smspec("render", "--api-json", *settings, cwd=tmp_path).out
    (tmp_path / "job.yaml").write_text(smspec("import", "./exported", cwd=tmp_path).out, encoding="utf-8")
    again = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    sent = json.loads(request)
    if target == "batch":  # AWS Batch names the training job itself
        del again["TrainingJobName"], sent["TrainingJobName"]
    if target == "terraform":  # a list of no blocks is no block
        again, sent = without_empty_lists(again), without_empty_lists(sent)
    assert again == sent
