"""Compare the predictions of `smspec run` with jobs that read from an S3 server of known speed.

    python tests/benchmarks/prediction.py [--rate 6] [--latency 0.03] [--script 4 12]

A run on a quarter of the data, with files and then with a FIFO, predicts the job for exactly the bandwidth and latency
of the server. Then the job runs on all data, downloaded by `smspec run` (File), streamed by it (Pipe), and read object
by object by the script itself, as FastFile mode does. The table has the predicted range, what was measured, and by how
much it is outside of the range; 1.5 is the limit. The order of the modes must be the predicted one where ranges do not
overlap. The script and the server sleep for most of their time.
"""

from __future__ import annotations

import argparse
import itertools
import json
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

from smspec.local.prediction.host_limits import HostLimits  # noqa: E402
from smspec.local.prediction.job_data import JobChannel, JobData  # noqa: E402
from smspec.local.prediction.prediction import predicted_modes  # noqa: E402
from smspec.local.prediction.reading import Reading, Scenario  # noqa: E402
from smspec.local.prediction.s3_service import Interval, S3Service  # noqa: E402
from smspec.local.running.training_request import TrainingRequest  # noqa: E402
from smspec.local.s3.fetching import CONNECTIONS, RANGE  # noqa: E402
from support.local.local_jobs import LocalJob  # noqa: E402
from support.servers.hostile_s3 import BUCKET, HostileS3, is_list  # noqa: E402
from support.servers.hostile_server import HostileServer, hostile_server  # noqa: E402

OBJECTS, SIZE, SAMPLE, PASSES = 16, 2_000_000, 4, 2
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
    def blocks(number):
        directory = os.environ["SM_CHANNEL_TRAIN"]
        if os.environ["OBJECTS"]:  # as FastFile mode reads them: one request when it is needed
            files = (urllib.request.urlopen(f"{{os.environ['OBJECTS']}}/{{i}}") for i in range({OBJECTS}))
        elif os.path.isdir(directory):
            files = (open(os.path.join(directory, name), "rb") for name in sorted(os.listdir(directory)))
        else:
            files = [open(f"{{directory}}_{{number}}", "rb", buffering=0)]
        for file in files:
            with file:
                while block := file.read(100_000):
                    yield len(block)
    began = time.monotonic()
    for number in range({PASSES}):
        for size in blocks(number):
            if began:
                print("first data after", time.monotonic() - began)
                began = None
            time.sleep(size / {{script_rate}})
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
                begin = max(self._free_at, time.monotonic())
                self._free_at = begin + len(piece) / self._rate
            time.sleep(max(0.0, self._free_at - time.monotonic()) if self._free_at > begin else 0.0)
            yield piece


@dataclass(frozen=True)
class Seen:
    """Seconds of a job: until it had its first data, and in all; bytes per second while it read."""

    wait: float
    total: float
    rate: float


def ran(job: LocalJob, server: SlowS3, mode: str, script_rate: float) -> Seen:
    """Run the job with all its data; return what was measured."""
    reads_itself = mode == "FastFile"
    objects = f"{server.environ['S3_ENDPOINT_URL']}/{BUCKET}/train" if reads_itself else ""
    write(job, "File" if reads_itself else mode, script_rate, objects)
    data = {} if reads_itself else {"data": {"train": URI}}
    ended = job.run(server.environ, **data)
    assert ended.returncode == 0, ended.stderr
    summary = job.summary()
    host = summary["hosts"][0]["seconds"]
    flows = summary["channels"]
    first = float(job.log().partition("first data after ")[2].split()[0])
    downloading = sum(flow["seconds"] for flow in flows) if mode == "File" else 0.0
    reading = sum(flow["seconds"] for flow in flows) if mode == "Pipe" else host
    return Seen(wait=downloading + first, total=downloading + host, rate=PASSES * OBJECTS * SIZE / reading)


def predicted(job: LocalJob, mode: str, script_rate: float, rate: float, latency: float) -> dict[str, object]:
    """Run the job on a part of its data; return the prediction for a service with this rate and latency."""
    write(job, mode, script_rate, "")
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    found = job.summary()["prediction"]
    assert found["measured"], found["unknown"]
    request = TrainingRequest(json.loads(json.dumps(_request(mode))))
    known = Interval(rate, rate)
    host = HostLimits(network=known, disk=None, capacity=None, memory=None)
    data = JobData(
        channels=tuple(JobChannel(channel=each, size=OBJECTS * SIZE, objects=OBJECTS) for each in request.channels),
        hosts=request.hosts(),
        limits={"ml.m5.large": host},
    )
    service = S3Service(
        request_rate=rate, latency=Interval(latency, latency), requests=CONNECTIONS, download_rate=rate, range=RANGE
    )
    reading = Reading(scenarios=tuple(Scenario(**each) for each in found["measured"]), notes=())
    return {each.mode: each for each in predicted_modes(data, reading, service)}


def write(job: LocalJob, mode: str, script_rate: float, objects: str) -> None:
    job.spec(SPEC.format(mode=mode, uri=URI, size=OBJECTS * SIZE, objects=objects))
    job.write("src/train.py", SCRIPT.replace("{script_rate}", str(script_rate)))


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


def measured_at(script_rate: float, rate: float, latency: float, directory: Path) -> tuple[float, int]:
    """Compare one script with one service; return the largest deviation, and how many orders are wrong."""
    job = LocalJob(directory / "job")
    for number in range(SAMPLE):
        job.write(f"sample/{number}", bytes(SIZE))
    worst, wrong = 1.0, 0
    with hostile_server() as server:
        contents = {f"train/{number}": os.urandom(SIZE) for number in range(OBJECTS)}
        service = SlowS3(server, contents, rate, latency)
        actual = {mode: ran(job, service, mode, script_rate) for mode in ("File", "FastFile", "Pipe")}
    for reference in ("File", "Pipe"):
        print(f"from a run in {reference} mode, script {script_rate / 1e6:g} MB/s, S3 {rate / 1e6:g} MB/s:")
        found = predicted(job, reference, script_rate, rate, latency)
        for mode, seen in actual.items():
            each = found[mode]
            rates = Interval(each.rate.least / 1e6, each.rate.most / 1e6)
            worst = max(worst, compared("first data", mode, each.wait, seen.wait))
            worst = max(worst, compared("whole job", mode, each.total, seen.total))
            worst = max(worst, compared("MB/s", mode, rates, seen.rate / 1e6))
        for one, two in itertools.permutations(actual, 2):
            for name in ("wait", "total"):
                first, second = getattr(found[one], name), getattr(found[two], name)
                if first.most < second.least and getattr(actual[one], name) > getattr(actual[two], name):
                    print(f"wrong order: {name} of {one} and {two}")
                    wrong += 1
    return worst, wrong


def _request(mode: str) -> dict[str, object]:
    channel = {"ChannelName": "train", "InputMode": mode, "DataSource": {"S3DataSource": {"S3Uri": URI}}}
    return {"InputDataConfig": [channel], "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=6.0, help="MB/s of the server")
    parser.add_argument("--latency", type=float, default=0.03, help="seconds until the first byte of a response")
    parser.add_argument("--script", type=float, nargs="*", default=[4.0, 12.0], help="MB/s of the script")
    arguments = parser.parse_args()
    results = []
    for script in arguments.script:
        with tempfile.TemporaryDirectory() as directory:
            results.append(
                measured_at(script * 1e6, arguments.rate * 1e6, arguments.latency, Path(directory).resolve())
            )
    worst, wrong = max(each for each, _ in results), sum(each for _, each in results)
    print(f"largest deviation from a range: {worst:.2f} (limit {LIMIT}); wrong orders: {wrong}")
    return int(worst > LIMIT or wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
