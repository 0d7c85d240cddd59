"""`smspec build --engine none` with packages: the wheels of the lockfile, from an index, in a layer of the image."""

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import threading
from pathlib import Path

import pytest

from support.locked_packages import lock_packages
from support.servers.base_image import PACKAGES, PYTHON, add_base
from support.servers.job_server import job_server
from support.servers.package_index import Packages, package_server
from support.servers.registry_server import registry
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec

SITE = PACKAGES
ROOT = Path(__file__).parents[4]
PRIVATE = """\
network: {subnets: [subnet-0aa1bb2c], security_groups: [sg-0bb1cc2d]}
api: {AlgorithmSpecification: {TrainingImageConfig: {TrainingRepositoryAccessMode: Vpc}}}
"""


@pytest.fixture(scope="module")
def packages():
    found = Packages()
    entry = "ctr_model-1.0.dist-info/entry_points.txt"
    found.add(
        "ctr-model", "1.0", files={"ctr_model/__init__.py": "x = 1\n", entry: "[console_scripts]\nctr = ctr_model:x\n"}
    )
    found.add("ctr-shared", "1.0", files={"ctr_model/__init__.py": "x = 2\n", "ctr_shared.py": ""})
    for machine in ("x86_64", "aarch64"):
        found.add(
            "ctr-kernels",
            "5.0",
            files={"ctr_kernels/fast.so": machine},
            tag=f"cp312-cp312-manylinux_2_28_{machine}",
        )
    found.add("ctr-old", "1.0", files={"ctr_old.py": ""}, tag="cp38-cp38-manylinux_2_28_x86_64")
    found.add("pip", "24.0", files={"pip/__init__.py": "new = 1\n", "pip/new.py": ""})
    return found


@pytest.fixture
def index(packages, monkeypatch, tmp_path_factory):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "SMSPEC_"))]:
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    for name in ("DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "DOCKER_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(home / "cache"))
    with package_server(packages) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url)
        yield server


@pytest.fixture
def server():
    with registry() as server:
        yield server


def locked_lines(packages, names):
    lines = []
    for name in names:
        project, version = name.split("-")[:2]
        sha256 = hashlib.sha256(packages.files[name]).hexdigest()
        lines.append(f"{project.replace('_', '-')}=={version} --hash=sha256:{sha256}\n")
    return "".join(lines).encode()


def job(directory, server, packages, *files, base=None, image="", options=b""):
    """Write a job whose lockfile has these wheels."""
    base = base or add_base(server, "library/python", files=PYTHON)
    text = f'base: "{base}", repository: "{server.host}/team/small", python_packages: [ctr-model]{image}'
    write_job(directory, BUILT.replace('base: "python:3.12-slim-bookworm"', text) + PRIVATE)
    content = options + locked_lines(packages, files)
    before = os.getcwd()
    os.chdir(directory)
    try:
        listed = {name.split("-")[0].replace("_", "-"): name.split("-")[1] for name in files}
        listed |= {line.split()[0].decode(): "1.0" for line in options.splitlines() if b" @ " in line}
        lock_packages(directory / "job.yaml", listed, content=content)
    finally:
        os.chdir(before)
    return directory


def pushed(directory, *words):
    return smspec("build", "--push", "--engine", "none", *words, cwd=directory)


def layers(server, directory):
    """Return the members of each layer of the pushed image, without those of its base: {path: (entry, content)}."""
    uri = json.loads(smspec("build", "--format", "json", cwd=directory).out)["image"]
    manifest = json.loads(server.contents["team/small", uri.rpartition(":")[2]][1])
    found = []
    for each in manifest["layers"][2:]:
        content = gzip.decompress(server.contents["team/small", each["digest"]][1])
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            found.append({one.name: (one, archive.extractfile(one).read() if one.isfile() else b"") for one in archive})
    return found


def test_wheels_are_a_layer_as_pip_installs_them(tmp_path, server, packages, index):
    model, kernels = "ctr_model-1.0-py3-none-any.whl", "ctr_kernels-5.0-cp312-cp312-manylinux_2_28_x86_64.whl"
    job(tmp_path, server, packages, model, kernels)
    done = pushed(tmp_path)
    assert done.status == 0, done.err
    assert "downloading 2 wheels" in done.err
    found, runtime, code = layers(server, tmp_path)
    script, content = found["usr/local/bin/ctr"]
    assert script.mode == 0o755 and content.startswith(b"#!/usr/local/bin/python3\n")
    assert found[f"{SITE}ctr_kernels/fast.so"][1] == b"x86_64"
    assert found[f"{SITE}ctr_model-1.0.dist-info/INSTALLER"][1] == b"smspec\n"
    assert b"../../../bin/ctr,sha256=" in found[f"{SITE}ctr_model-1.0.dist-info/RECORD"][1]
    assert found["opt/smspec/requirements.txt"][1] == locked_lines(packages, [model, kernels])
    site = found[SITE.rstrip("/")][0]
    assert (site.mode, site.mtime, site.gid) == (0o2775, 1234, 50)  # as in the base
    assert "opt/smspec/entrypoint.py" in code and "opt/smspec/smspec_runtime/main.py" in runtime
    assert not any("__pycache__" in name for name in found)


def test_second_build_needs_no_index(tmp_path, server, packages, index):
    job(tmp_path, server, packages, "ctr_model-1.0-py3-none-any.whl")
    assert smspec("build", "--image", "--engine", "none", cwd=tmp_path).status == 0
    index.asked.clear()
    server.asked.clear()
    done = pushed(tmp_path)
    assert done.status == 0, done.err
    assert index.asked == [] and "downloading" not in done.err
    assert not any("GET" in method and "/blobs/" in path and "Range" in path for method, path, _ in server.asked)


def test_another_platform_needs_no_emulation(tmp_path, server, packages, index):
    base = add_base(server, "library/python", files=PYTHON, architecture="arm64")
    name = "ctr_kernels-5.0-cp312-cp312-manylinux_2_28_aarch64.whl"
    job(tmp_path, server, packages, name, base=base, image=", platform: linux/arm64")
    spec = tmp_path / "job.yaml"
    spec.write_text(re.sub(r"ml\.[a-z0-9]+\.\w+", "ml.c7g.xlarge", spec.read_text()))
    done = pushed(tmp_path)
    assert done.status == 0, done.err
    assert layers(server, tmp_path)[0][f"{SITE}ctr_kernels/fast.so"][1] == b"aarch64"


def test_new_version_removes_the_old_one(tmp_path, server, packages, index):
    job(tmp_path, server, packages, "pip-24.0-py3-none-any.whl")
    done = pushed(tmp_path)
    assert done.status == 0, done.err
    found = layers(server, tmp_path)[0]
    assert {name for name in found if "/.wh." in name} == {
        f"{SITE}.wh.pip-23.0.dist-info",
        f"{SITE}pip/.wh.old.py",
        "usr/local/bin/.wh.pip",
    }
    assert found[f"{SITE}pip/__init__.py"][1] == b"new = 1\n"


def test_same_version_in_the_base_is_kept(tmp_path, server, packages, index):
    files = {name.replace("pip-23.0", "pip-24.0"): content for name, content in PYTHON.items()}
    job(tmp_path, server, packages, "pip-24.0-py3-none-any.whl", base=add_base(server, "library/python", files=files))
    assert pushed(tmp_path).status == 0
    assert [name for name in layers(server, tmp_path)[0] if SITE in name] == []


def test_file_of_two_wheels_is_reported(tmp_path, server, packages, index):
    job(tmp_path, server, packages, "ctr_shared-1.0-py3-none-any.whl", "ctr_model-1.0-py3-none-any.whl")
    done = pushed(tmp_path)
    assert done.status == 0, done.err
    assert "`ctr-model` and in `ctr-shared`; the image has that of `ctr-model`" in done.err
    assert layers(server, tmp_path)[0][f"{SITE}ctr_model/__init__.py"][1] == b"x = 1\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["ctr_old-1.0-cp38-cp38-manylinux_2_28_x86_64.whl"], "no wheel of `ctr-old==1.0`"),
        (
            ["ctr_kernels-5.0-cp312-cp312-manylinux_2_28_aarch64.whl"],
            "has other files for the base than the lockfile: ctr-kernels==5.0",
        ),
    ],
)
def test_wheel_that_does_not_fit_is_refused(tmp_path, server, packages, index, files, message):
    done = pushed(job(tmp_path, server, packages, *files))
    assert done.status == 1, done.err
    assert message in done.err
    assert not any(method == "PUT" for method, _, _ in server.asked)


def test_source_distribution_is_refused(tmp_path, server, packages, index):
    line = b"ctr-source @ https://example.com/ctr-source-1.0.tar.gz --hash=sha256:" + b"a" * 64 + b"\n"
    done = pushed(job(tmp_path, server, packages, options=line))
    assert done.status == 1
    assert "`ctr-source-1.0.tar.gz` for `ctr-source`, which is not a wheel" in done.err
    assert index.asked == []


def test_secret_of_the_index_is_used(tmp_path, server, packages, index, monkeypatch):
    index.password = "s3cr3tword"
    monkeypatch.setenv("MINE", f"http://author:s3cr3tword@{index.host}/simple")
    monkeypatch.delenv("PIP_INDEX_URL")
    secrets = ", secrets: {PIP_INDEX_URL: {env: MINE}}"
    job(tmp_path, server, packages, "ctr_model-1.0-py3-none-any.whl", image=secrets)
    done = pushed(tmp_path)
    assert done.status == 0, done.err
    assert "s3cr3tword" not in done.err
    monkeypatch.setenv("MINE", f"http://author:wr0ngword@{index.host}/simple")
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path / "other"))
    (tmp_path / "src/train.py").write_text("print('new')\n")
    done = pushed(tmp_path)
    assert done.status == 3 and "401" in done.err and "wr0ngword" not in done.err


def test_certificate_of_the_index_is_used(tmp_path, server, packages, index):
    secrets = ", secrets: {PIP_CERT: {file: proxy.pem}}"
    job(tmp_path, server, packages, "ctr_model-1.0-py3-none-any.whl", image=secrets)
    done = pushed(tmp_path)
    assert done.status == 3 and "`image.secrets.PIP_CERT`" in done.err
    (tmp_path / "proxy.pem").write_text("")
    done = pushed(tmp_path)
    assert done.status == 0, done.err


def test_secret_of_commands_is_refused(tmp_path, server, packages, index):
    job(tmp_path, server, packages, "ctr_model-1.0-py3-none-any.whl", image=", secrets: {TOKEN: {env: TOKEN}}")
    done = pushed(tmp_path)
    assert done.status == 1 and "`image.secrets` has `TOKEN`" in done.err


def test_unlocked_packages_are_refused(tmp_path, server):
    base = add_base(server, "library/python")
    text = f'base: "{base}", repository: "{server.host}/team/small", python_packages: [numpy]'
    write_job(tmp_path, BUILT.replace('base: "python:3.12-slim-bookworm"', text) + PRIVATE)
    done = pushed(tmp_path)
    assert done.status == 1 and "`image.python_packages` are not in `smspec.lock`" in done.err


def test_full_disk_of_the_cache_is_reported(tmp_path, server, packages, index, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path / "file"))
    done = pushed(job(tmp_path / "job", server, packages, "ctr_model-1.0-py3-none-any.whl"))
    assert done.status == 3
    assert "cannot keep wheels in" in done.err and "set SMSPEC_CACHE_DIR" in done.err


def test_damaged_wheel_in_the_cache_is_downloaded_again(tmp_path, server, packages, index):
    job(tmp_path, server, packages, "ctr_model-1.0-py3-none-any.whl")
    assert smspec("build", "--image", "--engine", "none", cwd=tmp_path).status == 0
    (kept,) = (tmp_path.parent / os.environ["SMSPEC_CACHE_DIR"]).glob("wheels-1/*/*.whl")
    kept.write_bytes(b"PK")
    assert pushed(tmp_path).status == 0
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == kept.parent.name


@pytest.mark.slow
def test_digest_is_that_of_any_user_and_clock(tmp_path_factory, server, packages, index, pythons):
    """A process for each of three CPythons: another user, system clock, umask, time zone, and cache."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if os.geteuid() != 0 or library is None:
        pytest.skip("needs root, to become other users, and Debian's libfaketime")
    supported = [each for each in pythons if re.search(r"3\.1[0-9]", each)][-3:]
    if len(supported) < 3:
        pytest.skip("needs three CPythons from 3.10 on")
    base = add_base(server, "library/python", files=PYTHON)
    names = "ctr_model-1.0-py3-none-any.whl", "ctr_shared-1.0-py3-none-any.whl", "pip-24.0-py3-none-any.whl"
    above = [*(str(ROOT / each) for each in ("compiler", "runtime", "schemas")), sysconfig.get_path("purelib")]
    digests, clocks = set(), set()
    for number, python in enumerate(supported):
        directory = job(tmp_path_factory.mktemp("job"), server, packages, *names, base=base)
        variables = environment(
            PYTHONPATH=os.pathsep.join(above),
            PYTHONHASHSEED=str(number),
            HOME=str(directory),
            SMSPEC_CACHE_DIR=str(directory / "cache"),
            TZ=("UTC", "Asia/Tokyo", "America/Lima")[number],
            FAKETIME=("2001-02-03 04:05:06", "+0", "2037-01-01 00:00:00")[number],
        )
        user = str(1000 + number)
        for path in (directory, *directory.rglob("*")):
            os.chown(path, int(user), int(user))
        # The capability lets it read what is only the tester's: the Python, and this checkout.
        words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=+dac_read_search"]
        # As that user, who owns what the library shares between processes.
        words += ["--ambient-caps=+dac_read_search", "env", f"LD_PRELOAD={library}", python]
        shown = subprocess.run([*words, "-c", "import time; print(time.gmtime().tm_year)"], env=variables, stdout=-1)
        clocks.add(shown.stdout)
        words += ["-m", "smspec", "build", "--image", "--engine", "none", "-o", "tree"]
        done = subprocess.run(
            words, cwd=directory, env=variables, capture_output=True, text=True, umask=(0o022, 0o077, 0)[number]
        )
        assert done.returncode == 0, done.stderr
        assert (directory / "tree.image.tar").stat().st_uid == int(user)
        digests.add(hashlib.sha256((directory / "tree.image.tar").read_bytes()).hexdigest())
    assert len(clocks) == len(supported) and len(digests) == 1


def test_submit_makes_the_image_and_the_job(tmp_path, server, packages, index, monkeypatch):
    job(tmp_path, server, packages, "ctr_model-1.0-py3-none-any.whl")
    with job_server() as aws:
        for name, value in aws.environ.items():
            monkeypatch.setenv(name, value)
        done = smspec("submit", "--engine", "none", "--detach", cwd=tmp_path)
        assert done.status == 0, done.err
        (created,) = aws.created
    image = created["AlgorithmSpecification"]["TrainingImage"]
    assert image.partition("@")[0].rpartition(":")[0] == f"{server.host}/team/small"
    assert f"{SITE}ctr_model/__init__.py" in layers(server, tmp_path)[0]


def test_killed_push_leaves_no_tag_and_goes_on(tmp_path, server, packages, index):
    """SIGKILL while the registry receives a layer."""
    job(tmp_path, server, packages, "ctr_model-1.0-py3-none-any.whl")
    server.fails_after, reached = None, threading.Event()
    put = server.RequestHandlerClass.do_PUT

    def slow_put(handler):
        reached.set()
        process.wait(30)
        put(handler)

    server.RequestHandlerClass = type("Slow", (server.RequestHandlerClass,), {"do_PUT": slow_put})
    words = [sys.executable, "-m", "smspec", "build", "--push", "--engine", "none"]
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=-3, stderr=-3)
    assert reached.wait(60)
    process.kill()
    process.wait()
    server.RequestHandlerClass = server.RequestHandlerClass.__base__
    assert not any("manifests" in path for method, path, _ in server.asked if method == "PUT")
    done = pushed(tmp_path)
    assert done.status == 0, done.err


def test_index_that_does_not_answer_is_reported(tmp_path, server, packages, index, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    done = pushed(job(tmp_path, server, packages, "ctr_model-1.0-py3-none-any.whl"))
    assert done.status == 3, done.err
    assert "cannot download" in done.err and "index" in done.err
    assert not any(method == "PUT" for method, _, _ in server.asked)
