"""A training container without Docker: a directory as /opt/ml and the runtime as a process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

RUNTIME = Path(__file__).parents[3] / "runtime"
LIMIT = 60
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Done:
    """What is left of a run."""

    status: int
    stdout: bytes
    stderr: bytes
    failure: str | None
    succeeded: bool

    @property
    def shown(self):
        return json.loads(self.stdout)


def wait_until(claim, seconds=LIMIT):
    """Return what the claim becomes as soon as it is true; fail after a deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = claim()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError(f"not within {seconds} s: {claim}")


class Process(subprocess.Popen):
    """The runtime as a process. A test that fails does not wait for it."""

    def __exit__(self, kind, value, traceback):
        if kind is not None and self.poll() is None:
            self.terminate()
            try:
                self.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()
        super().__exit__(kind, value, traceback)


class Container:
    """One host. `configure` and `write` lay /opt/ml out, `run` starts the runtime and waits."""

    def __init__(self, base, python=sys.executable):
        self.base = Path(base)
        self.python = python
        for directory in ("code", "input/config", "input/data", "model", "output/data"):
            (self.base / directory).mkdir(parents=True)
        self.configure()

    def configure(self, hyperparameters=None, channels=None, hosts=("algo-1",), current="algo-1", **resource):
        config = self.base / "input/config"
        resource = {"current_host": current, "hosts": list(hosts), **resource}
        (config / "resourceconfig.json").write_text(json.dumps(resource))
        (config / "inputdataconfig.json").write_text(json.dumps(channels or {}))
        (config / "hyperparameters.json").write_text(json.dumps(hyperparameters or {}))

    def write(self, path, content, mode=0o644):
        """Write a file below the base, `code/train.py` for instance."""
        target = self.base / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        target.chmod(mode)
        return target

    def command(self, plan=None, arguments=("train",), options=()):
        """Return the command that starts the runtime, alone or with a plan like a generated entrypoint."""
        if plan is None:
            return [self.python, *options, "-m", "smspec_runtime", *arguments]
        plan_file = self.write("../run_plan.json", json.dumps(plan))
        entrypoint = self.write(
            "../entrypoint.py",
            f"import sys\nsys.path.insert(0, {str(RUNTIME)!r})\n"
            "from smspec_runtime.early_signals import hold_early_signals\nhold_early_signals()\n"
            f"from smspec_runtime.main import main\nsys.exit(main(sys.argv[1:], {str(plan_file)!r}))\n",
        )
        return [self.python, *options, str(entrypoint), *arguments]

    def environ(self, plan=None, **variables):
        own = {"PATH": PATH, "HOME": str(self.base), "LANG": "C.UTF-8", "SAGEMAKER_BASE_DIR": str(self.base)}
        if plan is None:
            own["PYTHONPATH"] = str(RUNTIME)
        return {**own, **variables}

    def start(self, plan=None, arguments=("train",), environ=(), options=(), prefix=(), cwd="/", **streams):
        """Start the runtime with a command prefix, such as `unshare`."""
        return Process(
            [*prefix, *self.command(plan, arguments, options)],
            env=self.environ(plan, **dict(environ)),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
        )

    def run(self, **how):
        with self.start(**how) as process:
            stdout, stderr = process.communicate(timeout=LIMIT)
        return self.done(process.returncode, stdout, stderr)

    def done(self, status, stdout=b"", stderr=b""):
        return Done(status, stdout, stderr, self.failure, (self.base / "output/success").exists())

    @property
    def failure(self):
        path = self.base / "output/failure"
        return path.read_bytes().decode() if path.is_file() else None

    def run_script(self, script, **how):
        """Run a Python program in script mode."""
        self.write("code/train.py", script)
        environ = {"SAGEMAKER_PROGRAM": "train.py", **dict(how.pop("environ", {}))}
        return self.run(environ=environ, **how)

    def start_script(self, script, **how):
        self.write("code/train.py", script)
        environ = {"SAGEMAKER_PROGRAM": "train.py", **dict(how.pop("environ", {}))}
        return self.start(environ=environ, **how)


def refused(container, message, script="print('ran')"):
    """Run a script that must not start, since the job is refused with this message."""
    done = container.run_script(script)
    assert (done.status, done.stdout, done.succeeded) == (1, b"", False), done.stderr
    assert done.failure.startswith("ClientError: ")
    assert message in done.failure
    assert len(done.failure.encode()) <= 1024
    assert b"Traceback" not in done.stderr


def is_running(process):
    """Whether a process is there and not a zombie."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


SHOW = """
import json, os, sys
print(json.dumps({"argv": sys.argv, "cwd": os.getcwd(), "environ": dict(os.environ), "path": sys.path}))
"""
"""A program that shows what it was given."""

STOP_WHILE_LOADING = """
import os, sys
class Sender:
    def find_spec(self, name, path=None, target=None):
        if name == "smspec_runtime.main":
            os.kill(os.getpid(), 15)
sys.meta_path.insert(0, Sender())
"""
"""Sends SIGTERM to its own process as soon as the bulk of the runtime is imported. For a sitecustomize.py."""

ORPHANS = """
import os, sys, time
count = 1000
for _ in range(count // 50):
    if os.fork() == 0:
        for _ in range(50):
            if os.fork() == 0:
                os._exit(0)
        os._exit(0)
    os.wait()
def zombies():
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        found += fields[0] == "Z" and int(fields[1]) in (os.getppid(), os.getpid())
    return found
begun = time.monotonic()
while zombies() and time.monotonic() - begun < 10:
    time.sleep(0.01)
print(zombies(), time.monotonic() - begun)
"""
"""Leaves a thousand orphans behind, and shows how many are zombies at last and how long the rest took to go."""
