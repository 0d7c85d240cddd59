"""Every example, and each of its overlays, compiles to exactly the files in tests/golden/; `make golden` rewrites them.

So does the job in ``tests/support/locked``, whose packages are in a lock.

The runtime's own files are sources, not output, and one fixed file stands for them here: otherwise every change of the
runtime would change every golden tag. All else is compiled and written as `smspec build` does it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from smspec.output.writing import write_tree
from smspec.pipeline.compilation import Compiled, compile_spec, compiled_digest
from smspec.pipeline.inputs import gather_all
from smspec.render.tree_rendering import render_tree
from smspec.source import ListedFile, Listing

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent
RUNTIME = GOLDEN / "fixed_runtime.txt"
TAKEN_OVER = ("smspec_runtime/", "source/", "upload/")
"""Copies of files that are in the repository already: their digests are in manifest.json."""


def fixed_runtime():
    content = RUNTIME.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    file = ListedFile(path="__init__.py", origin=str(RUNTIME), executable=False, size=len(content), sha256=digest)
    return Listing(files=(file,))


def trees():
    """Yield (name, tree) of every example as it is and under each of its overlays."""
    for spec in [*sorted((ROOT / "specs").glob("*/job.yaml")), ROOT / "tests/support/locked/job.yaml"]:
        for overlay, inputs in gather_all(os.path.relpath(spec)):
            build_inputs = replace(inputs.build_inputs, runtime=fixed_runtime())
            compiled = compile_spec(replace(inputs, build_inputs=build_inputs))
            assert isinstance(compiled, Compiled), compiled.diagnostics
            name = spec.parent.name + (f".{overlay}" if overlay else "")
            yield name, render_tree(compiled.plan, build_inputs, compiled_digest(compiled.plan))


TREES = dict(trees())


def generated(directory):
    """Return {path: bytes} of what a directory holds, without what was taken over."""
    files = {path.relative_to(directory).as_posix(): path for path in directory.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(TAKEN_OVER)}


@pytest.mark.parametrize("name", TREES)
def test_example_compiles_to_its_golden_tree(name, tmp_path, update):
    write_tree(TREES[name], str(tmp_path / "tree"))
    written = generated(tmp_path / "tree")
    assert {"create-training-job.json", "manifest.json", "Dockerfile", "entrypoint.py"} <= set(written)
    if update:
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        for path, content in written.items():
            target = GOLDEN / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    golden = generated(GOLDEN / name)
    assert sorted(written) == sorted(golden)
    for path in written:
        assert written[path].decode() == golden[path].decode(), path


def test_every_golden_tree_has_an_example(update):
    if update:
        pytest.skip("trees are being rewritten")
    assert {path.name for path in GOLDEN.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(TREES)
