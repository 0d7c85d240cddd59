"""A checked document becomes the described job without invented values."""

import dataclasses
import math

import pytest

from smspec.spec import decoding, model
from smspec.spec.decoding import decode
from smspec.spec.shape import shape_findings
from support.small_job import READY
from support.spec.job_documents import BUILT_JOB, document_of, merged_text, whole_job, with_key


def decoded(text):
    """Return the job of ``text``, which has the right shape."""
    document = merged_text(text)
    assert shape_findings(document) == []
    return decode(document)


def test_minimal_job_has_only_defaults():
    assert decoded(READY) == model.JobSpec(
        name="small",
        role="arn:aws:iam::111122223333:role/SageMakerTraining",
        image=model.ExistingImage(uri="111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1"),
        hosts=model.Hosts(instance_type="ml.m5.large", count=1, volume=10),
        output=model.Output(s3="s3://models/small/"),
    )


def test_every_key_is_in_the_model():
    document = document_of(whole_job())
    assert shape_findings(document) == []
    assert decode(document) == model.JobSpec(
        name="ctr-linear",
        description="streams 1.2 TB of RecordIO once per epoch",
        role="arn:aws:iam::111122223333:role/SageMakerTraining",
        region="us-west-2",
        account="111122223333",
        image=model.BuiltImage(
            base="python:3.12-slim-bookworm",
            platform="linux/amd64",
            system_packages=("libgomp1",),
            python_packages=("numpy==2.1.0",),
            python_requirements="requirements.txt",
            env={"OMP_NUM_THREADS": "4"},
            run=("true",),
            repository="ads/ctr-linear",
            labels={"team": "ads"},
        ),
        source=model.Source(
            dir="src/", delivery="s3", s3="s3://ads/source/", kms_key="alias/source", ignore=("tests/",)
        ),
        entry_point=model.PipeLoopEntry(
            pipe_loop="ctr.reader:Trainer",
            epochs=5,
            read={"train": "recordio"},
            prefetch=32_000_000,
            open_timeout=600,
        ),
        input_mode="Pipe",
        channels=(
            model.Channel(
                name="train",
                s3="s3://ads-data/ctr/train/",
                s3_data_type="AugmentedManifestFile",
                attributes=("source-ref", "class"),
                distribution="ShardedByS3Key",
                instance_groups=("workers",),
                input_mode="Pipe",
                content_type="text/csv",
                compression="Gzip",
                record_wrapper="RecordIO",
                shuffle_seed=17,
                local="data/train/",
                api={"ContentType": "x"},
            ),
            model.Channel(
                name="shared",
                file_system=model.FileSystem(id="fs-0123456789abcdef0", type="EFS", path="/ctr", access="ro"),
            ),
        ),
        hosts=model.Hosts(
            instance_type="ml.c5.9xlarge",
            count=4,
            volume=50,
            volume_kms_key="alias/volumes",
            keep_alive=1800,
            training_plan="arn:aws:sagemaker:us-west-2:111122223333:training-plan/large-models",
            groups=(model.InstanceGroup(name="workers", instance_type="ml.c5.9xlarge", count=2),),
        ),
        distribution=model.Mpi(processes_per_host=8, options=("-x", "NCCL_DEBUG=INFO")),
        hyperparameters=(
            model.Hyperparameter(name="epochs", value=5, text="5"),
            model.Hyperparameter(name="lr", value=0.001, text="0.001"),
            model.Hyperparameter(name="layers", value=[256, 64]),
            model.Hyperparameter(name="bf16", value=True, text="true"),
        ),
        hyperparameter_encoding="json_strings",
        environment={"NCCL_DEBUG": "WARN"},
        stopping=model.Stopping(max_runtime=21_600, max_pending=7200),
        spot=model.Spot(max_wait=28_800),
        retries=2,
        output=model.Output(s3="s3://ads-models/ctr/", kms_key="alias/models", compression="NONE"),
        checkpoints=model.Checkpoints(s3="s3://ads-models/ctr/ckpt/", local="/opt/ml/checkpoints"),
        tensorboard="s3://ads-models/ctr/tb/",
        network=model.Network(
            subnets=("subnet-0aa",), security_groups=("sg-0bb",), isolation=False, encrypt_inter_container=True
        ),
        metrics=(model.Metric(name="train:loss", regex="loss=([0-9.eE+-]+)"),),
        tags={"team": "ads", "cost-center": "0042"},
        job_name="ctr-linear-2026-01",
        api={"RemoteDebugConfig": {"EnableRemoteDebug": True}},
        ignored_checks=(model.IgnoredCheck(rule="SM302", at="channels.train", because="one object per host"),),
    )


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("entry_point: train.py", model.ScriptEntry(script="train.py")),
        (
            "entry_point: {script: a.sh, args: [--n, 5, 1e-3, true], args_style: flags}",
            model.ScriptEntry(script="a.sh", args=("--n", "5", "1e-3", "true"), args_style="flags"),
        ),
        ("entry_point: {command: [./train, 012]}", model.CommandEntry(command=("./train", "012"))),
        ("entry_point: {command: [a], args_style: json}", model.CommandEntry(command=("a",), args_style="json")),
        ("entry_point: {module: 'ctr.training:main'}", model.ModuleEntry(module="ctr.training:main")),
        ("entry_point: {pipe_loop: 'a:b', epochs: 2.0}", model.PipeLoopEntry(pipe_loop="a:b", epochs=2)),
    ],
    ids=["script", "script with arguments", "command", "command with JSON", "module", "pipe loop"],
)
def test_entry_points_are_decoded(line, entry):
    assert decoded(with_key(line, BUILT_JOB)).entry_point == entry


@pytest.mark.parametrize(
    ("line", "launcher"),
    [
        ("distribution: torchrun", model.Torchrun()),
        (
            "distribution: {torchrun: {processes_per_host: 8, port: 29500}}",
            model.Torchrun(processes_per_host=8, port=29500),
        ),
        ("distribution: mpi", model.Mpi()),
        ("distribution: {mpi: {processes_per_host: auto, options: [-n, 4]}}", model.Mpi(options=("-n", "4"))),
        ("distribution: {parameter_server: {framework: mxnet}}", model.ParameterServer(framework="mxnet")),
        ("distribution: smdataparallel", model.SmDataParallel()),
    ],
    ids=["torchrun", "torchrun with processes", "MPI", "MPI with options", "parameter server", "data parallel"],
)
def test_launchers_are_decoded(line, launcher):
    assert decoded(with_key(line)).distribution == launcher


def test_hyperparameters_keep_order_spelling_and_quotes():
    text = READY + "hyperparameters:\n  z: 1e-3\n  a: '1e-3'\n  m: .5\n  i: .inf\n  t: 012\n  n: [1e-3, {a: null}]\n"
    parameters = decoded(text).hyperparameters
    assert [(p.name, p.value, p.text, p.quoted) for p in parameters] == [
        ("z", 0.001, "1e-3", False),
        ("a", "1e-3", "1e-3", True),
        ("m", 0.5, ".5", False),
        ("i", math.inf, ".inf", False),
        ("t", "012", "012", False),
        ("n", [0.001, {"a": None}], "", False),
    ]


def test_text_keys_keep_the_spelling_of_scalars():
    job = decoded(
        with_key("image: {base: x, env: {A: 1e-3, B: yes}, labels: {A: 012, B: true}}", BUILT_JOB)
        + "environment: {A: 1_000, B: .5, C: '7', D: 2026-01-01}\ntags: {cost: 0042, on: 1.10}\n"
    )
    assert job.image.env == {"A": "1e-3", "B": "yes"}
    assert job.image.labels == {"A": "012", "B": "true"}
    assert job.environment == {"A": "1_000", "B": ".5", "C": "7", "D": "2026-01-01"}
    assert job.tags == {"cost": "0042", "on": "1.10"}


def test_patch_keeps_its_nulls():
    job = decoded(READY + "api: {StoppingCondition: null}\nchannels: {a: {s3: s3://a/b, api: {ContentType: null}}}\n")
    assert job.api == {"StoppingCondition": None}
    assert job.channels[0].api == {"ContentType": None}


def test_empty_mapping_differs_from_an_absent_one():
    assert decoded(READY).stopping is None
    assert decoded(READY + "stopping: {}\n").stopping == model.Stopping()
    assert decoded(READY + "spot: {}\n").spot == model.Spot()


def test_null_equals_an_absent_key():
    assert decoded(
        READY + "spot: null\nchannels: {a: {s3: s3://a/b, content_type: ~}}\nnetwork:\n"
    ) == dataclasses.replace(decoded(READY), channels=(model.Channel(name="a", s3="s3://a/b"),))


def test_channels_keep_their_order():
    job = decoded(READY + "channels: {z: s3://a/z, a: s3://a/a, m: s3://a/m}\n")
    assert [channel.name for channel in job.channels] == ["z", "a", "m"]


def test_shared_values_are_decoded_as_on_their_own():
    """A value of one job does not become the value of another that only looks like it."""
    lines = ["tags: {a: '1'}", "tags: {a: 1}", "environment: {a: '1'}", "tags: {a: x, b: y}", "tags: {b: y, a: x}"]
    lines += ["retries: 1", "api: {a: 1}", "api: {a: true}", "api: {a: 1.0}", "api: {a: [1]}"]
    texts = [with_key(line) for line in lines]
    alone = []
    for text in texts:
        decoding._DECODED.__init__()
        alone.append(repr(decode(merged_text(text))))
    assert [repr(decode(merged_text(text))) for text in texts * 2] == alone * 2
    assert len(set(alone)) == len(texts) - 1, "a tag is its text"
