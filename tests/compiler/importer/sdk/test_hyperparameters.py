"""Hyperparameters that a program sets after it makes an estimator, as version 2.257.7 of the SDK sends them."""

import pytest

from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from support.service.imported_requests import imported_program

HEAD = """
from sagemaker.estimator import Estimator
from sagemaker.pytorch import PyTorch
C = dict(role="arn:aws:iam::111122223333:role/X", instance_count=1, instance_type="ml.m5.xlarge",
         output_path="s3://example-models/o/")
F = dict(C, entry_point="t.py", framework_version="2.3.0", py_version="py311")
IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/churn:1"
"""
TRAINER = """
from sagemaker.modules.train import ModelTrainer
from sagemaker.modules.configs import Compute
C = dict(role="arn:aws:iam::111122223333:role/X", compute=Compute(instance_type="ml.m5.xlarge", instance_count=1))
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e = PyTorch(**F)\ne.set_hyperparameters(a='x', b=1, c=[1], d=True)",
         {"a": '"\\"x\\""', "b": '"1"', "c": '"[1]"', "d": '"true"'}),
        ("e = PyTorch(**F, hyperparameters={'a': 1})\ne._hyperparameters.update(b=2)", {"a": "1", "b": "2"}),
        ("e = PyTorch(**F)\ne._hyperparameters['b'] = 2", {"b": "2"}),
        ("e = PyTorch(**F, hyperparameters={'a': 1})\ne.hyperparameters()['b'] = 2", {"a": "1"}),
        ("e = Estimator(IMAGE, **C, hyperparameters={'a': 1})\ne.hyperparameters()['b'] = 2", {"a": "1", "b": "2"}),
        ("e = Estimator(IMAGE, **C)\ne.hyperparameters().update({'b': 2})\ne._hyperparameters['c'] = 3",
         {"b": "2", "c": "3"}),
        ("e = Estimator(IMAGE, **C)\ne.set_hyperparameters(a='x', b=1)", {"a": "x", "b": "1"}),
    ],
)  # fmt: skip
def test_hyperparameters_that_are_set_later_are_sent(text, expected):
    found = imported_program(f"{HEAD}{text}\ne.fit()\n")
    assert (found.request["HyperParameters"], found.not_imported) == (expected, ())


def test_items_of_a_mapping_with_numbers_for_keys_are_followed():
    text = "for k, v in {0.1: 'a', None: 'b'}.items():\n    PyTorch(**F, hyperparameters={'k': k, 'v': v}).fit()\n"
    found = found_jobs("a.py", f"{HEAD}{text}".encode())
    sent = [imported_job(found, number).request["HyperParameters"] for number in ("1", "2")]
    assert sent == [{"k": "0.1", "v": '"a"'}, {"k": "null", "v": '"b"'}]


def test_job_is_chosen_by_number_before_its_name():
    text = "jobs = {n: PyTorch(**F, max_run=60 + n) for n in (2, 1)}\nfor e in jobs.values():\n    e.fit()\n"
    found = found_jobs("a.py", f"{HEAD}{text}".encode())
    runtimes = [imported_job(found, number).request["StoppingCondition"] for number in ("1", "2")]
    assert runtimes == [{"MaxRuntimeInSeconds": 62}, {"MaxRuntimeInSeconds": 61}]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ('training_image="111122223333.dkr.ecr.us-west-2.amazonaws.com/team/churn:1"', "churn-job"),
        ('algorithm_name="alg"', "alg-job"),
        ('training_image="111122223333.dkr.ecr.us-west-2.amazonaws.com/churn:1", base_job_name="b"', "b"),
    ],
)
def test_default_output_of_a_trainer_has_the_name_of_its_job(given, name):
    """Not that of the variable: the SDK does not know it."""
    found = imported_program(f"{TRAINER}trainer = ModelTrainer(**C, {given})\ntrainer.train()\n")
    assert found.request["OutputDataConfig"]["S3OutputPath"].rpartition("/")[2] == name
