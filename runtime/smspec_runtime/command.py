"""The command that is started."""

from .lean_typing import Dict, List, NamedTuple


class Companion(NamedTuple):
    """A process next to the program; if essential, its failure ends the program."""

    words: List[str]
    variables: Dict[str, str] = {}
    is_essential: bool = True


class Command(NamedTuple):
    """``variables`` are added to the environment. ``members``: hosts that this one leads, listening on ``port``.
    ``over_ssh``: ssh starts processes."""

    words: List[str]
    variables: Dict[str, str] = {}
    companions: List[Companion] = []
    members: List[str] = []
    over_ssh: bool = False
    port: int = 0
