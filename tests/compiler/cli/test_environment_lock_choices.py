"""Which files `smspec lock` chooses, keeps, and writes, by the real uv."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

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
from support.sampled_cases import left_out
from support.smspec_command import environment as environment_of_process
from support.smspec_command import smspec_process

__all__ = ["index", "packages", "python_without_uv"]


def test_requirement_is_reported_for_its_dependency(index, tmp_path, packages):
    packages.add("ctr-embeddings", "1.0", "ctr-kernels==5.0")
    base = "python:3.11-slim"
    directory = job(tmp_path / "job", "org-io", "ctr-embeddings", base=base)
    done = lock(directory, base=base)
    assert done.status == 1
    message = "`ctr-embeddings` requires a version of `ctr-kernels` that has no wheel for Python 3.11"
    assert f"error[SM726]: `image.python_packages`: {message}\n" in done.err
    # No source could be built, so that builds are no way out.
    assert "help: use a base image with a Python that `ctr-kernels` has a wheel for\n" in done.err
    assert "note: `ctr-kernels` has wheels for Python 3.9, 3.12\n" in done.err
    packages.files["ctr_kernels-5.0.tar.gz"], packages.pythons["ctr_kernels-5.0.tar.gz"] = b"", ""
    assert "--allow-builds" in lock(directory, base=base).err


BUILDS = {
    "a URL": ("sources @ {source}", "`sources` would be built from its source"),
    "a URL with a hash": ("sources @ {source} --hash=sha256:{hash}", "`sources` would be built from its source"),
    "a URL alone": ("{source}", "`{source}` would be built from its source"),
    "an option": ("ctr-compat\n--no-binary sources\nsources", "`--no-binary sources` builds packages from sources"),
    "an option for all": ("--no-binary=:all:\nsources", "`--no-binary :all:` builds packages from sources"),
    "an option that allows sources": ("--only-binary :none:\nsources", "`sources` "),
    "a wheel that requires a URL": ("by-url", "`by-url` requires `sources`, which would be built"),
    "a wheel that requires a file": ("by-file", "`by-file` requires `sources`, which would be built"),
    "a wheel that requires a clone": ("by-clone", "`by-clone` requires `sources`, which would be built"),
    "a clone named as a wheel": ("by-named-clone", "`by-named-clone` requires `sources`, which would be built"),
    "a directory named as a wheel": ("by-directory", ""),
    "a wheel of a wheel": ("by-wheel", "`by-wheel` requires `sources`, which would be built"),
}


METADATA = ("2.1", "2.2", "2.4")


# The sample has each way with one version of metadata, and each version with a third of the ways.
@pytest.mark.parametrize(
    ("way", "metadata"),
    [
        (way, version) if at % 3 == number else left_out(way, version)
        for at, way in enumerate(BUILDS)
        for number, version in enumerate(METADATA)
    ],
)
def test_no_way_builds_without_permission(index, tmp_path, packages, way, metadata):
    """The backend of the source would create a file. Clones ask the server for their references."""
    mark = tmp_path / "built"
    file = packages.add_source("sources", "1.0", mark, metadata)
    (tmp_path / file).write_bytes(packages.files[file])
    (tmp_path / "sources-1.0-py3-none-any.whl").mkdir()
    source = f"http://{index.host}/files/{file}"
    packages.add("by-url", "1.0", f"sources @ {source}")
    packages.add("by-file", "1.0", f"sources @ {(tmp_path / file).as_uri()}")
    packages.add("by-clone", "1.0", f"sources @ git+http://{index.host}/sources")
    packages.add("by-named-clone", "1.0", f"sources @ git+http://{index.host}/sources-1.0-py3-none-any.whl")
    packages.add("by-directory", "1.0", f"sources @ {(tmp_path / 'sources-1.0-py3-none-any.whl').as_uri()}")
    packages.add("by-wheel", "1.0", "by-url")
    requirements, message = BUILDS[way]
    digest = hashlib.sha256(packages.files[file]).hexdigest()
    text = requirements.format(source=source, hash=digest) + "\n"
    base = f"python:{sys.version_info[0]}.{sys.version_info[1]}-slim"
    directory = job(tmp_path / "job", "org-io", requirements=text, base=base)
    done = lock(directory, base=base)
    assert done.status == 1, done.err
    assert not mark.exists() and not (directory / "smspec.lock").exists()
    assert not [path for path, _ in index.asked if "info/refs" in path]
    if message and "which" not in message:  # uv resolves no URL of a dependency at all
        assert f"error[SM726]: `image.python_requirements`: {message.format(source=source)}"[:120] in done.err
        assert "--> requirements.txt:" in done.err
        assert "--allow-builds" in done.err


def test_permission_builds(index, tmp_path, packages):
    mark = tmp_path / "built"
    packages.add_source("sources", "1.0", mark)
    base = f"python:{sys.version_info[0]}.{sys.version_info[1]}-slim"
    directory = job(tmp_path / "job", requirements="--no-binary sources\nsources\n", base=base)
    done = lock(directory, "--allow-builds", base=base)
    assert done.status == 0, done.err
    assert mark.exists()
    assert environment(directory)[0]["packages"] == {"sources": "1.0"}


def test_files_behind_a_link_are_not_removed(index, monkeypatch, tmp_path):
    directory = job(tmp_path / "job", "ctr-compat")
    assert lock(directory, str(directory)).status == 0
    (directory / "smspec.lock.d").rename(tmp_path / "outside")
    (directory / "smspec.lock.d").symlink_to(tmp_path / "outside")
    before = sorted((tmp_path / "outside").iterdir())
    (directory / "job.yaml").write_text((directory / "job.yaml").read_text().replace('"ctr-compat"', ""))
    assert lock(directory, str(directory)).status == 0
    assert "environments" not in json.loads((directory / "smspec.lock").read_text())
    assert sorted((tmp_path / "outside").iterdir()) == before


def test_missing_system_library_is_a_hint(index, tmp_path, packages):
    packages.add("lightgbm", "4.7.0")
    assert "  lightgbm probably needs `libgomp1` in" in lock(job(tmp_path / "one", "lightgbm")).err
    directory = job(tmp_path / "two", "lightgbm", image="system_packages: [libgomp1]")
    assert "probably needs" not in lock(directory).err


def test_gpu_packages_on_a_cpu_instance_are_a_hint(index, tmp_path, packages):
    packages.add("torch", "2.5.1", "nvidia-cublas-cu12")
    packages.add("nvidia-cublas-cu12", "12.4.5.8")
    done = lock(job(tmp_path / "job", "torch"))
    assert "1 package for NVIDIA GPUs, but `hosts.instance_type` ml.m5.large has none" in done.err


@pytest.mark.parametrize(
    ("base", "requirements", "reason"),
    [
        (BASE, "git+https://github.com/org/repo", "version control URL, which has no hash"),
        ("team/base:1", "ctr-model", "its base might contain packages"),
    ],
)
def test_environment_that_cannot_be_locked_is_named(index, tmp_path, base, requirements, reason):
    directory = job(tmp_path / "job", base=base, requirements=requirements)
    done = lock(directory, base=base)
    assert done.status == 0
    assert "packages of job.yaml not locked: " in done.err
    assert reason in done.err
    assert "environments" not in json.loads((directory / "smspec.lock").read_text())
    assert index.asked == []


def test_own_hashes_must_be_those_of_the_index(index, tmp_path, packages):
    right = hashlib.sha256(packages.files["ctr_compat-0.1-py3-none-any.whl"]).hexdigest()
    directory = job(tmp_path / "job", "org-io", requirements=f"ctr-compat==0.1 \\\n  --hash=sha256:{right}\n")
    assert lock(directory).status == 0
    job(directory, "org-io", requirements=f"ctr-compat==0.1 --hash=sha256:{'0' * 64}\n")
    done = lock(directory)
    assert done.status == 1
    message = "the package index has no file of `ctr-compat==0.1` that fits the image and has one of its hashes"
    assert f"error[SM725]: `image.python_requirements`: {message}" in done.err
    assert "--> requirements.txt:1:1" in done.err


def test_own_hashes_select_among_files(index, tmp_path, packages):
    def digest(tag):
        return hashlib.sha256(packages.files[f"ctr_kernels-5.0-{tag}.whl"]).hexdigest()

    older = digest("cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64")
    others = digest("cp39-cp39-macosx_11_0_arm64"), digest("cp39-cp39-manylinux_2_28_aarch64")
    hashes = " ".join(f"--hash=sha256:{each}" for each in (*others, older))
    directory = job(tmp_path / "job", "ctr-features", requirements=f"ctr-kernels==5.0 {hashes}\n")
    done = lock(directory)
    assert done.status == 0, done.err
    assert f"ctr-kernels==5.0 \\\n    --hash=sha256:{older}\n" in environment(directory)[1]
    job(directory, requirements=f"ctr-kernels==5.0 --hash=sha256:{others[0]}\n")
    assert lock(directory).status == 1


def test_own_hashes_are_those_of_each_version(index, tmp_path, packages):
    """As `uv export` and `uv pip compile --universal --generate-hashes` write them."""
    lines = ""
    for version, marker in (("1.0", "<"), ("2.0", ">=")):
        right = hashlib.sha256(packages.files[f"ctr_model-{version}-py3-none-any.whl"]).hexdigest()
        marked = f"ctr-model=={version} ; python_full_version {marker} '3.10'"
        lines += f"{marked} \\\n    --hash=sha256:{right}\n{marked} --hash=sha256:{right}\n"
    for base in (BASE, "python:3.12.1-slim-bookworm"):
        directory = job(tmp_path / base[:11].replace(":", "-"), requirements=lines, base=base)
        done = lock(directory, base=base)
        assert done.status == 0, done.err
        assert environment(directory)[0]["packages"]["ctr-model"] == ("1.0" if base == BASE else "2.0")


def test_image_variables_choose_only_the_index(index, monkeypatch, tmp_path):
    """A spec must not set what else a resolver does on this machine."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    log = tmp_path / "written"
    env = f'env: {{PIP_INDEX_URL: "{index.url}", PIP_LOG: "{log}", LD_PRELOAD: "/nowhere.so"}}'
    directory = job(tmp_path / "job", "ctr-compat", image=env)
    done = lock(directory)
    assert done.status == 0, done.err
    assert "LD_PRELOAD" not in done.err
    assert not log.exists()


def test_locked_environment_changes_only_on_request(index, tmp_path, packages):
    directory = job(tmp_path / "job", "ctr-features")
    assert lock(directory).status == 0
    before = (directory / "smspec.lock").read_bytes()
    packages.add("ctr-features", "1.2", "org-io")
    asked = len(index.asked)
    assert "smspec.lock is up to date" in lock(directory).err
    assert ((directory / "smspec.lock").read_bytes(), len(index.asked)) == (before, asked)
    (file,) = (directory / "smspec.lock.d").iterdir()
    content = file.read_bytes()
    file.unlink()
    assert lock(directory).status == 0
    assert (file.read_bytes(), (directory / "smspec.lock").read_bytes()) == (content, before)
    done = lock(directory, "--update")
    assert "  ctr-features 1.1 → 1.2\n" in done.err
    assert environment(directory)[0]["packages"] == {"ctr-features": "1.2", "org-io": "3.0"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signal_ends_the_resolver_and_removes_its_files(python_without_uv, tmp_path, number):
    """A program that does not end, for uv."""
    uv, started, temporary = tmp_path / "bin/uv", tmp_path / "started", tmp_path / "temporary"
    directory = job(tmp_path / "job", "org-io")
    uv.parent.mkdir()
    temporary.mkdir()
    uv.write_text(f"#!/bin/sh\necho $$ > {started}.new\nmv {started}.new {started}\nexec sleep 60\n")
    uv.chmod(0o755)
    variables = environment_of_process(PATH=f"{uv.parent}:{os.environ['PATH']}", TMPDIR=str(temporary))
    words = [python_without_uv, "-m", "smspec", "lock", "--digest", f"{BASE}={DIGEST}"]
    process = subprocess.Popen(words, cwd=directory, env=variables, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(30) == 128 + number
    assert list(temporary.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_uv_that_does_not_start_is_named(python_without_uv, tmp_path):
    uv = tmp_path / "bin/uv"
    uv.parent.mkdir()
    uv.write_text("#!/bin/sh\nexit 127\n")
    uv.chmod(0o755)
    directory = job(tmp_path / "job", "ctr-compat")
    words = ("lock", "--digest", f"{BASE}={DIGEST}")
    variables = environment_of_process(PATH=str(uv.parent))
    done = smspec_process(*words, python=str(python_without_uv), cwd=directory, env=variables)
    assert done.status == 3
    assert f"`{uv} --version` does not work" in done.err


def test_files_are_not_written_through_a_link(index, tmp_path):
    directory = job(tmp_path / "job", "ctr-compat")
    (tmp_path / "outside").mkdir()
    (directory / "smspec.lock.d").symlink_to(tmp_path / "outside")
    done = lock(directory)
    assert done.status == 3
    assert "its directory is a symbolic link" in done.err
    assert list((tmp_path / "outside").iterdir()) == []


def test_options_of_one_line_and_previews_are_kept(index, tmp_path, packages):
    packages.add("ctr-compat", "0.2rc1", files={"ctr_compat.py": ""})
    line = f"-i {index.url} --extra-index-url={index.url} --pre"
    directory = job(tmp_path / "job", requirements=f"{line}\nctr-compat\n")
    done = lock(directory)
    assert done.status == 0, done.err
    found, file = environment(directory)
    assert found["packages"] == {"ctr-compat": "0.2rc1"}
    assert f"\n--index-url {index.url}\n--extra-index-url {index.url}\n" in file


def test_edited_requirements_keep_other_versions(index, tmp_path, packages):
    directory = job(tmp_path / "job", "ctr-features", requirements="org-io\n")
    assert lock(directory).status == 0
    packages.add("ctr-features", "1.2", "org-io")
    packages.add("org-io", "3.1", files={"org/io/__init__.py": ""})
    job(directory, "ctr-features>=1", "ctr-compat", requirements="org-io>=3.1\n")
    done = lock(directory, ".")
    assert done.status == 0, done.err
    found, _ = environment(directory)
    assert found["packages"] == {"ctr-compat": "0.1", "ctr-features": "1.1", "org-io": "3.1"}


def test_environment_of_another_value_is_kept(index, tmp_path):
    directory = job(tmp_path / "job", "${{ vars.package }}")
    with (directory / "job.yaml").open("a") as spec:
        spec.write("vars: {package: {default: org-io}}\n")
    assert lock(directory, ".", "--set", "vars.package=ctr-compat").status == 0
    done = lock(directory, ".")
    assert done.status == 0, done.err
    found = json.loads((directory / "smspec.lock").read_text())["environments"].values()
    assert sorted(name for one in found for name in one["packages"]) == ["ctr-compat", "org-io"]


def test_environment_without_a_job_is_removed(index, tmp_path):
    directory = job(tmp_path / "job", "org-io")
    assert lock(directory).status == 0
    job(directory, "ctr-compat")
    assert lock(directory, "job.yaml").status == 0
    assert len(list((directory / "smspec.lock.d").iterdir())) == 2
    assert lock(directory, ".").status == 0
    assert environment(directory)[0]["packages"] == {"ctr-compat": "0.1"}
    assert len(list((directory / "smspec.lock.d").iterdir())) == 1
