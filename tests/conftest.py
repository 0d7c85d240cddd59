"""The --update option and the interpreters of this machine, shared by all tests."""

from __future__ import annotations

import collections
import functools
import gc
import glob
import importlib.util
import itertools
import locale
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import pytest
from hypothesis import settings

from smspec.source.real_file import remove_tree
from support import parameter_names, sampled_cases
from support.examples import EXAMPLES
from support.smspec_command import smspec, sync_no_files

_ENDED = pytest.StashKey[int]()
_LEFT_OUT = pytest.StashKey[int]()

# How long an example takes is the machine's affair; tests/benchmarks measure.
# A change passes or fails by what is in it: every run draws the same examples, `make explore` draws others.
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None, max_examples=EXAMPLES)
settings.register_profile("exploring", deadline=None, print_blob=True)
settings.load_profile("repeatable")

# It holds assertions, and is no test file of its own.
pytest.register_assert_rewrite("support.service.request_cases")


class _LateSyntax(types.ModuleType):
    """In place of `rfc3987_syntax`, which jsonschema imports: its grammars take two seconds to compile."""

    def is_valid_syntax(self, rule, text):
        sys.modules.pop(self.__name__, None)
        self.is_valid_syntax = importlib.import_module(self.__name__).is_valid_syntax
        return self.is_valid_syntax(rule, text)


if importlib.util.find_spec("rfc3987_syntax"):
    sys.modules.setdefault("rfc3987_syntax", _LateSyntax("rfc3987_syntax"))


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="rewrite golden and expected files instead of comparing")


def pytest_configure(config):
    """Keep out of the author's cache, hear every signal, and let the processes that tests start hear it.

    A shell that starts the suite in the background has Ctrl-C and its like ignored, and who is started inherits that.
    """
    if "SMSPEC_CACHE_DIR" not in os.environ:
        os.environ["SMSPEC_CACHE_DIR"] = config.smspec_cache = tempfile.mkdtemp(prefix="smspec-test-cache-")
    # Hundreds of processes of the tests import the package: where none may keep what it compiles, each compiles it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Messages are wrapped for a screen with so many columns, and what runs the suite may set it.
    os.environ.pop("COLUMNS", None)
    sys.dont_write_bytecode = False
    sync_no_files()
    if hasattr(config, "workerinput"):
        from support.worker_reports import FewReports, is_asked_for_all

        if not is_asked_for_all(config):
            config.pluginmanager.register(FewReports(config))
    _go_past_shims()
    _go_past_missing_locales()
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # Python ignores these two for itself
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _go_past_shims():
    """Take directories from PATH whose ``python3`` is a script: those of pyenv take ten times as long to start.

    A local run, which asks each ``python3.12`` that it finds, took a third of its time for one.
    """
    directories = os.environ.get("PATH", os.defpath).split(os.pathsep)
    shims = [directory for directory in directories if _is_script(os.path.join(directory, "python3"))]
    if shims:
        kept = [directory for directory in directories if directory not in shims]
        os.environ["PATH"] = os.pathsep.join([os.path.join(sys.base_prefix, "bin"), *kept])


def _go_past_missing_locales():
    """Take the locale C.UTF-8 in place of one that this machine does not have: every bash would warn of it."""
    asked = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error:
        os.environ["LC_ALL"] = "C.UTF-8"
    finally:
        locale.setlocale(locale.LC_ALL, asked)


def _is_script(path):
    try:
        with open(path, "rb") as program:
            return program.read(2) == b"#!"
    except OSError:
        return False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Return one worker per processor, and two more for the whole suite: it waits for a third of its time."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    return len(os.sched_getaffinity(0)) + 2 * (not config.option.markexpr)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Share out tests in the order that keeps all workers busy; see `support.worker_reports`."""
    if config.getvalue("dist") != "loadgroup" or config.getvalue("update"):
        return None  # a test that rewrites a file is far from the one that reads it, and not next to it
    from support.worker_reports import Scheduling

    return Scheduling(config, log)


def pytest_collection(session):
    """Keep the garbage collector from searching what is collected while there is more and more of it."""
    gc.disable()
    if hasattr(session.config, "workerinput"):
        _rewrite_share(session.config)


def _rewrite_share(config):
    """Rewrite the assertions of one worker's share of files: where none is kept, every worker rewrites all of them."""
    number, count = int(config.workerinput["workerid"][2:]), config.workerinput["workercount"]
    asked = [Path(argument.partition("::")[0]).absolute() for argument in config.args]
    files = [file for file in Path(__file__).parent.rglob("test_*.py") if {file, *file.parents} & {*asked}]
    files.sort(key=lambda file: (file.stat().st_size, file))
    try:
        from _pytest.assertion import rewrite

        state = config.stash[rewrite.assertstate_key]
        for file in files[number::count]:
            directory = rewrite.get_cache_dir(file)
            kept = directory / (file.stem + rewrite.PYC_TAIL)
            if rewrite.try_makedirs(directory) and rewrite._read_pyc(file, kept) is None:
                status, code = rewrite._rewrite_test(file, config)
                rewrite._write_pyc(state, code, status, kept)
    except (ImportError, AttributeError, KeyError):
        pass  # These names are pytest's own, and only save time.


def pytest_collection_finish():
    """Keep the garbage collector from searching all tests again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item):
    """Skip what needs namespaces where they are unavailable: a process tries them, so not while tests are collected."""
    if item.get_closest_marker("needs_namespaces"):
        from smspec.local.engines.namespace.availability import unavailable

        if reason := unavailable():
            pytest.skip(reason)


def pytest_runtest_teardown(item):
    """Collect cycles, and keep the collector from what is left: modules and models of APIs, half a million objects.

    Without it, a worker grew to 1.5 GB, of which 4 million objects were garbage of clients and tracebacks.
    """
    ended = item.session.stash[_ENDED] = item.session.stash.get(_ENDED, 0) + 1
    if ended % 2000 == 0:
        gc.unfreeze()
    if ended % 50 == 0:
        gc.collect()
        gc.freeze()


def pytest_sessionfinish(session):
    """Send the number of cases that are not in the sample to the process that prints the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(_LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[_LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter):
    """Say how many cases are not in the sample."""
    if count := terminalreporter.config.stash.get(_LEFT_OUT, 0):
        terminalreporter.write_line(
            f"not in the sample: {count} costly cases that resemble others (SMSPEC_ALL_CASES=1 runs them)"
        )


def pytest_unconfigure(config):
    """Remove the cache that this process has made; workers share it. Let each of these end in its own time.

    Where the end of a worker takes more than five seconds, execnet sends it SIGINT, in the middle of whatever it does.
    """
    if hasattr(config, "workerinput"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(config, "smspec_cache"):
        shutil.rmtree(config.smspec_cache, ignore_errors=True)


def pytest_make_parametrize_id(val, argname):
    """Name a parameter by its contents alone; one of bytes or of an object needs a name by hand."""
    try:
        return parameter_names.name_of(val)
    except parameter_names.Unnamed as unnamed:
        raise pytest.Collector.CollectError(f"parameter `{argname}` needs a name (`ids`): {unnamed}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what needs Docker and what starts processes, then leave out what is not in the sample."""
    starting = {}
    for item in items:
        if parameter_names.ADDRESS.search(item.nodeid):
            raise pytest.UsageError(f"the address of an object is in the name of a test: {item.nodeid}")
        if item.module not in starting:
            starting[item.module] = _starts_processes(item.module)
        if "support.docker_engine" in getattr(item.module, "pytest_plugins", ()) and "engine" in item.fixturenames:
            item.add_marker("docker")
        if starting[item.module] or {"any_python", "outer_python", "pythons"} & set(item.fixturenames):
            item.add_marker("process")
    if not (sampled_cases.IS_WHOLE or config.getoption("--update")):
        items[:], rest = sampled_cases.split(items, config.args)
        config.stash[sampled_cases.LEFT_OUT] = rest
        config.stash[_LEFT_OUT] = len(rest)


def _starts_processes(module):
    """Whether a module of tests starts processes, itself or by what it has from tests/support."""
    used = [value for value in vars(module).values() if getattr(value, "__module__", "").startswith("support.")]
    support = {sys.modules[value.__module__] for value in used if value is not smspec}  # which runs in this process
    return any("subprocess" in vars(each) for each in (module, *support)) or "conformance" in module.__file__


@pytest.fixture(scope="session", autouse=True)
def _numbered_directories(tmp_path_factory):
    """Number the directories of a name. pytest looks at all that there are for the next number, and makes a link."""
    numbers = collections.defaultdict(itertools.count)

    def mktemp(basename, numbered=True):
        while True:
            path = tmp_path_factory.getbasetemp() / (f"{basename}{next(numbers[basename])}" if numbered else basename)
            try:
                path.mkdir(mode=0o700)
            except FileExistsError:  # by a name that ends in a digit
                if not numbered:
                    raise
            else:
                return path

    tmp_path_factory.mktemp = mktemp


@pytest.fixture
def update(request):
    """Whether expected files are to be rewritten."""
    return request.config.getoption("--update")


@functools.lru_cache
def _interpreters():
    """Return {"3.8": path, …}: one CPython of each minor version from 3.8 that can be found.

    Those of pyenv are asked themselves, since the scripts that it puts on PATH take seven times as long to start.
    """
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = dict(
        filter(None, map(_interpreter, sorted(glob.glob(os.path.join(root, "versions", "3.*", "bin/python")))))
    )
    named = {f"3.{minor}": shutil.which(f"python3.{minor}") for minor in range(8, 20)}
    found |= filter(None, (_interpreter(path) for version, path in named.items() if path and version not in found))
    found |= filter(None, [_interpreter(sys.executable)])
    return {version: found[version] for version in sorted(found, key=_number)}


def _number(version):
    return tuple(map(int, version.split(".")))


@pytest.fixture(scope="session")
def pythons():
    """Every CPython from 3.8 that can be found, for a test that costs more than what an interpreter does in it."""
    return [*_interpreters().values()]


def _interpreter(path):
    """Return the version of a CPython from 3.8 and where it is, or None."""
    show = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2], sys.executable)"
    answer = subprocess.run([path, "-I", "-S", "-c", show], capture_output=True, text=True)
    name, version, executable = answer.stdout.strip().split(" ", 2) if answer.returncode == 0 else ("", "0.0", "")
    return (version, executable) if name == "cpython" and _number(version) >= (3, 8) else None


def _outermost(found):
    """Return the oldest CPython and the newest, by names that are the same on every machine."""
    oldest, *others = found
    only = pytest.mark.skip(reason=f"CPython {oldest} is the only one on this machine")
    newest = pytest.param(found[[*found][-1]], id="newest", marks=() if others else only)
    return [pytest.param(found[oldest], id="oldest"), newest]


def pytest_generate_tests(metafunc):
    """Run a test that asks for ``any_python`` on every CPython from 3.8; those not here are skipped by name.

    The sample has the oldest and the newest, which a test that costs much asks for itself, as ``outer_python``.
    """
    if "any_python" in metafunc.fixturenames:
        found = _interpreters()
        versions = [f"3.{minor}" for minor in range(8, 15)]
        outermost = (min(found, key=_number), max(found, key=_number))
        parameters = [
            pytest.param(
                found.get(version, ""),
                id=f"cpython-{version}",
                marks=()
                if version in outermost
                else sampled_cases.only_in_all
                if version in found
                else pytest.mark.skip(reason=f"no CPython {version} on this machine"),
            )
            for version in versions
        ]
        metafunc.parametrize("any_python", parameters)
    if "outer_python" in metafunc.fixturenames:
        metafunc.parametrize("outer_python", _outermost(_interpreters()))


@pytest.fixture
def public_directory():
    """A directory that every user can reach: each pytest that starts makes those of pytest private again."""
    directory = tempfile.mkdtemp(prefix="smspec-test-")
    os.chmod(directory, 0o755)
    try:
        yield Path(directory)
    finally:
        remove_tree(directory)
