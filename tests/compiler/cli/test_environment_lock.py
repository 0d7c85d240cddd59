"""``smspec lock`` and packages: a real index, resolved by the real uv."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys

import pytest

from smspec.lock.index_settings import index_settings
from support.environment_jobs import (
    BASE,
    DIGEST,
    environment,
    index,
    job,
    lock,
    packages,
    python_without_uv,
)
from support.installed_program import installed
from support.servers.package_index import Packages, package_server
from support.smspec_command import environment as environment_of_process
from support.smspec_command import smspec_process

__all__ = ["index", "packages", "python_without_uv"]


@pytest.mark.parametrize(
    ("base", "versions"),
    [
        (BASE, {"ctr-compat": "0.1", "ctr-features": "1.1", "ctr-kernels": "5.0", "ctr-model": "1.0", "org-io": "3.0"}),
        (
            "python:3.12.1-alpine3.19",
            {"ctr-features": "1.1", "ctr-kernels": "5.0", "ctr-model": "2.0", "org-io": "3.0"},
        ),
    ],
)
def test_lock_has_the_files_for_the_image(index, tmp_path, base, versions):
    directory = job(tmp_path / "job", "ctr-kernels", base=base, requirements="ctr-model\n")
    done = lock(directory, base=base)
    assert done.status == 0, done.err
    found, file = environment(directory)
    assert found["resolver"].startswith("uv ")
    assert (found["packages"], found["unlisted"]) == (versions, [])
    modules = {"ctr_features", "ctr_kernels", "ctr_model", "org.io", "org.readers"}
    assert set(found["modules"]) == modules | ({"ctr_compat"} if "ctr-compat" in versions else set())
    assert found["digest"] == f"sha256:{hashlib.sha256(file.encode()).hexdigest()}"
    tag = "cp39-cp39-manylinux_2_28_x86_64" if base == BASE else "cp312-cp312-musllinux_1_2_x86_64"
    content = index.packages.files[f"ctr_kernels-5.0-{tag}.whl"]
    assert f"ctr-kernels==5.0 \\\n    --hash=sha256:{hashlib.sha256(content).hexdigest()}\n" in file


@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="not the platform of the image")
def test_lock_has_what_pip_installs(index, tmp_path, packages):
    """On the Python that runs this test, whose version is that of the image."""
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    python = f"cp{minor.replace('.', '')}"
    for tag in ("manylinux_2_17_x86_64.manylinux2014_x86_64", "manylinux_2_28_x86_64", "manylinux_2_99_x86_64"):
        packages.add("ctr-native", "5.0", files={"ctr_native.so": tag}, tag=f"{python}-{python}-{tag}")
        packages.add("ctr-native", "4.0", files={"ctr_native.so": tag}, tag=f"cp38-abi3-{tag}")
    packages.add("ctr-native", "6.0", tag="cp38-cp38-manylinux_2_17_x86_64")
    packages.add("ctr-later", "2.0rc1")
    packages.add("ctr-later", "1.0.post1", "ctr-native<6", f'ctr-compat; python_version <= "{minor}"')
    packages.add("ctr-later", "1.0", "ctr-missing")
    packages.add("ctr-later", "3.0", python=">=3.99")
    lists = [
        "ctr-model",
        "ctr-native ctr-later",
        "ctr-native<5",
        "ctr-later~=1.0 ctr-features!=1.1",
        "ctr-later>=2.0rc1",
    ]
    for number, names in enumerate(lists):
        place, base = tmp_path / str(number), f"python:{minor}-slim-bookworm"
        lines = "".join(f"{name}\n" for name in names.split())
        directory = job(place, requirements=lines, base=base)
        done = lock(directory, base=base)
        assert done.status == 0, done.err
        words = ["install", "--quiet", "--target", "site", "--report", "report.json", "-r", "requirements.txt"]
        subprocess.run([sys.executable, "-m", "pip", *words], cwd=place, check=True)
        report = json.loads((place / "report.json").read_text())["install"]
        locked, file = environment(directory)
        assert locked["packages"] == {each["metadata"]["name"]: each["metadata"]["version"] for each in report}, names
        hashes = {each["download_info"]["archive_info"]["hashes"]["sha256"] for each in report}
        assert set(re.findall("--hash=sha256:([0-9a-f]{64})", file)) == hashes, names


def test_pip_installs_the_locked_file_with_its_hashes(index, tmp_path):
    directory = job(tmp_path / "job", "ctr-features")
    assert lock(directory).status == 0
    _, file = environment(directory)
    (directory / "locked.txt").write_text(file)
    words = ["install", "--quiet", "--require-hashes", "--no-deps", "--target", "site", "-r", "locked.txt"]
    subprocess.run([sys.executable, "-m", "pip", *words], cwd=directory, check=True)
    assert (directory / "site/org/io/__init__.py").exists()
    (directory / "locked.txt").write_text(file.replace("--hash=sha256:", "--hash=sha256:0")[:-2] + "\n")
    assert subprocess.run([sys.executable, "-m", "pip", *words], cwd=directory, capture_output=True).returncode


def test_password_of_an_index_is_written_nowhere(index, monkeypatch, tmp_path):
    index.password = "t0pSecret%21"
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setenv("OUR_INDEX", f"http://author:t0pSecret%2521@{index.host}/simple")
    directory = job(tmp_path / "job", "ctr-kernels", image="secrets: {PIP_INDEX_URL: {env: OUR_INDEX}}")
    done = lock(directory)
    assert done.status == 0, done.err
    found, file = environment(directory)
    assert found["modules"] == ["ctr_kernels"]
    index.password = "an0ther"
    (directory / "smspec.lock").unlink()
    refused = lock(directory)
    assert refused.status == 3
    written = "".join(path.read_text(errors="replace") for path in directory.rglob("*") if path.is_file())
    assert "t0pSecret" not in written + done.err + refused.err + file


@pytest.mark.parametrize("line", ["{}/${{CI_TOKEN}}", "{}/${{PIP_INDEX_URL}}", "{}/$ --hash=sha256:0{{CI_TOKEN}}"])
def test_requirements_read_no_variable_of_this_machine(index, monkeypatch, tmp_path, line):
    monkeypatch.setenv("CI_TOKEN", "t0pSecret")
    options = f"--extra-index-url {line.format(index.url)}\n"
    done = lock(job(tmp_path / "job", requirements=f"{options}ctr-compat\n"))
    assert not [path for path, _ in index.asked if "t0pSecret" in path or "127.0.0.1" in path]
    assert ("not locked: line 1 of its requirements uses" in done.err) == ("--hash" not in line)


def test_requirements_read_the_secrets_of_the_image(index, monkeypatch, tmp_path):
    index.password = "t0pSecret"
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setenv("OUR_TOKEN", "t0pSecret")
    options = f"--index-url http://author:${{INDEX_TOKEN}}@{index.host}/simple\n"
    secrets = "secrets: {INDEX_TOKEN: {env: OUR_TOKEN}}"
    directory = job(tmp_path / "job", requirements=f"{options}ctr-compat\n", image=secrets)
    assert lock(directory).status == 0
    assert environment(directory)[0]["modules"] == ["ctr_compat"]


def test_resolver_gets_no_credentials_of_this_machine(monkeypatch):
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "UV_PUBLISH_TOKEN", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, "t0pSecret")
    settings = index_settings({}, {}, ())
    assert [name for name, value in settings.pip.items() if value == "t0pSecret"] == ["PIP_INDEX_URL"]
    assert "t0pSecret" in settings.uv.values()
    assert not {"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "UV_PUBLISH_TOKEN"} & set(settings.uv)


def test_redirected_wheel_gets_no_credentials(index, monkeypatch, tmp_path, packages):
    index.password = "t0pSecret"
    monkeypatch.setenv("PIP_INDEX_URL", f"http://author:t0pSecret@{index.host}/simple")
    (file,) = [name for name in packages.files if name.startswith("org_io")]
    with package_server(packages) as elsewhere:
        index.place[file] = f"http://{elsewhere.host}/files/{file}"
        directory = job(tmp_path / "job", "org-io")
        assert lock(directory).status == 0
        assert environment(directory)[0]["modules"] == ["org.io", "org.readers"]
        assert elsewhere.asked == [(f"/files/{file}", "")]


@pytest.mark.parametrize("trait", ["whole", "missing", "truncated", "large"])
def test_unhelpful_server_costs_at_most_the_module_names(index, tmp_path, packages, trait):
    modules = {f"ctr_wide/module_{number:05}.py": "" for number in range(2000)}
    file = packages.add("ctr-wide", "1.0", files={"ctr_wide/__init__.py": "", **modules})
    index.ranges = trait != "whole"
    if trait == "missing":
        index.status[file] = 404
    if trait == "truncated":
        index.truncated.add(file)
    directory = job(tmp_path / "job", "ctr-wide")
    done = lock(directory)
    assert done.status == 0, done.err
    found, _ = environment(directory)
    is_known = trait in ("whole", "large")
    assert (found["modules"], found["unlisted"]) == ((["ctr_wide"], []) if is_known else ([], ["ctr-wide"]))
    assert ("the modules of ctr-wide are unknown" in done.err) != is_known


def test_changed_wheel_is_not_locked(index, tmp_path, packages):
    index.ranges = False
    index.content["ctr_compat-0.1-py3-none-any.whl"] = packages.files["ctr_model-2.0-py3-none-any.whl"]
    directory = job(tmp_path / "job", "ctr-compat")
    done = lock(directory)
    assert done.status == 3, done.err
    assert not (directory / "smspec.lock").exists()


def test_unreachable_index_leaves_the_old_lock(index, monkeypatch, tmp_path):
    directory = job(tmp_path / "job", "ctr-compat")
    assert lock(directory).status == 0
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    job(directory, "ctr-model")
    spec = directory / "job.yaml"
    before[spec] = spec.read_bytes()
    done = lock(directory)
    assert done.status == 3
    assert "uv cannot reach a package index" in done.err
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before
    monkeypatch.setenv("UV_OFFLINE", "1")
    done = lock(directory)
    assert (done.status, "uv cannot reach a package index" in done.err) == (3, True), done.err


def test_every_faulty_requirement_is_reported_at_its_line(index, tmp_path):
    text = "# features\nctr-features==7\n  ctr-fetures\nctr-kernels==5.0\n"
    directory = job(tmp_path / "job", "org-io>=4", requirements=text, base="python:3.11-slim")
    done = lock(directory, base="python:3.11-slim")
    assert done.status == 1
    shown = [line.strip() for line in done.err.splitlines() if "error[" in line or "-->" in line]
    assert shown == [
        "error[SM725]: `image.python_packages`: the package index has no version `org-io>=4`",
        "--> job.yaml:5:51",
        "error[SM725]: `image.python_requirements`: the package index has no version `ctr-features==7`",
        "--> requirements.txt:2:1",
        "error[SM724]: `image.python_requirements`: the package index has no package `ctr-fetures`",
        "--> requirements.txt:3:3",
        "error[SM726]: `image.python_requirements`: `ctr-kernels==5.0` has no wheel for Python 3.11",
        "--> requirements.txt:4:1",
    ]
    assert not (directory / "smspec.lock").exists()


def test_conflict_is_reported_at_the_later_line(index, tmp_path, packages):
    packages.add("ctr-embeddings", "1.0", "ctr-features<1.1")
    text = "# pinned\nctr-features==1.1\nctr-embeddings==1.0\n"
    done = lock(job(tmp_path / "job", "org-io", requirements=text))
    assert done.status == 1, done.err
    message = "`ctr-embeddings==1.0` conflicts with `ctr-features==1.1`"
    assert f"error[SM727]: `image.python_requirements`: {message}\n  --> requirements.txt:3:1" in done.err


@pytest.mark.parametrize("absent", [404, 403])
def test_conflict_with_a_second_index_has_its_line(index, tmp_path, packages, absent):
    """Such as that of PyTorch, which denies access to every package that it does not have."""
    packages.add("ctr-embeddings", "1.0", "ctr-features<1.1")
    other = Packages()
    other.add("ctr-other", "9.0")
    with package_server(other) as second:
        second.absent = absent
        text = f"--extra-index-url {second.url}\nctr-other\nctr-features==1.1\nctr-embeddings==1.0\n"
        done = lock(job(tmp_path / "job", "org-io", requirements=text))
    assert done.status == 1, done.err
    message = "`ctr-embeddings==1.0` conflicts with `ctr-features==1.1`"
    assert f"error[SM727]: `image.python_requirements`: {message}\n  --> requirements.txt:4:1" in done.err


@pytest.mark.parametrize("is_reached", [True, False])
def test_second_index_that_fails_has_its_line(index, tmp_path, packages, is_reached):
    with package_server(Packages()) as second:
        second.absent, host = 500, second.host
        text = f"ctr-features\n--extra-index-url http://{host}/simple\n"
        done = lock(job(tmp_path / "job", requirements=text)) if is_reached else None
    done = done or lock(job(tmp_path / "job", requirements=text))
    assert done.status == 3, done.err
    reason = "500 Internal Server Error" if is_reached else "Connection refused"
    assert reason in done.err
    assert f"http://{host}/simple/ctr-features/" in done.err
    assert "(requirements.txt line 2 adds this index)" in done.err


@pytest.mark.parametrize("package", ["ctr-compat --index-url http://example.com", "ctr-compat~=1", "ctr-compat=0.1"])
def test_package_that_pip_rejects_reaches_no_resolver(index, tmp_path, package):
    directory = job(tmp_path / "job", "org-io", package)
    done = lock(directory)
    assert done.status == 1
    assert "error[SM256]: `image.python_packages`: " in done.err and "--> job.yaml:5:72" in done.err
    assert not index.asked and not (directory / "smspec.lock").exists()


def test_builds_are_advised_only_where_there_is_a_source(index, tmp_path, packages):
    packages.add("ctr-fast", "1.0", tag="cp312-cp312-manylinux_2_28_x86_64")
    without = lock(job(tmp_path / "without", "ctr-fast"))
    packages.files["ctr_fast-1.0.tar.gz"], packages.pythons["ctr_fast-1.0.tar.gz"] = b"", ""
    there = lock(job(tmp_path / "there", "ctr-fast"))
    assert ["error[SM726]" in each.err for each in (without, there)] == [True, True]
    assert ["--allow-builds" in each.err for each in (without, there)] == [False, True]


def test_file_of_this_machine_is_not_locked(index, monkeypatch, tmp_path, packages):
    only_here = Packages()
    file = only_here.add("ctr-private", "1.0")
    (tmp_path / file).write_bytes(only_here.files[file])
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    directory = job(tmp_path / "job", "ctr-private")
    done = lock(directory)
    assert done.status == 3
    assert "`ctr-private` 1.0 is a file of this machine, which a build of the image does not have" in done.err
    assert not (directory / "smspec.lock").exists()


def test_settings_of_pip_that_uv_has_no_variable_for(index, monkeypatch, tmp_path, packages):
    packages.add("ctr-compat", "0.2rc1")
    configuration = tmp_path / "pip.conf"
    configuration.write_text("[install]\npre = yes\nlog = /nowhere/pip.log\nno-index = false\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    directory = job(tmp_path / "job", "ctr-compat")
    assert lock(directory).status == 0
    assert environment(directory)[0]["packages"] == {"ctr-compat": "0.2rc1"}
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    asked = len(index.asked)
    done = lock(directory, "--update")
    assert (done.status, len(index.asked)) == (1, asked), done.err
    assert "the package index has no package `ctr-compat`" in done.err
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_KEYRING_PROVIDER", "import")
    done = lock(directory, "--update")
    assert done.status == 3
    assert "uv has no equivalent for `keyring-provider` in the settings of pip; remove it there" in done.err


def test_uv_is_found_on_path_outside_of_the_repository(index, python_without_uv, tmp_path):
    """A pull request can add a program; a relative part of PATH, and the directory itself, may lead to it."""
    directory = job(tmp_path / "job", "ctr-compat")
    (directory / ".git").mkdir()
    uv = directory / "bin/uv"
    uv.parent.mkdir()
    uv.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexit 1\n")
    uv.chmod(0o755)
    (tmp_path / "linked").symlink_to(uv.parent)
    (tmp_path / "programs").mkdir()
    words = ("lock", "--digest", f"{BASE}={DIGEST}")
    path = f"bin:{uv.parent}:{tmp_path}/linked:"

    def locked(path):
        environment = environment_of_process(PATH=path)
        return smspec_process(*words, python=str(python_without_uv), cwd=directory, env=environment)

    done = locked(path)
    assert done.status == 3
    assert "`smspec lock` resolves packages with uv, which is not installed; run `pip install uv` in the" in done.err
    (tmp_path / "programs/uv").symlink_to(installed("uv"))
    done = locked(f"{path}{tmp_path}/programs")
    assert done.status == 0, done.err
    assert not (tmp_path / "started").exists()
