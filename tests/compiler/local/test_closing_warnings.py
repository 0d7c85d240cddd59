"""What a finished run warns about, and what it must not warn about."""

import os

import pytest

from smspec.local.record.flows import Flow
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
