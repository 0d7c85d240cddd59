"""Programs as they are published, with literal paths and the documented variables, run unchanged."""

from __future__ import annotations

import csv
import io
import random
import re
from pathlib import Path

import pytest

from support.local.local_jobs import LocalJob, script

RUNTIME_PAGE = Path(__file__).parents[2] / "docs/runtime.md"

PIPE_LOOP = """
    import os
    for epoch in range(5):
        size = 0
        with open(f"/opt/ml/input/data/training_{epoch}", "rb", buffering=0) as fifo:
            while data := fifo.read(4096):
                size += len(data)
        print("epoch", epoch, "bytes", size)
    assert os.listdir("/opt/ml/checkpoints") == os.listdir("/tmp/saved") == [], "of a different job"
    with open("/opt/ml/model/model.txt", "w") as model:
        model.write("trained")
    open("/tmp/saved/last", "w").close()
"""

SIMILARITY = """
    import csv, json, math
    with open("/opt/ml/input/config/resourceconfig.json") as file:
        resources = json.load(file)
    hosts, here = resources["hosts"], resources["current_host"]
    with open("/opt/ml/input/config/hyperparameters.json") as file:
        digits = int(json.load(file)["digits"])
    with open("/opt/ml/input/data/matrix/rows.csv") as file:
        rows = [[float(cell) for cell in row] for row in csv.reader(file)]
    share = range(hosts.index(here), len(rows), len(hosts))
    with open(f"/opt/ml/model/part-{here}.csv", "w", newline="") as file:
        for number in share:
            products = [sum(a * b for a, b in zip(rows[number], row)) for row in rows]
            lengths = [math.hypot(*rows[number]) * math.hypot(*row) for row in rows]
            csv.writer(file).writerow([number, *(round(p / l, digits) for p, l in zip(products, lengths))])
"""

SCRIPT_MODE = """
    import argparse, json, os
    if __name__ == "__main__":
        parser = argparse.ArgumentParser()
        parser.add_argument("--epochs", type=int, default=50)
        parser.add_argument("--batch-size", type=int, default=64)
        parser.add_argument("--learning-rate", type=float, default=0.05)
        parser.add_argument("--output-data-dir", type=str, default=os.environ["SM_OUTPUT_DATA_DIR"])
        parser.add_argument("--model-dir", type=str, default=os.environ["SM_MODEL_DIR"])
        parser.add_argument("--train", type=str, default=os.environ["SM_CHANNEL_TRAIN"])
        parser.add_argument("--test", type=str, default=os.environ["SM_CHANNEL_TEST"])
        args, unknown = parser.parse_known_args()
        assert unknown == []
        assert os.path.exists(os.path.join(args.train, "a.csv")) and os.path.exists(os.path.join(args.test, "a.csv"))
        with open(os.path.join(args.model_dir, "model.json"), "w") as model:
            json.dump([args.epochs, args.batch_size, args.learning_rate], model)
        with open(os.path.join(args.output_data_dir, "seen.json"), "w") as file:
            json.dump({{name: os.environ[name] for name in {names}}}, file)
"""


def documented_variables() -> list[str]:
    """Return the variables that docs/runtime.md promises, with a channel and a hyperparameter of this job."""
    section = RUNTIME_PAGE.read_text().partition("## Environment variables")[2].partition("JSON values have")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    names = re.findall(r"`([A-Z_]+(?:<[A-Z]+>)?)`", " ".join(cells))
    given = {"SM_CHANNEL_<NAME>": "SM_CHANNEL_TRAIN", "SM_HP_<KEY>": "SM_HP_BATCH-SIZE"}
    return [given.get(name, name) for name in names if name != "SM_TOPOLOGY"]


@pytest.mark.needs_namespaces
def test_pipe_loop_opens_five_streams(tmp_path):
    """Literal paths; this machine's own /opt/ml and checkpoints are not read or changed."""
    before = Path("/opt/ml").exists()
    job = LocalJob(tmp_path / "a jöb", engine="namespace")
    channel = 'channels: {training: {s3: "s3://data/train/", local: data/, input_mode: Pipe}}\n'
    script(job, PIPE_LOOP, f'{channel}checkpoints: {{s3: "s3://models/checkpoints/", local: /tmp/saved}}\n')
    job.write("data/a", bytes(100_000))
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    assert [line for line in job.log().splitlines() if line.startswith("epoch")] == [
        f"epoch {epoch} bytes 100000" for epoch in range(5)
    ]
    assert job.archive() == {"model.txt": b"trained"}
    assert (job.host().parents[1] / "tmp/saved/last").exists()
    assert Path("/opt/ml").exists() == before


@pytest.mark.needs_namespaces
def test_similarity_of_six_hosts_is_one_archive(tmp_path):
    """Each host reads its name from resourceconfig.json and writes its part."""
    job = LocalJob(tmp_path / "job", engine="namespace")
    channel = 'channels: {matrix: {s3: "s3://data/matrix/", local: data/}}\n'
    hosts = "hosts: {instance_type: ml.m5.large, count: 6, volume: 1GB}\n"
    script(job, SIMILARITY, f"{channel}{hosts}hyperparameters: {{digits: 6}}\n")
    choice = random.Random(1)
    rows = [[choice.uniform(-1, 1) for _ in range(4)] for _ in range(20)]
    job.write("data/rows.csv", "".join(",".join(map(str, row)) + "\n" for row in rows))
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    parts = job.archive()
    assert sorted(parts) == [f"part-algo-{number}.csv" for number in range(1, 7)]
    found = {int(row[0]): row[1:] for part in parts.values() for row in csv.reader(io.StringIO(part.decode()))}
    assert sorted(found) == list(range(20))
    assert all(float(found[number][number]) == 1 for number in found)
    assert all(found[a][b] == found[b][a] for a in found for b in found)


@pytest.mark.parametrize("engine", ["process", pytest.param("namespace", marks=pytest.mark.needs_namespaces)])
def test_script_mode_reads_every_documented_variable(tmp_path, engine):
    """Three hyperparameters as arguments, channels and directories from variables."""
    job = LocalJob(tmp_path / "job", engine=engine)
    names = documented_variables()
    channels = ", ".join(f'{name}: {{s3: "s3://data/{name}/", local: data/}}' for name in ("train", "test"))
    more = f"channels: {{{channels}}}\nhyperparameters: {{epochs: 3, batch-size: 32, learning-rate: 1e-3}}\n"
    script(job, SCRIPT_MODE.format(names=names), more)
    job.write("data/a.csv", "1,2")
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    assert job.archive() == {"model.json": b"[3, 32, 0.001]"}
    assert len(names) > 35
