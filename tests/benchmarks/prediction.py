"""Compare the predictions of `smspec run` with jobs that read from an S3 server of known speed.

    python tests/benchmarks/prediction.py [--rate 6] [--latency 0.03]

The job is predicted for exactly the bandwidth and latency of the server. Then it runs on its data, downloaded by
`smspec run` (File), streamed by it (Pipe), and read object by object by the script itself, as FastFile mode does. The
table has the predicted range, what was measured, and by how much it is outside of the range; 1.5 is the limit. The
server sleeps for most of the time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from smspec.local.prediction.job_data import JobChannel, JobData  # noqa: E402
from smspec.local.prediction.limits import HostLimits, Interval, S3Service  # noqa: E402
from smspec.local.prediction.mode_prediction import ModePrediction  # noqa: E402
from smspec.local.prediction.prediction import predicted_modes  # noqa: E402
from smspec.local.running.training_request import TrainingRequest  # noqa: E402
from smspec.local.s3.fetching import CONNECTIONS, RANGE  # noqa: E402
from support.local.local_jobs import LocalJob  # noqa: E402
from support.servers.hostile_s3 import BUCKET, HostileS3, is_list  # noqa: E402
from support.servers.hostile_server import HostileServer, hostile_server  # noqa: E402

OBJECTS, SIZE = 16, 2_000_000
LIMIT = 1.5
URI = f"s3://{BUCKET}/train/"
SPEC = """
    source: src/
    entry_point: train.py
    input_mode: {mode}
    channels: {{train: {{s3: "{uri}", local: sample/, size: {size}}}}}
    hosts: {{instance_type: ml.m5.large, count: 1, volume: 10GB}}
    environment: {{OBJECTS: "{objects}"}}
"""
SCRIPT = f"""
    import os, time, urllib.request
    directory = os.environ["SM_CHANNEL_TRAIN"]
    began = time.monotonic()
    if os.environ["OBJECTS"]:  # as FastFile mode reads them: one request when it is needed
        files = (urllib.request.urlopen(f"{{os.environ['OBJECTS']}}/{{i}}") for i in range({OBJECTS}))
    elif os.path.isdir(directory):
        files = (open(os.path.join(directory, name), "rb") for name in sorted(os.listdir(directory)))
    else:
        files = [open(f"{{directory}}_0", "rb", buffering=0)]
    first = 0.0
    for file in files:
        with file:
            while file.read(100_000):
                first = first or time.monotonic() - began
    print("first data after", first, "all after", time.monotonic() - began, "seconds")
"""


class SlowS3(HostileS3):
    """Sends ``rate`` bytes per second on all connections together, each response after ``latency`` seconds."""

    def __init__(self, server: HostileServer, objects: dict[str, bytes], rate: float, latency: float) -> None:
        super().__init__(server, objects)
        self._rate, self._latency = rate, latency
        self._free_at = 0.0
        self._lock = threading.Lock()
        self.override = self._slow

    def _slow(self, asked) -> Iterator[bytes]:
        time.sleep(self._latency)
        text = self.right(asked)
        if is_list(asked):
            yield text
            return
        for start in range(0, len(text), 20_000):
            piece = text[start : start + 20_000]
            with self._lock:
                begin = max(self._free_at, time.monotonic() - 0.05)  # a sleep is longer than it should be
                self._free_at = begin + len(piece) / self._rate
            time.sleep(max(0.0, self._free_at - time.monotonic()) if self._free_at > begin else 0.0)
            yield piece


@dataclass(frozen=True)
class Seen:
    """Seconds of a job: until it had its first data, and for reading all of them."""

    wait: float
    one_pass: float


def ran(job: LocalJob, server: SlowS3, mode: str) -> Seen:
    """Run the job; return what was measured."""
    reads_itself = mode == "FastFile"
    objects = f"{server.environ['S3_ENDPOINT_URL']}/{BUCKET}/train" if reads_itself else ""
    own = "File" if reads_itself else mode
    job.spec(SPEC.format(mode=own, uri=URI, size=OBJECTS * SIZE, objects=objects))
    job.write("src/train.py", SCRIPT)
    data = {} if reads_itself else {"data": {"train": URI}}
    ended = job.run(server.environ, **data)
    assert ended.returncode == 0, ended.stderr
    words = job.log().partition("first data after ")[2].split()
    downloading = sum(flow["seconds"] for flow in job.summary()["channels"]) if mode == "File" else 0.0
    return Seen(wait=downloading + float(words[0]), one_pass=float(words[3]))


def predicted(rate: float, latency: float) -> dict[str, ModePrediction]:
    """Return the prediction for a service with this rate and latency."""
    request = TrainingRequest(_request("File"))
    known = Interval(rate, rate)
    data = JobData(
        channels=tuple(JobChannel(channel=each, size=OBJECTS * SIZE, objects=OBJECTS) for each in request.channels),
        hosts=request.hosts(),
        limits={"ml.m5.large": HostLimits(network=known, disk=None, capacity=None)},
    )
    service = S3Service(
        request_rate=rate, latency=Interval(latency, latency), requests=CONNECTIONS, download_rate=rate, range=RANGE
    )
    return {each.mode: each for each in predicted_modes(data, service)}


def compared(name: str, mode: str, predicted: Interval, measured: float) -> float:
    """Print a row; return by how much the measurement is outside of the range."""
    outside = max(1.0, predicted.least / max(measured, 1e-9), measured / max(predicted.most, 1e-9))
    if max(predicted.most, measured) < 0.5:
        outside = 1.0  # the start of a process takes longer
    middle = (predicted.least * predicted.most) ** 0.5
    ratio = f"{measured / middle:5.2f}" if middle else "    -"
    print(
        f"{mode:9}{name:10}{predicted.least:9.2f} to {predicted.most:7.2f}  measured {measured:7.2f}"
        f"  outside {outside:4.2f}  of the middle {ratio}"
    )
    return outside


def measured_at(rate: float, latency: float, directory: Path) -> float:
    """Compare the prediction with one service; return the largest deviation."""
    job = LocalJob(directory / "job")
    job.write("sample/0", bytes(SIZE))
    worst = 1.0
    with hostile_server() as server:
        contents = {f"train/{number}": os.urandom(SIZE) for number in range(OBJECTS)}
        service = SlowS3(server, contents, rate, latency)
        for mode, found in predicted(rate, latency).items():
            seen = ran(job, service, mode)
            worst = max(worst, compared("first data", mode, found.wait, seen.wait))
            if found.one_pass is not None:
                worst = max(worst, compared("one pass", mode, found.one_pass, seen.one_pass))
    return worst


def _request(mode: str) -> dict[str, object]:
    channel = {"ChannelName": "train", "InputMode": mode, "DataSource": {"S3DataSource": {"S3Uri": URI}}}
    return {"InputDataConfig": [channel], "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=6.0, help="MB/s of the server")
    parser.add_argument("--latency", type=float, default=0.03, help="seconds until the first byte of a response")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        worst = measured_at(arguments.rate * 1e6, arguments.latency, Path(directory).resolve())
    print(f"largest deviation from a range: {worst:.2f} (limit {LIMIT})")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
