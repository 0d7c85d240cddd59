"""What this host has to offer: processors, GPUs, Neuron cores, and SageMaker's own launchers."""

import json
import os

from .environment import Machine
from .lean_typing import Callable, Mapping, Optional, Sequence
from .log import log
from .outcome import Outcome

SECONDS = 20.0
"""A driver that hangs must not hang the job; nvidia-smi on eight cold GPUs takes about ten seconds."""

NEURONS_OF_TRN2 = 64

Capture = Callable[[Sequence[str], Mapping[str, str], float], Outcome]


def look_at_machine(instance_type: str, environ: Mapping[str, str], capture: Capture) -> Machine:
    """Ask each tool that is there once."""
    path = environ.get("PATH", os.defpath)
    return Machine(
        cpus=os.cpu_count() or 1,
        gpus=_gpus(path, environ, capture),
        neurons=_neurons(instance_type, path, environ, capture),
        has_smddprun=find_program("smddprun", path) is not None,
        has_smddpmprun=find_program("smddpmprun", path) is not None,
    )


def find_program(name: str, path: str) -> Optional[str]:
    """Return where an executable lies on the search path."""
    for directory in path.split(os.pathsep):
        candidate = os.path.join(directory or os.curdir, name)
        if os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    return None


def _gpus(path: str, environ: Mapping[str, str], capture: Capture) -> int:
    answer = _ask(["nvidia-smi", "--list-gpus"], path, environ, capture)
    return sum(line.startswith(b"GPU ") for line in answer.split(b"\n"))


def _neurons(instance_type: str, path: str, environ: Mapping[str, str], capture: Capture) -> int:
    if "trn2.48xlarge" in instance_type:
        return NEURONS_OF_TRN2
    answer = _ask(["neuron-ls", "-j"], path, environ, capture)
    if not answer:
        return 0
    try:
        return sum(int(device.get("nc_count", 0)) for device in json.loads(answer.decode("utf-8")))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        log(f"neuron-ls does not say what it found: {error}")
        return 0


def _ask(words: Sequence[str], path: str, environ: Mapping[str, str], capture: Capture) -> bytes:
    program = find_program(words[0], path)
    if program is None:
        return b""
    outcome = capture([program, *words[1:]], environ, SECONDS)
    if outcome.status == 0:
        return outcome.output
    why = f"no answer in {SECONDS:.0f} s" if outcome.killed else f"exit status {outcome.status}"
    log(f"{words[0]}: {why}; counted as none")
    return b""
