"""The Python of a base whose tag does not show it: `smspec lock` reads it, and the other commands use it."""

from __future__ import annotations

import json

import pytest

from smspec.local.python.wanted import wanted_python
from smspec.pipeline.compilation import Compiled, compile_spec
from smspec.pipeline.inputs import gather
from smspec.render.tree_rendering import render_tree
from support.environment_jobs import environment, index, packages
from support.servers.registry_server import index as image_index
from support.servers.registry_server import registry
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

__all__ = ["index", "packages"]

IMAGE = '{base: "python:3.12-slim-bookworm"}'
OFFICIAL = ("PATH=/usr/local/bin:/usr/bin", "PYTHON_VERSION=3.12.4", "PYTHON_SHA256=9cf9")
SCRIPT = "match input():\n    case _:\n        pass\n"
OLDER = ("PATH=/usr/local/bin:/usr/bin", "PYTHON_VERSION=3.9.2")


@pytest.fixture
def server():
    with registry() as found:
        yield found


def job(directory, base, more=""):
    image = f'{{base: "{base}"{more}}}'
    write_job(directory, BUILT.replace(IMAGE, image), **{"src__train.py": SCRIPT})
    return directory


def held(directory):
    return json.loads((directory / "smspec.lock").read_text())


@pytest.mark.parametrize("tag", ["slim", "3-bookworm", "latest"])
def test_packages_are_resolved_for_the_python_of_the_config(index, server, monkeypatch, tmp_path, tag):
    monkeypatch.setenv("PATH", str(tmp_path))
    base = f"{server.host}/library/python:{tag}"
    server.add("library/python", tag, image_index("x", variables=OFFICIAL), "x", OFFICIAL)
    directory = job(tmp_path / "job", base, ", python_packages: [ctr-kernels]")
    done = smspec("lock", cwd=directory)
    assert done.status == 0, done.err
    assert held(directory)["pythons"] == {base: "3.12.4"}
    found, _ = environment(directory)
    assert (found["python"], found["packages"]) == ("3.12", {"ctr-kernels": "5.0"})
    assert "SM720" not in smspec("validate", cwd=directory).out


def test_version_in_the_lock_is_that_of_the_job(server, tmp_path, monkeypatch):
    base = f"{server.host}/team/trainer:1"
    server.add("team/trainer", "1", image_index("x", variables=OLDER), "x", OLDER)
    directory = job(tmp_path, base)
    assert "SM518" not in smspec("validate", cwd=directory).out
    assert "  Python 3.9.2\n" in smspec("lock", cwd=directory).err
    assert "error[SM518]" in smspec("validate", cwd=directory).out
    (tmp_path / "src/train.py").write_text("print()\n")
    monkeypatch.chdir(tmp_path)
    compiled = compile_spec(gather("job.yaml"))
    assert isinstance(compiled, Compiled)
    tree = render_tree(compiled.plan, compiled.inputs.build_inputs, "sha256:0")
    assert wanted_python(compiled.job, compiled.plan, tree).version == "3.9"


def test_version_of_another_digest_is_forgotten(server, tmp_path):
    base = f"{server.host}/team/trainer:1"
    server.add("team/trainer", "1", image_index("x", variables=OFFICIAL), "x", OFFICIAL)
    directory = job(tmp_path, base)
    assert smspec("lock", cwd=directory).status == 0
    assert smspec("lock", cwd=directory).err.endswith("smspec.lock is up to date\n")
    assert held(directory)["pythons"] == {base: "3.12.4"}
    assert smspec("lock", "--digest", f"{base}=sha256:{'b' * 64}", cwd=directory).status == 0
    assert "pythons" not in held(directory)


def test_image_that_shows_its_python_costs_no_request(server, tmp_path):
    directory = job(tmp_path, f"{server.host}/library/python:3.12-slim")
    server.add("library/python", "3.12-slim", image_index())
    assert smspec("lock", cwd=directory).status == 0
    assert len(server.asked) == 1
    assert "pythons" not in held(directory)


@pytest.mark.parametrize("version", ["3", "2.7", "3.12; x", ""])
def test_malformed_version_in_a_lock_is_an_error(tmp_path, version):
    directory = job(tmp_path, "team/trainer:1")
    lock = {"lock": 1, "pythons": {"team/trainer:1": version}}
    (directory / "smspec.lock").write_text(json.dumps(lock))
    done = smspec("validate", cwd=directory)
    assert "error[SM723]: `team/trainer:1` has no version of Python in smspec.lock" in done.out + done.err
