"""Jobs of subclasses, of `functools.partial`, of lambdas, and of functions that others call."""

import pytest

from smspec.importer.imported import RequestNotFound
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from support.service.imported_requests import imported_program, without_names

IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/churn:1"
ROLE = "arn:aws:iam::111122223333:role/X"
HOSTS = f'role="{ROLE}", instance_count=2, instance_type="ml.m5.xlarge", output_path="s3://example-models/o/"'
HEAD = """
import boto3, functools, json, threading
from functools import partial
from sagemaker.estimator import Estimator, EstimatorBase, Framework
from sagemaker.pytorch import PyTorch
sm = boto3.client("sagemaker")
"""
REQUEST = {
    "TrainingJobName": "churn-1",
    "RoleArn": ROLE,
    "AlgorithmSpecification": {"TrainingImage": IMAGE, "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "s3://example-models/o/"},
    "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}
KEPT = {name: value for name, value in REQUEST.items() if name != "TrainingJobName"}


@pytest.mark.parametrize(
    "made",
    [
        f'class Ours(Estimator):\n    pass\ne = Ours("{IMAGE}", {HOSTS})',
        f"class Ours(Estimator):\n    def __init__(self, image, **more):\n        self.team = 'ads'\n"
        f'        super().__init__(image, **more)\ne = Ours("{IMAGE}", {HOSTS})',
        f"class Ours(Estimator):\n    def __init__(self, count):\n"
        f'        super(Ours, self).__init__("{IMAGE}", {HOSTS.replace("=2", "=count")})\ne = Ours(2)',
        f"class Ours(Estimator):\n    def __init__(self, *given, **more):\n"
        f'        Estimator.__init__(self, *given, **more)\ne = Ours("{IMAGE}", {HOSTS})',
        f"class Above(Estimator):\n    def __init__(self, image, **more):\n        super().__init__(image, **more)\n"
        f'class Ours(Above):\n    def __init__(self):\n        super().__init__("{IMAGE}", {HOSTS})\ne = Ours()',
        f'make = functools.partial(Estimator, {HOSTS})\ne = make("{IMAGE}")',
        f'make = partial(partial(Estimator, "{IMAGE}"), instance_count=7)\ne = make({HOSTS})',
        f'make = lambda image, **more: Estimator(image, {HOSTS}, **more)\ne = make("{IMAGE}")',
        f'kinds = {{"a": Estimator, "b": PyTorch}}\ne = kinds["a"]("{IMAGE}", {HOSTS})',
        f'def make(kind, *given, **more):\n    return kind(*given, **more)\ne = make(Estimator, "{IMAGE}", {HOSTS})',
        f'import sagemaker\ne = getattr(sagemaker.estimator, "Estimator")("{IMAGE}", {HOSTS})',
    ],
)
@pytest.mark.parametrize("fit", ["e.fit()", "start = e.fit\nstart()", 'getattr(e, "fit")(wait=False)'])
def test_estimator_made_in_another_way_is_imported(made, fit):
    request = imported_program(f"{HEAD}{made}\n{fit}\n").request
    assert request["AlgorithmSpecification"]["TrainingImage"] == IMAGE
    assert request["ResourceConfig"] == REQUEST["ResourceConfig"]
    assert (request["RoleArn"], request["OutputDataConfig"]) == (ROLE, REQUEST["OutputDataConfig"])


@pytest.mark.parametrize(
    "start",
    [
        f"partial(sm.create_training_job, **{KEPT!r})(TrainingJobName='churn-1')",
        f"getattr(sm, 'create_training_job')(**{REQUEST!r})",
        f"sm.create_training_job({REQUEST!r})",
        f"sm.create_training_job(**dict([(k, v) for k, v in {REQUEST!r}.items()]))",
        f"base = {REQUEST!r}\nsm.create_training_job(**{{k: v for k, v in base.items() if k != 'Tags'}})",
        f"sm.create_training_job(**json.loads('''{REQUEST!r}'''.replace(\"'\", '\"')))",
        f"go = lambda r: sm.create_training_job(**r)\ngo({REQUEST!r})",
        f"pool.submit(sm.create_training_job, **{REQUEST!r})",
        f"list(pool.map(lambda r: sm.create_training_job(**r), [{REQUEST!r}]))",
        f"list(map(lambda r: sm.create_training_job(**r), [{REQUEST!r}]))",
        f"threading.Thread(target=sm.create_training_job, kwargs={REQUEST!r}).start()",
        f"def go(r):\n    sm.create_training_job(**r)\nthreading.Thread(target=go, args=({REQUEST!r},)).start()",
        f"retry(lambda: sm.create_training_job(**{REQUEST!r}))",
        f"def call(method, **more):\n    return method(**more)\ncall(sm.create_training_job, **{REQUEST!r})",
    ],
)
def test_request_that_is_sent_in_another_way_is_imported(start):
    assert imported_program(f"{HEAD}{start}\n").request == REQUEST


def test_framework_of_the_program_has_its_parameters_as_json():
    made = f'Ours("train.py", image_uri="{IMAGE}", hyperparameters={{"lr": 0.1, "name": "a"}}, {HOSTS})'
    found = imported_program(f"{HEAD}class Ours(Framework):\n    _framework_name = 'ours'\n{made}.fit()\n")
    assert found.request["HyperParameters"] == {"lr": "0.1", "name": '"a"'}
    assert found.keys["entry_point"] == "train.py"


def test_method_that_replaces_one_of_the_sdk_is_listed():
    body = "class Ours(Framework):\n    def hyperparameters(self):\n        return {}\n"
    found = imported_program(f'{HEAD}{body}Ours("a.py", image_uri="{IMAGE}", {HOSTS}).fit()\n')
    (why,) = [part.why for part in found.not_imported if part.path == ("hyperparameters",)]
    assert "line 8: `class Ours` replaces this method" in why


def test_own_fit_of_a_subclass_is_followed():
    body = "class Ours(Estimator):\n    def fit(self, data):\n        super().fit({'train': data})\n"
    found = imported_program(f'{HEAD}{body}Ours("{IMAGE}", {HOSTS}).fit("s3://example-data/t/")\n')
    assert [channel["ChannelName"] for channel in found.request["InputDataConfig"]] == ["train"]


def test_constructor_without_its_base_is_doubted():
    body = "class Ours(Estimator):\n    def __init__(self, image):\n        self.image = image\n"
    found = imported_program(f'{HEAD}{body}Ours("{IMAGE}").fit()\n')
    assert ("arguments",) in [part.path for part in found.not_imported]
    assert IMAGE not in str(found.request)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f'from lib import Ours\nOurs("{IMAGE}", {HOSTS}).fit()', "Ours: line 8: what it makes is known only when"),
        (f'kind = Estimator if u() else PyTorch\nkind("{IMAGE}", {HOSTS}).fit()', "kind: line 8: what it makes"),
        ("import lib, sagemaker\njob = lib.job()\njob.fit()", "job.fit: line 9: whether it starts a training job"),
        ("class Ours(PyTorch):\n    pass", "Ours: line 7: whether it starts a training job is known only when"),
        ("lib.start(sm.create_training_job, r)", "create_training_job: line 7: what it sends is known only when"),
    ],
)
def test_call_that_is_not_followed_has_its_line(text, why):
    with pytest.raises(RequestNotFound) as refused:
        imported_program(f"{HEAD}{text}\n")
    assert why in str(refused.value)
    assert "start it once, then import the job by its name" in str(refused.value)


def test_calls_that_are_not_followed_are_listed():
    text = f'Estimator("{IMAGE}", {HOSTS}).fit()\nlib.Ours("{IMAGE}", {HOSTS}).fit()\n'
    found = imported_job(found_jobs("a.py", f"{HEAD}import lib\n{text}".encode()), None)
    assert ("lib", "Ours") in [part.path for part in found.not_imported]
    assert without_names(found.request["RoleArn"]) == ROLE
