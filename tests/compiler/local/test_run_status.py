"""The failure file of a script as the failure reason of a run."""

import os
from pathlib import Path

import pytest

from smspec.local.running.run_directory import HostDirectory
from smspec.local.running.run_end import failure_reason, with_its_cause
from smspec.local.running.supervision import Verdict

NONE = "algo-1 exited with status 7 and wrote no failure file"


@pytest.fixture
def output(tmp_path):
    host = HostDirectory(str(tmp_path / "hosts/algo-1"))
    host.make()
    (tmp_path / "own").mkdir()
    (tmp_path / "own/failure").write_text("of the author's machine")
    return Path(host.base, "output")


def reason(output):
    root = str(output.parents[2])
    return failure_reason(Verdict(failed="algo-1", job_status=7), lambda name: HostDirectory(root))


def test_reason_is_cut_to_its_first_characters(output):
    (output / "failure").write_text("\nValueError: é" + "x" * 2000)
    assert reason(output) == "ValueError: é" + "x" * (1024 - len("\nValueError: é"))


OF_LEADERS = {
    "the job failed on the leader, algo-1, with exit status 1: ValueError: x": "algo-1",
    "AlgorithmError: the leader, algo-1, went away before the job had ended": "algo-1",
    "no connection to the leader, algo-1: [Errno 111] Connection refused": "algo-1",
    "ValueError: algo-1 failed": "algo-2",
    "": "algo-2",
}


@pytest.mark.parametrize("written", OF_LEADERS)
def test_host_that_repeats_a_failure_is_not_the_cause(written, output):
    """Hosts end at the same moment, and an engine may report the member first."""
    (output / "failure").write_text(written)
    place = HostDirectory(str(output.parents[2]))
    verdict = Verdict(failed="algo-2", job_status=1)
    found = with_its_cause(verdict, {"algo-1": 7, "algo-2": 1}, lambda _: place)
    assert (found.failed, found.job_status) == (OF_LEADERS[written], 7 if OF_LEADERS[written] == "algo-1" else 1)
    for status in (0, None, 143):  # It has not failed, or was stopped after the member had.
        assert with_its_cause(verdict, {"algo-1": status, "algo-2": 1}, lambda _: place) == verdict
    assert with_its_cause(Verdict(signal=2), {}, lambda _: place) == Verdict(signal=2)


def test_missing_failure_file_has_no_reason(output):
    assert reason(output) == NONE


@pytest.mark.parametrize("is_absolute", [True, False])
def test_link_to_another_file_is_not_read(output, tmp_path, is_absolute):
    own = tmp_path / "own/failure"
    (output / "failure").symlink_to(own if is_absolute else os.path.relpath(own, output))
    assert (output / "failure").read_text() == "of the author's machine"
    assert reason(output) == NONE


@pytest.mark.parametrize("level", ["output", "ml", "opt"])
def test_directory_that_became_a_link_is_not_followed(output, tmp_path, level):
    """Each has the names below it that the failure file has."""
    names = ("opt", "ml", "output")
    below = names[names.index(level) + 1 :]
    other = tmp_path.joinpath("other", *below)
    other.mkdir(parents=True)
    (other / "failure").write_text("of the author's machine")
    place = output.parents[len(below) - 1] if below else output
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "other")
    assert (output / "failure").read_text() == "of the author's machine"
    assert reason(output) == NONE


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_special_failure_file_does_not_block(output, make):
    make(output / "failure")
    assert reason(output) == NONE
