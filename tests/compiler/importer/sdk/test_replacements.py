"""Attributes that a program sets in other ways, and what of the SDK it replaces."""

import pytest

from smspec.importer.imported import RequestNotFound
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from support.service.imported_requests import imported_program

HEAD = """
import boto3, sagemaker, sys
from unittest import mock
from sagemaker.pytorch import PyTorch
C = dict(role="arn:aws:iam::111122223333:role/X", instance_count=1, instance_type="ml.m5.xlarge", entry_point="t.py",
         framework_version="2.3.0", py_version="py311", output_path="s3://example-models/o/", max_run=55)
e = PyTorch(**C)
"""
CALL = "boto3.client('sagemaker').create_training_job(TrainingJobName='a', RoleArn='arn:aws:iam::111122223333:role/X')"


@pytest.mark.parametrize(
    "text",
    [
        "setattr(e, 'max_run', 77)",
        "e.__setattr__('max_run', 77)",
        "object.__setattr__(e, 'max_run', 77)",
        "vars(e)['max_run'] = 77",
        "e.__dict__['max_run'] = 77",
        "e.__dict__.update(max_run=77)",
        "vars(e).update({'max_run': 77})",
        "for name, value in {'max_run': 77, 'volume_size': 30}.items():\n    setattr(e, name, value)",
        "def apply(made, **more):\n    for k in more:\n        setattr(made, k, more[k])\napply(e, max_run=77)",
    ],
)
def test_attributes_that_are_set_by_name_are_sent(text):
    found = imported_program(f"{HEAD}{text}\ne.fit()\n")
    assert found.request["StoppingCondition"] == {"MaxRuntimeInSeconds": 77}
    assert found.not_imported == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("setattr(e, name(), 77)", "line 8: `setattr(e, name(), 77)` may change them"),
        ("delattr(e, 'max_run')", "line 8: `delattr(e, 'max_run')` may change them"),
        ("tune(e)", "line 8: `tune(e)` may change them"),
        ("tune([e])", "line 8: `tune([e])` may change them"),
        ("lib.tune(by=e)", "line 8: `lib.tune(by=e)` may change them"),
    ],
)
def test_code_that_may_change_an_estimator_is_listed(text, why):
    found = imported_program(f"{HEAD}{text}\ne.fit()\n")
    assert [(part.path, part.why) for part in found.not_imported] == [(("arguments",), why)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("PyTorch.__init__ = new", "sagemaker.pytorch.PyTorch.__init__"),
        ("PyTorch.fit = lambda self: None", "sagemaker.pytorch.PyTorch.fit"),
        ("sagemaker.estimator.EstimatorBase.fit = new", "sagemaker.estimator.EstimatorBase.fit"),
        ("sagemaker.Session.default_bucket = new", "sagemaker.Session.default_bucket"),
        ("setattr(PyTorch, 'fit', new)", "sagemaker.pytorch.PyTorch.fit"),
        ("type.__setattr__(PyTorch, 'fit', new)", "sagemaker.pytorch.PyTorch.fit"),
        ("mock.patch('sagemaker.pytorch.PyTorch.fit').start()", "sagemaker.pytorch.PyTorch.fit"),
        ("mock.patch.object(PyTorch, 'fit').start()", "sagemaker.pytorch.PyTorch.fit"),
        ("monkeypatch.setattr(PyTorch, 'fit', new)", "sagemaker.pytorch.PyTorch.fit"),
        ("monkeypatch.setattr('sagemaker.image_uris.retrieve', new)", "sagemaker.image_uris.retrieve"),
        ("@mock.patch('sagemaker.pytorch.PyTorch.fit')\ndef go(fake):\n    e.fit()", "sagemaker.pytorch.PyTorch.fit"),
        ("del PyTorch.fit", "sagemaker.pytorch.PyTorch.fit"),
        ("boto3.client = new", "boto3.client"),
        ("e.fit = new", "e.fit"),
        ("e.train = e.fit = lambda: None", "e.train"),
        ("mock.patch.object(e, 'fit').start()", "e.fit"),
        ("sagemaker.Session(sagemaker_config={'SchemaVersion': '1.0'})", "sagemaker_config"),
        ("class S(sagemaker.Session):\n    def train(self, **k):\n        new(k)", "sagemaker.Session.train"),
        ("s = sagemaker.Session()\ns.default_bucket = lambda: 'b'", "s.default_bucket"),
    ],
)
def test_job_is_refused_if_the_program_replaces_the_sdk(text, name):
    with pytest.raises(RequestNotFound) as refused:
        imported_job(found_jobs("a.py", f"{HEAD}{text}\ne.fit()\n".encode()), "1")
    line = 9 if text.startswith("s =") else 8
    assert f"line {line}: the program replaces `{name}`, which smspec does not follow" in str(refused.value)


def test_estimator_that_an_object_holds_is_doubted():
    later = "    def tune(self):\n        self.made.max_run = 77\n    def __getattr__(self, name):\n        return 1\n"
    made = "class Wrapped:\n    def __init__(self):\n        self.made = PyTorch(**C)\n"
    found = imported_program(f"{HEAD[: HEAD.index('e = ')]}{made}{later}w = Wrapped()\nw.tune()\nw.fit()\n")
    assert [variable.name for variable in found.variables] == ["max_run", "region"]


@pytest.mark.parametrize(
    "text",
    [
        "sagemaker.session.LOGGER.disabled = True",
        "sagemaker.config.logger = None",
        "mock.patch('lib.load').start()",
        "mock.patch.dict('os.environ', A='1').start()",
        "sys.modules['lib'] = e",
        "setattr(lib, 'fit', 1)",
        "s = sagemaker.Session()\ns.note = 'n'",
        "sagemaker.Session(sagemaker_config=None)",
        "class S(sagemaker.Session):\n    def note(self):\n        return 1",
        "class Split:\n    def __init__(self, train):\n        self.train = train\nSplit(1)",
        "class Split:\n    def __init__(self, train):\n        self.train = train",
        "class Split:\n    @classmethod\n    def of(cls, a):\n        return cls(a)\n"
        "    def __init__(self, a):\n        self.train = lib(a)\nSplit.of(2)",
    ],
)
def test_change_without_an_effect_on_jobs_is_accepted(text):
    found = imported_program(f"{HEAD}{text}\ne.fit()\n")
    assert found.request["StoppingCondition"] == {"MaxRuntimeInSeconds": 55}


def test_request_of_boto3_does_not_need_the_sdk():
    found = found_jobs("a.py", f"{HEAD}PyTorch.fit = new\n{CALL}\n".encode())
    (number,) = [number for number, job in enumerate(found.jobs, start=1) if job.estimator.name != "e"]
    assert imported_job(found, str(number)).request["TrainingJobName"] == "a"
