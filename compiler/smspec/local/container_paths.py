"""Finds what names /opt/ml/ literally: without a container that directory is not the job's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from smspec.local.training_request import TrainingRequest
from smspec.plan.plan import Plan
from smspec.render.tree import SOURCES, ArchiveFile, CopiedFile, FileTree

LITERAL = "/opt/ml/"
_LARGEST = 1 << 20
_MOST = 3


def container_path_warning(plan: Plan, tree: FileTree) -> str | None:
    """Return what to say when the source, the arguments or the environment name /opt/ml/; None when nothing does."""
    places = [*_lines(_sources(tree)), *_values(plan)]
    if not places:
        return None
    more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
    shown = ", ".join(places[:_MOST])
    return (
        f"{shown}{more}: `{LITERAL}` is written literally, but here the job's directories lie elsewhere; "
        "read them from SM_CHANNEL_…, SM_MODEL_DIR and SM_OUTPUT_DATA_DIR"
    )


def _sources(tree: FileTree) -> Iterator[tuple[str, str]]:
    """Yield (path as the author knows it, file) of the author's source."""
    for file in tree.files:
        if isinstance(file, ArchiveFile):
            for member in file.members:
                yield member.path, member.file.origin
        elif isinstance(file, CopiedFile):
            for prefix in SOURCES:
                if file.path.startswith(prefix):
                    yield file.path.removeprefix(prefix), file.file.origin


def _lines(files: Iterator[tuple[str, str]]) -> Iterator[str]:
    for name, origin in files:
        if os.path.getsize(origin) > _LARGEST:
            continue
        with open(origin, "rb") as file:
            for number, line in enumerate(file, 1):
                if LITERAL.encode() in line:
                    yield f"{name}:{number}"
                    break


def _values(plan: Plan) -> Iterator[str]:
    request = TrainingRequest(plan.request.payload)
    kinds: Sequence[tuple[str, Mapping[str, str]]] = (
        ("hyperparameter", {k: v for k, v in request.hyperparameters.items() if not k.startswith("sagemaker_")}),
        ("environment variable", request.environment),
    )
    for kind, values in kinds:
        for name, value in values.items():
            if LITERAL in value:
                yield f"{kind} `{name}`"
    words = [*plan.run.command, *plan.run.arguments] if plan.run is not None else []
    for word in words:
        if LITERAL in word:
            yield f"argument `{word}`"
