"""The request of a job of the SDK, and the keys of a spec that say more."""

from __future__ import annotations

from smspec.importer.imported import NotImported
from smspec.importer.sdk.launchers import Launch
from smspec.importer.sdk.script_source import ScriptSource
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkRequest:
    """``request`` has no hyperparameters that the keys of the spec add. ``switches`` are those that no key adds.

    ``additions``: what the SDK adds by itself. ``region`` None: no key needs one. ``delivery``: how the code gets to
    the container, without network isolation. ``dependencies``: paths that the SDK adds to the source.
    """

    request: dict[str, object]
    stem: str
    region: object
    source: ScriptSource | None
    launch: Launch
    switches: dict[str, object]
    additions: tuple[str, ...]
    not_imported: tuple[NotImported, ...]
    dependencies: tuple[str, ...]
    delivery: str = "s3"
