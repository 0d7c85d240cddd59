"""What this host has to offer."""

import json
import os

from .environment import Machine
from .lean_typing import Callable, Mapping, Optional
from .log import log
from .outcome import Outcome

SECONDS = 20.0  # nvidia-smi takes about ten on eight cold GPUs; a driver may hang.


def look_at_machine(instance_type: str, environ: Mapping[str, str], capture: Callable[..., Outcome]) -> Machine:
    path = environ.get("PATH", os.defpath)

    def ask(name: str, option: str) -> bytes:
        program = _on_path(name, path)
        if program is None:
            return b""
        outcome = capture([program, option], environ, SECONDS)
        if outcome.status == 0:
            return outcome.output
        log(f"{name}: {'no answer' if outcome.killed else f'exit status {outcome.status}'}; counted as none")
        return b""

    return Machine(
        cpus=os.cpu_count() or 1,
        gpus=sum(line.startswith(b"GPU ") for line in ask("nvidia-smi", "--list-gpus").split(b"\n")),
        neurons=64 if "trn2.48xlarge" in instance_type else _neuron_cores(ask("neuron-ls", "-j")),
        has_smddprun=_on_path("smddprun", path) is not None,
        has_smddpmprun=_on_path("smddpmprun", path) is not None,
    )


def _on_path(name: str, path: str) -> Optional[str]:
    candidates = [os.path.join(directory or ".", name) for directory in path.split(os.pathsep)]
    return next((path for path in candidates if os.access(path, os.X_OK) and os.path.isfile(path)), None)


def _neuron_cores(answer: bytes) -> int:
    try:
        return sum(int(device.get("nc_count", 0)) for device in json.loads(answer.decode() or "[]"))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        log(f"neuron-ls does not say what it found: {error}")
        return 0
