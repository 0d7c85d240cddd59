"""A function for each launcher: facts in, this host's command out."""

from ..command import Command
from ..lean_typing import Callable, Dict
from .launch import Launch as Launch
from .mpi import mpi
from .multi_worker_mirrored import multi_worker_mirrored
from .parameter_server import parameter_server
from .smdataparallel import smdataparallel
from .torchrun import torchrun

LAUNCHERS: Dict[str, Callable[[Launch], Command]] = {
    "torchrun": torchrun,
    "mpi": mpi,
    "smdataparallel": smdataparallel,
    "parameter_server": parameter_server,
    "multi_worker_mirrored": multi_worker_mirrored,
}
