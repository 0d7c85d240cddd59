"""What a finished run warns about, and what it must not warn about."""

import os

import pytest

from smspec.local.record.flows import Flow
from smspec.local.running.lost_results import LostResults
from smspec.local.running.run_directory import HostDirectory
from smspec.local.running.run_end import ClosingWarnings, hosts_without_data, unread_pipes
from smspec.local.running.training_request import TrainingRequest

GB = 1 << 30


def request(mode="File", distribution="ShardedByS3Key", **members):
    source = {"S3DataType": "S3Prefix", "S3Uri": "s3://b/train/", "S3DataDistributionType": distribution}
    channel = {"ChannelName": "train", "InputMode": mode, "DataSource": {"S3DataSource": source}}
    resources = {"InstanceType": "ml.m5.large", "InstanceCount": 4, "VolumeSizeInGB": 1}
    return TrainingRequest({"InputDataConfig": [channel], "ResourceConfig": resources, **members})


def flow(host, size, mode="File", **changes):
    epoch = 0 if mode == "Pipe" else None
    facts = {"host": f"algo-{host}", "channel": "train", "mode": mode, "epoch": epoch, "size": size, "seconds": 1.0}
    return Flow(**{**facts, **changes})


def idle(training, *flows):
    return list(hosts_without_data(training.channels, training.hosts(), flows))


@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
def test_one_object_over_four_hosts_is_a_warning(mode):
    flows = [flow(1, 9, mode), *(flow(host, 0, mode) for host in (2, 3, 4))]
    (warning,) = idle(request(mode), *flows)
    assert warning.startswith("algo-2, algo-3, algo-4 got no data of channel `train`")
    assert warning.endswith("use fewer hosts or more objects")


@pytest.mark.parametrize(
    "flows",
    [
        [flow(host, 9) for host in (1, 2, 3, 4)],
        [flow(host, 0) for host in (1, 2, 3, 4)],
        [flow(1, 9)],
        [flow(1, 9, "Pipe"), flow(2, 0, "Pipe", is_early=True)],
        [flow(1, 9, "Pipe"), flow(2, 0, "Pipe", injected=("kill_writer",))],
        [flow(1, 9, "Pipe"), flow(2, 0, "Pipe"), flow(2, 9, "Pipe", epoch=1)],
    ],
    ids=["all", "empty objects", "unknown", "closed early", "injected", "in a later epoch"],
)
def test_hosts_that_may_have_data_are_no_warning(flows):
    assert idle(request(), *flows) == []


def test_replicated_channel_leaves_no_host_out():
    assert idle(request(distribution="FullyReplicated"), flow(1, 9), flow(2, 0)) == []


def test_unread_pipe_is_a_warning():
    training = request("Pipe")
    channels, hosts = training.channels, training.hosts()
    (warning,) = unread_pipes(channels, hosts, [])
    assert "no host opened Pipe channel `train`" in warning
    assert list(unread_pipes(channels, hosts, [flow(1, 0, "Pipe", is_early=True)])) == []
    assert list(unread_pipes(request("File").channels, hosts, [])) == []


class Hosts:
    """Directories of hosts, and what a run that ends in them says."""

    def __init__(self, root):
        self.places = {}
        for number in (1, 2):
            place = HostDirectory(str(root / f"algo-{number}"))
            place.make()
            self.places[f"algo-{number}"] = place

    def warned(self, training, *flows, write=lambda: None, status="Completed", has_resumed=False):
        hosts = training.hosts(2)
        closing = ClosingWarnings(training, hosts, self.places, has_resumed=has_resumed)
        write()
        return closing.of_run(status, flows)


@pytest.fixture
def hosts(tmp_path):
    return Hosts(tmp_path)


def test_data_larger_than_the_volume_is_a_warning(hosts):
    (warning,) = hosts.warned(request(), flow(2, GB + 1), flow(1, GB))
    assert warning.startswith("algo-2: `hosts.volume` is 1 GB, but File data and output have 1.0 GB")
    assert "set it to more than 2GB" in warning
    assert hosts.warned(request(), flow(1, GB), flow(2, 5)) == []


def test_output_counts_and_streamed_data_does_not(hosts):
    model = os.path.join(hosts.places["algo-1"].model, "m")

    def write():
        with open(model, "wb") as file:
            file.write(bytes(1 << 16))

    full = flow(1, GB - 4)
    assert len(hosts.warned(request(), full, flow(2, 1), write=write)) == 1
    os.truncate(model, 0)
    os.truncate(model, 2 * GB)  # sparse: it takes no space
    assert hosts.warned(request(), full, flow(2, 1)) == []
    assert hosts.warned(request("FastFile"), flow(1, 9 * GB, "FastFile"), flow(2, 1, "FastFile")) == []


def test_local_storage_replaces_the_volume(hosts):
    resources = {"InstanceType": "ml.g5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 1}
    assert hosts.warned(request(ResourceConfig=resources), flow(1, 100 * GB), flow(2, 1)) == []
    (warning,) = hosts.warned(request(ResourceConfig=resources), flow(1, 900 * GB), flow(2, 1))
    assert "`ml.g5.xlarge` has" in warning and "larger instance type" in warning


CHECKPOINTS = {"CheckpointConfig": {"S3Uri": "s3://b/c/"}, "EnableManagedSpotTraining": True}


def test_unused_checkpoints_are_a_warning(hosts):
    training = request(**CHECKPOINTS)
    data = [flow(1, 1), flow(2, 1)]
    (warning,) = hosts.warned(training, *data)
    assert "wrote nothing to /opt/ml/checkpoints: if SageMaker interrupts it, it starts from scratch" in warning
    assert hosts.warned(training, *data, status="Failed") == []
    assert hosts.warned(request(), *data) == []


@pytest.mark.parametrize("keeps", [True, False])
def test_checkpoint_of_one_host_is_enough(hosts, keeps):
    """A job may remove its checkpoints when it has ended."""
    checkpoint = os.path.join(hosts.places["algo-2"].base, "checkpoints", "c")

    def write():
        with open(checkpoint, "wb"):
            pass
        if not keeps:
            os.unlink(checkpoint)

    assert hosts.warned(request(**CHECKPOINTS), flow(1, 1), flow(2, 1), write=write) == []


def test_resumed_job_may_have_nothing_left_to_read(hosts):
    assert hosts.warned(request("Pipe"), has_resumed=True) == []
    assert len(hosts.warned(request("Pipe"))) == 1


def lost(hosts, written, training=None, delivered=(), added=None, status="Completed"):
    """Return what is said of files that algo-2 writes below /opt/ml; each has as many bytes as its path."""
    results = LostResults(training or request(), hosts.places, delivered)
    for path in written:
        target = os.path.join(hosts.places["algo-2"].base, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(path)
    return list(results.warnings(added or {}, status))


@pytest.mark.parametrize("status", ["Completed", "Failed", "Stopped"])
@pytest.mark.parametrize("path", ["code/opt/ml/model/m.bin", "output/metrics.json", "outputs/a/b", "code/model/m.bin"])
def test_file_that_is_not_uploaded_is_a_warning(hosts, path, status):
    (warning,) = lost(hosts, [path, "model/m.bin"], status=status)
    assert warning.startswith(f"SageMaker would lose `/opt/ml/{path}` ({len(path)} B): it uploads only /opt/ml/model")
    assert ("lacks its leading `/`" in warning) == path.startswith("code/opt")


@pytest.mark.parametrize("kept", ["same", "other", "link"])
def test_result_with_a_copy_that_is_uploaded_is_not_lost(hosts, kept):
    results = LostResults(request(), hosts.places, ())
    base = hosts.places["algo-2"].base
    os.makedirs(os.path.join(base, "code/out"))
    os.makedirs(os.path.join(base, "model"), exist_ok=True)
    result, model = os.path.join(base, "code/out/m.bin"), os.path.join(base, "model/best.bin")
    with open(result, "w") as file:
        file.write("weights")
    if kept == "link":
        os.symlink(result, model)
    else:
        with open(model, "w") as file:
            file.write("weights" if kept == "same" else "another")
    assert len(list(results.warnings({}, "Completed"))) == (kept != "same")


def test_many_lost_files_are_counted(hosts):
    (warning,) = lost(hosts, [f"code/logs/{number}" for number in range(9)], added={"algo-1": ["/opt/ml/x.bin"]})
    assert (
        "`/opt/ml/code/logs/0` (11 B), `/opt/ml/code/logs/1` (11 B), `/opt/ml/code/logs/2` (11 B) and 7 more" in warning
    )


UPLOADED = ["model/a", "output/data/a/b", "output/tensors/e", "checkpoints/c", "output/failure", "input/config/new"]
LEFT = ["code/__pycache__/a.pyc", "code/.cache/x", "code/wandb/run/a", "code/p.egg-info/PKG-INFO", "code/core.17"]


def test_uploaded_files_and_caches_are_not_lost(hosts):
    assert lost(hosts, UPLOADED + LEFT) == []
    assert lost(hosts, ["code/train.py", "code/pkg/a.py"], delivered=["train.py", "pkg/a.py"]) == []
    assert lost(hosts, ["ck/1"], request(CheckpointConfig={"S3Uri": "s3://b/c/", "LocalPath": "/opt/ml/ck"})) == []
    assert (
        lost(hosts, ["tb/1"], request(TensorBoardOutputConfig={"S3OutputPath": "s3://b", "LocalPath": "/opt/ml/tb"}))
        == []
    )
    assert lost(hosts, [], added={"algo-1": ["/opt/ml/model/a.bin", "/opt/app/log.txt"]}) == []


def test_links_are_not_followed(hosts, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_text("x")
    results = LostResults(request(), hosts.places, ())
    os.symlink(tmp_path / "elsewhere", os.path.join(hosts.places["algo-1"].code, "link"))
    os.symlink(tmp_path / "elsewhere/file", os.path.join(hosts.places["algo-1"].code, "latest"))
    assert list(results.warnings({}, "Completed")) == []


def test_checkpoints_in_the_model_are_a_warning(hosts):
    def write(name, size):
        path = os.path.join(hosts.places["algo-1"].model, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.truncate(size)

    write("model.bin", 1_000_000)
    write("checkpoint-500/model.bin", 900_000)
    assert lost(hosts, []) == []
    write("checkpoint-1000/model.bin", 14_000_000)
    (warning,) = lost(hosts, [])
    assert warning.startswith(
        "14.9 MB of the 15.9 MB in /opt/ml/model are checkpoints (`checkpoint-1000`, `checkpoint-500`)"
    )
    assert lost(hosts, [], status="Failed") == []


@pytest.mark.parametrize(
    ("names", "is_warning"),
    [
        (["model.pt", "checkpoints/last.pt", "checkpoints/best.pt", "checkpoints/prev.pt"], True),
        (["model.pt", "ckpt/model_best.pth", "ckpt/epoch_3.pth"], True),
        (["config.json", "checkpoints/best.pt"], False),
        (["checkpoint/model.safetensors", "checkpoint/config.json", "checkpoint/tokenizer.json"], False),
        (["last.pt", "best.pt"], False),
        (["checkpoints/shard-1.bin", "checkpoints/shard-2.bin", "model.json"], False),
    ],
)
def test_checkpoints_without_numbers_are_found(hosts, names, is_warning):
    """Where one of them may be the model, nothing is certain."""
    for name in names:
        path = os.path.join(hosts.places["algo-1"].model, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.truncate(1_500_000 if "/" in name else 1_000_000)
    assert len(lost(hosts, [])) == is_warning
