"""A directory /opt/ml with Pipe channels and the process of its pipe loop."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from support.pipe.fifo_writers import Writer

RUNTIME = Path(__file__).parents[3] / "runtime"
LINE = re.compile(
    r"Completed epoch (\d+); read (\d+) bytes; time: ([\d.]+)s, throughput: ([\d.]+) MB/s(?:; channel: (.+))?"
)


class Host:
    """One /opt/ml and the process that runs the loop in it."""

    def __init__(self, root, handler, channels=("train",), python=sys.executable, hyperparameters=None, **settings):
        self.root = root
        self.data = root / "input/data"
        self.python = python
        for directory in ("input/config", "input/data", "code", "model"):
            (root / directory).mkdir(parents=True)
        (root / "code/author.py").write_text(textwrap.dedent(handler))
        pipe_mode = {"TrainingInputMode": "Pipe", "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"}
        modes = {name: dict(pipe_mode, TrainingInputMode="File") if name == "side" else pipe_mode for name in channels}
        if settings:
            hyperparameters = dict(hyperparameters or {}, sagemaker_smspec=json.dumps(settings))
        self.write("inputdataconfig", modes)
        self.write("hyperparameters", hyperparameters or {})
        self.write("resourceconfig", {"current_host": "algo-1", "hosts": ["algo-1"], "network_interface_name": "eth0"})

    def write(self, name, value):
        (self.root / "input/config" / (name + ".json")).write_text(json.dumps(value))

    def start(self, name="author:Handler", **variables):
        environment = dict(os.environ, SAGEMAKER_BASE_DIR=str(self.root), PYTHONPATH=str(RUNTIME), **variables)
        self.process = subprocess.Popen(
            [self.python, "-m", "smspec_runtime.pipe.loop", name],
            cwd=self.root / "code",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self

    def feed(self, channel, *epochs, **options):
        """Make a FIFO per epoch, all in advance, each with its writer."""
        writers = []
        for epoch, pieces in enumerate(epochs):
            path = self.data / f"{channel}_{epoch}"
            if not path.exists():
                os.mkfifo(path)
            writers.append(Writer(path, pieces, **options))
        return writers

    def end(self, seconds=30):
        try:
            self.out, self.err = self.process.communicate(timeout=seconds)
        finally:
            self.process.kill()
        return self.process.returncode

    def lines(self):
        """The published lines: (epoch, bytes, channel or None)."""
        found = [LINE.fullmatch(line) for line in self.out.splitlines() if line.startswith("Completed")]
        assert all(found), self.out
        return [(int(match[1]), int(match[2]), match[5]) for match in found]

    def metrics(self):
        return [json.loads(line) for line in self.out.splitlines() if line.startswith('{"smspec"')]

    def model(self):
        return (self.root / "model/seen").read_text()
