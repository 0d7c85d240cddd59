"""``smspec lock`` and packages: a real index, resolved by the real uv and pip."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from smspec.lock.environments.index_settings import index_settings
from support.servers.package_index import Packages, package_server
from support.small_job import BUILT, write_job
from support.smspec_command import environment as environment_of_process
from support.smspec_command import smspec

BASE = "python:3.9.18-slim-bookworm"
DIGEST = "sha256:" + "a" * 64
IMAGE = '{base: "python:3.12-slim-bookworm"}'
RESOLVERS = ("uv", "pip")


@pytest.fixture
def packages():
    """Packages for two Pythons, with markers, a namespace, and wheels for several platforms."""
    found = Packages()
    found.add("ctr-model", "1.0", "ctr-features>=1", 'ctr-compat; python_version < "3.10"')
    found.add("ctr-model", "2.0", "ctr-features>=1", python=">=3.10")
    found.add("ctr-features", "1.0", "org-io")
    found.add("ctr-features", "1.1", "org-io", 'ctr-mac; sys_platform == "darwin"')
    found.add("ctr-compat", "0.1", files={"ctr_compat.py": ""})
    found.add("org-io", "3.0", files={"org/io/__init__.py": "", "org/readers.py": ""})
    for tag in (
        "cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64",
        "cp39-cp39-manylinux_2_28_x86_64",
        "cp39-cp39-manylinux_2_39_x86_64",
        "cp39-cp39-manylinux_2_28_aarch64",
        "cp312-cp312-manylinux_2_28_x86_64",
        "cp312-cp312-musllinux_1_2_x86_64",
        "cp39-cp39-macosx_11_0_arm64",
    ):
        found.add("ctr-kernels", "5.0", files={"ctr_kernels/__init__.py": "", "ctr_kernels/fast.so": tag}, tag=tag)
    return found


@pytest.fixture
def index(packages, monkeypatch, tmp_path):
    """Serve the packages as the only index of this process."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path / "cache"))
    with package_server(packages) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url)
        yield server


@pytest.fixture(params=RESOLVERS)
def resolver(request, monkeypatch, tmp_path):
    return use(request.param, monkeypatch, tmp_path)


def use(resolver, monkeypatch, tmp_path):
    """Put uv on PATH, or take everything from it."""
    found = shutil.which("uv")
    if resolver == "uv" and found is None:
        pytest.skip("uv is not installed")
    monkeypatch.setenv("PATH", os.environ["PATH"] if resolver == "uv" else str(tmp_path))
    return resolver


def job(directory, *packages, base=BASE, requirements="", image=""):
    lines = [f"base: {base}", f"python_packages: {json.dumps(packages)}" if packages else ""]
    lines += ["python_requirements: requirements.txt" if requirements else "", image]
    text = ", ".join(line for line in lines if line)
    directory.mkdir(parents=True, exist_ok=True)
    write_job(directory, BUILT.replace(IMAGE, f"{{{text}}}"))
    (directory / "requirements.txt").write_text(requirements)
    return directory


def lock(directory, *words, base=BASE):
    return smspec("lock", "--digest", f"{base}={DIGEST}", *words, cwd=directory)


def environment(directory):
    """Return the only environment of the lock, and its file."""
    ((key, found),) = json.loads((directory / "smspec.lock").read_text())["environments"].items()
    return found, (directory / f"smspec.lock.d/{key}.txt").read_text()


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
def test_uv_and_pip_give_equal_locks(index, monkeypatch, tmp_path, base, versions):
    locks = {}
    for resolver in RESOLVERS:
        with monkeypatch.context() as there:
            use(resolver, there, tmp_path)
            there.setenv("SMSPEC_CACHE_DIR", str(tmp_path / f"cache-{resolver}"))
            directory = job(tmp_path / resolver, "ctr-kernels", base=base, requirements="ctr-model\n")
            done = lock(directory, base=base)
            assert done.status == 0, done.err
            found, file = environment(directory)
            assert found.pop("resolver").startswith(f"{resolver} ")
            locks[resolver] = found, file
    assert locks["uv"] == locks["pip"]
    found, file = locks["uv"]
    assert (found["packages"], found["unlisted"]) == (versions, [])
    modules = {"ctr_features", "ctr_kernels", "ctr_model", "org.io", "org.readers"}
    assert set(found["modules"]) == modules | ({"ctr_compat"} if "ctr-compat" in versions else set())
    assert found["digest"] == f"sha256:{hashlib.sha256(file.encode()).hexdigest()}"
    tag = "cp39-cp39-manylinux_2_28_x86_64" if base == BASE else "cp312-cp312-musllinux_1_2_x86_64"
    content = index.packages.files[f"ctr_kernels-5.0-{tag}.whl"]
    assert f"ctr-kernels==5.0 \\\n    --hash=sha256:{hashlib.sha256(content).hexdigest()}\n" in file


def test_pip_installs_the_locked_file_with_its_hashes(index, monkeypatch, tmp_path):
    use("pip", monkeypatch, tmp_path)
    directory = job(tmp_path / "job", "ctr-features")
    assert lock(directory).status == 0
    _, file = environment(directory)
    (directory / "locked.txt").write_text(file)
    words = ["install", "--quiet", "--require-hashes", "--no-deps", "--target", "site", "-r", "locked.txt"]
    subprocess.run([sys.executable, "-m", "pip", *words], cwd=directory, check=True)
    assert (directory / "site/org/io/__init__.py").exists()
    (directory / "locked.txt").write_text(file.replace("--hash=sha256:", "--hash=sha256:0")[:-2] + "\n")
    assert subprocess.run([sys.executable, "-m", "pip", *words], cwd=directory, capture_output=True).returncode


def test_password_of_an_index_is_written_nowhere(index, resolver, monkeypatch, tmp_path):
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
def test_requirements_read_no_variable_of_this_machine(index, resolver, monkeypatch, tmp_path, line):
    monkeypatch.setenv("CI_TOKEN", "t0pSecret")
    options = f"--extra-index-url {line.format(index.url)}\n"
    done = lock(job(tmp_path / "job", requirements=f"{options}ctr-compat\n"))
    assert not [path for path, _ in index.asked if "t0pSecret" in path or "127.0.0.1" in path]
    assert ("not locked: line 1 of its requirements uses" in done.err) == ("--hash" not in line)


def test_requirements_read_the_secrets_of_the_image(index, resolver, monkeypatch, tmp_path):
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
    use("pip", monkeypatch, tmp_path)
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
def test_unhelpful_server_costs_at_most_the_module_names(index, monkeypatch, tmp_path, packages, trait):
    use("pip", monkeypatch, tmp_path)
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


def test_changed_wheel_is_not_locked(index, monkeypatch, tmp_path, packages):
    use("pip", monkeypatch, tmp_path)
    index.ranges = False
    index.content["ctr_compat-0.1-py3-none-any.whl"] = packages.files["ctr_model-2.0-py3-none-any.whl"]
    directory = job(tmp_path / "job", "ctr-compat")
    done = lock(directory)
    assert done.status == 3, done.err
    assert not (directory / "smspec.lock").exists()


def test_unreachable_index_leaves_the_old_lock(index, resolver, monkeypatch, tmp_path):
    directory = job(tmp_path / "job", "ctr-compat")
    assert lock(directory).status == 0
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    job(directory, "ctr-model")
    spec = directory / "job.yaml"
    before[spec] = spec.read_bytes()
    done = lock(directory)
    assert done.status == 3
    assert f"{resolver} cannot reach a package index" in done.err
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before


def test_every_faulty_requirement_is_reported_at_its_line(index, resolver, tmp_path):
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


def test_conflict_is_reported_at_the_later_line(index, resolver, tmp_path, packages):
    packages.add("ctr-embeddings", "1.0", "ctr-features<1.1")
    text = "# pinned\nctr-features==1.1\nctr-embeddings==1.0\n"
    done = lock(job(tmp_path / "job", "org-io", requirements=text))
    assert done.status == 1, done.err
    message = "`ctr-embeddings==1.0` conflicts with `ctr-features==1.1`"
    assert f"error[SM727]: `image.python_requirements`: {message}\n  --> requirements.txt:3:1" in done.err


def test_builds_are_advised_only_where_there_is_a_source(index, resolver, tmp_path, packages):
    packages.add("ctr-fast", "1.0", tag="cp312-cp312-manylinux_2_28_x86_64")
    without = lock(job(tmp_path / "without", "ctr-fast"))
    packages.files["ctr_fast-1.0.tar.gz"], packages.pythons["ctr_fast-1.0.tar.gz"] = b"", ""
    there = lock(job(tmp_path / "there", "ctr-fast"))
    assert ["error[SM726]" in each.err for each in (without, there)] == [True, True]
    assert ["--allow-builds" in each.err for each in (without, there)] == [False, True]


def test_file_of_this_machine_is_not_locked(index, resolver, monkeypatch, tmp_path, packages):
    only_here = Packages()
    file = only_here.add("ctr-private", "1.0")
    (tmp_path / file).write_bytes(only_here.files[file])
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    directory = job(tmp_path / "job", "ctr-private")
    done = lock(directory)
    assert done.status == 3
    assert "`ctr-private` 1.0 is a file of this machine, which a build of the image does not have" in done.err
    assert not (directory / "smspec.lock").exists()


def test_requirement_is_reported_for_its_dependency(index, resolver, tmp_path, packages):
    packages.add("ctr-embeddings", "1.0", "ctr-kernels==5.0")
    base = "python:3.11-slim"
    done = lock(job(tmp_path / "job", "org-io", "ctr-embeddings", base=base), base=base)
    assert done.status == 1
    message = "`ctr-embeddings` requires a version of `ctr-kernels` that has no wheel for Python 3.11"
    assert f"error[SM726]: `image.python_packages`: {message}\n" in done.err


def test_missing_system_library_is_a_hint(index, resolver, tmp_path, packages):
    packages.add("lightgbm", "4.7.0")
    assert "  lightgbm probably needs `libgomp1` in" in lock(job(tmp_path / "one", "lightgbm")).err
    directory = job(tmp_path / "two", "lightgbm", image="system_packages: [libgomp1]")
    assert "probably needs" not in lock(directory).err


def test_gpu_packages_on_a_cpu_instance_are_a_hint(index, resolver, tmp_path, packages):
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


def test_own_hashes_must_be_those_of_the_index(index, resolver, tmp_path, packages):
    right = hashlib.sha256(packages.files["ctr_compat-0.1-py3-none-any.whl"]).hexdigest()
    directory = job(tmp_path / "job", "org-io", requirements=f"ctr-compat==0.1 \\\n  --hash=sha256:{right}\n")
    assert lock(directory).status == 0
    job(directory, "org-io", requirements=f"ctr-compat==0.1 --hash=sha256:{'0' * 64}\n")
    done = lock(directory)
    assert done.status == 1
    message = "the package index has no file of `ctr-compat==0.1` that fits the image and has one of its hashes"
    assert f"error[SM725]: `image.python_requirements`: {message}" in done.err
    assert "--> requirements.txt:1:1" in done.err


def test_own_hashes_select_among_files(index, resolver, tmp_path, packages):
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


def test_own_hashes_are_those_of_each_version(index, resolver, tmp_path, packages):
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


def test_image_variables_choose_only_the_index(index, resolver, monkeypatch, tmp_path):
    """A spec must not set what else a resolver does on this machine."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    log = tmp_path / "written"
    env = f'env: {{PIP_INDEX_URL: "{index.url}", PIP_LOG: "{log}", LD_PRELOAD: "/nowhere.so"}}'
    directory = job(tmp_path / "job", "ctr-compat", image=env)
    done = lock(directory)
    assert done.status == 0, done.err
    assert "LD_PRELOAD" not in done.err
    assert not log.exists()


def test_locked_environment_changes_only_on_request(index, resolver, tmp_path, packages):
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_resolver_and_removes_its_files(monkeypatch, tmp_path, number):
    """A program that does not end, for uv."""
    uv, started, temporary = tmp_path / "bin/uv", tmp_path / "started", tmp_path / "temporary"
    directory = job(tmp_path / "job", "org-io")
    uv.parent.mkdir()
    temporary.mkdir()
    uv.write_text(f"#!/bin/sh\necho $$ > {started}.new\nmv {started}.new {started}\nexec sleep 60\n")
    uv.chmod(0o755)
    variables = environment_of_process(PATH=f"{uv.parent}:{os.environ['PATH']}", TMPDIR=str(temporary))
    words = [sys.executable, "-m", "smspec", "lock", "--digest", f"{BASE}={DIGEST}"]
    process = subprocess.Popen(words, cwd=directory, env=variables, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(30) == 128 + number
    assert list(temporary.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_uv_that_does_not_start_is_not_used(index, monkeypatch, tmp_path):
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\nexit 127\n")
    uv.chmod(0o755)
    use("pip", monkeypatch, tmp_path)
    directory = job(tmp_path / "job", "ctr-compat")
    assert lock(directory).status == 0
    assert environment(directory)[0]["resolver"].startswith("pip ")


def test_files_are_not_written_through_a_link(index, resolver, tmp_path):
    directory = job(tmp_path / "job", "ctr-compat")
    (tmp_path / "outside").mkdir()
    (directory / "smspec.lock.d").symlink_to(tmp_path / "outside")
    done = lock(directory)
    assert done.status == 3
    assert "its directory is a symbolic link" in done.err
    assert list((tmp_path / "outside").iterdir()) == []


def test_options_of_one_line_and_previews_are_kept(index, resolver, tmp_path, packages):
    packages.add("ctr-compat", "0.2rc1", files={"ctr_compat.py": ""})
    line = f"-i {index.url} --extra-index-url={index.url} --pre"
    directory = job(tmp_path / "job", requirements=f"{line}\nctr-compat\n")
    done = lock(directory)
    assert done.status == 0, done.err
    found, file = environment(directory)
    assert found["packages"] == {"ctr-compat": "0.2rc1"}
    assert f"\n--index-url {index.url}\n--extra-index-url {index.url}\n" in file


def test_edited_requirements_keep_other_versions(index, resolver, tmp_path, packages):
    directory = job(tmp_path / "job", "ctr-features", requirements="org-io\n")
    assert lock(directory).status == 0
    packages.add("ctr-features", "1.2", "org-io")
    packages.add("org-io", "3.1", files={"org/io/__init__.py": ""})
    job(directory, "ctr-features>=1", "ctr-compat", requirements="org-io>=3.1\n")
    done = lock(directory, ".")
    assert done.status == 0, done.err
    found, _ = environment(directory)
    assert found["packages"] == {"ctr-compat": "0.1", "ctr-features": "1.1", "org-io": "3.1"}


def test_environment_of_another_value_is_kept(index, monkeypatch, tmp_path):
    use("pip", monkeypatch, tmp_path)
    directory = job(tmp_path / "job", "${{ vars.package }}")
    with (directory / "job.yaml").open("a") as spec:
        spec.write("vars: {package: {default: org-io}}\n")
    assert lock(directory, ".", "--set", "vars.package=ctr-compat").status == 0
    done = lock(directory, ".")
    assert done.status == 0, done.err
    found = json.loads((directory / "smspec.lock").read_text())["environments"].values()
    assert sorted(name for one in found for name in one["packages"]) == ["ctr-compat", "org-io"]


def test_environment_without_a_job_is_removed(index, monkeypatch, tmp_path):
    use("pip", monkeypatch, tmp_path)
    directory = job(tmp_path / "job", "org-io")
    assert lock(directory).status == 0
    job(directory, "ctr-compat")
    assert lock(directory, "job.yaml").status == 0
    assert len(list((directory / "smspec.lock.d").iterdir())) == 2
    assert lock(directory, ".").status == 0
    assert environment(directory)[0]["packages"] == {"ctr-compat": "0.1"}
    assert len(list((directory / "smspec.lock.d").iterdir())) == 1
