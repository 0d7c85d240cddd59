"""Where the files of a build directory are in the image, as the Dockerfile copies them."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.render.tree import SOURCE, CopiedFile, FileTree, GeneratedFile

RUNTIME_FILES = ("smspec_runtime/",)
"""What all jobs share. It is a layer of its own, as in the Dockerfile."""

JOB_FILES = ("entrypoint.py", "run_plan.json", SOURCE)

_PLACES = {
    "smspec_runtime/": "/opt/smspec/smspec_runtime/",
    "entrypoint.py": "/opt/smspec/entrypoint.py",
    "run_plan.json": "/opt/smspec/run_plan.json",
    SOURCE: "/opt/ml/code/",
}


def image_files(tree: FileTree, origins: tuple[str, ...]) -> Iterator[tuple[str, GeneratedFile | CopiedFile]]:
    """Yield path in the image, file, for each file of a tree that is one of ``origins`` or below it."""
    for file in tree.files:
        origin = next((each for each in origins if file.path == each or file.path.startswith(_directory(each))), None)
        if origin is not None and isinstance(file, (GeneratedFile, CopiedFile)):
            yield _PLACES[origin] + file.path.removeprefix(origin), file


def _directory(origin: str) -> str:
    return origin if origin.endswith("/") else f"{origin}/"
