"""Every limit of the API model is checked at every path, with a clear message."""

import copy

import pytest
from botocore import session, validate
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.service import shape_limits
from smspec.service.request_rules import request_findings
from smspec.service.shape_limits import SHAPE_RULES, limit_findings
from smspec.service.shapes import pinned_model
from smspec.source import dotted
from support.examples import at_most
from support.service import api_samples, request_strategies

MODEL = pinned_model()
PLACES = list(MODEL.walk())
CHANNEL = {
    "ChannelName": "train",
    "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/train/"}},
}
SHAPE_CODES = {rule.code for rule in SHAPE_RULES}


def request_with(path):
    request = api_samples.small_request()
    holder, key = api_samples.fill(request, path)
    return request, holder, key


def codes_at(request, path):
    return sorted(finding.code for finding in request_findings(request) if finding.path == path)


@pytest.mark.parametrize("path", [path for path, _ in PLACES], ids=dotted)
def test_valid_value_is_accepted_at_every_path(path):
    request = request_with(path)[0]
    assert not [finding for finding in request_findings(request) if finding.code in SHAPE_CODES]


def wrong_values(shape):
    """Return values that each break one constraint of a shape, with the expected code."""
    wrong_type = [5] if shape.kind in ("string", "boolean", "list", "map", "structure") else ["5", True, 1.5]
    yield from ((value, "SM401") for value in [*wrong_type, None])
    if shape.kind == "string":
        if shape.maximum:
            yield "a" * (shape.maximum + 1), "SM405"
        if shape.minimum:
            yield "", "SM404"
        if shape.enum:
            yield "no such word", "SM407"
        elif shape.pattern and shape.pattern != r"[\S\s]*":
            yield "\n" * max(1, shape.minimum or 0), "SM406"
    elif shape.kind in ("integer", "long"):
        yield (shape.maximum or 2**63 - 1) + 1, "SM409"
        yield (-(2**63) if shape.minimum is None else shape.minimum) - 1, "SM408"
    elif shape.kind == "list":
        if shape.minimum:
            yield [], "SM410"
        if shape.maximum:
            yield [api_samples.value(MODEL, MODEL.shapes[shape.item])] * (shape.maximum + 1), "SM411"
    elif shape.kind == "map":
        key = MODEL.shapes[shape.key]
        inner = api_samples.value(MODEL, MODEL.shapes[shape.item])
        if shape.maximum:
            yield {f"k{number}": inner for number in range(shape.maximum + 1)}, "SM412"
        yield {"k" * ((key.maximum or 0) + 1): inner}, "SM405"


@pytest.mark.parametrize(("path", "shape"), PLACES, ids=[dotted(path) for path, _ in PLACES])
def test_every_limit_is_checked_at_every_path(path, shape):
    for wrong, code in wrong_values(shape):
        request, holder, key = request_with(path)
        holder[key] = wrong
        where = api_samples.concrete(MODEL, path)
        found = [(finding.code, finding.path) for finding in request_findings(request)]
        if code == "SM405" and shape.kind == "map":
            where = (*where, *wrong)
        assert (code, where) in found, wrong


@pytest.mark.parametrize(
    ("path", "shape"),
    [(path, shape) for path, shape in PLACES if shape.kind == "structure"],
    ids=[dotted(path) for path, shape in PLACES if shape.kind == "structure"],
)
def test_every_structure_checks_its_members(path, shape):
    request, holder, key = request_with(path)
    here = api_samples.concrete(MODEL, path)
    holder[key] = {"Nonsense": 1}
    expected = {("SM402", (*here, "Nonsense")), *(("SM403", (*here, name)) for name in shape.required)}
    assert expected <= {(finding.code, finding.path) for finding in request_findings(request)}


MESSAGES = [
    ({"TrainingJobName": "a_b"}, "`TrainingJobName` does not match the API pattern"),
    ({"TrainingJobName": "a" * 64}, "`TrainingJobName` has 64 characters; the maximum is 63"),
    ({"HyperParameters": {"x": "1" * 2600}}, "`HyperParameters.x` has 2,600 characters; the maximum is 2,500"),
    ({"HyperParameters": {"x": "a\u2028b"}}, "`HyperParameters.x` contains a line break"),
    ({"HyperParameters": {"x": 5}}, "`HyperParameters.x` must be a string, got an integer"),
    (
        {"HyperParameters": {str(n): "" for n in range(101)}},
        "`HyperParameters` has 101 entries; the maximum is 100",
    ),
    (
        {"Environment": {"1A": ""}},
        "`Environment.1A` does not match the API pattern",
    ),
    ({"Environment": {"A": "x" * 513}}, "`Environment.A` has 513 characters; the maximum is 512"),
    ({"Stopping": {}}, "unknown member `Stopping`"),
    ({"InputDataConfig": []}, "`InputDataConfig` is empty"),
    ({"RetryStrategy": {"MaximumRetryAttempts": 31}}, "`RetryStrategy.MaximumRetryAttempts` is 31; the maximum is 30"),
    (
        {"RetryStrategy": {"MaximumRetryAttempts": True}},
        "`RetryStrategy.MaximumRetryAttempts` must be an integer, got `true`",
    ),
    (
        {"StoppingCondition": {"MaxPendingTimeInSeconds": 60}},
        "`StoppingCondition.MaxPendingTimeInSeconds` is 60 s; the minimum",
    ),
    ({"RetryStrategy": {}}, "`RetryStrategy.MaximumRetryAttempts` is not set"),
    ({"ResourceConfig": {"InstanceType": "m5", "InstanceCount": 1}}, "`ResourceConfig.InstanceType` cannot be `m5`"),
    (
        {"VpcConfig": {"Subnets": ["subnet_1"], "SecurityGroupIds": ["sg-1"]}},
        "`VpcConfig.Subnets[0]` does not match the API pattern",
    ),
]


@pytest.mark.parametrize(("part", "message"), MESSAGES, ids=[message for _, message in MESSAGES])
def test_messages_are_specific(part, message):
    found = [finding.message for finding in request_findings(api_samples.small_request() | part)]
    assert [said for said in found if said.startswith(message)], found


@pytest.mark.parametrize(
    ("part", "way_out"),
    [
        ({"ResourceConfig": {"InstanceCount": -1}}, "use 1 or more"),
        ({"ResourceConfig": {"InstanceCount": True}}, "use an integer"),
        ({"ResourceConfig": {"VolumeSizeInGB": 30.5}}, "use an integer of GB"),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": "1h"}}, "use an integer of seconds without quotes"),
        ({"Tags": {"team": "ads"}}, 'use a list: `[{"Key": "team", "Value": "ads"}]`'),
        ({"TrainingImage": "x"}, "move it to `AlgorithmSpecification`"),
        ({"S3Uri": "x"}, "move it to `CheckpointConfig` or `InputDataConfig[0].DataSource.S3DataSource`"),
        (
            {"InputDataConfig": [{**CHANNEL, "ChannelName": "a"}, {**CHANNEL, "S3Uri": "x"}]},
            "move it to `InputDataConfig[1].DataSource.S3DataSource`",
        ),
        (
            {"Surprise": 1},
            f"check the spelling; if it is newer than the API model of {MODEL.date} (botocore {MODEL.botocore}),"
            " run `smspec facts --update`",
        ),
    ],
)
def test_help_is_specific(part, way_out):
    request = api_samples.small_request()
    for member, value in part.items():
        request[member] = {**request.get(member, {}), **value} if isinstance(request.get(member), dict) else value
    (finding,) = (found for found in request_findings(request) if found.code in SHAPE_CODES)
    assert finding.help == way_out


def finding_on(instance_type):
    request = api_samples.small_request()
    request["ResourceConfig"]["InstanceType"] = instance_type
    (finding,) = request_findings(request)
    return finding


def test_unknown_family_is_a_warning_with_the_date_of_the_model():
    finding = finding_on("ml.mm5.large")
    assert (finding.code, finding.severity, finding.label) == ("SM413", "warning", "did you mean `ml.m5.large`?")
    assert MODEL.date in finding.message


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("ml.m5.medum", ""), ("ml.m5.lrge", "did you mean `ml.m5.large`?"),
        ("ml.c7i.xlrge", "did you mean `ml.c7i.xlarge`?"),
        ("ml.m5.8xlarge", "did you mean `ml.m5.12xlarge`?"), ("ml.m5.96xlarge", "did you mean `ml.m5.24xlarge`?"),
        ("ml.p4d", "did you mean `ml.p4d.24xlarge`?"), ("ml.p4d.", "did you mean `ml.p4d.24xlarge`?"), ("ml.m5", ""),
    ],
)  # fmt: skip
def test_missing_size_of_a_family_suggests_its_nearest(written, label):
    finding = finding_on(written)
    assert (finding.code, finding.severity, finding.label) == ("SM483", "error", label)
    assert MODEL.date in finding.help


SIZES = sorted({kind.rpartition(".")[2] for kind in MODEL.shapes["TrainingInstanceType"].enum})


@settings(max_examples=at_most(300))
@given(st.sampled_from(MODEL.shapes["TrainingInstanceType"].enum), st.sampled_from(SIZES) | st.text(max_size=8))
def test_suggestion_stays_in_the_family(kind, size):
    """A family of the model: its own sizes pass, any other is an error whose label and help are of the family."""
    family = kind.rpartition(".")[0]
    request = api_samples.small_request()
    request["ResourceConfig"]["InstanceType"] = f"{family}.{size}"
    found = limit_findings(request)
    if f"{family}.{size}" in MODEL.shapes["TrainingInstanceType"].enum:
        assert found == []
        return
    (finding,) = found
    assert finding.code == "SM483"
    assert not finding.label or f"`{family}." in finding.label


def test_instance_type_without_its_prefix_is_recognized():
    request = api_samples.small_request()
    request["ResourceConfig"]["InstanceType"] = "m5.large"
    (finding,) = request_findings(request)
    assert (finding.code, finding.label) == ("SM407", "did you mean `ml.m5.large`?")


def test_long_lists_of_values_are_not_printed():
    request = api_samples.small_request()
    request["ResourceConfig"]["InstanceType"] = "something"
    request["AlgorithmSpecification"]["TrainingInputMode"] = "pipe"
    by_path = {finding.path[-1]: finding for finding in request_findings(request)}
    newer = f"if it is newer than the API model of {MODEL.date}, run `smspec facts --update`"
    assert by_path["InstanceType"].help == f"check the spelling; {newer}"
    assert by_path["TrainingInputMode"].help == "use `Pipe`, `File`, or `FastFile`"
    assert by_path["TrainingInputMode"].label == "did you mean `Pipe`?"


def test_long_text_is_measured_before_it_is_matched():
    """A pattern with nested repetitions is only ever tried on a text within its limit."""
    request = api_samples.small_request() | {"TrainingJobName": "-" * 10_000_000}
    assert codes_at(request, ("TrainingJobName",)) == ["SM405"]


MODEL_OF_BOTOCORE = session.get_session().get_service_model("sagemaker")
INPUT = MODEL_OF_BOTOCORE.operation_model("CreateTrainingJob").input_shape


def botocore_refuses(request):
    return validate.ParamValidator().validate(request, INPUT).has_errors()


def full_request():
    """Return a request with a value at every path that can be combined."""
    request = api_samples.small_request()
    for path, _ in PLACES:
        api_samples.fill(request, path)
    return request


WHOLE = full_request()


@api_samples.with_the_pinned_model
def test_botocore_accepts_the_request_with_every_member():
    assert not botocore_refuses(WHOLE)
    assert not [finding for finding in request_findings(WHOLE) if finding.code in SHAPE_CODES]


@api_samples.with_the_pinned_model
@settings(max_examples=at_most(150))
@given(st.sampled_from(PLACES), st.sampled_from([None, 5, -5, "", "x", True, [], {}, {"x": 1}, [None], 1.5, "gone"]))
def test_requests_rejected_by_botocore_are_rejected(place, wrong):
    request = copy.deepcopy(WHOLE)
    holder, key = api_samples.fill(request, place[0])
    if wrong == "gone":
        del holder[key]
    else:
        holder[key] = wrong
    found = [finding for finding in request_findings(request) if finding.severity == "error"]
    assert found or not botocore_refuses(request)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=at_most(200))
@given(st.dictionaries(st.sampled_from(list(MODEL.root.members)) | st.text(max_size=5), JSON, max_size=5))
def test_any_json_can_be_checked(request):
    for finding in request_findings(request):
        assert finding.message


@settings(max_examples=at_most(100))
@given(st.lists(request_strategies.anything(), min_size=1, max_size=4))
def test_shared_members_have_the_findings_of_their_own(requests):
    """What fitted in one request is not looked at again in another."""
    for request in [*requests, *requests]:
        shape_limits._FITTING.__init__()
        alone = limit_findings(request, in_spec_words=True)
        for other in requests:
            limit_findings(other, in_spec_words=True)
        assert limit_findings(request, in_spec_words=True) == alone
