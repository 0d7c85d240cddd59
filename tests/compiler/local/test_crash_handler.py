"""Crashes of a job stay in its host: the kernel starts the handler of a machine as root, outside of all namespaces."""

import json
import os
import resource
import subprocess
import sys

import pytest

from smspec.proof.sandbox import Sandbox
from support.local.local_jobs import LocalJob, script

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux confines processes")

PRINTED = "import json, resource; print('LIMIT', json.dumps(resource.getrlimit(resource.RLIMIT_CORE)))"
PATTERN = "/proc/sys/kernel/core_pattern"


def limit_in(text):
    line = next(line for line in text.splitlines() if "LIMIT" in line)
    return tuple(json.loads(line.partition("LIMIT ")[2]))


def expected(*, has_handler):
    before = resource.getrlimit(resource.RLIMIT_CORE)
    # Only root can raise a limit again; with 0, a handler starts, and keeps nothing.
    return (1, 1) if has_handler and before[1] else before


@pytest.mark.parametrize("pattern", ["|/usr/lib/systemd/systemd-coredump %P\n", "core\n", "/var/crash/%p\n", ""])
def test_only_a_handler_takes_the_limit_of_cores(tmp_path, pattern):
    (tmp_path / "pattern").write_text(pattern)
    program = f"from smspec.local.engines.namespace.cell import rights; rights.refuse_crash_handler({str(tmp_path)!r} +"
    program += f" '/pattern'); {PRINTED}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert limit_in(done.stdout) == expected(has_handler=pattern.startswith("|"))


@pytest.mark.needs_namespaces
def test_host_has_the_limit_that_the_machine_needs(tmp_path):
    job = LocalJob(tmp_path / "job", engine="namespace")
    script(job, PRINTED)
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    with open(PATTERN) as file:
        assert limit_in(job.log()) == expected(has_handler=file.read(1) == "|")


def test_checked_script_has_no_cores(tmp_path):
    sandbox = Sandbox(directory=str(tmp_path), seconds=60, places=(sys.base_prefix,))
    ended = sandbox.run([os.path.realpath(sys.executable), "-c", PRINTED], {}, str(tmp_path))
    assert limit_in(ended.output) == ((1, 1) if resource.getrlimit(resource.RLIMIT_CORE)[1] else (0, 0))
