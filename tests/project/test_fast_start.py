"""Commands load only what they need and never the network."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from smspec.service.request_rules import FAMILIES
from smspec.workspace.process_guard import guarded
from support.git_repository import repository
from support.locked_packages import lock_packages
from support.service.api_samples import small_request
from support.service.raw_requests import written
from support.small_job import BUILT, write_job
from support.smspec_command import environment

SPECS = Path(__file__).parents[2] / "specs"

SLOW = {
    "boto3",
    "botocore",
    "dataclasses",
    "difflib",
    "importlib.metadata",
    "importlib.resources",
    "inspect",
    "jinja2",
    "jsonschema",
    "logging",
    "pathlib",
    "pathspec",
    "rich",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "unicodedata",
}
"""Each of these takes longer to load than a spec takes to compile."""

NETWORK = {"boto3", "botocore", "http.client", "socket", "ssl", "urllib.request", "urllib3"}

LOADED = """
import sys
from smspec.cli import main
status = main(sys.argv[1:])
open("modules.txt", "w").write(" ".join(sys.modules))
sys.exit(status)
"""


def loaded(directory, *words, status=0, code=LOADED):
    """Return the modules that a command has loaded when it ends."""
    command = [sys.executable, "-I", "-c", code, *words]
    done = subprocess.run(command, cwd=directory, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    return set(Path(directory, "modules.txt").read_text().split())


WATCHED = """
import sys
seen = []
words = ("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.fork", "os.system", "os.startfile", "pty.")
sys.addaudithook(lambda event, _: seen.append(event) if event.startswith(words) else None)
""" + LOADED.replace("sys.exit(status)", "sys.exit(status or bool(seen))")


PAGES_READ = (
    """
import sys
read = open("pages.txt", "w")
sys.addaudithook(lambda event, words: event == "open" and str(words[0]).endswith(".md") and print(words[0], file=read))
"""
    + LOADED
)


@pytest.fixture(scope="module")
def idle():
    """The modules that this interpreter loads before anything is asked of it."""
    command = [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"]
    return set(subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("words", [["validate"], ["render", "--api-json"], ["validate", "-O", "dev"], ["--version"]])
def test_valid_spec_loads_no_slow_module(words, tmp_path, idle):
    write_job(tmp_path, BUILT + "overlays: {dev: {retries: 1}}\n")
    assert sorted((loaded(tmp_path, *words) - idle) & SLOW) == []


@pytest.mark.parametrize("words, most", [(["validate", "job"], 130), (["render", "--api-json", "job/job.yaml"], 125)])
def test_job_of_a_repository_loads_few_modules(words, most, tmp_path):
    """A limit to lower: what most jobs do not need is imported where it is needed."""
    shutil.copytree(SPECS / "script-mode", tmp_path / "job", ignore=shutil.ignore_patterns("build", "run"))
    repository(tmp_path)
    own = {name for name in loaded(tmp_path, *words) if name.partition(".")[0] == "smspec"}
    assert len(own) <= most, sorted(own)


COURSE = """
import sys
import smspec.cli.run, smspec.local.running.local_run
import smspec.local.engines.process, smspec.local.engines.namespace.namespace_engine
open("modules.txt", "w").write(" ".join(sys.modules))
"""


def test_course_of_a_run_declares_its_values_cheaply(tmp_path, idle):
    """With the standard library's dataclasses it took a third longer to load, half of that for two files of values."""
    assert sorted((loaded(tmp_path, code=COURSE) - idle) & {"dataclasses", "inspect", "jinja2", "rich"}) == []


def test_rules_about_members_that_a_request_lacks_are_not_loaded(tmp_path):
    write_job(tmp_path)
    unused = {"debugging", "serverless", "network", "images", "hosts_capacity", "algorithm_metrics", "built_in_values"}
    assert unused < set(FAMILIES)
    rules = {name.rpartition(".")[2] for name in loaded(tmp_path, "validate") if ".request_rules." in name}
    assert "whole_request" in rules
    assert sorted(rules & unused) == []


@pytest.mark.parametrize(
    "words",
    [["validate"], ["build"], ["render", "--dockerfile"], ["render", "--spec"], ["diff", "job.yaml", "job.yaml"]],
)
def test_compiling_never_touches_the_network(words, tmp_path, idle):
    write_job(tmp_path)
    assert sorted((loaded(tmp_path, *words) - idle) & NETWORK) == []


@pytest.mark.parametrize(
    "words, most",
    [
        (["validate", "job.yaml"], 0),
        (["validate", "faulty.yaml"], 0),
        (["validate", "job.yaml", "faulty.yaml", "--format", "github"], 0),
        (["validate", "faulty.yaml", "--format", "json"], 2),
        (["explain", "SM602"], 1),
    ],
)
def test_pages_of_codes_are_read_when_they_are_printed(words, most, tmp_path):
    """Not to find a fault, nor an unknown code in `checks.ignore`; and one page is one file."""
    write_job(tmp_path)
    faulty = BUILT + "retries: many\nchecks: {ignore: [{rule: SM999, at: name, because: unknown}]}\n"
    (tmp_path / "faulty.yaml").write_text(faulty)
    loaded(tmp_path, *words, status=int("faulty.yaml" in words), code=PAGES_READ)
    read = (tmp_path / "pages.txt").read_text().split()
    assert len(read) == most
    assert len(set(read)) == most


def test_locked_imports_are_proven_in_one_process(tmp_path, idle):
    """No audit event of a socket or of a second process, and no slow module."""
    spec = BUILT.replace("{base: ", "{python_packages: [numpy], base: ").replace("{epochs: 2}", "{}")
    lock_packages(write_job(tmp_path, spec, **{"src/train.py": "import numpy\n"}))
    assert sorted((loaded(tmp_path, "validate", "--strict", code=WATCHED) - idle) & SLOW) == []


def test_valid_request_loads_no_slow_or_network_module(tmp_path, idle):
    (tmp_path / "request.json").write_text(written(small_request()))
    found = loaded(tmp_path, "validate", "--api-json", "request.json") - idle
    assert sorted(found & (SLOW | NETWORK)) == []


def test_valid_spec_registers_no_exit_handlers(tmp_path, idle):
    """Then the process ends at once: `smspec.cli.run_process`."""
    write_job(tmp_path)
    assert sorted((loaded(tmp_path, "validate") - idle) & {"atexit", "threading"}) == []


@pytest.mark.parametrize(
    "fault",
    ["nme: x", "input_mode: Piep", "retries: many", "spot: {max_wait: 1s}", "output: {s3: a}", "channels: {a: {}}"],
)
def test_faulty_spec_loads_no_slow_module(fault, tmp_path, idle):
    key = fault.split(":")[0]
    right = "".join(line for line in BUILT.splitlines(keepends=True) if not line.startswith(f"{key}:"))
    write_job(tmp_path, f"{right}{fault}\n")
    assert sorted((loaded(tmp_path, "validate", status=1) - idle) & SLOW) == []


def test_guard_of_a_command_starts_as_fast_as_python():
    """Each command that smspec starts has one, so a local run starts a few: `typing` alone would double their cost."""
    python, *words = guarded(["true"])
    reader, writer = os.pipe()  # at whose end the guard kills the command
    with open(reader), open(writer, "w"):
        done = subprocess.run([python, "-X", "importtime", *words], stdin=reader, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    found = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "resource" in found
    assert sorted(found & {"collections", "enum", "functools", "re", "signal", "subprocess", "typing"}) == []
