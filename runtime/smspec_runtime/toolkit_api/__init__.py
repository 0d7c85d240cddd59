"""What scripts use of SageMaker's toolkits, for images that lack them."""

import json
import logging
import os
import signal
import sys
import threading
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from subprocess import Popen
from types import ModuleType

from ..arguments import STYLES
from ..environment import variables_of
from ..input_config import read_input_config
from ..layout import ROOT, Layout
from ..lean_typing import Any, Dict, Json, List
from ..program import find_program, make_executable
from ..run_plan import RunPlan

_LAYOUT = Layout(os.environ.get("SAGEMAKER_BASE_DIR") or ROOT)


class ClientError(Exception):
    pass


class ExecuteUserScriptError(ClientError):
    def __init__(self, cmd: List[str], return_code: int) -> None:
        super().__init__(f"ExitCode {return_code}\nCommand {cmd}")
        self.cmd, self.return_code = cmd, str(return_code)


class Environment(dict):  # type: ignore[type-arg]
    """As the runtime set it, in the order of the files."""

    def __init__(self) -> None:
        config = read_input_config(_LAYOUT)
        values = json.loads(os.environ["SM_TRAINING_ENV"])
        values["hyperparameters"] = config.hyperparameters.user
        values["channel_input_dirs"] = {name: _LAYOUT.channel(name) for name in config.channels}
        super().__init__(sorted(values.items()))

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(name)

    def to_cmd_args(self) -> List[str]:
        return _arguments(self["hyperparameters"])

    def to_env_vars(self) -> Dict[str, str]:
        return variables_of(self, self.to_cmd_args())


def _arguments(mapping: Json) -> List[str]:
    return [word for name in sorted(mapping) for word in STYLES["toolkit"](name, mapping[name], None)]


def _run(
    uri: str,  # noqa: ARG001  # The code is here.
    user_entry_point: str,
    args: List[str],
    env_vars: Any = None,
    wait: bool = True,
    *_: Any,
    **more: Any,
) -> Any:
    """Start a script like the runtime. Unless caught, its failure ends the caller alike."""
    runner = more.get("runner_type") or more.get("runner") or "Process"
    if runner != "Process":
        raise RuntimeError(f"`entry_point.run` cannot start {runner}: set `distribution` in the job spec")
    os.environ.update(env_vars or {})
    code = os.getcwd() if os.path.exists(user_entry_point) else _LAYOUT.code
    program = find_program(RunPlan("script", user_entry_point), code)
    make_executable(program, code)
    # The shell takes a file without `#!`.
    shell = ["/bin/sh", "-c", 'exec "$0" "$@"'] if program.kind == "executable" else []
    words = [*shell, *program.words, *args]
    # Its process group gets signals: the script answers them.
    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    kept = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        sys.stdout.flush()
        process = Popen(words, cwd=code)
        status = process.wait() if wait else 0
    finally:
        for number in kept:
            signal.signal(number, kept[number])
    if status:
        sys.excepthook = _end
        raise ExecuteUserScriptError(words, status)
    return process


def _end(kind: Any, error: Any, trace: Any) -> None:
    if not isinstance(error, ExecuteUserScriptError):
        return sys.__excepthook__(kind, error, trace)
    status = int(error.return_code)  # The script wrote why.
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


class _Absent:
    _why = ""  # In a copy.

    def __init__(self, name: str) -> None:
        self._why = f"the smspec runtime has no `{name}`: install the toolkit in the image"

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError(self._why)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._why)


def _logger() -> logging.Logger:
    return logging.getLogger("sagemaker-training-toolkit")


def _configure_logger(level: Any, log_format: str = "%(asctime)s %(name)-12s %(levelname)-8s %(message)s") -> None:
    logging.basicConfig(format=log_format, level=level)


_DIRECTORIES = {name + "_dir": path for name, path in vars(_LAYOUT).items()}
_MODULES: Dict[str, Json] = {
    "entry_point": {"run": _run},
    "environment": {"Environment": Environment, "TrainingEnv": Environment, **_DIRECTORIES},
    "errors": {"ClientError": ClientError, "ExecuteUserScriptError": ExecuteUserScriptError},
    "logging_config": {"get_logger": _logger, "configure_logger": _configure_logger},
    "mapping": {"to_cmd_args": _arguments},
    "runner": {name + "RunnerType": name for name in ("MPI", "Process", "SMDataParallel", "TorchDistributed")},
}
_MODULES.update(env=_MODULES["environment"], logging=_MODULES["logging_config"])  # In `sagemaker_containers`.


def take_place(name: str) -> None:
    """Load an installed package in its place, or fill it."""
    found = PathFinder.find_spec(name, [place for place in sys.path if not place.endswith("/toolkit_api")])
    if found:  # Or a directory of the author's without `__init__.py`.
        sys.modules[name] = module_from_spec(found)
        if found.loader:
            found.loader.exec_module(sys.modules[name])
        return
    for package in (name, name + ".beta", name + ".beta.framework"):
        _add(package, {"training_env": Environment})
        for part, members in _MODULES.items():
            _add(f"{package}.{part}", members)
            _add(f"{package}._{part}", members)


def _add(name: str, members: Json) -> None:
    def absent(member: str) -> Any:
        if member.startswith("__"):
            raise AttributeError(member)
        return _Absent(f"{name}.{member}")

    module = sys.modules.setdefault(name, ModuleType(name))
    vars(module).update(members, __getattr__=absent)
    parent, _, part = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], part, module)
