"""How a program is started on several processes or hosts: one pure function each, facts in, command out."""

from ..command import Command
from ..lean_typing import Callable, Dict
from .launch import Launch
from .mpi import mpi
from .torchrun import torchrun

__all__ = ["LAUNCHERS", "Launch"]

LAUNCHERS: Dict[str, Callable[[Launch], Command]] = {"torchrun": torchrun, "mpi": mpi}
