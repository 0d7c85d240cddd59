"""The Python environment of a local job."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from pathlib import Path

import pytest

from support.local.local_jobs import DEADLINE, LocalJob
from support.local.package_cache import keep_pip
from support.locked_packages import lock_packages

KILLS = int(os.environ.get("SMSPEC_KILLED_RUNS", "2"))
both = pytest.mark.parametrize("job", ["uv", "pip"], indirect=True)
SHOW = """
import os, sys
try:
    import greeting
    print("GREETING", greeting.VERSION)
except ImportError:
    print("GREETING none")
try:
    import pytest
    print("PYTEST there")
except ImportError:
    print("PYTEST none")
print("PREFIX", sys.prefix)
"""
SPEC = """
image: {{base: "{base}"{more}}}
source: src/
entry_point: train.py
"""
MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"
BASE = f"python:{MINOR}-slim"


def wheel(directory: Path, version: str, name: str = "greeting", slow: bool = False) -> Path:
    """Write a wheel by hand, with a command."""
    path = directory / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\ndef main(): print(VERSION)\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\ngreet = {name}:main\n",
    }
    if slow:
        files |= {f"{name}_{number}.py": "x = 1\n" * 1000 for number in range(200)}
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


@pytest.fixture
def job(tmp_path, request):
    """A job whose packages come from a directory. With uv, unless a test wants pip.

    Its cache has what other tests with the same installer have installed: most of a run's time is pip's first start.
    """
    installer = getattr(request, "param", "pip" if shutil.which("uv") is None else "uv")
    job = LocalJob(tmp_path / "job")
    job.wheels = tmp_path / "wheels"
    job.wheels.mkdir()
    for version in ("1.0", "2.0"):
        wheel(job.wheels, version)
    job.cache = Path(os.environ["SMSPEC_CACHE_DIR"], f"packages-of-{installer}")
    path = os.environ["PATH"].split(os.pathsep)
    if installer == "uv" and shutil.which("uv") is None:
        pytest.skip("there is no uv")
    if installer == "pip":
        path = [directory for directory in path if not os.path.exists(os.path.join(directory, "uv"))]
        path.insert(0, os.path.dirname(sys.executable))
    job.environment = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(job.wheels),
        "SMSPEC_CACHE_DIR": str(job.cache),
        "PATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "",  # or every pip that a run starts is compiled anew
        "UV_CACHE_DIR": str(tmp_path / "uv"),
    }
    job.write("src/train.py", SHOW)
    return job


@pytest.fixture
def fresh_job(job, tmp_path):
    """A job whose cache has nothing but pip."""
    return with_cache(job, keep_pip(tmp_path / "cache"))


def with_cache(job: LocalJob, cache: Path) -> LocalJob:
    job.cache, job.environment["SMSPEC_CACHE_DIR"] = cache, str(cache)
    return job


def spec(job: LocalJob, packages: str = "", base: str = BASE, more: str = "") -> None:
    packages = f", python_packages: [{packages}]" if packages else ""
    job.spec(SPEC.format(base=base, more=packages) + more)


def environments(job: LocalJob) -> list[Path]:  # not that of pip, on which installers run
    return sorted(path.parent for path in job.cache.glob("environments/*/bin") if not (path / "python").exists())


def state(directory: str | Path) -> dict[str, object]:
    """Return every file below a directory with what changes when it is written or replaced."""
    return {
        str(path): (status.st_ino, status.st_size, status.st_mtime_ns)
        for path in Path(directory).rglob("*")
        if path.is_file() and (status := path.lstat())
    }


@pytest.fixture
def exe(tmp_path, job):
    """A Python of the author's with a package."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    (library,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    zipfile.ZipFile(job.wheels / "greeting-1.0-py3-none-any.whl").extractall(library)
    return tmp_path / "venv" / "bin" / "python"


@both
def test_job_has_only_the_packages_of_its_image(fresh_job):
    spec(fresh_job, "greeting==1.0")
    ended = fresh_job.run(fresh_job.environment)
    assert ended.returncode == 0, ended.stderr
    assert "GREETING 1.0\nPYTEST none\n" in fresh_job.log()
    assert "installing `greeting==1.0` for Python" in ended.stderr
    assert len(environments(fresh_job)) == 1


@both
def test_locked_packages_are_those_of_the_run(job):
    """Newer versions fit the spec. Where the lock is for a different Python or C library, they are installed."""
    digest = hashlib.sha256((job.wheels / "greeting-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    content = f"greeting==1.0 --hash=sha256:{digest}\n".encode()
    other = content.replace(digest.encode(), b"0" * 64)  # of a wheel that this machine cannot install
    cases = [
        (BASE, MINOR, content, "1.0", "and the 1 package of smspec.lock"),
        (BASE, "3.99", content, "2.0", "smspec.lock has packages for Python 3.99"),
        (f"python:{MINOR}-slim-trixie", MINOR, other, "2.0", "with a newer C library; installed those that the spec"),
    ]
    is_older = int(os.confstr("CS_GNU_LIBC_VERSION").rpartition(".")[2]) < 41
    for base, python, file, version, said in cases if is_older else cases[:2]:
        spec(job, "greeting>=1", base=base)
        lock_packages(job.directory / "job.yaml", {"greeting": "1.0"}, content=file, python=python)
        ended = job.run(job.environment)
        assert ended.returncode == 0, ended.stderr
        assert said in ended.stderr
        assert f"GREETING {version}" in job.log()


def test_second_run_uses_the_cached_environment(job, tmp_path):
    """It neither needs the packages again nor connects to anything."""
    spec(job, "greeting==1.0")
    job.run(job.environment)
    shutil.rmtree(job.wheels)
    words, calls = job.words(), tmp_path / "calls"
    if shutil.which("strace") is not None:
        words = ["strace", "-f", "-qq", "-e", "trace=connect", "-o", str(calls), *words]
    environment = {**os.environ, **job.environment}
    ended = subprocess.run(words, cwd=job.directory, env=environment, capture_output=True, text=True, timeout=DEADLINE)
    assert ended.returncode == 0, ended.stderr
    assert "installing" not in ended.stderr
    assert "GREETING 1.0" in job.log()
    assert not calls.exists() or "AF_INET" not in calls.read_text()


@pytest.mark.needs_namespaces
def test_installed_package_cannot_be_edited(fresh_job):
    """A script that writes to what it imports changes neither the cache nor the next run."""
    job = fresh_job
    spec(job, "greeting==1.0")
    job.write("src/train.py", "import greeting\nopen(greeting.__file__, 'a').write('VERSION = 1')\n")
    assert job.run(job.environment, engine="namespace").returncode == 1
    assert "OSError: [Errno 30] Read-only file system" in job.log()
    job.write("src/train.py", SHOW)
    assert job.run(job.environment, engine="namespace").returncode == 0
    assert "GREETING 1.0" in job.log()
    # Processes of the author see the cache itself.
    writable = [path for path in environments(job)[0].rglob("*.py") if path.stat().st_mode & 0o222]
    assert writable == []


def test_source_requirements_stay_in_their_run(job, tmp_path):
    """The job's own pip may replace a package of the image: for this job, not for the next."""
    before = state(Path(sys.executable).parent.parent)
    spec(job, "greeting==1.0")
    job.write("src/requirements.txt", "greeting==2.0\n")
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    assert "GREETING 2.0" in job.log()
    (job.directory / "src" / "requirements.txt").unlink()
    assert job.run(job.environment).returncode == 0
    assert "GREETING 1.0" in job.log()
    after = state(Path(sys.executable).parent.parent)
    assert {path for path in before if before[path] != after.get(path)} == set()
    assert not {path for path in after.keys() - before.keys() if "greeting" in path}


def test_locked_packages_at_startup_are_those_of_the_run(job):
    """A newer version fits the list; pip finds the locked one installed."""
    digest = hashlib.sha256((job.wheels / "greeting-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    spec(job)
    job.write("src/requirements.txt", "greeting>=1\n")
    content = f"greeting==1.0 --hash=sha256:{digest}\n".encode()
    locked = {"packages": {"greeting": "1.0"}, "python": MINOR, "at_start": True}
    for file, version in ((content, "1.0"), (content.replace(digest.encode(), b"0" * 64), "2.0")):
        lock_packages(job.directory / "job.yaml", content=file, **locked)
        ended = job.run(job.environment)
        assert ended.returncode == 0, ended.stderr
        assert f"GREETING {version}" in job.log()


def test_packages_installed_by_a_job_stay_in_its_run(job):
    spec(job, "greeting==1.0")
    job.write(
        "src/train.py",
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', 'greeting==2.0'], check=True)\n"
        "subprocess.run([sys.executable, '-m', 'pip', 'uninstall', '-q', '-y', 'greeting'])\n"
        "subprocess.run([sys.executable, '-m', 'pip', 'uninstall', '-q', '-y', 'greeting'])\n"
        "subprocess.run([sys.executable, '-c', 'import greeting; print(greeting.VERSION)'], check=True)\n",
    )
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    job.write("src/train.py", SHOW)
    assert job.run(job.environment).returncode == 0
    assert "GREETING 1.0" in job.log()


def test_package_commands_use_the_python_of_the_host(job):
    spec(job, "greeting==1.0")
    job.write("src/requirements.txt", "greeting==2.0\n")
    job.write("src/train.py", "import subprocess; subprocess.run(['greet'], check=True)")
    job.environment["PIP_CONFIG_FILE"] = os.devnull
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    assert "\n2.0\n" in job.log()


def test_redirecting_pip_settings_are_ignored(fresh_job, tmp_path):
    """PIP_TARGET, `user = true`, `prefix`: what the author uses for other things."""
    job = fresh_job
    elsewhere = [tmp_path / "of-variables", tmp_path / "of-file"]
    job.environment |= {"PIP_TARGET": str(elsewhere[0]), "PIP_PREFIX": str(elsewhere[0]), "PIP_USER": "1"}
    (tmp_path / "pip.conf").write_text(f"[global]\ntarget = {elsewhere[1]}\n[install]\nuser = true\n")
    job.environment["PIP_CONFIG_FILE"] = str(tmp_path / "pip.conf")
    spec(job, "greeting==1.0")
    job.write("src/requirements.txt", "greeting==2.0\n")
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    assert "GREETING 2.0" in job.log()
    assert not any(map(os.path.lexists, elsewhere))


def test_selected_python_provides_packages_unchanged(job, exe):
    before = state(exe.parent.parent)
    spec(job, "greeting==1.0, other")
    ended = job.run(job.environment, python=exe)
    assert ended.returncode == 0, ended.stderr
    assert "GREETING 1.0" in job.log()
    assert f"different from SageMaker: {exe} does not have `other`" in ended.stderr
    job.write("src/requirements.txt", "greeting==2.0\n")
    ended = job.run(job.environment, python=exe)
    assert ended.returncode == 0, ended.stderr
    assert "GREETING 2.0" in job.log()
    assert state(exe.parent.parent) == before


def test_python_option_replaces_unknown_packages(job):
    spec(job, base="pytorch/pytorch:2.4.1")
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    assert "PYTEST there" in job.log() or shutil.which("python3") != sys.executable
    assert "different from SageMaker: the packages of the image are unknown" in ended.stderr


def test_no_install_prevents_installation(fresh_job):
    spec(fresh_job, "greeting==1.0")
    ended = fresh_job.run(fresh_job.environment, **{"no-install": None})
    assert ended.returncode == 3
    assert "run `smspec run` once without --no-install" in ended.stderr
    assert not fresh_job.run_directory.exists()
    assert fresh_job.run(fresh_job.environment).returncode == 0
    assert fresh_job.run(fresh_job.environment, **{"no-install": None}).returncode == 0


def with_index(job: LocalJob, secret: str) -> None:
    """Give the job its packages only through a secret of the build."""
    job.environment["PIP_FIND_LINKS"] = ""
    more = f", python_packages: [greeting==1.0], secrets: {{PIP_FIND_LINKS: {secret}}}"
    job.spec(SPEC.format(base=BASE, more=more))


@pytest.mark.parametrize(("job", "source"), [("uv", "{env: INDEX}"), ("pip", "{file: links/}")], indirect=["job"])
def test_secret_of_the_build_is_set_for_the_installation_only(fresh_job, source):
    """Its file is relative to the spec."""
    job = fresh_job
    with_index(job, source)
    shutil.move(job.wheels, job.directory / "links")
    job.write("src/train.py", SHOW + "import os; print('INDEX', os.environ.get('PIP_FIND_LINKS'))\n")
    ended = job.run({**job.environment, "INDEX": str(job.directory / "links")})
    assert ended.returncode == 0, ended.stderr
    assert "GREETING 1.0\n" in job.log()
    assert "INDEX \n" in job.log()
    assert str(job.directory / "links") not in ended.stderr


def test_missing_secret_of_the_build_is_named(fresh_job):
    with_index(fresh_job, "{env: INDEX}")
    ended = fresh_job.run(fresh_job.environment)
    assert (ended.returncode, "the variable `INDEX` is not set" in ended.stderr) == (3, True), ended.stderr
    with_index(fresh_job, "{file: no-such-file}")
    ended = fresh_job.run(fresh_job.environment)
    assert (ended.returncode, "`image.secrets.PIP_FIND_LINKS`" in ended.stderr) == (3, True), ended.stderr


@both
def test_unknown_package_exits_1(fresh_job):
    spec(fresh_job, "no-such-package==1.0")
    ended = fresh_job.run(fresh_job.environment)
    assert ended.returncode == 1
    assert "cannot install the job's Python packages" in ended.stderr
    assert environments(fresh_job) == []
    assert not fresh_job.run_directory.exists()


@both
def test_unreachable_index_exits_3(job):
    spec(job, "greeting==3.0")
    job.environment |= {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_NO_INDEX": "", "PIP_RETRIES": "1"}
    job.environment |= {"UV_HTTP_RETRIES": "0", "PIP_EXTRA_INDEX_URL": "", "PIP_CONFIG_FILE": os.devnull}
    ended = job.run(job.environment)
    assert ended.returncode == 3, ended.stderr
    sentence = ended.stderr.splitlines()[-1]
    assert sentence.startswith("smspec: cannot reach the package index")
    assert sentence.endswith("; pass `--python EXE` to use a Python that has them")


def test_job_without_packages_needs_no_cache(job, tmp_path):
    """A job without packages runs without network, cache, and uv."""
    (tmp_path / "file").write_text("")
    job.environment |= {"SMSPEC_CACHE_DIR": str(tmp_path / "file" / "below"), "PIP_FIND_LINKS": "/nowhere"}
    spec(job)
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    spec(job, "greeting==1.0")
    ended = job.run(job.environment)
    assert ended.returncode == 3
    assert "set SMSPEC_CACHE_DIR" in ended.stderr


def test_concurrent_runs_install_once(job, tmp_path):
    with_cache(job, tmp_path / "cache")
    wheel(job.wheels, "1.0", "large", slow=True)
    spec(job, "greeting==1.0, large")
    processes = []
    for number in range(4):
        words = [word.replace(str(job.run_directory), str(tmp_path / f"run{number}")) for word in job.words()]
        processes.append(
            subprocess.Popen(
                words, cwd=job.directory, env={**os.environ, **job.environment}, stderr=subprocess.PIPE, text=True
            )
        )
    errors = [process.communicate(timeout=DEADLINE)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert sum("installing `greeting==1.0`" in error for error in errors) == 1
    assert len(environments(job)) == 1


@pytest.mark.parametrize("moment", range(KILLS))
def test_run_killed_while_installing_is_repaired(job, tmp_path, moment):
    with_cache(job, tmp_path / "cache")
    wheel(job.wheels, "1.0", "large", slow=True)
    spec(job, "greeting==1.0, large")
    process = job.start(job.environment)
    while not (job.cache / "environments").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(random.Random(moment).uniform(0, 1.5))
    process.kill()
    process.communicate(timeout=DEADLINE)
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    assert "GREETING 1.0" in job.log()
