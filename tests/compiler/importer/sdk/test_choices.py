"""Jobs of functions that a program takes out of lists and mappings, and of functions that only other code calls."""

import pytest

from smspec.importer.sdk import found_jobs as found_jobs_module
from smspec.importer.sdk import program_calls
from smspec.importer.sdk.sdk_domain import alike
from smspec.importer.sdk.sdk_job import found_jobs, imported_job

HEAD = """
import functools, os, random
from concurrent.futures import ThreadPoolExecutor
from sagemaker.estimator import Estimator
from sagemaker.pytorch import PyTorch
C = dict(role="arn:aws:iam::111122223333:role/X", instance_count=1, instance_type="ml.m5.xlarge", entry_point="t.py",
         framework_version="2.3.0", py_version="py311", output_path="s3://example-models/o/")
def make(n):
    return PyTorch(**C, max_run=n)
e = PyTorch(**C, max_run=1)
"""


def runtimes(text):
    found = found_jobs("a.py", f"{HEAD}{text}\n".encode())
    started = [number for number, job in enumerate(found.jobs, start=1) if job.call is not None]
    jobs = [imported_job(found, str(number)) for number in started]
    return [job.request["StoppingCondition"]["MaxRuntimeInSeconds"] for job in jobs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fs = [lambda: e.fit()]\nfs[0]()", [1]),
        ("fs = [e.fit]\nfs.pop()()", [1]),
        ("fs = [lambda: make(2).fit(), lambda: make(3).fit()]\nfor f in fs:\n    f()", [2, 3]),
        ("fs = [lambda: make(2).fit(), lambda: make(3).fit()]\nrandom.choice(fs)()", [2, 3]),
        ("fs = [lambda: make(2).fit(), lambda: make(3).fit()]\nrandom.shuffle(fs)\nfs[0]()", [2, 3]),
        ("fs = [lambda: make(2).fit(), lambda: make(3).fit()]\nfs[int(os.environ['N'])]()", [2, 3]),
        ("fs = {'a': lambda: make(2).fit(), 'b': lambda: make(3).fit()}\nfs['a']()", [2, 3]),
        ("fs = {'a': lambda: make(2).fit(), 'b': lambda: make(3).fit()}\nfs[os.environ['N']]()", [2, 3]),
        ("fs = {'a': lambda: make(2).fit(), 'b': lambda: make(3).fit()}\nfs.get(os.environ['N'])()", [2, 3]),
        ("fs = {'a': make(2).fit, 'b': make(3).fit}\nfs[os.environ['N']]()", [2, 3]),
        ("fs = {lambda: make(2).fit(), lambda: make(3).fit()}\nfor f in fs:\n    f()", [2, 3]),
        ("fs = []\nfs.append(lambda: make(4).fit())\n[f() for f in fs]", [4]),
        ("fs = [lambda n=n: make(n).fit() for n in (2, 3)]\nfor f in fs:\n    f()", [2, 3]),
        ("fs = [lambda: make(2).fit()]\nlib.run(fs)", [2]),
        ("def outer():\n    def inner():\n        make(5).fit()\n    lib.later(inner)\nouter()", [5]),
        ("@lib.task\ndef go():\n    def inner():\n        make(5).fit()\n    return inner\n", [5]),
        ("def go():\n    make(6).fit()\nlib.later(go)", [6]),
        ("pool.starmap(lambda a, b: make(b).fit(), [(1, 2), (3, 4)])", [2, 4]),
        ("for each in map(make, [2, 3]):\n    each.fit()", [2, 3]),
        ("with ThreadPoolExecutor() as pool:\n    list(pool.map(lambda e: e.fit(), [make(2), make(3)]))", [2, 3]),
    ],
)
def test_jobs_of_functions_in_collections_are_found(text, expected):
    assert sorted(runtimes(text)) == expected


def test_function_that_runs_at_an_unknown_time_has_both_values():
    assert runtimes("def go():\n    e.fit()\nlib.later(go)\ne.max_run = 9") == [1, 9]


def test_functions_of_which_one_runs_do_not_see_each_other():
    """Only one of them changes the estimator before its job."""
    text = "def a():\n    e.max_run = 5\n    e.fit()\ndef b():\n    e.fit()\n"
    found = found_jobs("a.py", f"{HEAD}{text}fs = [a, b]\nfs[int(os.environ['N'])]()\n".encode())
    last = imported_job(found, str(len(found.jobs)))
    is_named = ("arguments",) in [part.path for part in last.not_imported]
    assert is_named or last.request["StoppingCondition"]["MaxRuntimeInSeconds"] not in (5,)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("def made():\n    for n in (2, 3):\n        yield make(n)\nfor each in made():\n    each.fit()", "each.fit"),
        ("kinds = {'a': lambda: make(2), 'b': lambda: make(3)}\nkinds[os.environ['N']]().fit()", "kinds[os.envi"),
        ("made = [make(2), make(3)]\nfor each in lib.order(made):\n    each.fit({'train': 's3://a/b'})", "each.fit"),
    ],
)
def test_estimators_that_unknown_code_starts_have_open_inputs(text, start):
    found = found_jobs("a.py", f"{HEAD}{text}\n".encode())
    jobs = [imported_job(found, str(number)) for number in range(1, len(found.jobs) + 1)]
    assert {1, 2, 3} <= {job.request["StoppingCondition"]["MaxRuntimeInSeconds"] for job in jobs}
    for job in jobs:
        (why,) = [part.why for part in job.not_imported if part.path == ("inputs",)]
        assert f"`{start}" in why and "may start this job, with inputs that only a run has" in why
        assert not [part for part in job.additions if "creates the estimator only" in part]


@pytest.mark.parametrize("other", ["model.fit(X, y)", "model.fit(X, epochs=3)", "scaler = model"])
def test_fit_of_a_model_in_memory_starts_no_job(other):
    found = found_jobs("a.py", f"{HEAD}import sklearn\n{other}\n".encode())
    assert {job.start for job in found.jobs} == {""}


def test_one_of_several_classes_is_not_followed():
    kinds = "kinds = {'a': PyTorch, 'b': Estimator}\nk = kinds[os.environ['N']]"
    text = f"{kinds}(role='r', instance_type='ml.m5.large')\nk.fit()\n"
    found = found_jobs("a.py", f"{HEAD}{text}".encode())
    assert "k" not in [job.estimator.name for job in found.jobs]
    assert "line 12: what it makes is known only when" in str(imported_job(found, "1").not_imported[-1])


def test_function_that_its_own_lambdas_call_is_given_up_soon(monkeypatch):
    """Each call makes an estimator, which is compared with all that were made in the same line."""
    compared = 0

    def counted(one, two, depth=0):
        nonlocal compared
        compared += 1
        return alike(one, two, depth)

    monkeypatch.setattr(found_jobs_module, "alike", counted)
    monkeypatch.setattr(program_calls, "MOST_STEPS", 60_000)
    again = "{'a': lambda: again(2).fit(), 'b': lambda: again(3).fit()}"
    text = f"def again(n):\n    return PyTorch(**C, hyperparameters={again})\nagain(1).fit()\n"
    assert not found_jobs("a.py", f"{HEAD}{text}".encode()).following.is_complete
    assert compared < 2 * program_calls.MOST_STEPS
