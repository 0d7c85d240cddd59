"""Start the command from a process that has imported the package: a fork of it is the command, without its start.

It has its own words, directory, environment, streams, signals, and exit status, like any process. Tests of what
happens before `main` (installation, imports, start-up, speed) start a Python of their own.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from support.smspec_command import Done, environment, sync_no_files

ROOTS = [str(Path(__file__).parents[2] / name) for name in ("tests", "compiler", "runtime", "schemas")]
MOST_WORDS = 1 << 20
_OPTIONS = {"cwd", "env", "stdin", "stdout", "stderr", "text"}
_NUMBER = struct.Struct("i")
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ")
_UNIMPORTANT = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
"""The command flushes what it writes."""


def start_command(
    words: Sequence[str], *, python: Sequence[str] = (sys.executable,), **options: object
) -> subprocess.Popen:
    """Start ``smspec words``. ``options`` are those of `subprocess.Popen` in `_OPTIONS`.

    ``python``: the words that start Python, as a different user with setpriv; it then finds its modules by PYTHONPATH.
    """
    assert options.keys() <= _OPTIONS, "the server does not know the others"
    env = os.environ if options.get("env") is None else options["env"]
    own = {"PYTHONPATH": env["PYTHONPATH"]} if python[0] == "setpriv" else {}
    is_known = bool(own) or len(python) == 1
    if hasattr(os, "pidfd_open") and is_known and _read_at_start(env) == _read_at_start(environment(**own)):
        return _Forked(_server(*python, **own), words, **options)
    return subprocess.Popen([*python, "-m", "smspec", *words], **options)


def forked_command(*words: str, timeout: float = 60, **options: object) -> Done:
    """Run the command to its end, as `smspec_process` does, without the start of a Python."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = start_command(words, **{**streams, "text": True, **options})
    out, err = process.communicate(timeout=timeout)
    return Done(process.returncode, out or "", err or "")


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_READ_AT_START) and name not in _UNIMPORTANT}


class _Forked(subprocess.Popen):
    """A process whose parent is the server, which tells its end."""

    def __init__(self, server: socket.socket, words: Sequence[str], **options: object) -> None:
        self._server = server
        super().__init__(words, **options)

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest):
        streams = rest[3:9]  # read and write end of each
        ours = [given if given != -1 else number for number, given in enumerate((streams[0], streams[3], streams[5]))]
        self._end, end = socket.socketpair()
        request = [list(map(os.fspath, args)), os.fspath(cwd or os.getcwd()), dict(os.environ if env is None else env)]
        socket.send_fds(self._server, [json.dumps(request).encode()], [*ours, end.fileno()])
        end.close()
        self.pid = self._number()
        self._child_created = True
        self._close_pipe_fds(*streams)

    def __del__(self, **_: object) -> None:
        """Do nothing: without its end of the connection, the server kills the command of a test that has given up."""

    def _number(self) -> int:
        number = self._end.recv(_NUMBER.size, socket.MSG_WAITALL)
        assert number, "the server has ended"
        return _NUMBER.unpack(number)[0]

    def _internal_poll(self, *_, **__) -> int | None:
        return self._ended(0)

    def _wait(self, timeout: float | None) -> int | None:
        if self._ended(timeout) is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._end], [], [], timeout)[0]:
            self.returncode = self._number()
            self._end.close()
        return self.returncode


@functools.cache
def _server(*python: str, **own: str) -> socket.socket:
    """Return a connection to the server of this process and of a user."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [*python, __file__, str(its.fileno())],
        env=environment(**{"PYTHONPATH": os.pathsep.join(ROOTS), **own}),
        pass_fds=[its.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    its.close()

    @atexit.register
    def close():
        ours.close()
        process.wait()

    return ours


def _serve(requests: socket.socket) -> None:
    """Fork once for each request, until there are no more, and kill a command without a waiting process."""
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for ready, _ in poll.poll():
            if ready in running:
                pid, end = running.pop(ready)
                poll.unregister(ready)
                poll.unregister(end)
                os.close(ready)
                _tell(end, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                end.close()
                continue
            if ready != requests.fileno():
                _kill_abandoned(running.values())
                continue
            request, received, _, _ = socket.recv_fds(requests, MOST_WORDS, 4)
            if not request:
                return
            end = socket.socket(fileno=received.pop())
            pid = os.fork()
            if not pid:
                for descriptor in (requests, end, *(other for _, other in running.values())):
                    descriptor.close()
                for descriptor in running:
                    os.close(descriptor)
                _become(request, received)
            for descriptor in received:
                os.close(descriptor)
            _tell(end, pid)
            descriptor = os.pidfd_open(pid)
            running[descriptor] = pid, end
            poll.register(descriptor, select.POLLIN)
            poll.register(end, 0)  # that is, POLLHUP


def _kill_abandoned(running: Iterable[tuple[int, socket.socket]]) -> None:
    for pid, end in running:
        with suppress(BlockingIOError):  # a process waits
            if not end.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                os.kill(pid, signal.SIGKILL)


def _tell(end: socket.socket, number: int) -> None:
    """Send a number to who may have gone."""
    try:
        end.sendall(_NUMBER.pack(number))
    except BrokenPipeError:
        pass


def _become(request: bytes, streams: list[int]) -> None:
    """Be the command in this process."""
    words, directory, variables = json.loads(request)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before = getattr(sys, name)
        opened = open(number, before.mode, encoding=before.encoding, errors=before.errors, closefd=False)
        setattr(sys, name, opened)
        setattr(sys, f"__{name}__", opened)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(variables)
    tempfile.tempdir = None  # it follows from variables, once
    sys.argv[1:] = words
    from smspec.cli import run_process

    run_process()


def _load() -> None:
    """Import all of the package, and what it reads late."""
    import smspec

    for module in pkgutil.walk_packages(smspec.__path__, "smspec."):
        if ".templates" not in module.name and ".driver" not in module.name:
            import_module(module.name)
    from support.measured_command import load

    _render()
    _read_models()
    _ask_machine()
    load()
    sync_no_files()


def _read_models() -> None:
    """Read what clients of AWS are made of, which takes most of the time of a submission."""
    from smspec.wire.aws import api_models

    models = api_models(None)
    for name in ("endpoints", "partitions", "sdk-default-configuration", "_retry"):
        models.load_data(name)
    for service in ("sagemaker", "s3", "sts", "iam", "ecr", "ec2", "kms", "logs"):
        for kind in ("service-2", "endpoint-rule-set-1", "paginators-1"):
            models.load_service_model(service, kind, api_version=None)


def _ask_machine() -> None:
    """Ask what every local run asks, in three processes: whether there are namespaces, and what ``python3`` is.

    A command that has other variables or files than this process asks again only for a path that is not known.
    """
    from smspec.local.engines.namespace.availability import probe
    from smspec.local.python.interpreter import matching_interpreter, named_interpreter

    probe()
    matching_interpreter("{}.{}".format(*sys.version_info))
    beside = Path(sys.executable).with_name("python3")
    if beside.exists():  # first on the PATH of a user without rights
        named_interpreter(str(beside))


def _render() -> None:
    """Compile the templates of an image, which takes a third of the time of a local run."""
    from support.small_job import BUILT, write_job
    from support.smspec_command import smspec

    with tempfile.TemporaryDirectory() as directory:
        for entry_point in ("train.py", "{command: [ls]}"):
            write_job(Path(directory), BUILT.replace("entry_point: train.py", f"entry_point: {entry_point}"))
            for target in ("--dockerfile", "--entrypoint"):
                done = smspec("render", target, cwd=directory)
                assert done.status == 0, done.err


if __name__ == "__main__":
    _load()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _serve(socket.socket(fileno=int(sys.argv[1])))
