"""How a program is started on several processes or hosts: one pure function each, facts in, command out."""

from typing import Callable, Dict

from smspec_runtime.command import Command
from smspec_runtime.launchers.launch import Launch
from smspec_runtime.launchers.mpi import mpi
from smspec_runtime.launchers.torchrun import torchrun

__all__ = ["LAUNCHERS", "Launch"]

LAUNCHERS: Dict[str, Callable[[Launch], Command]] = {"torchrun": torchrun, "mpi": mpi}
