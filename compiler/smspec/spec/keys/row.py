"""One key of the spec: everything regular about it, for code that reads, sends, imports, or compares keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from smspec.source.frozen import dataclass, field
from smspec.spec.keys.value_forms import Choice, Named, Structure, Structures, Value

if TYPE_CHECKING:
    Form = Union[Value, Structure, Structures, Named, Choice]

API = "the SageMaker API"
SDK = "the SageMaker Python SDK"
SKYPILOT = "SkyPilot"
AZURE = "Azure ML"
KUBERNETES = "Kubernetes"
COG = "cog"
SAGIFY = "sagify"
ANYONE = ""
TOOLS = (API, SDK, SKYPILOT, AZURE, KUBERNETES, COG, SAGIFY, ANYONE)
"""Tools whose names for keys authors may use, in order of precedence; `ANYONE` is no specific tool."""


@dataclass(frozen=True, slots=True)
class Row:
    """A key by its dotted ``path``; ``*`` is a name that the author chooses, or any item of a list.

    ``form``: how its value is read from a spec, and written from a request. ``member``: the request member, dotted too;
    empty if it has none of its own. It is sent and imported without more code. ``irregular``: a function of
    `plan.request_planning` or `plan.channels` sends it, and one of `importer.parts` imports it. ``kind``: the kind of
    change that `diff` reports for it. ``called``: the name of its member there; empty: that of the member around it.
    ``group``: an imported spec lists a top-level key next to those of the same group; empty: separately. ``words``:
    tool → the name of the key there. The name of its member need not be listed.
    """

    path: str
    form: Form
    member: str = ""
    kind: str = ""
    called: str = ""
    group: str = ""
    irregular: bool = False
    words: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def steps(self) -> tuple[str, ...]:
        """The member as a path into a request; empty if there is none."""
        return tuple(self.member.split(".")) if self.member else ()
