"""What subclasses of estimators do to their objects is followed, or the job is refused."""

import pytest

from smspec.importer.imported import RequestNotFound
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from support.service.imported_requests import imported_program

HEAD = """
from functools import partial
from sagemaker.estimator import Estimator
from sagemaker.pytorch import PyTorch
C = dict(role="arn:aws:iam::111122223333:role/X", instance_count=1, instance_type="ml.m5.xlarge", entry_point="t.py",
         framework_version="2.3.0", py_version="py311", output_path="s3://example-models/o/")
"""
SETS = "self.max_run = 60; self.environment = {'A': '1'}; self.volume_size = 99; self.set_hyperparameters(a=1)"


def jobs(text):
    found = found_jobs("a.py", f"{HEAD}{text}\n".encode())
    return [imported_job(found, str(number)) for number in range(1, len(found.jobs) + 1)]


@pytest.mark.parametrize(
    "text",
    [
        f"class E(PyTorch):\n    def __init__(self, **k):\n        super().__init__(**k)\n        {SETS}\nE(**C).fit()",
        f"class E(PyTorch):\n    def __init__(self, *a, **k):\n      PyTorch.__init__(self, *a, **k)\n      {SETS}\n"
        "E(**C).fit()",
        f"class E(PyTorch):\n    def fit(self, *a, **k):\n        {SETS}\n        super().fit(*a, **k)\nE(**C).fit()",
        f"class E(PyTorch):\n    def small(self):\n        {SETS}\n        return self\nE(**C).small().fit()",
        f"class M:\n    def small(self):\n        {SETS}\nclass E(M, PyTorch):\n    pass\n"
        "e = E(**C)\ne.small()\ne.fit()",
        f"class M(object):\n    def __init__(self, **k):\n        super().__init__(**k)\n        {SETS}\n"
        "class E(M, PyTorch):\n    pass\nE(**C).fit()",
        "class E(PyTorch):\n    @staticmethod\n    def small(self):\n        self.max_run = 60\n"
        "    def fit(self):\n        self.small(self)\n        self.environment = {'A': '1'}\n"
        "        self.volume_size = 99\n        self.set_hyperparameters(a=1)\n        super().fit()\nE(**C).fit()",
    ],
)
def test_attributes_that_methods_set_are_sent(text):
    found = imported_program(f"{HEAD}{text}\n")
    assert found.request["StoppingCondition"] == {"MaxRuntimeInSeconds": 60}
    assert found.request["Environment"] == {"A": "1"}
    assert found.request["ResourceConfig"]["VolumeSizeInGB"] == 99
    assert found.request["HyperParameters"] == {"a": '"1"'}  # frameworks write it as JSON twice
    assert found.not_imported == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@wrapped\nclass E(PyTorch):\n    pass", "line 8: `class E` has `wrapped`"),
        ("class E(PyTorch, metaclass=M):\n    pass", "line 7: `class E` has `M`"),
        ("from lib import M\nclass E(M, PyTorch):\n    pass", "line 8: `class E` has `M`"),
        ("from lib import M\nclass E(PyTorch, M):\n    pass", "line 8: `class E` has `M`"),
        ("class M:\n    def __setattr__(self, *a): ...\nclass E(M, PyTorch):\n    pass", "line 7: `class M` has"),
        ("class E(PyTorch):\n    def __setattr__(self, *a): ...", "line 7: `class E` has `__setattr__`"),
        ("class E(PyTorch):\n    @property\n    def max_run(self):\n        return 5", "`class E` has `property`"),
        ("class E(PyTorch):\n    @wrapped\n    def fit(self): ...", "line 7: `class E` has `wrapped`"),
        ("class E(PyTorch):\n    fit = start", "line 7: `class E` has `fit = start`"),
        (
            "class E(PyTorch):\n    def _prepare_for_training(self, job_name=None):\n        self.max_run = 5",
            "`_prepare_for_training`, which the SDK calls, and which changes the object",
        ),
        ("class E(PyTorch):\n    pass\nE.fit = start", "line 7: `class E` has `E.fit"),
    ],
)
def test_class_with_what_is_not_followed_is_refused(text, why):
    with pytest.raises(RequestNotFound) as refused:
        imported_program(f"{HEAD}{text}\nE(**C).fit()\n")
    assert why in str(refused.value)
    assert "which smspec does not follow" in str(refused.value)


@pytest.mark.parametrize(
    "body",
    ["def note(self):\n        print(self)", "@property\n    def data(self):\n        return 's3://a/b'", "SIZE = 3"],
)
def test_method_that_the_sdk_does_not_have_is_not_listed(body):
    found = imported_program(f"{HEAD}from abc import ABC\nclass E(PyTorch, ABC):\n    {body}\nE(**C).fit()\n")
    assert found.not_imported == ()
    assert found.request["ResourceConfig"]["InstanceCount"] == 1


def test_attribute_that_one_branch_sets_is_unknown():
    body = "class E(PyTorch):\n    def fit(self):\n        self.n = 1\n        if u():\n            self.n = 4\n"
    found = imported_program(f"{HEAD}{body}        self.max_run = self.n\n        super().fit()\nE(**C).fit()\n")
    assert found.request["StoppingCondition"]["MaxRuntimeInSeconds"] not in (1, 4)


def test_changed_keywords_of_a_partial_are_doubted():
    found = imported_program(f"{HEAD}m = partial(PyTorch, **C)\nm.keywords['instance_type'] = 'x'\nm().fit()\n")
    assert ("arguments",) in [part.path for part in found.not_imported]


@pytest.mark.parametrize("made", ["PyTorch(**C, hyperparameters=hp)", "partial(PyTorch, **C, hyperparameters=hp)()"])
def test_frameworks_share_their_hyperparameters(made):
    one, two = jobs(f"hp = {{'a': 1}}\ne1 = {made}\ne2 = {made}\ne1.set_hyperparameters(b=2)\ne1.fit()\ne2.fit()")
    assert one.request["HyperParameters"] == two.request["HyperParameters"] == {"a": "1", "b": '"2"'}


def test_estimators_of_images_copy_their_hyperparameters():
    made = "Estimator('111122223333.dkr.ecr.us-west-2.amazonaws.com/a:1', **D, hyperparameters=hp)"
    keys = "D = {k: C[k] for k in ('role', 'instance_count', 'instance_type', 'output_path')}"
    one, two = jobs(
        f"{keys}\nhp = {{'a': 1}}\ne1 = {made}\nhp['late'] = 1\nhp2 = hp\ne2 = {made}\n"
        "e1.set_hyperparameters(b=2)\ne1.fit()\ne2.fit()"
    )
    assert one.request["HyperParameters"] == {"a": "1", "b": "2"}
    assert two.request["HyperParameters"] == {"a": "1", "late": "1"}


def test_list_that_grows_in_its_loop_has_all_jobs():
    grows = "todo = [1, 2]\nfor n in todo:\n    if n == 1:\n        todo.append(3)\n"
    found = jobs(f"{grows}    PyTorch(**C, hyperparameters={{'n': n}}).fit()")
    assert [job.request["HyperParameters"] for job in found] == [{"n": "1"}, {"n": "2"}, {"n": "3"}]


BASES = [
    "object",
    "dict[str, str]",
    "globals()['PyTorch']",
    "KNOWN['PyTorch']['a']",
    "[PyTorch][0]",
    "type('X', (PyTorch,), {})",
    "vars()['PyTorch']",
    "super().__class__",
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("body", ["pass", "N = {'a': 1}['a']", "N = globals()['C']", "N = make()"])
def test_any_base_and_class_body_can_be_read(base, body):
    text = f"KNOWN = {{}}\ndef make():\n    return vars()['x']\nclass A({base}):\n    {body}\n"
    found = found_jobs("a.py", f"{HEAD}{text}PyTorch(**C).fit()\n".encode())
    assert found.jobs
