"""What an image does to smspec: its programs answer anything, also without an end, and it declares volumes."""

import json

import pytest

from smspec.local.engines.containers.client import Client, ClientFailed, label_of, sweep
from smspec.local.engines.containers.container_host import ContainerProcesses
from smspec.local.engines.containers.sidecar import Companions, Sidecar
from smspec.local.running.run_directory import claim

pytest_plugins = ["support.docker_engine"]
pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]


def image_with(engine, directory, name, program):
    """Build an image with a program that replaces the one of this name."""
    (directory / name).write_text(f"#!/bin/sh\n{program}\n")
    (directory / name).chmod(0o755)
    (directory / "Dockerfile").write_text(f"FROM {engine.base}\nCOPY {name} /usr/local/bin/{name}\n")
    engine.build(directory, "smspec-test-hostile")
    return "smspec-test-hostile"


@pytest.fixture
def client(engine, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    return Client("docker")


def process(number, parent, words="a"):
    files = {"stat": f"{number} (a) S {parent}{' 1' * 18}", "cmdline": words, "environ": ""}
    return {str(number): files}


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("[1]", []),
        ("5", []),
        ('{"1": 5}', []),
        ("[" * 100_000, []),
        (json.dumps(process(1, 1)), [1]),
        (json.dumps(process(1, 2) | process(2, 1)), [1, 2]),
        (json.dumps(process(1, 0, "\N{SNOWMAN}")), []),
    ],
    ids=["list", "number", "number in it", "deep", "own parent", "circle", "no byte"],
)
def test_python_of_an_image_may_list_anything(engine, client, tmp_path, answer, numbers):
    image = image_with(engine, tmp_path, "python3", f"cat <<'END'\n{answer}\nEND")
    container = engine.docker("run", "--detach", "--entrypoint", "sleep", image, "600").stdout.strip()
    try:
        assert [each.number for each in ContainerProcesses(client, container).all()] == numbers
    finally:
        engine.docker("rm", "--force", container)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("yes | tr -d '\\n'", "it does not answer with a line"),
        ("echo fine", "fine"),
    ],
    ids=["endless line", "wrong line"],
)
def test_companion_that_does_not_answer_ends(engine, client, tmp_path, program, words):
    image = image_with(engine, tmp_path, "python3", program)
    companions = Companions(client=client, image=image, identity="smspec-test", label="smspec.run=test")
    with pytest.raises(ClientFailed, match=f"^{words}$"):
        Sidecar(companions, "one", [], ["program.py"])
    assert engine.docker("ps", "--all", "--quiet", "--filter", "label=smspec.run=test").stdout == ""


def test_endless_output_of_an_image_is_not_kept(engine, client, tmp_path):
    image = image_with(engine, tmp_path, "true", "exec yes 'a line of many words that is printed for ever'")
    try:
        with pytest.raises(ClientFailed, match=r"^`docker run` prints more than 64 MiB$"):
            client.run("run", "--rm", "--name", "smspec-test-endless", "--entrypoint", "true", image, seconds=600)
    finally:
        engine.docker("rm", "--force", "smspec-test-endless", check=False)


@pytest.mark.usefixtures("client")
def test_volumes_of_an_image_are_removed_with_a_killed_run(engine, tmp_path):
    directory = claim(str(tmp_path / "run"), "job")
    (tmp_path / "image").mkdir()
    (tmp_path / "image/Dockerfile").write_text(f"FROM {engine.base}\nVOLUME /data /opt/ml/more\n")
    engine.build(tmp_path / "image", "smspec-test-volumes")
    engine.docker("create", "--label", label_of(directory), "smspec-test-volumes", "true")
    volumes = ("volume", "ls", "--quiet")
    before = engine.docker(*volumes).stdout.split()
    directory.release()
    sweep.cache_clear()
    sweep("docker")
    assert len(before) - len(engine.docker(*volumes).stdout.split()) == 2
