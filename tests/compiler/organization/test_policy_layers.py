"""A file in an inner directory only tightens the policy of those above it, whatever both contain."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.diagnostics import Finding, InvalidInput
from smspec.organization.organization_config import OrganizationConfig
from smspec.organization.policy_file import POLICY_KEYS, OwnPolicy, read_values
from smspec.organization.policy_layers import combined_policy
from smspec.rules.suppressions import not_ignored
from smspec.service.policy import LEVELS, at_level, without_known
from smspec.service.policy_rules import policy_findings
from smspec.service.policy_rules.requirements import missing_required_base
from smspec.service.request import Request
from smspec.service.request_rules import request_findings
from smspec.source.frozen import replace
from smspec.spec.model import IgnoredCheck

FAMILIES = ["m5", "g5", "p4d"]
REGIONS = ["us-west-2", "eu-west-1"]
REGISTRIES = ["111122223333.dkr.ecr.us-west-2.amazonaws.com", "docker.io"]
PLACES = [*REGISTRIES, f"{REGISTRIES[0]}/small", f"{REGISTRIES[0]}/small/", "docker.io/library", "quay.io"]
CODES = ["SM332", "SM740", "SM745", "SM748", "SM750", "SM751"]
TYPES = ["ml.m5.large", "ml.g5.xlarge", "ml.x9.large"]
BASES = ["org/base.yaml", "org/other.yaml"]
NEWER = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:9.9.0-gpu-py399"


def some(values):
    """Return lists of some of these values."""
    chosen = st.tuples(*(st.booleans() for _ in values))
    return chosen.map(lambda wanted: [value for value, is_in in zip(values, wanted, strict=True) if is_in])


def tables(strategies):
    """Return tables with some of these keys."""
    drawn = st.tuples(*(st.none() | values for values in strategies.values()))
    return drawn.map(
        lambda values: {key: value for key, value in zip(strategies, values, strict=True) if value is not None}
    )


VALUES = {
    "required_tags": some(["team", "owner"])
    | tables({"team": some(["ads", "search"]), "owner": some(["ads", "search"])}),
    "allowed_instance_families": some([*FAMILIES, "ml.m5"]),
    "allowed_regions": some(REGIONS),
    "allowed_registries": some(PLACES),
    "require_kms": st.booleans(),
    "require_vpc": st.booleans(),
    "require_base": some(BASES).filter(bool),
    "max_cost": st.sampled_from([0, 1, 5, 1000]),
    "max_hours": st.sampled_from([0, 1, 24, 1000]),
    "allowed_queues": some(["training", "research"]),
    "max_priority": st.sampled_from([0, 5, 9999]),
    "allow_ignores": st.booleans() | some(CODES),
    "rules": tables(dict.fromkeys(CODES, st.sampled_from(LEVELS))),
    "prices": tables(dict.fromkeys(TYPES, st.sampled_from([0, 1, 2]))),
    "defaults": st.sampled_from([{}, {"region": "us-west-2"}, {"tags": {"team": "ads"}}]),
    "facts": tables(
        {
            "images": some(["pytorch-training:9.9.0-gpu-py399", NEWER]),
            "instance_types": some(["ml.x9.large", "ml.m5.32xlarge"]),
            "members": some(["ResourceConfig.CapacityReservationId"]),
            "today": st.sampled_from(["2020-02-29", "2099-01-01"]),
        }
    ),
    "registry": tables(
        {
            "create": st.booleans(),
            "scan_on_push": st.booleans(),
            "immutable_tags": st.booleans(),
            "keep_images": st.sampled_from([1, 5, 100]),
        }
    ),
    "rule_files": some(["rules/*.yaml"]).map(lambda _: []),
}
"""A strategy for the values of every key."""

TABLES = tables(VALUES)


def request(kind, image, **members):
    return {
        "TrainingJobName": "small",
        "RoleArn": "arn:aws:iam::111122223333:role/SageMakerTraining",
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://models/small/"},
        "ResourceConfig": {"InstanceType": kind, "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 7200},
        **members,
    }


REQUESTS = [
    request("ml.m5.large", f"{REGISTRIES[0]}/small:latest"),
    request("ml.m5.large", f"{REGISTRIES[0]}/small:latest", Tags=[{"Key": "team", "Value": "ads"}]),
    request("ml.g5.xlarge", "docker.io/library/python:latest", Tags=[{"Key": "owner", "Value": "x"}]),
    request("ml.x9.large", NEWER, VpcConfig={"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}),
    request("ml.m5.32xlarge", "quay.io/small/a:latest"),
]


FINDINGS = {id(payload): request_findings(payload, region="us-west-2") for payload in REQUESTS}


def read(tables, path):
    return read_values(OrganizationConfig(path, tables, json.dumps(tables).encode()))


def together(outer, inner):
    """Return what applies for both, also where the inner file is rejected because it is weaker."""
    values = dict(outer.values)
    for key, value in inner.values.items():
        values[key] = POLICY_KEYS[key].combine(values.get(key), value)[0]
    both = combined_policy([OwnPolicy(inner.file, values)])
    limit = combined_policy([outer]).priced_by
    return both if limit is None else replace(both, priced_by=limit)


def reported(policy, payload):
    """Return (code, path) → severity of all findings in a request; a spec tries to ignore everything."""
    asked = Request(payload=payload, region="us-west-2")
    found = without_known(FINDINGS[id(payload)], asked, policy.facts)
    found += policy_findings(asked, policy)
    found += missing_required_base(["job.yaml", "org/base.yaml"], policy)
    ignored = [IgnoredCheck(rule=code, at="", because="no") for code in CODES]
    kept = not_ignored(at_level(found, policy.levels, policy.floors), ignored, policy)
    severities: dict[tuple[object, ...], str] = {}
    for finding in kept:
        assert isinstance(finding, Finding)
        key = finding.code, finding.path
        severities[key] = min(finding.severity, severities.get(key, "off"), key=LEVELS.index)
    severities.pop(("SM331", ()), None)
    return {key: level for key, level in severities.items() if key[0] != "SM331"}


def test_every_key_of_a_policy_has_values_here():
    """A new key needs a line here, and says in `POLICY_KEYS` how it combines."""
    assert VALUES.keys() == POLICY_KEYS.keys()


@pytest.mark.parametrize("key", sorted(VALUES))
def test_inner_files_hide_no_finding_of_outer_ones(key):
    @settings(max_examples=30)
    @given(st.data())
    def check(data):
        outer = read(data.draw(TABLES, "outer"), "smspec.toml")
        inner = read({key: data.draw(VALUES[key], "inner")}, "jobs/smspec.toml")
        alone, both = combined_policy([outer]), together(outer, inner)
        for payload in REQUESTS:
            before, after = reported(alone, payload), reported(both, payload)
            for place, severity in before.items():
                # A price that only the inner file knows can show that the cost is above the limit.
                assert LEVELS.index(after.get(place, "off")) <= LEVELS.index(severity), (place, before, after)
        for name in ("scan_on_push", "immutable_tags"):
            assert getattr(both.registry, name) >= getattr(alone.registry, name)
        assert both.registry.create <= alone.registry.create
        assert (both.registry.keep_images or Fraction(10**9)) >= (alone.registry.keep_images or 0)

    check()


@settings(max_examples=60)
@given(TABLES, TABLES)
def test_all_keys_of_an_inner_file_tighten_or_are_errors(outer, inner):
    """Where no error is reported, all that the inner file requires on its own is also reported, but for `[rules]`."""
    outer, inner = read(outer, "smspec.toml"), read(inner, "jobs/smspec.toml")
    try:
        both = combined_policy([outer, inner])
    except InvalidInput as rejected:
        assert {diagnostic.code for diagnostic in rejected.diagnostics} == {"SM760"}
        for diagnostic in rejected.diagnostics:
            assert diagnostic.span.file == "jobs/smspec.toml"
            assert [note.span.file for note in diagnostic.notes] == ["smspec.toml"]
        return
    for payload in REQUESTS:
        before = reported(combined_policy([outer]), payload)
        after = reported(both, payload)
        assert all(LEVELS.index(after.get(place, "off")) <= LEVELS.index(level) for place, level in before.items())


@settings(max_examples=40)
@given(TABLES)
def test_same_file_twice_changes_nothing(tables):
    tables.pop("require_base", None)  # it is relative to the file
    outer, inner = read(tables, "smspec.toml"), read(tables, "jobs/smspec.toml")
    loosening = {"allow_ignores", "facts", "rules", "registry"} & tables.keys()
    try:
        both = combined_policy([outer, inner])
    except InvalidInput:
        assert loosening
        return
    for payload in REQUESTS:
        assert reported(both, payload) == reported(combined_policy([outer]), payload)
