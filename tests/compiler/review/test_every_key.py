"""Every change of a key has the kind in its row; only keys without effect are cosmetic."""

import copy
import json

import botocore.session
import pytest

from smspec.review.fail_on import decode_fail_on
from smspec.review.job_review import added_changes, compared, is_of_variables
from smspec.review.kinds import KINDS
from smspec.review.request_differences import meaning
from smspec.service.job_costs import PriceBook
from support.review.job_reviews import kinds, version
from support.spec import job_samples, sent_keys
from support.spec.key_changes import CHANGES, changed, row_of

SAME_FILES = {"source.dir"}
"""The code is that of other files, which here are the same."""

HARMLESS = {
    *("DebugHookConfig", "ExperimentConfig", "ProfilerConfig", "Tags"),
    *("EnableSageMakerMetricsTimeSeries", "MetricDefinitions", "MlflowExperimentName", "MlflowRunName"),
    *("RuleConfigurationName", "LocalPath", "RuleParameters"),
    *("CustomizationTechnique", "EvaluationType", "JobType", "Peft", "SequenceLength"),
}
"""Members that no kind of their own has: names and settings that reach no code, data, access, or instances."""

GROUP = {"name": "b", "instance_type": "ml.p4d.24xlarge", "count": 1}


@pytest.mark.parametrize("key", CHANGES)
def test_change_of_a_key_has_its_kind(key):
    spec, value = CHANGES[key]
    old = version({name: there for name, there in spec.items() if there is not None})
    new = version(changed(spec, key, value), requirements=b"numpy\n" if "requirements" in key else None)
    found = kinds(old, new)
    kind = "cosmetic" if key in SAME_FILES else row_of(key).kind
    assert kind in found
    assert (found == {"cosmetic"}) == (kind == "cosmetic")
    assert not kinds(new, new)


@pytest.mark.parametrize(("keys", "_payload"), sent_keys.KEYS)
def test_key_that_reaches_the_request_is_not_cosmetic(keys, _payload):
    plain = job_samples.spec(channels=None)
    found = kinds(version(plain), version({**plain, **keys}))
    assert found - {"cosmetic"}
    assert found <= set(KINDS)


def places(value, path=()):
    """Yield the path of each value that can be a variable."""
    if isinstance(value, dict | list) and value:
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, step))
    elif not isinstance(value, dict | list):
        yield path


def replaced(spec, path, value):
    spec = copy.deepcopy(spec)
    around = spec
    for step in path[:-1]:
        around = around[step]
    around[path[-1]] = value
    return spec


@pytest.mark.parametrize("key", [key for key in CHANGES if row_of(key).kind not in ("", "cosmetic")])
def test_value_that_becomes_a_variable_has_the_kind_of_its_key(key):
    """With the default it is the same job; CI may give another value, which no one has compared."""
    spec, value = CHANGES[key]
    whole = {name: there for name, there in changed(spec, key, value).items() if there is not None}
    steps = tuple(key.split("."))
    mine = [path for path in places(whole) if tuple(map(str, path[: len(steps)])) == steps and path[0] != "api"]
    old = version({**whole, "vars": {"x": {"default": "1"}}})
    for path in mine:
        was = whole
        for step in path:
            was = was[step]
        if was is None:
            continue
        new = version({**replaced(whole, path, "${{ vars.x }}"), "vars": {"x": {"default": was}}})
        assert row_of(key).kind in kinds(old, new) or row_of(".".join(map(str, path))).kind in kinds(old, new)
        assert kinds(new, old) - {"cosmetic"}
        assert not kinds(new, new)


def test_variable_in_the_ceiling_fails_a_limit_of_cost():
    old = version({**job_samples.PLAIN, "vars": {"n": {"default": 1}}})
    hosts = {**job_samples.PLAIN["hosts"], "count": "${{ vars.n }}"}
    new = version(
        {**job_samples.PLAIN, "hosts": hosts, "vars": {"n": {"default": job_samples.PLAIN["hosts"]["count"]}}}
    )
    changes = compared(old, new, PriceBook())
    assert any(decode_fail_on(["cost>20%"]).matches(change) for change in changes)
    assert not any(decode_fail_on(["cost>20%"]).matches(change) for change in compared(new, new, PriceBook()))


def test_item_that_others_move_is_unchanged():
    arguments = ["--a", "${{ vars.a }}"]
    written = {**job_samples.PLAIN, "vars": {"a": {"default": "1"}}, "entry_point": {"script": "train.py"}}
    old = version({**written, "entry_point": {"script": "train.py", "args": arguments}})
    new = version({**written, "entry_point": {"script": "train.py", "args": ["--b", *arguments]}})
    assert not any(is_of_variables(change) for change in compared(old, new, PriceBook()))


MOVED = {
    "image ": (
        {"entry_point": {"script": "train.py", "args": ["--epochs", "V", "--epochs", "1"]}},
        {"entry_point": {"script": "train.py", "args": ["--epochs", "1", "--epochs", "V"]}},
    ),
    "image  ": (
        {"image": {**job_samples.PLAIN["image"], "run": ["echo x", "V", "echo x", "1"]}},
        {"image": {**job_samples.PLAIN["image"], "run": ["echo x", "1", "echo x", "V"]}},
    ),
    "hosts": (
        {"hosts": {"groups": [{"name": "a", "instance_type": "ml.m5.large", "count": "V"}, GROUP]}},
        {"hosts": {"groups": [{"name": "a", "instance_type": "ml.m5.large", "count": 1}, {**GROUP, "count": "V"}]}},
    ),
    "image": (
        {"entry_point": {"script": "train.py", "args": ["--epochs", "V", "--lr", "1"]}},
        {"entry_point": {"script": "train.py", "args": ["--epochs", "1", "--lr", "V"]}},
    ),
}


@pytest.mark.parametrize("kind", MOVED)
def test_variable_that_moves_to_another_item_is_a_change(kind):
    def side(keys):
        text = json.dumps({**job_samples.PLAIN, **keys, "vars": {"v": {"default": 1}}})
        return version(text.replace('"V"', '"${{ vars.v }}"'))

    old, new = map(side, MOVED[kind])
    assert kind.strip() in kinds(old, new) and kind.strip() in kinds(new, old)


def members(shape, path=()):
    """Yield the path of each value of a shape of the API; ``*`` is any item."""
    if shape.type_name in ("list", "map"):
        yield from members(shape.member if shape.type_name == "list" else shape.value, (*path, "*"))
    elif shape.type_name == "structure":
        for name, inner in shape.members.items():
            yield from members(inner, (*path, name))
    else:
        yield path


def test_only_harmless_members_of_the_api_are_of_the_kind_other():
    """`--fail-on security,image,code,hosts` must not miss what only `api` can send, nor what AWS adds."""
    model = botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob")
    others = [path for path in members(model.input_shape) if meaning(path).kinds == ("other",)]
    assert [".".join(path) for path in others if not HARMLESS.intersection(path)] == []


FOREIGN = "999999999999.dkr.ecr.us-west-2.amazonaws.com/rules:1"
RULE = {"RuleConfigurationName": "a", "RuleEvaluatorImage": FOREIGN, "InstanceType": "ml.r5.24xlarge"}


@pytest.mark.parametrize("name", ["DebugRuleConfigurations", "ProfilerRuleConfigurations"])
def test_rule_of_the_debugger_is_a_container_with_the_role(name):
    plain = version(job_samples.PLAIN)
    old = version({**job_samples.PLAIN, "api": {name: [RULE]}})
    assert kinds(plain, old) >= {"security", "hosts", "cost"}
    for member, value, expected in (
        ("RuleEvaluatorImage", FOREIGN + "1", "security"),
        ("InstanceType", "ml.p4d.24xlarge", "hosts"),
        ("RuleParameters", {"source_s3_uri": "s3://b/rule.py"}, "code"),
        ("S3OutputPath", "s3://b/rules/", "output"),
    ):
        assert expected in kinds(old, version({**job_samples.PLAIN, "api": {name: [{**RULE, member: value}]}}))


READY = {**job_samples.PLAIN, "image": job_samples.IMAGE_URI}
IN_S3 = {**READY, "source": {"dir": "src/", "delivery": "s3", "s3": "s3://example-code/x/"}}
BUILT = {**job_samples.PLAIN, "image": {"base": "python:3.12-slim-bookworm", "env": {"A": "1"}}}
OTHER_ENV = {**BUILT, "image": {**BUILT["image"], "env": {"A": "2"}}}
NAME = "sagemaker_smspec"
HIDDEN = {
    "an image that replaces the built one": (BUILT, {"AlgorithmSpecification": {"TrainingImage": FOREIGN}}, "security"),
    "an image besides a layer": (OTHER_ENV, {"AlgorithmSpecification": {"TrainingImage": FOREIGN}}, "security"),
    "a rule with the name of a setting": (
        BUILT,
        {"DebugRuleConfigurations": [{**RULE, "RuleConfigurationName": NAME}]},
        "security",
    ),
    "no settings of the runtime": (IN_S3, {"HyperParameters": {NAME: None}}, "code"),
    "other settings of the runtime": (IN_S3, {"HyperParameters": {NAME: '{"source": "0"}'}}, "code"),
    "more settings of the runtime": (IN_S3, {"HyperParameters": {f"{NAME}_1": "{}"}}, "code"),
    "an archive of the code": (
        IN_S3,
        {"HyperParameters": {"sagemaker_submit_directory": f"s3://example-code/{'a' * 64}/x"}},
        "code",
    ),
    "the channels of the code": (
        {**READY, "source": {"dir": "src/", "delivery": "channel", "s3": "s3://example-code/x/"}},
        {
            "InputDataConfig": [
                {
                    "ChannelName": name,
                    "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": f"s3://evil/{name}/"}},
                }
                for name in ("code", "smspec")
            ]
        },
        "code",
    ),
    "where the toolkit writes": (BUILT, {"HyperParameters": {"sagemaker_s3_output": "s3://evil/"}}, "output"),
    "a hyperparameter": (BUILT, {"HyperParameters": {f"{NAME}_path": "x"}}, "code"),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_nothing_explains_away_what_the_api_replaces(case):
    spec, api, kind = HIDDEN[case]
    plain = BUILT if spec is OTHER_ENV else spec
    assert kind in kinds(version(plain, "a.py"), version({**spec, "api": api}, "b.py"))
    assert kind in kinds(version({**spec, "api": api}, "b.py"), version(plain, "a.py"))


def test_unused_image_of_a_job_is_reported():
    """Another layer makes no difference to a job whose image `api` names."""
    old = version(BUILT)
    image = old.payload["AlgorithmSpecification"]["TrainingImage"]
    new = version({**OTHER_ENV, "api": {"AlgorithmSpecification": {"TrainingImage": image}}})
    changes = [change for change in compared(old, new, PriceBook()) if change.kind == "image"]
    assert changes[-1].what == "the job keeps this image, and the one that the spec builds is not used"
    assert not any("not used" in change.what for change in compared(new, new, PriceBook()))


@pytest.mark.parametrize("delivery", ["s3", "channel"])
def test_code_that_api_keeps_is_reported(delivery):
    """The code of the spec changes, and `api` holds the request at the old one."""
    spec = {**READY, "source": {"dir": "src/", "delivery": delivery, "s3": "s3://example-code/x/"}}
    old = version(spec, "old.py")
    held = {
        "HyperParameters": {name: text for name, text in old.hyperparameters.items() if name.startswith("sagemaker_")},
        **({"InputDataConfig": old.payload["InputDataConfig"]} if delivery == "channel" else {}),
    }
    new = version({**spec, "api": held}, "new.py")
    assert any("the job may run another one" in change.what for change in compared(old, new, PriceBook()))
    assert not any("may run" in change.what for change in compared(old, version(spec, "new.py"), PriceBook()))


@pytest.mark.parametrize("delivery", ["s3", "channel"])
def test_other_prefix_like_a_digest_is_another_place(delivery):
    old, new = (
        version(
            {**READY, "source": {"dir": "src/", "delivery": delivery, "s3": f"s3://b/{place * 64}/"}}, f"{place}.py"
        )
        for place in "ab"
    )
    assert any(change.what == "where the code lies" for change in compared(old, new, PriceBook()))


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ({"channels": {NAME: {"s3": "s3://evil-data/x/"}}}, "data"),
        ({"channels": {f"{NAME}_a": {"s3": "s3://evil-data/x/"}}}, "data"),
        ({"environment": {NAME: "x"}}, "environment"),
        ({"tags": {NAME: "x"}}, "other"),
        ({"metrics": [{"name": NAME, "regex": "a=(.*)"}]}, "other"),
    ],
)
def test_name_of_a_setting_hides_nothing_else(keys, kind):
    assert kind in kinds(version(job_samples.PLAIN), version({**job_samples.PLAIN, **keys}))


COMMANDS = {
    "order": ({"run": ["a", "b"]}, {"run": ["b", "a", "c"]}, ["b", "a", "c"]),
    "repetition": ({"run": ["a", "b"]}, {"run": ["a", "b", "a", "c"]}, ["a", "b", "a", "c"]),
    "only a repetition": ({"run": ["a", "b"]}, {"run": ["a", "b", "a"]}, ["a", "b", "a"]),
    "a move": ({"run": ["a", "b"]}, {"pre_install": ["a"], "run": ["b", "c"]}, "a"),
    "only a move": ({"run": ["a", "b"]}, {"pre_install": ["a"], "run": ["b"]}, "a"),
    "from the build to the job": ({"build_args": {"B": "x"}}, {"env": {"A": "1", "B": "x"}}, "x"),
    "from the job to the build": ({"env": {"A": "1", "B": "x"}}, {"env": {"A": "1"}, "build_args": {"B": "x"}}, "x"),
    "instead of before": ({"env_prepend": {"PATH": "/x"}}, {"env": {"A": "1", "PATH": "/x"}}, "/x"),
    "only before the packages": ({"pre_install": ["a", "b"]}, {"pre_install": ["a"], "run": ["b"]}, "b"),
    "a new one": ({"run": ["a", "b"]}, {"run": ["a", "c", "b"]}, "c"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_commands_in_another_order_are_shown(case):
    *sides, expected = COMMANDS[case]
    old, new = (version({**BUILT, "image": {**BUILT["image"], **keys}}) for keys in sides)
    assert expected in [change.new for change in compared(old, new, PriceBook()) if change.kind == "image"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"image": {**BUILT["image"], "secrets": {"T": {"env": "V"}}}}, {"image", "security"}),
        ({"image": {**BUILT["image"], "secrets": {"T": {"file": "V"}}}}, {"image", "security"}),
        ({"account": "V"}, {"security"}),
        ({"job_name": "V"}, {"restart"}),
        ({"api": {"StoppingCondition": {"MaxRuntimeInSeconds": "V"}}}, {"cost", "security"}),
        ({"api": {"AlgorithmSpecification": {"TrainingImage": "V"}}}, {"image", "security"}),
        ({"api": {"HyperParameters": {"sagemaker_program": "V"}}}, {"code", "security"}),
        ({"api": {"Environment": {"A": "V"}}}, {"environment", "security"}),
        ({"api": {"DebugRuleConfigurations": [{**RULE, "InstanceType": "V"}]}}, {"cost", "hosts", "security"}),
    ],
)
def test_variable_has_all_kinds_of_its_value(keys, expected):
    text = json.dumps({**BUILT, **keys, "vars": {"v": {"default": "x"}}})
    old = version(text.replace('"V"', '"x"'))
    assert kinds(old, version(text.replace('"V"', '"${{ vars.v }}"'))) >= expected


NO_INSTANCES = {"InstanceType": None, "InstanceCount": None, "VolumeSizeInGB": None}
PREFERRED = {**NO_INSTANCES, "InstancePreferences": [{"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 20}]}


@pytest.mark.parametrize(
    "api", [{"ResourceConfig": PREFERRED}, {"ResourceConfig": None}, {"ResourceConfig": NO_INSTANCES}]
)
def test_job_without_instances_of_its_own_fails_a_limit_of_cost(api):
    """SageMaker chooses them: the ceiling is that of the costliest, or unknown, which is no reason to pass."""
    old, new = version(job_samples.PLAIN), version({**job_samples.PLAIN, "api": api})
    for changes in (compared(old, new, PriceBook()), added_changes(new, PriceBook())):
        assert any(decode_fail_on(["cost>20%"]).matches(change) for change in changes)
    assert "cost" not in kinds(new, new)


FILES = {"id": "fs-0123456789abcdef0", "type": "EFS", "path": "/a", "access": "ro"}
ACCESS = [{"ChannelName": "f", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://a/b/"}}}]


@pytest.mark.parametrize("name", ["f", "code", "smspec"])
def test_new_channel_has_the_kinds_of_all_that_is_in_it(name):
    plain = {**READY, "source": None, "entry_point": None}
    plain = {key: value for key, value in plain.items() if value is not None}
    old = version({**plain, "channels": {"train": {"s3": "s3://example-data/ctr/train/"}}})
    channels = {"train": {"s3": "s3://example-data/ctr/train/"}, name: {"file_system": FILES}}
    new = version({**plain, "channels": channels})
    assert kinds(old, new) >= {"data", "security"} and kinds(new, old) >= {"data", "security"}
    for key, value, expected in (("access", "rw", "security"), ("path", "/b", "data")):
        other = version({**plain, "channels": {**channels, name: {"file_system": {**FILES, key: value}}}})
        assert expected in kinds(new, other)
    plain_channel = version({**plain, "channels": {**channels, name: {"s3": "s3://a/b/"}}})
    assert "data" in kinds(new, plain_channel)


@pytest.mark.parametrize("member", ["HubAccessConfig", "ModelAccessConfig"])
def test_new_channel_with_a_license_is_of_security(member):
    value = (
        {"HubContentArn": "arn:aws:sagemaker:us-west-2:aws:hub-content/x"} if "Hub" in member else {"AcceptEula": True}
    )
    channel = json.loads(json.dumps(ACCESS[0]))
    channel["DataSource"]["S3DataSource"][member] = value
    old = version({**READY, "api": {"InputDataConfig": [channel]}})
    assert "security" in kinds(version(READY), old)


def test_new_channel_in_s3_is_only_of_data():
    channels = {**job_samples.PLAIN["channels"], "more": {"s3": "s3://a/b/"}}
    found = kinds(version(job_samples.PLAIN), version({**job_samples.PLAIN, "channels": channels}))
    assert found - {"job", "cosmetic"} == {"data"}


OF_THE_WHOLE = {"job", "cosmetic", "cost", "restart", "resume"}
COUNTED = [key for key in CHANGES if row_of(key).kind not in ("", "cosmetic")]
PAIRS = [
    (one, other)
    for at, one in enumerate(COUNTED)
    for other in (COUNTED[(at + step) % len(COUNTED)] for step in (1, 7, 31, 53))
    if CHANGES[one][0] == CHANGES[other][0]
    and not f"{one}.".startswith(f"{other}.")
    and not other.startswith(f"{one}.")
]


@pytest.mark.parametrize("first", COUNTED)
def test_change_of_a_key_is_reported_besides_that_of_another(first):
    """A layer, or changed code, must not explain what something else did."""

    def reported(*keys):
        spec = CHANGES[first][0]
        for key in keys:
            spec = changed(spec, key, CHANGES[key][1])
        old, new = (
            version({name: there for name, there in side.items() if there is not None})
            for side in (CHANGES[first][0], spec)
        )
        return {(each.kind, each.path[:2]) for each in compared(old, new, PriceBook()) if each.kind not in OF_THE_WHOLE}

    for one, other in PAIRS:
        if one == first:
            assert reported(one) | reported(other) <= reported(one, other)
