"""One key of the spec: all that is regular about it, for everything that reads, sends, imports or compares keys."""

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
"""Tools whose words people bring, in the order in which they are asked; `ANYONE` is no tool in particular."""


@dataclass(frozen=True, slots=True)
class Row:
    """A key by its dotted ``path``; ``*`` stands for a name that the author gives and for any item of a list.

    ``form``: how its value is read from a spec, and written from a request.
    ``member``: what it is in the request, dotted too; empty when it is no member of its own. It is put there, and
    imported from there, without more code. ``irregular``: a function of `plan.request_planning` or `plan.channels` puts
    it, and one of `importer.parts` takes it.
    ``kind``: the kind of change that `diff` reports for it. ``called``: the name of its member there; empty: that of
    the member around it.
    ``group``: a key at the top stands in an imported spec next to those of the same group; empty: by itself.
    ``words``: tool → what the key is there. The name of its member goes without saying.
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
        """The member as a path into a request; empty without one."""
        return tuple(self.member.split(".")) if self.member else ()
