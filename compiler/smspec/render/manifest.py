"""``manifest.json``: the content of a build directory and its inputs. It identifies directories that smspec wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping

from smspec.render.tree import ManifestFile

MANIFEST = "manifest.json"
UNFINISHED = ".smspec-tmp-"
"""The prefix of a directory's name while a tree is being written there."""


def manifest_json(manifest: ManifestFile, digests: Mapping[str, str]) -> bytes:
    """Return the text of a manifest; ``digests`` has the SHA-256 of every other file of the tree, by path."""
    content = {
        "smspec": manifest.version,
        "compiled": manifest.compiled,
        "runtime": manifest.runtime,
        "files": {path: digests[path] for path in sorted(digests, key=str.encode)},
        "uploads": dict(manifest.uploads),
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def manifested_files(content: bytes) -> frozenset[str] | None:
    """Return the paths that a manifest lists, including its own; None if smspec did not write it."""
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(manifest, dict) or not {"smspec", "files"} <= manifest.keys():
        return None
    files = manifest["files"]
    return frozenset((*files, MANIFEST)) if isinstance(files, dict) else None
