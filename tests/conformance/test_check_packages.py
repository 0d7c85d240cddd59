"""What `smspec check` proves of imports, with real packages."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from support.local.checked_jobs import HOST, Checked, codes, wheel
from support.locked_packages import lock_packages
from support.servers.package_index import Packages, package_server
from support.wheels import INFO, write_wheel


@pytest.fixture
def checked(tmp_path):
    return Checked(tmp_path)


def test_each_failing_import_is_reported_once(checked):
    """A package without one that it needs, a script that hangs, and one that forks and crashes."""
    wheel(checked.wheels, "needy", "import absent_package\n")
    checked.spec(more=", python_packages: [needy==1.0]")
    checked.job.write("src/train.py", "import user\nimport needy\nimport hanging\nimport forking\n")
    checked.job.write("src/user.py", "import needy\n")
    checked.job.write("src/hanging.py", "import time\ntime.sleep(600)\n")
    checked.job.write(
        "src/forking.py",
        "import os, signal, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n"
        "os.kill(os.getpid(), signal.SIGABRT)\n",
    )
    status, records, _ = checked.check("--timeout", "4")
    assert status == 1
    assert codes(records) == [("error", "SM544"), ("error", "SM546"), ("warning", "SM547")]
    assert "No module named 'absent_package'" in records[0]["note"]
    assert records[0]["help"] == "add `absent_package` to `image.python_packages`"
    assert "SIGABRT" in records[1]["message"]


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("import needy.absent", "change the versions in `image.python_packages`, or the import"),
        ("from collections import Mapping", "fix the import: the Python of the image has no such name"),
        ("import older", "change the versions in `image.python_packages`, or the import"),
    ],
)
def test_remedy_fits_what_is_missing(checked, line, remedy):
    wheel(checked.wheels, "needy", "x = 1\n")
    wheel(checked.wheels, "older", "from collections import Mapping\n")
    checked.spec(more=", python_packages: [needy==1.0, older==1.0]")
    checked.job.write("src/train.py", f"{line}\n")
    _, records, err = checked.check()
    assert [(record["code"], record["help"]) for record in records] == [("SM544", remedy)], err


def test_missing_data_and_drivers_are_notes(checked):
    """Data, devices, and drivers of the job are not on this machine."""
    checked.spec("channels: {train: s3://bucket-one/data/}\n")
    checked.job.write(
        "src/train.py",
        """
        import argparse, os
        import data
        parser = argparse.ArgumentParser()
        parser.add_argument("--classes", default=data.classes())
        parser.parse_args()
        """,
    )
    checked.job.write("src/data.py", "def classes():\n    return open('/opt/ml/input/data/train/classes.txt').read()\n")
    status, records, _ = checked.check("--strict")
    assert (status, codes(records)) == (0, [("note", "SM550")])
    checked.job.write(
        "src/data.py", "raise ImportError('libcuda.so.1: cannot open shared object file: No such file')\n"
    )
    status, records, _ = checked.check("--strict")
    assert (status, codes(records)) == (0, [("note", "SM550")])


def test_missing_python_exits_3(checked):
    checked.spec(version="3.99")
    checked.job.write("src/train.py", "print(1)\n")
    status, records, err = checked.check()
    assert (status, records) == (3, [])
    assert "cannot find Python 3.99 of the image" in err
    assert "uv python install 3.99" in err


def test_no_install_exits_3_without_the_packages(checked):
    wheel(checked.wheels, "greeting", "")
    checked.spec(more=", python_packages: [greeting==1.0]")
    checked.job.write("src/train.py", "import greeting\n")
    status, _, err = checked.check("--no-install")
    assert status == 3
    assert "run `smspec check` once without --no-install" in err
    assert checked.check()[0] == 0
    assert checked.check("--no-install")[0] == 0


def test_packages_that_cannot_be_installed_exit_3(checked):
    checked.spec(more=", python_packages: [greeting==99.1]")
    checked.job.write("src/train.py", "import greeting\n")
    status, records, err = checked.check()
    assert (status, records) == (3, [])
    last = err.splitlines()[-1]
    assert last.startswith("smspec: cannot install the job's Python packages (exit status 1); pass `--python EXE`")
    assert last.endswith("to use a Python that has them")


def test_deep_package_exits_3_with_the_reason(checked):
    """pip creates directories by recursion, and ends with a traceback; uv installs it."""
    write_wheel(checked.wheels, {f"{'d/' * 1200}a.py": b""})
    checked.spec(more=", python_packages: [ctr-model==1.0]")
    checked.job.write("src/train.py", "print(1)\n")
    without_uv = os.pathsep.join(path for path in os.defpath.split(os.pathsep) if not os.path.exists(f"{path}/uv"))
    checked.environment["PATH"] = f"{os.path.dirname(sys.executable)}{os.pathsep}{without_uv}"
    status, _, err = checked.check()
    assert status == 3
    assert "with about 1,000 nested directories" in err.splitlines()[-1]


def test_unreachable_module_is_not_compiled(checked):
    checked.spec()
    checked.job.write("src/train.py", "print(1)\n")
    checked.job.write("src/tests/python2.py", "print 'old'\n")
    assert checked.check("--strict")[:2] == (0, [])


@pytest.mark.skipif(shutil.which("uv") is None, reason="there is no uv")
def test_unknown_image_is_a_note(checked):
    checked.job.spec("image: {base: 'example.com/training:7'}\nsource: src/\nentry_point: train.py\n")
    checked.job.write("src/train.py", "import numpy\n")
    status, records, _ = checked.check("--strict")
    assert (status, codes(records)) == (0, [("note", "SM550")])
    assert "the Python of the image is unknown" in records[0]["message"]


BACKEND = """
import io, os, tarfile, zipfile

def build_wheel(directory, config_settings=None, metadata_directory=None):
    info = "seen-1.0.dist-info"
    files = {
        "seen.py": f"VARIABLES = {dict(os.environ)!r}\\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: seen\\nVersion: 1.0\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(os.path.join(directory, "seen-1.0-py3-none-any.whl"), "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return "seen-1.0-py3-none-any.whl"
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "seen"
version = "1.0"
"""


def write_source(directory: Path) -> None:
    """Write a package without a wheel, whose module has the variables of its build."""
    files = {
        "pyproject.toml": PROJECT,
        "backend.py": BACKEND,
        "PKG-INFO": "Metadata-Version: 2.1\nName: seen\nVersion: 1.0\n",
    }
    with tarfile.open(directory / "seen-1.0.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"seen-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


def choose(checked: Checked, installer: str) -> None:
    """Let the check use uv, or pip. A setting of pip on this machine can have no equivalent in uv."""
    found = [place for place in os.environ["PATH"].split(os.pathsep) if not os.path.exists(os.path.join(place, "uv"))]
    if installer == "uv":
        if shutil.which("uv") is None:
            pytest.skip("there is no uv")
        found.insert(0, os.path.dirname(shutil.which("uv")))
        checked.environment["PIP_CONFIG_FILE"] = os.devnull
    checked.environment["PATH"] = os.pathsep.join(found)


IMPORTED = (
    *("keyring", "brotli", "brotlicffi", "zstandard", "socks", "simplejson"),
    *("chardet", "OpenSSL", "IPython", "attr", "truststore", "wheel"),
)
"""What pip imports if it is installed, besides what Python starts with."""


def hostile(directory: Path, marks: Path, *, replaces_programs: bool) -> None:
    """Write a wheel whose every file leaves a mark where a process that is not confined imports or starts it."""

    def code(name: str) -> bytes:
        return f"import contextlib; exec(\"with contextlib.suppress(OSError): open('{marks}/{name}', 'w')\")\n".encode()

    data = "ctr_model-1.0.data"
    names = ["sitecustomize.py", "usercustomize.py", *(f"{name}.py" for name in IMPORTED)]
    names += ["pip/_internal/cli/main.py", "pip/_vendor/rich/box.py", "setuptools/__init__.py"]
    names += ["a.pth", "_distutils_hack/__init__.py", "distutils-precedence.pth"]
    names += [f"{data}/purelib/b.pth", f"{data}/platlib/c.pth", f"{data}/data/sitecustomize.py"]
    names += [f"{data}/data/lib/python{version}/os.py" for version in ("3", HOST)]
    names += [f"{data}/data/lib/python{HOST}/sitecustomize.py"]
    files = {name: code(name.replace("/", "-")) for name in names}
    for name in ("pip.conf", "uv.toml"):
        files[f"{data}/data/{name}"] = f"[install]\nlog = {marks}/{name}\n".encode()
    files[f"{data}/data/pyvenv.cfg"] = b"home = .\ninclude-system-site-packages = true\n"
    if replaces_programs:
        programs = ("python", "python3", f"python{HOST}", "pip", "git", "rustc", "keyring", "uv")
        files |= {f"{data}/scripts/{name}": b"#!/bin/sh\n: > " + f"{marks}/{name}".encode() for name in programs}
    write_wheel(directory, files)


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_no_installed_package_runs_in_an_installer(checked, installer):
    """It has several turns, and sees the package in each but the first, and one builds; the job runs confined."""
    hostile(checked.wheels, checked.outside, replaces_programs=installer == "pip")
    digest = hashlib.sha256((checked.wheels / "ctr_model-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    write_source(checked.wheels)
    wheel(checked.wheels, "third", "")
    choose(checked, installer)
    checked.spec(more=", python_packages: [seen==1.0], python_requirements: requirements.txt")
    checked.job.write("requirements.txt", f"ctr-model==1.0 --hash=sha256:{digest}\n")
    checked.job.write("src/requirements.txt", "third==1.0\n")
    checked.job.write("src/train.py", "import seen\n")
    process = checked.start("-v")
    _, err = process.communicate(timeout=120)
    assert err.count("Successfully installed") + err.count(" + ") == 3, err
    assert [path for path in checked.outside.iterdir() if path.is_file()] == []


@pytest.mark.parametrize("installer", ["uv", "pip"])
@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_no_script_is_written_outside_of_the_cache(checked, installer, kind):
    """pip 24.1 and later would write an entry point with such a name."""
    outside = str(checked.outside / "planted") if kind == "absolute" else f"{'../' * 40}{checked.outside}/planted"
    write_wheel(checked.wheels, {f"{INFO}/entry_points.txt": f"[console_scripts]\n{outside} = a:b\n".encode()})
    choose(checked, installer)
    checked.spec(more=", python_packages: [ctr-model==1.0]")
    checked.job.write("src/train.py", "print(1)\n")
    status, records, err = checked.check()
    assert (status, records) == (3, []), err


def test_older_uv_is_not_used(checked, tmp_path):
    """Before 0.11.15, it would write such an entry point."""
    (tmp_path / "older").mkdir()
    (tmp_path / "older/uv").write_text('#!/bin/sh\n[ "$*" = --version ] && echo uv 0.11.14\n')
    (tmp_path / "older/uv").chmod(0o755)
    write_wheel(checked.wheels, {"ctr_model.py": b""})
    choose(checked, "pip")
    checked.environment |= {
        "PATH": f"{tmp_path}/older{os.pathsep}{checked.environment['PATH']}",
        "PIP_CONFIG_FILE": os.devnull,
    }
    checked.spec(more=", python_packages: [ctr-model==1.0]")
    checked.job.write("src/train.py", "import ctr_model\n")
    status, records, err = checked.check("-v")
    assert (status, records, "Successfully installed ctr-model" in err) == (0, [], True), err


def test_packages_that_need_startup_files_work(checked):
    """A `.pth` file of a package adds a directory, and one runs a line, in the job."""
    files = {"startup.pth": b"below\nimport sys; sys.of_startup = 7\n", "below/inner.py": b"VALUE = 7\n"}
    write_wheel(checked.wheels, files)
    checked.spec(more=", python_packages: [ctr-model==1.0]")
    checked.job.write("src/train.py", "import user\n")
    checked.job.write("src/user.py", "import inner, sys\nassert inner.VALUE == sys.of_startup\n")
    status, records, err = checked.check("--strict")
    assert (status, records) == (0, []), err
    assert "2 modules compiled, 2 imported" in err


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_installers_get_the_indexes_of_the_image(checked, installer):
    """Also those that a locked list names: the build has no others."""
    packages = Packages()
    digest = hashlib.sha256(packages.files[packages.add("ctr-model", "1.0")]).hexdigest()
    choose(checked, installer)
    checked.environment |= {"PIP_NO_INDEX": "", "PIP_FIND_LINKS": "", "HOST": "of.invalid"}
    checked.environment |= {"SMSPEC_CACHE_DIR": str(checked.cache), "PIP_CONFIG_FILE": os.devnull}
    checked.job.write("src/train.py", "import ctr_model\n")
    spec, list_of_author = checked.job.directory / "job.yaml", "--index-url http://${HOST}/simple\nctr-model==1.0"
    checked.job.write("requirements.txt", f"{list_of_author}\n")
    with package_server(packages) as server:
        of_list = f', python_requirements: requirements.txt, env: {{HOST: "{server.host}"}}'
        for more, rest, locked in (
            (f', python_packages: [ctr-model==1.0], env: {{PIP_INDEX_URL: "{server.url}"}}', "", ""),
            (of_list, "", ""),
            (of_list, "", f"{list_of_author} --hash=sha256:{digest}\n"),
            ("", f'environment: {{PIP_INDEX_URL: "{server.url}"}}\n', ""),
        ):
            checked.spec(rest, more=more)
            if locked:
                lock_packages(spec, {"ctr-model": "1.0"}, ["ctr_model"], content=locked.encode(), python=HOST)
            if rest:
                checked.job.write("src/requirements.txt", "ctr-model==1.0\n")
            process = checked.start()
            out, err = process.communicate(timeout=120)
            assert (process.returncode, "1 imported" in err, "installing" in err) == (0, True, True), out + err
    assert "different from SageMaker" not in err


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_builds_see_no_credentials_of_the_author(checked, installer):
    """A package without a wheel runs its code; what it needs to build is there, and what lists of the author name."""
    write_source(checked.wheels)
    secrets = {
        **dict.fromkeys(
            ("AWS_SESSION_TOKEN", "GITHUB_TOKEN", "MY_PASSWORD", "UV_PUBLISH_TOKEN", "NETRC_KEY"), "of-the-author"
        ),
        **{f"{name}_TOKEN": "of-the-author" for name in ("HF", "WANDB", "CMAKE1", "XPIP")},
    }
    needed = {
        "CMAKE_ARGS": "-DX=1",
        "MAX_JOBS": "2",
        "CFLAGS": "-O1",
        "CUDA_HOME": "/opt/cuda",
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }
    checked.environment |= {**secrets, **needed, "OF_THE_LIST": "named"}
    choose(checked, installer)
    checked.spec(more=", python_packages: [seen==1.0], python_requirements: requirements.txt")
    checked.job.write("src/train.py", "import seen\n")
    checked.job.write("requirements.txt", "--extra-index-url http://127.0.0.1:9/${OF_THE_LIST}/${AWS_SESSION_TOKEN}\n")
    process = checked.start()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, (out, err)
    (seen,) = Path(checked.environment["SMSPEC_CACHE_DIR"]).rglob("seen.py")
    found = {}
    exec(seen.read_text(), found)
    assert "of-the-author" not in found["VARIABLES"].values()
    assert {**needed, "OF_THE_LIST": "named"}.items() <= found["VARIABLES"].items()
