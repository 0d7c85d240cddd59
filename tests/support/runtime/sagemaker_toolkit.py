"""Run the SageMaker Training Toolkit and the runtime on the same container and compare the script's view.

The toolkit is looked for in the interpreter that SMSPEC_TOOLKIT_PYTHON names, or in this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest

from smspec_runtime.cluster import Cluster
from support.runtime.container import Container, Done

VERSION = "5.1.4"
TOOLKIT = os.environ.get("SMSPEC_TOOLKIT_PYTHON", sys.executable)
_PROBE = "import importlib.metadata as m; print(m.version('sagemaker-training'))"


def _found() -> str:
    try:
        return subprocess.run([TOOLKIT, "-c", _PROBE], capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return "no interpreter"


needs_toolkit = pytest.mark.skipif(_found() != VERSION, reason=f"sagemaker-training {VERSION} is not installed")

_OFTEN_DIFFERENT = {"PYTHONPATH", "_", "OLDPWD", "PWD"}
"""The first by design, as a test of its own says; the others are set by the shell that the toolkit puts in between."""
_OF_THE_CONTAINERS = set(Cluster([""], "").torch_variables("", "", {}))
"""SageMaker's containers of PyTorch add them to what the toolkit sets."""

WITNESS = """
import json, os, signal, sys
umask = os.umask(0)
os.umask(umask)
numbers = os.listdir("/proc/self/fd")
print(json.dumps({
    "argv": sys.argv, "cwd": os.getcwd(), "environ": dict(os.environ), "first": sys.path[0], "name": __name__,
    "umask": umask, "stdin": os.readlink("/proc/self/fd/0"), "flags": list(sys.flags), "python": sys.executable,
    "descriptors": sorted(int(number) for number in numbers if os.path.exists("/proc/self/fd/" + number)),
    "ignored": [n for n in range(1, 32) if n not in (9, 19) and signal.getsignal(n) == signal.SIG_IGN],
    "buffered": sys.stdout.line_buffering, "nice": os.nice(0), "ids": [os.getuid(), os.getgid()],
}))
"""
"""A program that shows all that it was given."""


def toolkit(container: Container, environ: Mapping[str, str] = {}, umask: int = -1) -> Done:
    """Run a container with the toolkit."""
    command = [TOOLKIT, "-c", "from sagemaker_training.cli.train import main; main()"]
    variables = {**container.environ(plan={}), "SM_STUDIO_LOCAL_MODE": "true", **environ}
    done = subprocess.run(
        command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, cwd="/", umask=umask
    )
    return container.done(done.returncode, done.stdout, done.stderr)


def ours(container: Container, environ: Mapping[str, str] = {}, umask: int = -1) -> Done:
    """Run a container with the runtime."""
    own = container.environ()["PYTHONPATH"]
    path = f"{own}:{environ['PYTHONPATH']}" if "PYTHONPATH" in environ else own
    variables = {"SM_STUDIO_LOCAL_MODE": "true", **environ, "PYTHONPATH": path}
    return container.run(plan=None, environ=variables, umask=umask)


def seen(done: Done) -> dict[str, object]:
    """Return what a program has shown, without what differs for known reasons."""
    shown = json.loads(done.stdout.splitlines()[-1])
    hidden = _OFTEN_DIFFERENT | _OF_THE_CONTAINERS
    shown["environ"] = {name: value for name, value in shown["environ"].items() if name not in hidden}
    shown.pop("path", None)
    return shown


class Pair:
    """The same container twice. ``prepare`` lays each out and returns the variables it is run with."""

    def __init__(self, directory: os.PathLike[str], prepare: Callable[[Container], Mapping[str, str] | None]) -> None:
        self._directory = os.fspath(directory)
        self._prepare = prepare
        self.containers: list[Container] = []

    def run(self, umask: int = -1) -> tuple[Done, Done]:
        """Return the results of the toolkit and the runtime, with equal paths in their output."""
        ended = []
        for side, run in (("t", toolkit), ("s", ours)):
            container = Container(os.path.join(self._directory, side, "ml"), TOOLKIT)
            self.containers.append(container)
            done = run(container, self._prepare(container) or {}, umask)
            place = os.path.join(self._directory, side, "").encode()
            ended.append(
                Done(
                    done.status,
                    done.stdout.replace(place, b"/the/"),
                    done.stderr.replace(place, b"/the/"),
                    done.failure,
                    done.succeeded,
                )
            )
        return ended[0], ended[1]


def both_show_the_same(
    directory: os.PathLike[str], prepare: Callable[[Container], Mapping[str, str] | None], umask: int = -1
) -> Pair:
    """Run a container twice and compare what its program saw, and how it ended."""
    pair = Pair(directory, prepare)
    theirs, mine = pair.run(umask)
    assert theirs.status == 0, theirs.stderr
    assert mine.status == 0, mine.stderr
    assert seen(mine) == seen(theirs)
    assert (mine.succeeded, mine.failure) == (theirs.succeeded, theirs.failure) == (True, None)
    return pair
