"""A function for each launcher returns this host's command."""

from ..command import Command
from ..lean_typing import Callable, Dict
from .launch import Launch as Launch
from .mpi import mpi
from .multi_worker_mirrored import multi_worker_mirrored
from .parameter_server import parameter_server
from .smdataparallel import smdataparallel
from .torchrun import torchrun

_ALL = torchrun, mpi, smdataparallel, parameter_server, multi_worker_mirrored
LAUNCHERS: Dict[str, Callable[[Launch], Command]] = {launcher.__name__: launcher for launcher in _ALL}
