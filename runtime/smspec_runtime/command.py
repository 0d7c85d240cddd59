"""The command to start."""

from .lean_typing import Dict, List, NamedTuple


class Companion(NamedTuple):
    """A process next to the program, which ends if an essential one fails."""

    words: List[str]
    variables: Dict[str, str] = {}
    is_essential: bool = True


class Command(NamedTuple):
    """``members``: hosts that this one leads, listening on ``port``. ``over_ssh``: ssh starts processes."""

    words: List[str]
    variables: Dict[str, str] = {}
    companions: List[Companion] = []
    members: List[str] = []
    over_ssh: bool = False
    port: int = 0
