"""Settings of the runtime travel in one hyperparameter."""

import pytest

from smspec.plan.request_planning import make_plan
from smspec_runtime.hyperparameters import join_settings
from support.spec import job_samples

URI = job_samples.IMAGE_URI


def requested(**changes):
    return make_plan(job_samples.job(**changes), job_samples.build_inputs("train.py", "reader.py")).request


def payload(**changes):
    return requested(**changes).payload


def settings(**changes):
    return join_settings(payload(**changes).get("HyperParameters", {}))


PIPE = {"train": {"s3": "s3://example-data/ctr/train/", "input_mode": "Pipe"}}


def test_settings_carry_what_sagemaker_does_not():
    told = settings(
        entry_point={
            "pipe_loop": "reader:Trainer",
            "epochs": 5,
            "read": {"train": "augmented"},
            "prefetch": "32MB",
            "open_timeout": "10m",
        },
        channels={
            "train": {
                "s3": "s3://x/m.manifest",
                "s3_data_type": "AugmentedManifestFile",
                "attributes": ["source-ref", "class"],
                "input_mode": "Pipe",
            }
        },
        checkpoints={"s3": "s3://x/c/", "local": "/opt/ml/mine"},
    )
    assert told._asdict() == {
        "epochs": 5,
        "read": {"train": "augmented"},
        "attributes": {"train": ["source-ref", "class"]},
        "prefetch": 32_000_000,
        "open_timeout": 600,
        "launcher": {},
        "checkpoints": "/opt/ml/mine",
        "source": None,
        "secrets": {},
    }


@pytest.mark.parametrize(
    ("distribution", "launcher"),
    [
        ("torchrun", {}),
        ({"torchrun": {"processes_per_host": 4, "port": 1234}}, {"processes_per_host": 4, "port": 1234}),
        ({"mpi": {"processes_per_host": "auto", "options": ["-v"]}}, {"options": ["-v"]}),
        ({"parameter_server": {"framework": "mxnet"}}, {"framework": "mxnet"}),
        ({"smdataparallel": {}}, {}),
    ],
)
def test_settings_carry_launcher_options(distribution, launcher):
    assert settings(distribution=distribution).launcher == launcher


def test_settings_are_sent_only_when_needed():
    for quiet in (
        {},
        {"distribution": "torchrun"},
        {"entry_point": {"pipe_loop": "reader:Trainer"}, "channels": PIPE},
        {"checkpoints": {"s3": "s3://x/", "local": "/opt/ml/checkpoints/"}},
        {"image": URI, "source": {"dir": "src/", "delivery": "s3"}, "distribution": {"mpi": {"processes_per_host": 8}}},
        {
            "image": URI,
            "source": None,
            "entry_point": {"command": ["x"]},
            "checkpoints": {"s3": "s3://x/", "local": "/x"},
        },
    ):
        assert not [name for name in payload(**quiet).get("HyperParameters", {}) if name.startswith("sagemaker_smspec")]


def test_long_settings_continue_in_further_hyperparameters():
    names = [f"channel-{number}-{'x' * 50}" for number in range(20)]
    manifest = {"s3_data_type": "AugmentedManifestFile", "attributes": ["a" * 200, "b" * 200], "input_mode": "Pipe"}
    changes = {"channels": {name: {"s3": f"s3://x/{name}", **manifest} for name in names}}
    sent = payload(**changes)["HyperParameters"]
    assert list(sent) == ["sagemaker_smspec", *(f"sagemaker_smspec_{number}" for number in range(1, len(sent)))]
    assert len(sent) > 3
    assert all(len(value) == 2500 for value in list(sent.values())[:-1])
    assert settings(**changes).attributes == dict.fromkeys(names, manifest["attributes"])
