"""Delivery of source and runtime: every row of the table."""

import pytest

from smspec.plan import Upload
from smspec.plan.request_planning import make_plan
from support.spec import job_samples

URI = job_samples.IMAGE_URI
S3 = {"dir": "src/", "delivery": "s3"}
CHANNEL = {"dir": "src/", "delivery": "channel"}
PREFIX = "s3://example-models/ctr/ctr-linear/source/"


def planned(files=("train.py",), **changes):
    return make_plan(job_samples.job(**changes), job_samples.build_inputs(*files))


def channels(plan):
    """Return the generated channels by name; the author's own, `train`, comes first."""
    names = [channel["ChannelName"] for channel in plan.request.payload["InputDataConfig"]]
    assert names[0] == "train"
    return {channel["ChannelName"]: channel for channel in plan.request.payload["InputDataConfig"][1:]}


def hyperparameters(plan):
    return plan.request.payload.get("HyperParameters", {})


def entrypoint(plan):
    return plan.request.payload["AlgorithmSpecification"].get("ContainerEntrypoint")


def is_content_prefix(uri, base=PREFIX):
    digest = uri.removeprefix(base).removesuffix("/")
    return uri.startswith(base) and uri.endswith("/") and len(digest) == 64 and set(digest) <= set("0123456789abcdef")


def test_built_image_contains_its_source():
    plan = planned()
    assert plan.image.holds_source
    assert (channels(plan), hyperparameters(plan), entrypoint(plan), plan.uploads) == ({}, {}, None, ())
    assert (plan.run.kind, plan.run.program, plan.run.delivery) == ("script", "train.py", "image")


def test_built_image_may_read_its_source_from_a_channel():
    plan = planned(source=CHANNEL)
    assert not plan.image.holds_source
    (upload,) = plan.uploads
    assert is_content_prefix(upload.uri)
    assert channels(plan) == {
        "code": {
            "ChannelName": "code",
            "DataSource": {
                "S3DataSource": {
                    "S3DataType": "S3Prefix",
                    "S3Uri": upload.uri,
                    "S3DataDistributionType": "FullyReplicated",
                }
            },
            "InputMode": "File",
        }
    }
    assert (hyperparameters(plan), entrypoint(plan)) == ({}, None)
    assert (upload.kind, upload.archive, plan.run.delivery) == ("source", False, "channel")


def test_built_image_may_read_its_source_from_s3():
    plan = planned(source=S3)
    (upload,) = plan.uploads
    assert is_content_prefix(upload.uri.removesuffix("sourcedir.tar.gz"))
    assert upload == Upload(kind="source", uri=upload.uri, archive=True)
    assert hyperparameters(plan) == {
        "sagemaker_program": "train.py",
        "sagemaker_submit_directory": upload.uri,
        "sagemaker_smspec": f'{{"source":"{job_samples.build_inputs("train.py").source.digest}"}}',
    }
    assert (channels(plan), entrypoint(plan), plan.image.holds_source) == ({}, None, False)
    assert plan.image.python_packages == ("boto3",)
    assert plan.run.delivery == "s3"


@pytest.mark.parametrize("packages", [["boto3==1.35.0"], ["Boto3[crt]>=1"], ["numpy", "boto3 >=1"]])
def test_boto3_is_installed_once(packages):
    plan = planned(source=S3, image={"base": "python:3", "python_packages": packages})
    assert plan.image.python_packages == tuple(packages)


def test_existing_image_gets_source_and_runtime_in_channels():
    plan = planned(image=URI)
    code, runtime = plan.uploads
    assert (code.kind, runtime.kind, code.archive, runtime.archive) == ("source", "runtime", False, False)
    assert code.uri != runtime.uri
    assert is_content_prefix(code.uri)
    assert is_content_prefix(runtime.uri)
    generated = channels(plan)
    assert list(generated) == ["code", "smspec"]
    assert generated["smspec"]["DataSource"]["S3DataSource"]["S3Uri"] == runtime.uri
    assert entrypoint(plan) == ["python3", "/opt/ml/input/data/smspec/entrypoint.py"]
    assert (plan.image, hyperparameters(plan), plan.run.delivery) == (None, {}, "channel")


def test_existing_image_may_use_its_own_toolkit():
    plan = planned(image=URI, source=S3)
    (upload,) = plan.uploads
    assert hyperparameters(plan) == {"sagemaker_program": "train.py", "sagemaker_submit_directory": upload.uri}
    assert (plan.run, plan.settings, plan.image, entrypoint(plan), channels(plan)) == (None, None, None, None, {})


LAUNCHERS = [
    ("mpi", {"sagemaker_mpi_enabled": "true"}),
    (
        {"mpi": {"processes_per_host": 8, "options": ["-x", "NCCL_DEBUG=INFO"]}},
        {
            "sagemaker_mpi_enabled": "true",
            "sagemaker_mpi_num_of_processes_per_host": "8",
            "sagemaker_mpi_custom_mpi_options": "-x NCCL_DEBUG=INFO",
        },
    ),
    (
        "torchrun",
        {"sagemaker_torch_distributed_enabled": "true", "sagemaker_instance_type": "ml.c5.xlarge"},
    ),
    (
        {"smdataparallel": {}},
        {"sagemaker_distributed_dataparallel_enabled": "true", "sagemaker_instance_type": "ml.c5.xlarge"},
    ),
    ({"parameter_server": {"framework": "tensorflow"}}, {"sagemaker_parameter_server_enabled": "true"}),
]


@pytest.mark.parametrize(("distribution", "expected"), LAUNCHERS, ids=[str(launcher) for launcher, _ in LAUNCHERS])
def test_toolkit_hyperparameters_set_the_launcher(distribution, expected):
    plan = planned(image=URI, source=S3, distribution=distribution)
    told = hyperparameters(plan)
    del told["sagemaker_program"], told["sagemaker_submit_directory"]
    assert told == expected


def test_toolkit_hyperparameters_join_all_groups():
    groups = [{"name": name, "instance_type": "ml.g5.xlarge", "count": 1} for name in ("a", "b")]
    plan = planned(image=URI, source=S3, distribution="torchrun", hosts={"groups": groups})
    assert hyperparameters(plan)["sagemaker_distribution_instance_groups"] == '["a", "b"]'
    assert hyperparameters(plan)["sagemaker_instance_type"] == "ml.g5.xlarge"


@pytest.mark.parametrize("delivery", ["image", "channel", "s3"])
def test_launchers_of_built_images_join_all_groups(delivery):
    groups = [{"name": name, "instance_type": "ml.g5.xlarge", "count": 1} for name in ("a", "b")]
    source = {"dir": "src/", "delivery": delivery}
    plan = planned(source=source, distribution="torchrun", hosts={"groups": groups})
    assert hyperparameters(plan)["sagemaker_distribution_instance_groups"] == '["a", "b"]'
    plan = planned(source=source, hosts={"groups": groups})
    assert "sagemaker_distribution_instance_groups" not in hyperparameters(plan)


def test_existing_image_without_source_needs_only_a_request():
    plan = planned(image=URI, source=None, entry_point=None)
    assert (plan.run, plan.image, plan.uploads, entrypoint(plan)) == (None, None, (), None)
    assert (channels(plan), hyperparameters(plan)) == ({}, {})


def test_existing_image_without_source_may_have_a_command():
    plan = planned(image=URI, source=None, entry_point={"command": ["python3", "-m", "train"]})
    assert entrypoint(plan) == ["python3", "-m", "train"]
    assert (plan.run, plan.uploads) == (None, ())


def test_built_image_without_source_may_have_a_command():
    plan = planned(source=None, entry_point={"command": ["train"]})
    assert (plan.run.kind, plan.run.command, entrypoint(plan)) == ("command", ["train"], None)


def test_generated_channels_name_groups_if_others_do():
    groups = [{"name": name, "instance_type": "ml.m5.large", "count": 1} for name in ("b", "a")]
    train = {"s3": "s3://example-data/ctr/train/", "instance_groups": ["a"]}
    plan = planned(image=URI, hosts={"groups": groups}, channels={"train": train})
    for channel in channels(plan).values():
        assert channel["DataSource"]["S3DataSource"]["InstanceGroupNames"] == ["b", "a"]
    train = {"s3": "s3://example-data/ctr/train/"}
    plan = planned(image=URI, hosts={"groups": groups}, channels={"train": train})
    for channel in channels(plan).values():
        assert "InstanceGroupNames" not in channel["DataSource"]["S3DataSource"]


@pytest.mark.parametrize("written", ["s3://elsewhere/team", "s3://elsewhere/team/"])
def test_sources_are_uploaded_to_source_s3(written):
    plan = planned(image=URI, source={"dir": "src/", "delivery": "channel", "s3": written})
    for upload in plan.uploads:
        assert is_content_prefix(upload.uri, "s3://elsewhere/team/")


def test_changed_source_is_uploaded_elsewhere():
    one, two = (planned(files=files, image=URI).uploads for files in (("train.py",), ("train.py", "more.py")))
    assert one[0].uri != two[0].uri
    assert one[1].uri == two[1].uri, "the runtime is the same"


def test_archive_and_files_never_share_a_prefix():
    archive, loose = (planned(source=source).uploads[0].uri for source in (S3, CHANNEL))
    assert archive.removesuffix("sourcedir.tar.gz") != loose
