"""Files of a build with every delivery."""

import json

import pytest

from smspec.local.engines.choice import builds_images
from smspec.output.contents import chunks, in_order_of_making
from smspec.plan import Upload
from smspec.plan.delivery import run_plan_json
from smspec.render.tree import CopiedFile, GeneratedFile
from smspec.render.tree_rendering import render_tree
from smspec_runtime.run_plan import RunPlan
from support.render.plan_samples import PAYLOAD, build_inputs, image_plan, plan

SOURCE = Upload(kind="source", uri="s3://bucket/job/source/1/", archive=False)
RUNTIME = Upload(kind="runtime", uri="s3://bucket/job/source/2/", archive=False)
ARCHIVE = Upload(kind="source", uri="s3://bucket/job/source/3/sourcedir.tar.gz", archive=True)

REQUEST = ["create-training-job.json", "manifest.json"]
CONTEXT = [".dockerignore", "Dockerfile", "entrypoint.py", "run_plan.json"]
OF_RUNTIME = ["smspec_runtime/__init__.py", "smspec_runtime/main.py"]
IN_CHANNEL = [f"upload/smspec/{name}" for name in ["entrypoint.py", "run_plan.json", *OF_RUNTIME]]


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({}, [*CONTEXT, *REQUEST, *OF_RUNTIME, "source/train.py"]),
        (
            {"image": image_plan(holds_source=False), "uploads": (SOURCE,)},
            [*CONTEXT, *REQUEST, *OF_RUNTIME, "upload/code/train.py"],
        ),
        (
            {"image": image_plan(holds_source=False), "uploads": (ARCHIVE,)},
            [*CONTEXT, *REQUEST, *OF_RUNTIME, "upload/sourcedir.tar.gz"],
        ),
        ({"image": None, "uploads": (SOURCE, RUNTIME)}, [*REQUEST, "upload/code/train.py", *IN_CHANNEL]),
        ({"image": None, "run": None, "uploads": (ARCHIVE,)}, [*REQUEST, "upload/sourcedir.tar.gz"]),
        ({"image": None, "run": None}, REQUEST),
    ],
    ids=["built-image", "built-channel", "built-s3", "ready-channel", "ready-s3", "ready-alone"],
)
def test_each_delivery_has_its_files(tmp_path, changes, paths):
    tree = render_tree(plan(**changes), build_inputs(tmp_path), "5" * 64)
    assert [file.path for file in tree.files] == sorted(paths, key=str.encode)


def test_tree_of_a_run_lacks_only_what_builds_an_image(tmp_path):
    made, image = build_inputs(tmp_path, requirements=b"six\r\n"), image_plan(python_requirements="deps/pinned.txt")
    whole, without = (
        render_tree(plan(image=image), made, "5" * 64, builds_image=builds_images(engine))
        for engine in ("docker", "auto")
    )
    assert {file.path for file in whole.files} - {file.path for file in without.files} == {
        "Dockerfile",
        ".dockerignore",
    }
    assert set(without.files) < set(whole.files)


def test_requirements_are_there_when_the_image_has_some(tmp_path):
    image = image_plan(python_requirements="deps/pinned.txt")
    tree = render_tree(plan(image=image), build_inputs(tmp_path, requirements=b"six\r\n"), "5" * 64)
    assert GeneratedFile(path="requirements.txt", content=b"six\r\n") in tree.files


def test_copied_files_keep_their_executable_bit(tmp_path):
    tree = render_tree(plan(), build_inputs(tmp_path, {"bin/go": b"#!/bin/sh\n", "a.py": b""}), "5" * 64)
    bits = {file.path: file.file.executable for file in tree.files if isinstance(file, CopiedFile)}
    assert bits["source/bin/go"] is True
    assert bits["source/a.py"] is False


def test_manifest_lists_files_and_upload_targets(tmp_path):
    run = RunPlan(kind="script", program="train.py", delivery="channel")
    made = build_inputs(tmp_path, {"train.py": b"", "pkg/a.py": b"a"})
    tree = render_tree(plan(image=None, run=run, uploads=(SOURCE, RUNTIME)), made, "5" * 64)
    digests = {file.path: "d" for file in tree.files if file.path != "manifest.json"}
    (last,) = [b"".join(chunks(file, digests)) for file in in_order_of_making(tree.files)][-1:]
    manifest = json.loads(last)
    assert manifest["files"] == digests
    assert (manifest["compiled"], manifest["runtime"]) == ("5" * 64, made.runtime.digest)
    assert manifest["uploads"] == {
        "upload/code/pkg/a.py": "s3://bucket/job/source/1/pkg/a.py",
        "upload/code/train.py": "s3://bucket/job/source/1/train.py",
        "upload/smspec/entrypoint.py": "s3://bucket/job/source/2/entrypoint.py",
        "upload/smspec/run_plan.json": "s3://bucket/job/source/2/run_plan.json",
        "upload/smspec/smspec_runtime/__init__.py": "s3://bucket/job/source/2/smspec_runtime/__init__.py",
        "upload/smspec/smspec_runtime/main.py": "s3://bucket/job/source/2/smspec_runtime/main.py",
    }
    assert list(manifest["files"]) == sorted(digests, key=str.encode)


def test_archive_is_uploaded_as_one_object(tmp_path):
    tree = render_tree(plan(image=None, run=None, uploads=(ARCHIVE,)), build_inputs(tmp_path), "5" * 64)
    manifest = next(file for file in tree.files if file.path == "manifest.json")
    assert manifest.uploads == (("upload/sourcedir.tar.gz", ARCHIVE.uri),)
    assert manifest.runtime is None


def test_request_and_the_plan_are_in_the_tree(tmp_path):
    files = {f.path: f for f in render_tree(plan(), build_inputs(tmp_path), "5" * 64).files}
    assert json.loads(files["create-training-job.json"].content) == PAYLOAD
    assert files["run_plan.json"].content == run_plan_json(plan().run).encode()
