"""The test suites of tini and dumb-init from Debian, run against the supervisor of the runtime.

They are fetched when the tests run, and run as they are: in their own order, which matters, for some leave processes
behind that others trip over.
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

from support.runtime.container import RUNTIME
from support.sampled_cases import only_in_all

pytestmark = pytest.mark.xdist_group("init suites")  # they are fetched once

STAND_IN = Path(__file__).parents[1] / "support/runtime/init_stand_in.py"
NEEDED = ["pytest", "pytest-timeout", "py", "psutil", "bitmap"]
"""What the two suites import, but for python-prctl, which needs a compiler: its one call is written below."""

PRCTL = """
import ctypes
def set_child_subreaper(on):
    ctypes.CDLL(None).prctl(36, on, 0, 0, 0)
"""

APPLICABLE = 76
"""How many of dumb-init's tests any supervisor without its command line passes; ours more."""

ONLY_DUMB_INIT = {
    "cli_test": "its usage, version, debug output and rewrite options are its own",
    "shell_background": "it suspends itself with its children: job control, which a container has no use for",
    "default_rewrites": "job control, as above, and the rewrite map",
    "rewrite_map1": "the rewrite map",
    "rewrite_map2": "the rewrite map",
    "rewrite_map3": "the rewrite map",
    "ignored_signals": "the rewrite map",
    "no_setsid": "a mode that signals the direct child only; ours always signals the group",
    "controlling_tty": "bash asks standard error for its terminal, and ours is a pipe to the relay",
    "sighup_sigcont": "reads its debug output",
}
"""Tests of dumb-init that do not apply, by a part of their names, and why."""

FORGIVING_KILL = '''
"""Two tests end by killing what they expect to outlive the supervisor; under ours nothing does."""
import os
import signal

_kill = os.kill

def _forgiving(process, number):
    try:
        _kill(process, number)
    except ProcessLookupError:
        if number != signal.SIGKILL:
            raise

os.kill = _forgiving
'''


@pytest.fixture(scope="module")
def suites(tmp_path_factory):
    """A directory with both sources, our stand-ins in bin/, and a Python that has what the suites import."""
    if shutil.which("apt-get") is None:
        pytest.skip("Debian's sources need apt-get")
    base = tmp_path_factory.mktemp("suites")
    _fetch(base)
    python = base / "venv/bin/python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    for words in ([sys.executable, "-m", "venv", "--without-pip", base / "venv"], [*install, *NEEDED]):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"what the suites import cannot be installed: {done.stderr.strip()[-300:]}")
    (base / "modules").mkdir()
    (base / "modules/prctl.py").write_text(PRCTL)
    (base / "modules/forgiving_kill.py").write_text(FORGIVING_KILL)
    (base / "bin").mkdir()
    for name in ("dumb-init", "tini"):
        command = base / "bin" / name
        command.write_text(f"#!{sys.executable} -IS\n{STAND_IN.read_text()}")
        command.chmod(0o755)
    return base


def _fetch(base):
    """Get the sources with lists of our own: neither root nor a deb-src line of the machine is needed."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
        capture_output=True,
        text=True,
    )
    found = set(re.findall(r"^(\S+/debian/?) (\w+) main$", targets.stdout, re.MULTILINE))
    if not found:
        pytest.skip("apt knows no archive of Debian")
    (base / "sources.list").write_text(
        "".join(f"deb-src {site} {release} main\n" for site, release in sorted(set(found)))
    )
    (base / "lists/partial").mkdir(parents=True)
    (base / "cache").mkdir()
    options = {
        "Dir::Etc::sourcelist": base / "sources.list",
        "Dir::Etc::sourceparts": os.devnull,
        "Dir::State::lists": base / "lists",
        "Dir::Cache": base / "cache",
        "APT::Sandbox::User": "",
    }
    apt = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in options.items())]
    for words in (["update"], ["source", "--tar-only", "tini", "dumb-init"]):
        done = subprocess.run([*apt, *words], cwd=base, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"Debian's sources cannot be had: {done.stderr.strip()[-300:]}")
    for archive in base.glob("*.orig.tar.*"):
        subprocess.run(["tar", "xf", archive], cwd=base, check=True)


def environ(base, **more):
    search = f"{base}/bin:{base}/venv/bin:{os.environ['PATH']}"
    return {**os.environ, "PATH": search, "PYTHONPATH": f"{base}/modules", "RUNTIME_UNDER_TEST": str(RUNTIME), **more}


def results(base, source, selection):
    """Run tests of dumb-init; return the sets of names that passed and that did not."""
    report = base / "report.xml"
    words = [base / "venv/bin/python", "-m", "pytest", "-q", "-p", "forgiving_kill", "-p", "no:cacheprovider"]
    words += ["-o", "timeout=30", f"--junitxml={report}", "-k", selection, "tests"]
    done = subprocess.run(words, cwd=source, env=environ(base), capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    passed, failed = set(), {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if len(case):
            failed[name] = "".join(case.itertext())
        else:
            passed.add(name)
    return passed, failed


def test_dumb_init_suite_passes(suites):
    """All of it but for what is named above."""
    (source,) = suites.glob("dumb-init-*/")
    selection = " and ".join(f"not {name}" for name in ONLY_DUMB_INIT)
    passed, failed = results(suites, source, selection)
    if failed:  # It allows some steps 1.5 s by the clock, which a busy machine may need for other things.
        functions = {re.sub(r"\[.*|.*::", "", name) for name in failed}
        again, failed = results(suites, source, f"({' or '.join(sorted(functions))}) and {selection}")
        passed |= again
    assert not failed, "\n\n".join(failed.values())
    assert len(passed) >= APPLICABLE


def hear_signals_of_threads():
    """GNU make leaves 32 and 33 ignored in what it starts; the C library keeps them to itself, and tini's suite has no
    name for them. So the kernel is asked."""
    number = {"x86_64": 13, "aarch64": 134}.get(os.uname().machine)
    if number is not None:
        for signal_of_threads in (32, 33):
            default = ctypes.create_string_buffer(32)
            ctypes.CDLL(None).syscall(number, signal_of_threads, default, None, 8)


@only_in_all
def test_tini_inner_suite_passes(suites):
    """In its minimal mode: reaping, signals, process group, the negative control, the signals that a program gets."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("a part of the suite is written in C, and there is no cc")
    (source,) = suites.glob("tini-*/")
    program = suites / "bin/sigconf-test"
    built = subprocess.run([compiler, "-o", program, source / "test/sigconf/sigconf-test.c"], capture_output=True)
    if built.returncode:
        pytest.skip("cc cannot build a program here")
    variables = environ(suites, SOURCE_DIR=str(source), BUILD_DIR=str(suites / "bin"), FORCE_SUBREAPER="1", MINIMAL="1")
    words = [suites / "venv/bin/python", source / "test/run_inner_tests.py"]
    done = subprocess.run(
        words, env=variables, capture_output=True, text=True, timeout=300, preexec_fn=hear_signals_of_threads
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All done, tests as expected" in done.stdout
