"""Each directory in `sdk` contains a notebook or program that uses the SageMaker SDK, and the results of its import.

``source.*`` is what is imported, ``job-N.yaml`` what is printed for its job N, ``said-N.txt`` what is said beside it,
and ``jobs.txt`` how the choice is described without `--job`. `make golden` rewrites them; then read the diff.
"""

import json
from pathlib import Path

import pytest

from smspec.importer.request_equality import differences, expected_request
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from smspec.importer.spec_writer import write_spec
from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import in_memory_inputs
from smspec.source import SourceText
from support.smspec_command import smspec

COMMAND = ("ContainerEntrypoint", "ContainerArguments")
OWN = ("code", "sm_drivers", "smspec")
OF_EACH_JOB = ("sagemaker_submit_directory", "sagemaker_smspec")
CASES = sorted(path.parent for path in (Path(__file__).parent / "sdk").glob("*/source.*"))


def jobs_of(case):
    source = next(case.glob("source.*"))
    return source, found_jobs(source.name, source.read_bytes())


JOBS = [(case, number) for case in CASES for number in range(1, len(jobs_of(case)[1].jobs) + 1)]


@pytest.mark.parametrize(("case", "number"), JOBS, ids=lambda value: getattr(value, "name", value))
def test_printed_spec_equals_the_expected_file(case, number, update):
    done = smspec("import", next(case.glob("source.*")).name, "--job", str(number), cwd=case)
    assert done.status == 0
    if update:
        (case / f"job-{number}.yaml").write_text(done.out, encoding="utf-8")
        (case / f"said-{number}.txt").write_text(done.err, encoding="utf-8")
    assert done.out == (case / f"job-{number}.yaml").read_text(encoding="utf-8")
    assert done.err == (case / f"said-{number}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_several_jobs_are_listed(case, update):
    source, found = jobs_of(case)
    done = smspec("import", source.name, cwd=case)
    if len(found.jobs) == 1:
        assert done.status == 0
        return
    assert (done.status, done.out) == (1, "")
    if update:
        (case / "jobs.txt").write_text(done.err, encoding="utf-8")
    assert done.err == (case / "jobs.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("case", "number"), JOBS, ids=lambda value: getattr(value, "name", value))
def test_spec_renders_the_request_with_its_variables(case, number, tmp_path):
    """Outside of the import too: with the values for its variables, the spec renders the request of the job."""
    _, found = jobs_of(case)
    imported = imported_job(found, str(number))
    written = write_spec(imported)
    (tmp_path / "job.yaml").write_text(written.text, encoding="utf-8")
    if written.script:
        script = tmp_path / imported.keys["source"]["dir"] / written.script
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text("pass\n", encoding="utf-8")
    settings = [word for name, value in written.settings.items() for word in ("--set", f"vars.{name}={value}")]
    done = smspec("render", "--api-json", *settings, cwd=tmp_path)
    assert done.status == 0, done.err
    rendered = json.loads(done.out)
    del rendered["TrainingJobName"]
    assert list(differences(rendered, expected_request(imported, rendered))) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values_of_the_arguments_become_defaults(case, tmp_path):
    """With a value for each variable, the spec needs no `--set`, and renders the request with these values."""
    source, found = jobs_of(case)
    imported = imported_job(found, "1")
    written = write_spec(imported)
    settings = [word for name, value in written.settings.items() for word in ("--set", f"vars.{name}={value}")]
    done = smspec("import", str(source), "--job", "1", "--region", "us-west-2", *settings)
    assert done.status == 0 and "only a run of the source has" not in done.err
    compilation = compile_spec(in_memory_inputs(SourceText("job.yaml", done.out), {}, written.script))
    rendered = compilation.plan.request.payload
    del rendered["TrainingJobName"]
    assert list(differences(rendered, expected_request(imported, rendered))) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_job_without_a_value_for_a_variable_is_refused(case, tmp_path):
    """A spec never runs with a value that the import made up."""
    for number in range(1, len(jobs_of(case)[1].jobs) + 1):
        text = (case / f"job-{number}.yaml").read_text(encoding="utf-8")
        (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
        assert smspec("render", "--api-json", cwd=tmp_path).status == 1


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_line_ends_do_not_change_the_specs(case, end):
    """Editors of Windows write CR LF, in the cells of a notebook too."""
    source, expected = jobs_of(case)
    content = source.read_text(encoding="utf-8")
    is_notebook = source.suffix == ".ipynb"
    content = content.replace("\\n", json.dumps(end)[1:-1]) if is_notebook else content.replace("\n", end)
    found = found_jobs(source.name, content.encode())
    assert len(found.jobs) == len(expected.jobs) > 0
    for number in map(str, range(1, len(found.jobs) + 1)):
        assert write_spec(imported_job(found, number)).text == write_spec(imported_job(expected, number)).text


def test_unknown_job_is_refused():
    case = next(case for case in CASES if case.name == "a-notebook-with-several-jobs")
    done = smspec("import", "source.ipynb", "--job", "other", cwd=case)
    assert done.status == 1
    assert "`other`" in done.err


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", "print(1)\n", "no estimator"),
        ("a.py", "a = 1\ndef broken(:\n", "the program cannot be read: line 2: invalid syntax"),
        ("a.py", "a = 1\nb = '\0'\n", "the program cannot be read: line 2: a NUL byte"),
        ("a.py", "a = " + "[" * 500, "the program cannot be read: line 1: it is too large, or nested too deep"),
        ("a.py", "a = 1\n" * 200_000, "the program cannot be read: line 1: it is too large"),
        (
            "a.ipynb",
            '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "b = 2"},'
            ' {"cell_type": "code", "source": "a = ("}]}',
            "cells that cannot be read: cell 2, line 1: ",
        ),
        ("a.ipynb", "{}", "not a notebook"),
        ("a.ipynb", "{", "not valid JSON"),
        ("a.ipynb", "[" * 100_000, "not valid JSON"),
        ("a.ipynb", '{"nbformat": 4, "cells": []}', "no estimator"),
        ("a.ipynb", '{"nbformat": 3, "worksheets": [1, {"cells": 1}]}', "no estimator"),
        (
            "a.ipynb",
            '{"nbformat": 4, "cells": [1, {"cell_type": "code"}, {"cell_type": "code", "source": [1]}]}',
            "no es",
        ),
    ],
)
def test_file_without_a_job_is_reported(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = smspec("import", name, cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert expected in done.err


@pytest.mark.parametrize("case", [case for case in CASES if (case / "sent.json").exists()], ids=lambda case: case.name)
def test_spec_equals_requests_of_the_sdk(case):
    """``sent.json`` is what the SDK itself has sent: `tests/benchmarks/sdk_programs.py` runs the program with it."""
    sent = json.loads((case / "sent.json").read_text(encoding="utf-8"))["requests"]
    _, found = jobs_of(case)
    assert len(sent) == len(found.jobs)
    for number, request in enumerate(sent, start=1):
        written = write_spec(imported_job(found, str(number)))
        text = SourceText("job.yaml", written.text)
        compilation = compile_spec(in_memory_inputs(text, written.settings, written.script))
        assert list(differences(shared(compilation.plan.request.payload), shared(request))) == []


def shared(request):
    """Return a request without what starts the code of version 3 of the SDK, and that of a spec."""
    kept = {name: value for name, value in request.items() if name != "TrainingJobName"}
    algorithm = {name: value for name, value in kept["AlgorithmSpecification"].items() if name not in COMMAND}
    algorithm["TrainingImage"] = algorithm["TrainingImage"].partition("-cu")[0]  # the spec has the whole tag
    kept["AlgorithmSpecification"] = algorithm
    if "InputDataConfig" in kept:
        kept["InputDataConfig"] = [each for each in kept["InputDataConfig"] if each["ChannelName"] not in OWN]
    parameters = kept.get("HyperParameters", {})
    kept["HyperParameters"] = {name: decoded(value) for name, value in parameters.items() if name not in OF_EACH_JOB}
    hook = kept.get("DebugHookConfig", {})
    listed = sorted(hook.get("CollectionConfigurations", []), key=str)  # a set in the SDK
    return {**kept, "DebugHookConfig": {**hook, "CollectionConfigurations": listed}}


def decoded(value):
    try:
        return json.loads(value)
    except ValueError:
        return value
