"""Run the feeder next to the hosts that it feeds: ``feeder.py DIRECTORY``.

The first line of stdin is JSON: ``modules``, the sources of the feeder by name, and ``entries``, what ``DIRECTORY``
contains besides FIFOs, as places for mounts: name → whether it is a directory. The second one is the feeder's plan.
"""

import importlib
import json
import os
import sys
import types
from typing import Any, Dict, List

_PACKAGE = "smspec_feeder"
_STDIN = 0


def main(directory: str) -> int:
    """Prepare the directory and run the feeder; return its exit status."""
    start = json.loads(_line())
    for name, is_directory in start["entries"].items():
        path = os.path.join(directory, name)
        if is_directory:
            os.makedirs(path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    sys.meta_path.insert(0, _Modules(start["modules"]))
    # The first process of a container cannot kill itself, which the feeder does on request.
    child = os.fork()
    if not child:
        importlib.import_module(_PACKAGE + ".program").main(["--until-eof"])
    status = os.waitpid(child, 0)[1]
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class _Modules:
    """Finds the modules of one package in their sources."""

    def __init__(self, sources: Dict[str, str]) -> None:
        self._sources = sources

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        if name != _PACKAGE and not name.startswith(_PACKAGE + "."):
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, is_package=name == _PACKAGE)  # type: ignore[arg-type]

    def create_module(self, _spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__[len(_PACKAGE) :].lstrip(".") or "__init__"
        exec(compile(self._sources[name], name + ".py", "exec"), module.__dict__)


def _line() -> bytes:
    """Read no byte of the next line."""
    line: List[bytes] = []
    while not line or line[-1] != b"\n":
        line.append(os.read(_STDIN, 1))
        if not line[-1]:
            break
    return b"".join(line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
