"""GPUs and CPUs of this host."""

import json
import os

from .environment import Machine
from .lean_typing import Callable, Environ
from .log import log
from .outcome import Outcome
from .variables import find_on_path

SECONDS = 20.0  # nvidia-smi takes ten on cold GPUs; a driver may hang.


def look_at_machine(instance_type: str, environ: Environ, capture: Callable[..., Outcome]) -> Machine:
    def ask(name: str, option: str) -> bytes:
        if not (program := find_on_path(name, environ)):
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
        has_smddprun=bool(find_on_path("smddprun", environ)),
        has_smddpmprun=bool(find_on_path("smddpmprun", environ)),
    )


def _neuron_cores(answer: bytes) -> int:
    try:
        return sum(int(device.get("nc_count", 0)) for device in json.loads(answer.decode() or "[]"))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        log(f"neuron-ls does not say what it found: {error}")
        return 0
