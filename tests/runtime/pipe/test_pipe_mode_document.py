"""The code in docs/pipe-mode.md runs as printed, and migrated code gives the same results.

A block is found by the comment above it, `<!-- example: NAME -->`. The directory /opt/ml is another one here, and so it
is in the code. SMSPEC_PEERS_PYTHON names a Python that has version 2 of the SageMaker SDK, SMSPEC_TOOLKIT_PYTHON one
that has sagemaker-training, SMSPEC_TENSORFLOW_PYTHON one that has TensorFlow.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from smspec_runtime.pipe.views import VIEWS
from support.pipe.pipe_formats import pattern, record, recordio, tensor, tfrecord
from support.pipe.pipe_host import RUNTIME, Host

PAGE = (Path(__file__).parents[3] / "docs/pipe-mode.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^<!-- example: ([a-z ]+) -->\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))

BYTES = [pattern(3_000_000), b"", pattern(70_000)]
ROWS = [[epoch + n / 4 for n in range(4)] for epoch in range(3)]
NUMBERS = [
    b"".join(
        recordio(record({"values": tensor("f", [*ROWS[epoch][:3], n])}, {"values": tensor("f", [n])})) for n in range(5)
    )
    for epoch in range(3)
]


@pytest.fixture
def run(tmp_path):
    """Run a block as a script in a host whose channel is fed; return what it printed."""
    processes = []

    def start(name, channel, epochs, python=sys.executable, more="", instead=()):
        root = tmp_path / f"script{len(processes)}"
        code = EXAMPLES[name].replace("/opt/ml", str(root)) + more
        for old in instead:
            assert old in code
            code = code.replace(old, instead[old])
        host = Host(root, code, channels=[channel])
        host.feed(channel, *[[data] for data in epochs])
        host.process = subprocess.Popen(
            [python, "author.py"],
            cwd=host.root / "code",
            env=dict(os.environ, SAGEMAKER_BASE_DIR=str(host.root), PYTHONPATH=str(RUNTIME), TF_CPP_MIN_LOG_LEVEL="3"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(host.process)
        assert host.end(60) == 0, host.err
        return host.out

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


def python_with(variable, module):
    """Return the Python that a variable names, else this one; skip the test where it lacks the module."""
    python = os.environ.get(variable, sys.executable)
    probe = f"import importlib.util as u, sys; sys.exit(not u.find_spec({module!r}))"
    if subprocess.run([python, "-c", probe], stderr=subprocess.DEVNULL).returncode:
        pytest.skip(f"{variable} names no Python that has {module}")
    return python


def test_every_view_is_documented():
    table = PAGE[PAGE.index("## Views") : PAGE.index("## Batches")]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(VIEWS)


def test_documented_script_runs(run):
    data = [b"a,b\n1,2\n", b"", b"3,4\n"]
    assert run("script", "train", data) == "0 2 8\n1 0 0\n2 1 4\n"


def test_documented_open_runs(run):
    assert run("open", "train", [b"one\ntwo\nthree\n" * 100_000]) == "b'one\\n'\nb'two\\n'\n"


def test_published_loop_is_portable(run, host):
    before = run("sample before", "training", BYTES)
    assert len(before.splitlines()) == 3
    assert run("sample script", "training", BYTES) == before

    job = host(EXAMPLES["sample handler"], channels=["training"], epochs=3)
    job.feed("training", *[[data] for data in BYTES])
    assert job.start("author:read").end() == 0, job.err
    told = [line for line in job.out.splitlines() if re.fullmatch(r"\d [0-9a-f]{64}", line)]
    assert told == before.splitlines()


TOOLKITS_COPY = {
    "sagemaker.amazon.common import": "sagemaker_training.recordio import _read_recordio as",
    "sagemaker.amazon.record_pb2": "sagemaker_training.record_pb2",
}


@pytest.mark.parametrize(
    ("variable", "module", "instead"),
    [("SMSPEC_PEERS_PYTHON", "sagemaker", {}), ("SMSPEC_TOOLKIT_PYTHON", "sagemaker_training", TOOLKITS_COPY)],
    ids=["the SDK", "sagemaker-training"],
)
def test_recordio_readers_are_portable(run, variable, module, instead):
    out = run("sdk before", "train", NUMBERS, python=python_with(variable, module), instead=instead)
    before = [line for line in out.splitlines() if not line.startswith("sagemaker.config ")]  # what its import says
    assert len(before) == 15 and before[-1] == "2 [2.0, 2.25, 2.5, 4.0] 4.0"
    assert run("sdk after", "train", NUMBERS).splitlines() == before


def test_recordio_protobuf_needs_no_library(run):
    out = run("sdk after", "train", NUMBERS)
    assert len(out.splitlines()) == 15 and out.splitlines()[-1] == "2 [2.0, 2.25, 2.5, 4.0] 4.0"


def test_tensorflow_reads_records(run):
    python = python_with("SMSPEC_TENSORFLOW_PYTHON", "tensorflow")
    data = [b"".join(tfrecord(b"%d:%d" % (epoch, n)) for n in range(50)) for epoch in range(3)]
    more = "\nfor batch in dataset:\n    print(len(batch), *batch.numpy()[:1])\n"
    out = run("tensorflow records", "train", data, python=python, more=more)
    assert out.splitlines() == ["64 b'0:0'", "64 b'1:14'", "22 b'2:28'"]


def test_tensorflow_reads_batches(run):
    python = python_with("SMSPEC_TENSORFLOW_PYTHON", "tensorflow")
    more = "\nfor x, y in dataset:\n    print(x.shape, x.numpy()[-1].tolist(), y.numpy().tolist())\n"
    out = run("tensorflow batches", "train", NUMBERS, python=python, more=more)
    assert out.splitlines()[-1] == "(5, 4) [2.0, 2.25, 2.5, 4.0] [0.0, 1.0, 2.0, 3.0, 4.0]"
    assert len(out.splitlines()) == 3
