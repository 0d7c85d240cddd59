"""The images to publish, the options for all of them, and the outcome for each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from smspec.plan import ImagePlan, Plan
from smspec.render.tree import FileTree
from smspec.service.policy import RegistrySettings
from smspec.source.frozen import dataclass
from smspec.spec.model import BuiltImage

ENGINES = ("docker", "podman", "nerdctl", "finch")
"""In the order in which they are tried."""

NO_ENGINE = "none"
"""smspec makes the image itself, from the layers of the base and the generated files. Never tried, only chosen."""

BUILDERS = (*ENGINES, NO_ENGINE)


class PublishFailed(Exception):
    """An image cannot be built or pushed. ``exit_status``: 1 the spec, 3 the surroundings."""

    def __init__(self, exit_status: int, message: str) -> None:
        super().__init__(message)
        self.exit_status = exit_status


class UnusableImage(PublishFailed):
    """The registry has something else under the name of an image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobImage:
    """The image of a job. ``tree``: the build directory; ``base_dir``: that of the spec; ``files``: its source.

    ``plan`` is that of the job, and ``spec`` its path: they show which permissions its submitter needs. ``authored``:
    the image in the spec; ``content``: the generated files, which have been written to ``tree``.
    """

    spec: str
    plan: Plan
    image: ImagePlan
    authored: BuiltImage
    tree: str
    content: FileTree
    base_dir: str
    files: tuple[str, ...]
    region: str | None
    settings: RegistrySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """``engine`` None: the first one on this machine; ``none``: no engine.

    ``scratch_dir`` is removed when the command ends. ``show`` gets lines of progress; ``waits`` shows what is
    waited for.
    """

    engine: str | None
    pushes: bool
    profile: str | None
    scratch_dir: str
    is_verbose: bool
    show: Callable[[str], None]
    waits: Callable[[str], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedImage:
    """``status`` and, of an image in a registry, the digest of its manifest there; ``archive``: the file it is in."""

    uri: str
    status: Literal["built", "present", "pushed"]
    digest: str | None = None
    archive: str | None = None

    @property
    def reference(self) -> str:
        """The image as a reference, with its digest if it has one."""
        return f"{self.uri}@{self.digest}" if self.digest else self.uri
