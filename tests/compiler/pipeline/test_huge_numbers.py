"""Numbers of any length, at any key, in any spelling cause no crash.

Python converts no more than 4,300 digits.
"""

import json

import pytest

from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.request_file import check_request_file
from smspec.pipeline.validation_result import check_spec
from support.service.api_samples import small_request
from support.small_job import READY
from support.smspec_command import smspec
from support.spec.job_documents import WHOLE_JOB

pytestmark = pytest.mark.slow

DIGITS = "9" * 5000
REQUEST = {
    **small_request(),
    "HyperParameters": {"a": "b"},
    "RetryStrategy": {"MaximumRetryAttempts": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 1, "MaxWaitTimeInSeconds": 1},
}
NUMBERS = {
    "digits": DIGITS,
    "digits in quotes": f'"{DIGITS}"',
    "seconds": f"{DIGITS}s",
    "days": "9" * 400 + "d",
    "gigabytes": f"{DIGITS}GB",
    "gibibytes of eighteen digits": "9" * 18 + "GiB",
    "exponent": f"1e{DIGITS}",
    "large exponent": "1e300",
    "fraction": f"0.{DIGITS}",
    "infinity": ".inf",
    "not a number": ".nan",
    "list in quotes": f"'[{DIGITS}]'",
}


def places(value, path=()):
    """Yield the path of every value without parts."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not parts:
        yield path
    for step, part in parts:
        yield from places(part, (*path, step))


def written(value, path, number):
    """Return data as flow YAML, with ``number`` as it is written at ``path``."""
    if not path:
        return number
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(
                f"{json.dumps(k)}: {written(v, path[1:], number) if k == path[0] else json.dumps(v)}"
                for k, v in value.items()
            )
            + "}"
        )
    return (
        "["
        + ", ".join(written(v, path[1:], number) if n == path[0] else json.dumps(v) for n, v in enumerate(value))
        + "]"
    )


@pytest.mark.parametrize("number", NUMBERS)
def test_any_number_in_a_spec_is_handled(tmp_path, number):
    spec = tmp_path / "job.yaml"
    job = {**WHOLE_JOB, "hyperparameters": {"a": 1, "b": [1, {"c": 2}]}, "api": {"RetryStrategy": {"X": 1}}}
    for path in [*places(job)][list(NUMBERS).index(number) % 6 :: 6]:  # each place meets two of the numbers
        spec.write_text(written(job, path, NUMBERS[number]))
        assert check_spec(str(spec), None, {}, InputCache()).diagnostics


def test_any_number_in_a_request_is_handled(tmp_path):
    file = tmp_path / "request.json"
    for number in (DIGITS, f"-{DIGITS}", f"1e{DIGITS}", "1" + "0" * 308, f'"{DIGITS}"'):
        for path in places(REQUEST):
            file.write_text(written(REQUEST, path, number))
            check_request_file(str(file))


COMMANDS = [
    ["validate"],
    ["build"],
    ["render", "--api-json"],
    ["render", "--spec"],
    ["validate", "--set", f"vars.n={DIGITS}"],
    ["run", "--hosts", DIGITS],
    ["run", "--rate", f"{DIGITS}MB/s"],
    ["run", "--truncate", DIGITS],
    ["run", "--stall", f"{DIGITS}s"],
]
JOB = f"""{READY}\
vars: {{n: {{default: 1}}}}
hyperparameters: {{n: "${{{{ vars.n }}}}", m: NUMBER}}
stopping: {{max_runtime: LENGTH}}
"""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_huge_numbers_never_exit_70(tmp_path, command):
    for number, length in ((DIGITS, "1h"), ("1e300", "9" * 400), ("9" * 300, f"{DIGITS}s"), ("5", "9" * 300)):
        (tmp_path / "job.yaml").write_text(JOB.replace("NUMBER", number).replace("LENGTH", length))
        done = smspec(*command, cwd=tmp_path)
        assert done.status in (0, 1, 2, 3), done.err
