"""Find literal uses of /opt/ml/: without a container that directory is not the job's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from smspec.local.request import RunFailed
from smspec.local.source_files import source_files
from smspec.local.training_request import TrainingRequest
from smspec.plan import Plan
from smspec.render.tree import FileTree
from smspec.script.program import FileUse

LITERAL = "/opt/ml/"
_LARGEST = 1 << 20
_MOST = 3


_VARIABLES = (
    ("/opt/ml/model", "SM_MODEL_DIR"),
    ("/opt/ml/output/data", "SM_OUTPUT_DATA_DIR"),
    ("/opt/ml/output", "SM_OUTPUT_DIR"),
    ("/opt/ml/input/config", "SM_INPUT_CONFIG_DIR"),
    ("/opt/ml/input/data", "SM_CHANNEL_NAME"),
    ("/opt/ml/input", "SM_INPUT_DIR"),
    ("/opt/ml/checkpoints", "smspec_runtime.job().checkpoint_dir"),
)
"""The directories of a container, and the variables for those of the job wherever it runs."""


def require_inside(uses: Sequence[FileUse]) -> None:
    """Reject a script that certainly uses a path outside of its run. Raise RunFailed."""
    if not uses:
        return
    use = uses[0]
    more = f" (and {len(uses) - 1} more)" if len(uses) > 1 else ""
    way = next((f"use {name}" for path, name in _VARIABLES if f"{use.path}/".startswith(f"{path}/")), "use a variable")
    raise RunFailed(
        1,
        f"{use.place.file}:{use.place.line}: `{use.operation}` uses `{use.path}`, which is outside the run "
        f"directory{more}: {way}, or pass --allow-outside",
    )


def container_path_differences(plan: Plan, tree: FileTree) -> list[str]:
    """Return a sentence if the source, the arguments, or the environment contain /opt/ml/."""
    places = [*_lines(source_files(tree)), *_values(plan)]
    if not places:
        return []
    more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
    shown = ", ".join(places[:_MOST])
    return [
        f"{shown}{more}: literal `{LITERAL}` paths do not work on this machine; "
        "use SM_CHANNEL_…, SM_MODEL_DIR, and SM_OUTPUT_DATA_DIR"
    ]


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
