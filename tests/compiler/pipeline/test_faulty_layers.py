"""A faulty layer skips only the checks that need its unknown values."""

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import check_spec
from smspec.source import Scalar, Sequence, SourceText
from smspec.spec.yaml import read
from support.spec.independent_faults import FAULTS, NEEDS, found, lay_out

GONE = "${{ vars.gone }}"

# Name → the code, the keys that are unknown because of it, and what is written.
LAYERS = {
    "value": ("SM125", {"retries": f"'{GONE}'"}),
    "text": ("SM125", {"output": f"s3://{GONE}/ctr/"}),
    "name": ("SM125", {"name": f"ctr-{GONE}"}),
    "role": ("SM125", {"role": GONE}),
    "nested": ("SM125", {"hosts": f"{{instance_type: '{GONE}', count: 2, volume: 50GB}}"}),
    "number": ("SM125", {"hosts": f"{{instance_type: ml.m5.xlarge, count: '{GONE}', volume: 50GB}}"}),
    "item": ("SM125", {"network": f"{{subnets: ['{GONE}'], security_groups: [sg-0bb]}}"}),
    "nested key": ("SM127", {"tags": f"{{'{GONE}': ads}}"}),
    "top-level key": ("SM127", {f"'{GONE}'": "5"}),
    "hyperparameter": ("SM125", {"hyperparameters": f"{{epochs: '{GONE}'}}"}),
    "variable": ("SM125", {"environment": f"{{NCCL_DEBUG: '{GONE}'}}"}),
    "channel": ("SM125", {"channels": f"{{train: '{GONE}'}}"}),
    "image": ("SM125", {"image": f"{{base: '{GONE}', python_packages: [numpy==2.1.0]}}"}),
    "package": ("SM125", {"image": f"{{base: 'python:3.12', python_packages: ['numpy=={GONE}']}}"}),
    "source": ("SM125", {"source": GONE}),
    "entry point": ("SM125", {"entry_point": GONE}),
    "ignored check": ("SM125", {"checks": f"{{ignore: [{{rule: '{GONE}', because: why}}]}}"}),
    "member": ("SM125", {"api": f"{{RemoteDebugConfig: {{EnableRemoteDebug: '{GONE}'}}}}"}),
    "launcher": ("SM125", {"distribution": f"'{GONE}'"}),
    "not closed": ("SM127", {"description": "'${{ vars.a'"}),
    "of another tool": ("SM127", {"description": "'${{ env.HOME }}'"}),
    "no value": ("SM126", {"vars": "{bucket: {}}", "checkpoints": "s3://${{ vars.bucket }}/"}),
    "declaration": ("SM123", {"vars": "{size: {defualt: 5}}", "retries": "'${{ vars.size }}'"}),
    "no declaration": ("SM123", {"vars": "{size: 5}"}),
    "list of variables": ("SM123", {"vars": "[size]"}),
    "number as an overlay": ("SM124", {"overlays": "{dev: 5}"}),
    "list of overlays": ("SM124", {"overlays": "[dev]"}),
    "overlay that extends": ("SM124", {"overlays": "{dev: {extends: [a.yaml], retries: 3}}"}),
    "value in an overlay": ("SM125", {"overlays": f"{{dev: {{retries: '{GONE}'}}, other: {{retries: 5}}}}"}),
}

IN_VAIN = "SM331"
"""An entry of `checks.ignore` may be there for the sake of what is unknown."""

BESIDE_EACH = 3 if settings.default.derandomize else len(FAULTS)
"""All pairs take minutes: `make explore` looks at them."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp("jobs"))


def keys(layer):
    return LAYERS[layer][1]


@pytest.mark.parametrize("layer", LAYERS)
def test_valid_job_with_a_faulty_layer_has_one_error(directory, layer):
    assert {code for code, _, _ in found(directory, more=keys(layer))} == {LAYERS[layer][0]}


@pytest.mark.parametrize("layer", LAYERS)
def test_other_faults_are_reported_as_without_the_faulty_layer(directory, layer):
    alone = found(directory, more=keys(layer))
    others = [fault for fault in FAULTS if FAULTS[fault][0] not in keys(layer)]
    for fault in random.Random(layer).sample(others, min(BESIDE_EACH, len(others))):
        expected = found(directory, fault)
        both = found(directory, fault, more=keys(layer))
        assert both - expected - alone == set(), f"{fault}: false"
        assert alone - both == set()
        if NEEDS.get(fault, set()) & set(keys(layer)):
            continue
        hidden = {one for one in expected - both if one[0] != IN_VAIN}
        if layer == "ignored check":
            hidden = {one for one in hidden if one[0].startswith("SM2")}
        assert hidden == set(), f"{fault}: hidden"


SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*/job.yaml"))


def values(node):
    """Yield where each value of a document is written that a variable could have instead."""
    if isinstance(node, Scalar):
        yield node.span
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from values(item)
    else:
        for key, value in node.entries:
            if key.text not in ("smspec", "vars"):
                yield from values(value)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.parent.name)
def test_unknown_variable_causes_no_second_error(spec, tmp_path):
    shutil.copytree(spec.parents[1], tmp_path / "specs")
    (tmp_path / ".git").mkdir()
    job = tmp_path / "specs" / spec.parent.name / "job.yaml"
    text = job.read_text()
    lines = text.split("\n")
    spans = [span for span in values(read(SourceText("", text)).root) if span.line == span.end_line]
    for span in random.Random(text).sample(spans, min(8 if BESIDE_EACH < 10 else 100, len(spans))):
        line = lines[span.line - 1]
        changed = f"{line[: span.column - 1]}'{GONE}'{line[span.end_column - 1 :]}"
        job.write_text("\n".join([*lines[: span.line - 1], changed, *lines[span.line :]]))
        checked = check_spec(str(job), None, {}, InputCache())
        assert [d.code for d in checked.diagnostics if d.severity != "note"] == ["SM125"], changed
