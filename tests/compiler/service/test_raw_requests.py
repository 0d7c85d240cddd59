"""Every request rule, broken in a raw request, is reported at its path and position."""

import json
import re
from pathlib import Path

import pytest

from smspec.pipeline.request_file import check_request
from smspec.service.instance_types import UNKNOWN_INSTANCE_TYPE
from smspec.source import SourceText, dotted
from support.service.api_samples import small_request, with_the_pinned_model
from support.service.faulty_algorithm_requests import ABOUT_ALGORITHMS, ABOUT_LAUNCHERS
from support.service.faulty_data_requests import ABOUT_DATA
from support.service.faulty_job_requests import ABOUT_THE_JOB
from support.service.raw_requests import GONE, changed, place_of, written

FAULTY = [*ABOUT_DATA, *ABOUT_THE_JOB, *ABOUT_ALGORITHMS, *ABOUT_LAUNCHERS]
RULES = Path(__file__).parents[3] / "compiler" / "smspec" / "service" / "request_rules"
REJECTED = Path(__file__).parents[2] / "rejected"
IDS = [f"{rule} {dotted(path)}" for rule, _, path, _ in FAULTY]

# The region of a raw request is that of its image, so no image is from another one; and a member that only answers
# have is refused as unknown before.
NOT_IN_RAW_REQUESTS = {"SM371", "SM434"}


def checked(request):
    return check_request(SourceText("request.json", written(request))).diagnostics


def found_at(changes, path, code):
    request = changed(small_request(), *changes)
    return request, [d for d in checked(request) if (d.code, d.path) == (code, path)]


def test_unchanged_request_has_no_findings():
    assert checked(small_request()) == ()


@pytest.mark.parametrize(("rule", "changes", "path", "code"), FAULTY, ids=IDS)
def test_broken_rule_is_located_at_its_path(rule, changes, path, code):
    _, found = found_at(changes, path, code)
    assert len(found) == 1, rule


def test_almost_all_faults_are_located_at_their_member():
    exact = 0
    for _, changes, path, code in FAULTY:
        request, (found,) = found_at(changes, path, code)
        here = (found.span.line, found.span.column)
        exact += here in (place_of(request, path, "value"), place_of(request, path, "key"))
    assert len(FAULTY) >= 100
    assert exact >= 0.95 * len(FAULTY), f"{exact} of {len(FAULTY)}"


FILES = {"FileSystemId": "fs-0123456789abcdef0", "FileSystemType": "EFS", "FileSystemAccessMode": "ro"}
MOUNTED = ("InputDataConfig", 0, "DataSource", "FileSystemDataSource")
IMAGE = ("AlgorithmSpecification", "TrainingImage")
ACCESS = ("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode")
ALGORITHM = ("AlgorithmSpecification", "AlgorithmName")
SPOT = ("EnableManagedSpotTraining",)
ASKED_FOR = [
    ("SM443", [(MOUNTED[:-1], {MOUNTED[-1]: {**FILES, "DirectoryPath": "/data"}})], MOUNTED, "value"),
    ("SM437", [(IMAGE, "registry.example/ctr:1")], IMAGE, "value"),
    ("SM438", [(IMAGE, "registry.example/ctr:1"), (ACCESS, "Vpc")], ACCESS, "value"),
    ("SM354", [(SPOT, True), (("StoppingCondition",), {"MaxWaitTimeInSeconds": 90_000})], SPOT, "key"),
    ("SM359", [(IMAGE, GONE), (ALGORITHM, f"arn:aws:sagemaker:us-west-2:{'4' * 12}:algorithm/a")], ALGORITHM, "key"),
]


@pytest.mark.parametrize(("code", "changes", "cause", "on"), ASKED_FOR, ids=[code for code, *_ in ASKED_FOR])
def test_missing_member_is_located_at_its_cause(code, changes, cause, on):
    request = changed(small_request(), *changes)
    (found,) = (diagnostic for diagnostic in checked(request) if diagnostic.code == code)
    assert (found.span.line, found.span.column) == place_of(request, cause, on)


def test_every_request_rule_has_a_faulty_request():
    codes = {
        word
        for path in RULES.rglob("*.py")
        for word in path.read_text().split('"')
        if word[:2] == "SM" and len(word) == 5
    }
    assert len(codes) > 95
    found = {code for *_, code in FAULTY}
    expected = codes - NOT_IN_RAW_REQUESTS - {UNKNOWN_INSTANCE_TYPE.code}
    assert not found - expected
    for case in REJECTED.glob("*/request.json"):
        found |= set(re.findall(r"\[(SM\d{3})\]", case.with_name("expected.txt").read_text()))
    assert not expected - found, f"no request.json in tests/rejected for {sorted(expected - found)}"


@with_the_pinned_model
def test_botocore_finds_only_a_fraction():
    """Its validator checks types, required members, and minimum lengths, but no combinations."""
    session = pytest.importorskip("botocore.session")
    validate = pytest.importorskip("botocore.validate")
    model = session.Session().get_service_model("sagemaker")
    shape = model.operation_model("CreateTrainingJob").input_shape
    validator = validate.ParamValidator()

    def caught(request):
        return validator.validate(json.loads(written(request)), shape).has_errors()

    assert not caught(small_request())
    count = sum(caught(changed(small_request(), *changes)) for _, changes, _, _ in FAULTY)
    assert count <= 0.1 * len(FAULTY), f"botocore catches {count} of {len(FAULTY)}"
