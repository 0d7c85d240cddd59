"""Compiler and runtime build the same command line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.unseen import lookalike, unseen_in_name, unseen_parts
from smspec.plan.request_planning import make_plan
from smspec.plan.script_environment import plan_script_environment
from smspec_runtime.arguments import arguments_of
from smspec_runtime.hyperparameters import split_hyperparameters
from support.spec import job_samples

texts = st.text(
    st.characters(
        codec="utf-8", exclude_characters="\0\ufeff", exclude_categories=["Cc", "Cs", "Cf", "Cn", "Mn", "Zs"]
    ),
    max_size=8,
).filter(lambda text: not [*unseen_parts(text)])
keys = texts.filter(lambda text: not unseen_in_name(text) and lookalike(text) is None)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
names = st.sampled_from(["lr", "e", "batch-size", "batch_size", "Layers", "a.b", "x y"])


def planned(**changes):
    job = job_samples.job(**changes)
    request = make_plan(job, job_samples.build_inputs()).request
    return plan_script_environment(job, request), request.payload.get("HyperParameters", {})


@given(
    st.dictionaries(names, values, max_size=4),
    st.sampled_from(["toolkit", "json", "flags", "none"]),
    st.sampled_from(["json", "json_strings", "raw"]),
)
def test_every_style_matches_the_runtime(hyperparameters, style, encoding):
    given_, sent = planned(
        hyperparameters=hyperparameters,
        hyperparameter_encoding=encoding,
        entry_point={"script": "train.py", "args": ["--config", "a.yaml"], "args_style": style},
    )
    # SageMaker writes the members of a mapping in an order of its own; the order does not matter here.
    expected = arguments_of(split_hyperparameters(json.loads(json.dumps(sent))), style)
    assert given_.words == ["--config", "a.yaml", *expected]


def test_related_arguments_stay_together():
    given_, _ = planned(
        entry_point={"script": "train.py", "args": ["data", "--lr", "-0.5", "--layers", "1", "2", "--amp", "-v"]}
    )
    assert [argument.words for argument in given_.arguments] == [
        ("data",),
        ("--lr", "-0.5"),
        ("--layers", "1", "2"),
        ("--amp",),
        ("-v",),
    ]


def test_request_patch_changes_the_arguments():
    given_, _ = planned(
        hyperparameters={"lr": 0.1},
        api={"HyperParameters": {"lr": "0.2", "steps": "5"}, "InputDataConfig": [{"ChannelName": "other"}]},
    )
    assert given_.words == ["--lr", "0.2", "--steps", "5"]
    assert [argument.path for argument in given_.arguments] == [
        ("api", "HyperParameters", "lr"),
        ("api", "HyperParameters", "steps"),
    ]
    assert given_.channels == ("other",)


@pytest.mark.parametrize("delivery", ["s3", "channel"])
def test_foreign_toolkit_uses_its_own_style(delivery):
    given_, _ = planned(
        image=job_samples.IMAGE_URI,
        source={"dir": "src/", "delivery": delivery},
        entry_point={"script": "train.py", "args_style": "json"},
        hyperparameters={"amp": True},
    )
    assert given_.words == ["--amp", "True" if delivery == "s3" else "true"]


@pytest.mark.parametrize(
    ("entry_point", "name"),
    [
        ({"script": "train.py"}, "train.py"),
        ({"module": "ctr.train:main"}, "ctr.train:main"),
        ({"command": ["bash", "go.sh"]}, "bash go.sh"),
    ],
)
def test_script_that_was_not_read_has_the_name_in_the_spec(entry_point, name):
    unread, _ = planned(entry_point=entry_point, environment={"SAGEMAKER_BASE_DIR": "/data"})
    assert unread.name == name


def test_secrets_are_variables_of_the_script():
    arn = "arn:aws:ssm:us-west-2:111122223333:parameter/wandb"
    given_, _ = planned(secrets={"WANDB_API_KEY": arn}, environment={"A": "1"})
    assert given_.variables >= {"WANDB_API_KEY", "A"}
