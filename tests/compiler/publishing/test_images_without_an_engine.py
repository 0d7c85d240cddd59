"""`smspec build --engine none`: the same image everywhere, put in its registry without a command of an engine."""

import hashlib
import json
import os
import sysconfig
import tarfile
from pathlib import Path

import pytest

from smspec.registry import repository
from smspec.submission import client
from support.servers.base_image import add_base
from support.servers.registry_server import digest_of, registry
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec, smspec_process

ROOT = Path(__file__).parents[3]
PRIVATE = """\
network: {subnets: [subnet-0aa1bb2c], security_groups: [sg-0bb1cc2d]}
api: {AlgorithmSpecification: {TrainingImageConfig: {TrainingRepositoryAccessMode: Vpc}}}
"""
DOCKER = "application/vnd.docker.distribution.manifest.v2+json"


@pytest.fixture(autouse=True)
def stranger(tmp_path, monkeypatch):
    """A user without an engine and without logins."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "SMSPEC_ENGINE", "DOCKER_HOST"):
        monkeypatch.delenv(name, raising=False)


def write_spec(directory, server, base, extra="", more=""):
    image = f'base: "{base}", repository: "{server.host}/team/small", env: {{MODE: fast}}{extra}'
    write_job(directory, BUILT.replace('base: "python:3.12-slim-bookworm"', image) + PRIVATE + more)
    return directory


def pushed(directory):
    return smspec("build", "--push", "--engine", "none", cwd=directory)


def sent(server, method):
    return [path for asked, path, _ in server.asked if asked == method]


def team(server):
    return {name for owner, name in server.contents if owner == "team/small"}


def test_pushed_image_is_the_base_and_the_files(tmp_path):
    with registry() as server:
        base = add_base(server, "library/python")
        done = pushed(write_spec(tmp_path, server, base))
        assert done.status == 0, done.err
        assert pushed(tmp_path).err.count("already in its registry") == 1
        tag = json.loads(smspec("build", "--format", "json", cwd=tmp_path).out)["image"].rpartition(":")[2]
        kind, manifest = server.contents["team/small", tag]
        config = json.loads(server.contents["team/small", json.loads(manifest)["config"]["digest"]][1])
        below = json.loads(server.contents["library/python", base.rpartition("@")[2]][1])
        layers = json.loads(manifest)["layers"]
        assert done.out.splitlines()[1] == f"{server.host}/team/small:{tag}@{digest_of(manifest)}"
    assert kind == DOCKER
    assert [each["digest"] for each in layers][:2] == [each["digest"] for each in below["layers"]]
    assert config["config"]["Env"] == [
        "PATH=/usr/local/bin:/usr/bin",
        "PYTHON_VERSION=3.12.4",
        "PYTHON_SHA256=0",
        "PYTHONUNBUFFERED=1",
        "MODE=fast",
    ]
    assert config["config"]["Entrypoint"] == ["python3", "/opt/smspec/entrypoint.py"]
    assert config["config"]["WorkingDir"] == "/work" and "Cmd" not in config["config"]
    assert config["config"]["Labels"].items() >= {"vendor": "tests", "smspec.image-digest": tag}.items()
    assert len(config["rootfs"]["diff_ids"]) == len(layers) == len(config["history"]) == 4


def test_layers_of_the_same_registry_are_not_sent(tmp_path):
    with registry() as server:
        write_spec(tmp_path, server, add_base(server, "library/python"))
        assert pushed(tmp_path).status == 0
        assert sum("mount=" in path for path in sent(server, "POST")) == 2
        assert sum("/blobs/" in path for path in sent(server, "PUT")) == 3  # two layers of files, and the config
        assert "/manifests/" in sent(server, "PUT")[-1]


def test_layers_of_another_registry_come_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(repository, "_CHUNK", 100)
    with registry() as server, registry() as source:
        write_spec(tmp_path, server, add_base(source, "library/python"))
        done = pushed(tmp_path)
        assert done.status == 0, done.err
        assert sum("/blobs/" in path for path in sent(source, "GET")) > 6


def test_push_that_broke_goes_on_and_shows_no_tag_before(tmp_path):
    with registry() as server, registry() as source:
        write_spec(tmp_path, server, add_base(source, "library/python"))
        server.fails_after = 3
        done = pushed(tmp_path)
        assert done.status == 3 and "cannot push" in done.err
        assert len(team(server)) == 3 and all(name.startswith("sha256:") for name in team(server))
        server.fails_after = None
        before = len(sent(server, "PUT"))
        assert pushed(tmp_path).status == 0
        assert len(sent(server, "PUT")) - before == 3  # the layer that failed, the config, and the manifest


@pytest.mark.parametrize("status", [429, 500, 503, 0])
@pytest.mark.parametrize(
    "asked",
    ["GET /v2/library/python/manifests/", "GET /v2/library/python/blobs/", "POST /v2/team", "PUT /v2/team/small/blobs"],
)
def test_registry_that_fails_once_is_asked_again(tmp_path, monkeypatch, asked, status):
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.001)
    with registry() as server, registry() as source:
        write_spec(tmp_path, server, add_base(source, "library/python"))
        chosen = source if "library" in asked else server
        chosen.faults = [(f"^{asked}", status)] * 3
        done = pushed(tmp_path)
        assert done.status == 0, done.err
        assert chosen.faults == []


@pytest.mark.parametrize("asked", ["POST /v2/team/small/blobs", "PUT /v2/team/small/blobs", "PUT .*/manifests/"])
@pytest.mark.parametrize(("status", "message"), [(401, "docker login"), (403, "docker login"), (418, "responds 418")])
def test_push_that_the_registry_rejects_is_reported(tmp_path, asked, status, message):
    with registry() as server:
        write_spec(tmp_path, server, add_base(server, "library/python"))
        server.faults = [(f"^{asked}", status)] * 2
        done = pushed(tmp_path)
        assert done.status == 3 and message in done.err, done.err
        assert all(name.startswith("sha256:") for name in team(server))
        server.faults = []
        assert pushed(tmp_path).status == 0


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("changed", "does not match its digest"),
        ("short", "another"),
        ("no ranges", "larger than"),
    ],
)
def test_wrong_layer_of_the_base_is_reported(tmp_path, monkeypatch, fault, message):
    monkeypatch.setattr(repository, "_CHUNK", 100)
    with registry() as server, registry() as source:
        base = add_base(source, "library/python")
        layers = json.loads(source.contents["library/python", base.rpartition("@")[2]][1])["layers"]
        key = "library/python", layers[1]["digest"]
        kind, content = source.contents[key]
        if fault == "no ranges":
            source.has_ranges = False
        else:
            source.contents[key] = kind, content[:-1] + b"?" if fault == "changed" else content[:-1]
        done = pushed(write_spec(tmp_path, server, base))
        assert done.status == 3
        assert done.err.splitlines()[-1].startswith(f"smspec: cannot read the base `{base}`: ")
        assert message in done.err
        assert not any("manifests" in path for path in sent(server, "PUT"))


def test_upload_to_another_server_is_refused(tmp_path):
    with registry() as server, registry() as other:
        server.uploads_at = f"http://{other.host}/v2/team/small/blobs/uploads/1"
        server.mounts = False
        done = pushed(write_spec(tmp_path, server, add_base(server, "library/python")))
        assert done.status == 3
        assert f"it sends the upload to `http://{other.host}`, a different server" in done.err
        assert other.asked == []


@pytest.mark.parametrize(
    ("extra", "more", "key"),
    [
        (", run: [make]", "", "`image.run`"),
        (", pre_install: [make]", "", "`image.pre_install`"),
        (", system_packages: [git]", "", "`image.system_packages`"),
        (", secrets: {TOKEN: {env: TOKEN}}", "", "`image.secrets`"),
        (", build_args: {A: b}", "", "`image.build_args`"),
        (
            "",
            "checks: {ignore: [{rule: SM558, because: x}]}\ndistribution: {mpi: {processes_per_host: 1}}\n",
            "`distribution`",
        ),
    ],
)
def test_command_in_the_base_is_refused(tmp_path, extra, more, key):
    with registry() as server:
        write_spec(tmp_path, server, add_base(server, "library/python"), extra, more)
        server.asked.clear()
        done = pushed(tmp_path)
        assert (done.status, server.asked) == (1, []), done.err
        assert done.err.splitlines()[-1].startswith(f"smspec: job.yaml: {key}")
        assert "`--engine none` runs nothing" in done.err


@pytest.mark.parametrize(
    ("traits", "status", "message"),
    [
        ({"Env": ["PATH=/bin"]}, 0, ""),
        ({"Env": ["PYTHON_VERSION=3.7.1"]}, 1, "has Python 3.7; the entrypoint needs Python 3.8"),
        ({"OnBuild": ["RUN make"]}, 3, "it has ONBUILD commands"),
        ({"Env": "PATH"}, 3, "`Env` is not a list"),
        ({"kind": "application/vnd.oci.image.layer.v1.tar+zstd"}, 1, "`application/vnd.oci.image.layer.v1.tar+zstd`"),
    ],
    ids=["name shows Python", "old Python", "ONBUILD", "malformed", "zstd"],
)
def test_base_that_cannot_be_used_is_refused(tmp_path, traits, status, message):
    with registry() as server:
        done = pushed(write_spec(tmp_path, server, add_base(server, "library/python", **traits)))
        assert done.status == status, done.err
        assert message in done.err


def test_base_whose_python_is_unknown_is_refused(tmp_path):
    with registry() as server:
        done = pushed(write_spec(tmp_path, server, add_base(server, "team/tools", Env=[])))
        assert done.status == 1
        assert "the Python of the base" in done.err and "is unknown" in done.err


def test_base_with_a_tag_that_can_move_is_refused(tmp_path):
    with registry() as server:
        done = pushed(write_spec(tmp_path, server, "python:3.12"))
        assert (done.status, server.asked) == (1, [])
        assert "run `smspec lock`, or add the SHA-256 digest" in done.err


def test_archive_has_the_image_and_is_written_once(tmp_path):
    with registry() as server:
        write_spec(tmp_path, server, add_base(server, "library/python"))
        done = smspec("build", "--image", "--engine", "none", "--format", "json", cwd=tmp_path)
        assert done.status == 0, done.err
        report = json.loads(done.out)
        assert (report["image_status"], report["image_archive"]) == ("built", "build/small.image.tar")
        again = smspec("build", "--image", "--engine", "none", cwd=tmp_path)
        assert "is already in build/small.image.tar; load it with `docker load --input`" in again.err
        path = tmp_path / report["image_archive"]
        with tarfile.open(path) as archive:
            contents = {entry.name: archive.extractfile(entry).read() for entry in archive}
        path.write_text("mine")
        done = smspec("build", "--image", "--engine", "none", cwd=tmp_path)
        assert done.status == 1 and "and smspec did not write it" in done.err
        assert path.read_text() == "mine"
    (listed,) = json.loads(contents.pop("manifest.json"))
    assert listed["RepoTags"] == [report["image"]]
    assert {listed["Config"], *listed["Layers"]} == contents.keys()
    assert hashlib.sha256(contents[listed["Config"]]).hexdigest() == listed["Config"].removesuffix(".json")


def test_digest_is_that_of_any_user_clock_and_python(tmp_path, pythons):
    """A process for each CPython that smspec supports: another user, umask, clock, hash seed, and zlib."""
    with registry() as server:
        base = add_base(server, "library/python")
        digests = set()
        supported = [python for python in pythons if not python_is_old(python)]
        for number, python in enumerate(supported):
            directory = write_spec(tmp_path / str(number), server, base)
            variables = environment(
                PYTHONPATH=os.pathsep.join(
                    [*(str(ROOT / name) for name in ("compiler", "runtime", "schemas")), sysconfig.get_path("purelib")]
                ),
                PYTHONHASHSEED=str(number),
                TZ=("UTC", "Asia/Tokyo", "America/Lima")[number % 3],
                SOURCE_DATE_EPOCH=str(number),
                USER=f"user{number}",
            )
            os.utime(directory / "src/train.py", (number, number))
            if os.geteuid() == 0:
                os.chown(directory / "src/train.py", 1000 + number, 1000)
            words = ("build", "--image", "--engine", "none", "-o", "tree")
            done = smspec_process(
                *words, python=python, cwd=directory, env=variables, umask=(0o022, 0o077, 0)[number % 3]
            )
            assert done.status == 0, done.err
            digests.add(hashlib.sha256((directory / "tree.image.tar").read_bytes()).hexdigest())
    assert len(supported) > 0 and len(digests) == 1


def python_is_old(python):
    return any(f"/3.{minor}." in python or python.endswith(f"3.{minor}") for minor in (8, 9))
