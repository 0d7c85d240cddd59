"""Names of images and jobs change exactly with their content."""

import dataclasses
import re

import pytest

from smspec.plan import ImagePlan, image_planning, training_job_name
from smspec.plan.request_planning import make_plan
from support.spec import job_samples

LOOP = {"pipe_loop": "reader:Trainer", "epochs": 5, "read": {"train": "lines"}, "prefetch": "1MB"}
PIPE = {"train": {"s3": "s3://example-data/ctr/train/", "input_mode": "Pipe"}}
LOOPING = {"entry_point": LOOP, "channels": PIPE}


def planned(build_inputs=None, **changes):
    return make_plan(job_samples.job(**changes), build_inputs or job_samples.build_inputs("reader.py", "train.py"))


def tag(**changes):
    return planned(**changes).image.tag


def name(**changes):
    return planned(**changes).request.payload["TrainingJobName"]


NEVER_IN_THE_IMAGE = [
    {"hyperparameters": {"lr": "1e-3"}},
    {"channels": {**PIPE, "more": "s3://example-data/more/"}},
    {"channels": {"train": {**PIPE["train"], "input_mode": "FastFile"}}},
    {"hosts": {"instance_type": "ml.p4d.24xlarge", "count": 16, "volume": "500GB"}},
    {"entry_point": {**LOOP, "epochs": 6}},
    {"entry_point": {**LOOP, "read": {"train": "recordio"}}},
    {"entry_point": {**LOOP, "prefetch": "64MB"}},
    {"entry_point": {**LOOP, "open_timeout": "1h"}},
    {"tags": {"team": "ads"}},
    {"description": "another text"},
    {"environment": {"A": "1"}},
    {"stopping": {"max_runtime": "1h"}},
    {"output": {"s3": "s3://elsewhere/"}},
    {"role": "arn:aws:iam::444455556666:role/Other"},
    {"region": "eu-central-1"},
    {"image": {"base": "python:3.12-slim-bookworm", "repository": "elsewhere"}},
    {"api": {"RemoteDebugConfig": {"EnableRemoteDebug": True}}},
]


@pytest.mark.parametrize("changes", NEVER_IN_THE_IMAGE, ids=str)
def test_tag_ignores_what_the_image_does_not_contain(changes):
    assert tag(**LOOPING) == tag(**{**LOOPING, **changes})


IN_THE_IMAGE = [
    {"image": {"base": "python:3.13-slim-bookworm"}},
    {"image": {"base": "python:3.12-slim-bookworm", "platform": "linux/arm64"}},
    {"image": {"base": "python:3.12-slim-bookworm", "python_packages": ["numpy==2.1.0"]}},
    {"image": {"base": "python:3.12-slim-bookworm", "system_packages": ["libgomp1"]}},
    {"image": {"base": "python:3.12-slim-bookworm", "run": ["true"]}},
    {"image": {"base": "python:3.12-slim-bookworm", "env": {"A": "1"}}},
    {"image": {"base": "python:3.12-slim-bookworm", "labels": {"a": "1"}}},
    {"image": {"base": "python:3.12-slim-bookworm", "secrets": {"A": {"env": "B"}}}},
    {"entry_point": "run.py"},
    {"entry_point": {"script": "train.py", "args": ["-v"]}},
    {"entry_point": {"script": "train.py", "args_style": "json"}},
    {"entry_point": {"command": ["train.py"]}},
    {"distribution": "torchrun"},
    {"distribution": "mpi"},
    {"source": {"dir": "src/", "delivery": "channel"}},
    {"name": "another"},
]


@pytest.mark.parametrize("changes", IN_THE_IMAGE, ids=str)
def test_tag_depends_on_what_the_image_contains(changes):
    assert tag() != tag(**changes)


def test_launcher_options_do_not_change_the_tag():
    assert tag(distribution="mpi") == tag(distribution={"mpi": {"processes_per_host": 8, "options": ["-v"]}})


def test_files_change_the_tag():
    made = job_samples.build_inputs
    plain = tag(build_inputs=made("train.py"))
    assert plain != tag(build_inputs=made("train.py", "more.py"))
    assert tag(build_inputs=made("bin/x")) != tag(build_inputs=made("x"))
    assert plain != tag(build_inputs=made("train.py", requirements=b"numpy\n"))
    channel = {"dir": "src/", "delivery": "channel"}
    assert tag(build_inputs=made("train.py"), source=channel) == tag(build_inputs=made("more.py"), source=channel)


def test_order_of_variables_and_labels_is_ignored():
    one, two = (
        planned(image={"base": "x", "env": env, "labels": env}).image
        for env in ({"B": "1", "A": "2"}, {"A": "2", "B": "1"})
    )
    assert one == two
    assert list(one.env) == ["A", "B"]


def test_every_image_member_is_in_the_tag_or_excluded():
    """A new member of `ImagePlan` must be thought of: does it change what is built?"""
    assert {part.name for part in dataclasses.fields(ImagePlan)} == {
        *image_planning.IN_THE_IMAGE,
        "repository",
        "tag",
        "python_requirements",  # a path; what the file holds is counted
        "environment",  # the digest of its file is counted
        "python",  # that of the base
    }


def test_tag_is_valid():
    image = planned().image
    assert re.fullmatch(r"[0-9a-f]{64}", image.tag)
    assert image.uri == f"111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr-linear:{image.tag}"


@pytest.mark.parametrize(
    ("changes", "repository"),
    [
        ({}, "111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr-linear"),
        ({"account": "444455556666"}, "444455556666.dkr.ecr.us-west-2.amazonaws.com/ctr-linear"),
        ({"region": "cn-north-1"}, "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/ctr-linear"),
        (
            {"image": {"base": "x", "repository": "team/ctr"}},
            "111122223333.dkr.ecr.us-west-2.amazonaws.com/team/ctr",
        ),
        ({"image": {"base": "x", "repository": "registry.example/team/ctr"}}, "registry.example/team/ctr"),
        ({"image": {"base": "x", "repository": "localhost:5000/ctr"}}, "localhost:5000/ctr"),
    ],
)
def test_repository_defaults_to_the_account(changes, repository):
    assert planned(**changes).image.repository == repository


@pytest.mark.parametrize("changes", [{"tags": {"team": "ads"}}, {"description": "text"}], ids=str)
def test_tags_and_descriptions_do_not_change_the_job(changes):
    assert name() == name(**changes)


@pytest.mark.parametrize(
    "changes",
    [{"hyperparameters": {"lr": 1}}, {"hosts": {"instance_type": "ml.m5.large", "count": 1}}, {"retries": 1}],
    ids=str,
)
def test_every_other_key_changes_the_job(changes):
    assert name() != name(**changes)


def test_changed_source_changes_the_job_in_every_delivery():
    for delivery in ("image", "channel", "s3"):
        source = {"dir": "src/", "delivery": delivery}
        one, two = (
            name(build_inputs=job_samples.build_inputs(*files), source=source)
            for files in (("train.py",), ("train.py", "more.py"))
        )
        assert one != two


def test_job_name_is_the_stem_and_ten_digits():
    payload = planned().request.payload
    assert re.fullmatch(r"ctr-linear-[0-9a-f]{10}", payload["TrainingJobName"])
    # Recomputed from the payload as it is sent, by the words of the reference: order and tags do not count.
    shuffled = dict(reversed(payload.items())) | {"Tags": [{"Key": "a", "Value": "b"}]}
    assert training_job_name("ctr-linear", shuffled) == payload["TrainingJobName"]


def test_exact_name_is_used_unchanged():
    assert name(job_name="Exactly-this") == "Exactly-this"
    assert name(api={"TrainingJobName": "Patched"}) == "Patched"


def test_planning_twice_gives_the_same_plan():
    assert planned(**LOOPING) == planned(**LOOPING)
