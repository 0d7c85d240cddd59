"""Right programs that no command accuses, and seeded faults that a command reports as errors, each in several variants.

A case of a file is a job with its source. ``job``: keys of the spec that differ; ``needs``: modules that the script
imports; all others are files. A variant of a fault has ``by``, the command that reports it as an error, `validate`
without it, or ``missed``, the reason for which none does.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import pytest
import yaml

from support.local.checked_jobs import HOST
from support.local.local_jobs import LocalJob
from support.rehearsal.rehearsed_jobs import RehearsedJob
from support.sampled_cases import left_out
from support.smspec_command import smspec

HERE = Path(__file__).parent
PROJECTS = {"absl": "absl-py", "hydra": "hydra-core"}
RESUMED = "spot: {max_wait: 25h}\ncheckpoints: s3://models/checkpoints/\n"
REPORTED = 34
OF_CHECK, OF_REHEARSE = 9, 13
"""One of so many costly cases is in the sample."""


@functools.cache
def cases(kind):
    """Return the cases of the files of a kind, by their names."""
    found = {}
    for path in sorted(HERE.glob(f"{kind}*.yaml")):
        found |= yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def variants():
    return {
        f"{name}-{number}": case
        for name, fault in cases("faults").items()
        for number, case in enumerate(fault["variants"], 1)
    }


def sampled(names, one_of):
    return [name if number % one_of == 0 else left_out(name) for number, name in enumerate(names)]


def write(job: LocalJob, case, more: str = ""):
    """Write a job; its packages have the versions of this Python, so that it can stand for the image."""
    text = case.get("job", "") + more
    keys, needs = yaml.safe_load(text) or {}, case.get("needs", ())
    pinned = [f"{name}=={importlib.metadata.version(name)}" for name in (PROJECTS.get(one, one) for one in needs)]
    defaults = {
        "image": f'{{base: "python:{HOST}-slim-bookworm"{f", python_packages: {pinned}" if pinned else ""}}}',
        "source": "src/",
        "entry_point": "train.py",
    }
    job.spec("".join(f"{key}: {value}\n" for key, value in defaults.items() if key not in keys) + text)
    for path, content in case.items():
        if path not in ("by", "job", "missed", "needs"):
            job.write(f"src/{path}", content)
            if content.startswith("#!"):
                (job.directory / "src" / path).chmod(0o755)


def missing(case) -> str:
    return next((name for name in case.get("needs", ()) if importlib.util.find_spec(name) is None), "")


def written(case, job, more=""):
    if missing(case):
        pytest.skip(f"{missing(case)} is not installed")
    write(job, case, more)


def options(case):
    return ("--python", sys.executable) if case.get("needs") else ()


RIGHT = [
    *((name, "") for kind in ("right_parsers", "right_readers") for name in cases(kind)),
    *((name, RESUMED) for name in cases("right_logs")),
]


@pytest.mark.parametrize(("name", "more"), RIGHT)
def test_right_program_has_no_warning(name, more, tmp_path):
    job = LocalJob(tmp_path)
    written(cases("right")[name], job, more)
    done = smspec("validate", "--strict", cwd=tmp_path)
    assert done.status == 0, done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled([name for name, _ in RIGHT], OF_CHECK))
def test_right_program_passes_the_check(name, tmp_path):
    job = LocalJob(tmp_path)
    written(cases("right")[name], job, RESUMED if name in cases("right_logs") else "")
    done = smspec("check", "--strict", *options(cases("right")[name]), cwd=tmp_path)
    assert done.status == 0, done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(cases("right_logs"), OF_REHEARSE))
def test_right_program_keeps_its_promises(name, tmp_path):
    job = RehearsedJob(tmp_path / "job")
    script = cases("right_logs")[name]["train.py"]
    write(job, {"train.py": script.replace('"/opt/ml/', 'os.environ["SAGEMAKER_BASE_DIR"] + "/')}, RESUMED)
    found = job.promises("--only", "spot", "--only", "progress", "--python", sys.executable, "--seed", "3")
    assert {found[promise]["state"] for promise in ("spot", "progress")} == {"kept"}, found
    job.assert_nothing_left()


@pytest.mark.parametrize("name", [name for name, case in variants().items() if not {"by", "missed"} & {*case}])
def test_fault_is_an_error(name, tmp_path):
    job = LocalJob(tmp_path)
    written(variants()[name], job)
    done = smspec("validate", cwd=tmp_path)
    assert done.status == 1 and "error[SM" in done.out, done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sampled([name for name, case in variants().items() if case.get("by") == "check"], OF_CHECK)
)
def test_fault_is_an_error_of_the_check(name, tmp_path):
    job = LocalJob(tmp_path)
    written(variants()[name], job)
    done = smspec("check", *options(variants()[name]), cwd=tmp_path)
    assert done.status == 1 and "error[SM" in done.out, done.out + done.err


@pytest.mark.parametrize("name", [name for name, case in variants().items() if case.get("by") == "warning"])
def test_fault_is_a_warning(name, tmp_path):
    job = LocalJob(tmp_path)
    written(variants()[name], job)
    assert "warning[SM" in smspec("validate", cwd=tmp_path).out


def test_most_faults_are_errors_in_three_variants():
    assert len(RIGHT) >= 40
    counts = {
        name: sum("missed" not in each and each.get("by") != "warning" for each in fault["variants"])
        for name, fault in cases("faults").items()
    }
    assert len(counts) == 36
    assert sum(count >= 3 for count in counts.values()) >= REPORTED, counts
