"""A command that is forked from a process that has loaded it is the command that Python starts."""

import gc
import json
import os
import select
import subprocess
import sys

import pytest

from support.forked_command import start_command
from support.service.api_samples import small_request
from support.small_job import READY, write_job
from support.smspec_command import environment


def started_by_python(words, **options):
    return subprocess.Popen([sys.executable, "-m", "smspec", *words], **options)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("validate", 0),
        ("validate faulty.yaml", 1),
        ("validate --no-such-option", 2),
        ("validate missing.yaml", 2),
        ("import -", 0),
        ("explain SM204", 0),
        ("run faulty.yaml -o run", 1),
    ],
)
def test_forked_command_ends_and_prints_alike(tmp_path, words, status):
    write_job(tmp_path, READY)
    (tmp_path / "faulty.yaml").write_text(READY + "größe: x\n")
    ends = []
    for start in (start_command, started_by_python):
        process = start(
            words.split(),
            cwd=tmp_path,
            env=environment(SMSPEC_CACHE_DIR=str(tmp_path / "cache"), FORCE_COLOR="1"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        ends.append((*process.communicate(json.dumps(small_request()).encode()), process.returncode))
    assert ends[0] == ends[1]
    assert ends[0][2] == status


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="commands are forked on Linux only")
def test_command_of_a_test_that_gives_up_is_killed(tmp_path):
    """It waits for a pipe that stays open."""
    ours, its = os.pipe()
    process = start_command(["lsp"], cwd=tmp_path, stdin=ours, stdout=its, env=environment())
    command = os.pidfd_open(process.pid)
    process = None
    gc.collect()
    assert select.select([command], [], [], 60)[0]
    for descriptor in (ours, its, command):
        os.close(descriptor)
