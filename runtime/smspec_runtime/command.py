"""What is started in the end: the program of the job, by itself or through a launcher."""

from .lean_typing import Dict, List, NamedTuple


class Companion(NamedTuple):
    """What runs beside the program and is ended after it. One that is essential and fails takes the program with it."""

    words: List[str]
    variables: Dict[str, str] = {}
    is_essential: bool = True


class Command(NamedTuple):
    """``variables`` are added to the environment.

    ``members``: hosts that this one leads, listening on ``port``. ``over_ssh``: processes are started on this host, or
    from it on the others, through ssh.
    """

    words: List[str]
    variables: Dict[str, str] = {}
    companions: List[Companion] = []
    members: List[str] = []
    over_ssh: bool = False
    port: int = 0
