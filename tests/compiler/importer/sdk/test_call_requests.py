"""Programs that call `create_training_job` of boto3: their arguments are the request, as far as they are known."""

import json

import pytest

from smspec.importer.imported import RequestNotFound
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from smspec.importer.sdk.variables import MORE
from smspec.importer.spec_writer import write_spec
from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import in_memory_inputs
from smspec.source import SourceText
from support.service.imported_requests import imported_program, without_names

LITERALS = {
    "RoleArn": "arn:aws:iam::111122223333:role/X",
    "AlgorithmSpecification": {
        "TrainingImage": "111122223333.dkr.ecr.us-west-2.amazonaws.com/churn:1",
        "TrainingInputMode": "File",
    },
    "InputDataConfig": [
        {
            "ChannelName": "train",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/churn/"}},
        }
    ],
    "OutputDataConfig": {"S3OutputPath": "s3://example-models/churn/"},
    "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    "HyperParameters": {"epochs": "3"},
}
NAMED = {"TrainingJobName": "churn-1", **LITERALS}
SPREAD = ", ".join(f"{name}={value!r}" for name, value in NAMED.items())
IN_A_CLASS = """
class Trainer:
    def __init__(self, role, region=None):
        if not role:
            raise ValueError("no role")
        self.client = session.client("sagemaker")
        self.image = "111122223333.dkr.ecr.us-west-2.amazonaws.com/churn:1"
    def start(self):
        if self.is_running():
            return None
        request = self.request("churn-1")
        request["AlgorithmSpecification"]["TrainingImage"] = self.image
        return self.client.create_training_job(**request)
    @staticmethod
    def request(name):
        return {{"TrainingJobName": name, **{literals}}}
    def is_running(self):
        return bool(self.client.list_training_jobs())
"""


@pytest.mark.parametrize(
    "call",
    [
        f"sm.create_training_job({SPREAD})",
        f"request = {NAMED!r}\nsm.create_training_job(**request)",
        f"request = {LITERALS!r}\nsm.create_training_job(TrainingJobName='churn-1', **request)",
        f"request = dict({SPREAD})\nanswer = session.client('sagemaker').create_training_job(**request)",
        f"request = {LITERALS!r}\nrequest['TrainingJobName'] = 'churn-1'\n"
        "request['HyperParameters'].update({'epochs': '3'})\nsm.create_training_job(**request)",
        f"def lambda_handler(event, context):\n    request = {NAMED!r}\n    try:\n"
        "        sm.create_training_job(**request)\n    except Exception as error:\n        raise error",
        "def start(client, name):\n"
        f"    client.create_training_job(TrainingJobName=name, **{LITERALS!r})\nstart(sm, 'churn-1')",
        f"import sagemaker\nsagemaker.Session().sagemaker_client.create_training_job({SPREAD})",
        IN_A_CLASS.format(literals=LITERALS),
        f"create = sm.create_training_job\ncreate(**{NAMED!r})",
        f"class Base:\n    request = {NAMED!r}\nclass Job(Base):\n    def go(self):\n"
        "        self.client.create_training_job(**self.request)",
        f"class Job:\n    @property\n    def request(self):\n        return {NAMED!r}\n    def go(self):\n"
        "        sm.create_training_job(**self.request)",
        "async def main():\n    async with pool.client('sagemaker') as c:\n"
        f"        await c.create_training_job({SPREAD})",
    ],
)
def test_call_of_boto3_with_literals_is_imported(call):
    before = "import boto3\nsession = boto3.Session(region_name='us-west-2')\nsm = session.client('sagemaker')\n"
    found = imported_program(before + call)
    assert (found.request, found.not_imported, found.variables) == (NAMED, (), ())
    cell = json.dumps({"cell_type": "code", "source": (before + call).splitlines(keepends=True)})
    notebook = f'{{"nbformat": 4, "cells": [{cell}]}}'
    assert imported_job(found_jobs("a.ipynb", notebook.encode()), None).request == NAMED


def test_call_of_which_the_role_is_unknown_is_a_job():
    body = f"    r = {LITERALS!r}\n    r['RoleArn'] = role\n    sm.create_training_job(TrainingJobName='a', **r)\n"
    calls = "start('arn:aws:iam::111122223333:role/X')\nstart(lib.role())\nstart(os.environ['ROLE'])\n"
    found = found_jobs("a.py", f"import boto3, os\ndef start(role):\n{body}{calls}".encode())
    roles = [without_names(imported_job(found, number).request["RoleArn"]) for number in ("1", "2")]
    assert roles == ["arn:aws:iam::111122223333:role/X", "?"]
    assert len(found.jobs) == 2, "two unknown values are no difference"


def test_each_call_of_a_function_is_a_job():
    body = f"    r = {LITERALS!r}\n    r['ResourceConfig']['InstanceCount'] = count\n"
    start = f"def start(name, count):\n{body}    sm.create_training_job(TrainingJobName=name, **r)\n"
    calls = "start('a', 1)\nstart('b', 2)\nstart(f(), g())\nstart('b', 2)\n"
    found = found_jobs("a.py", f"import boto3\nsm = boto3.client('sagemaker')\n{start}{calls}".encode())
    assert [imported_job(found, str(number)).request.get("TrainingJobName") for number in (1, 2)] == ["a", "b"]
    assert len(found.jobs) == 3
    assert "TrainingJobName" not in imported_job(found, "3").request


def test_request_in_itself_is_listed():
    text = f"import boto3\nr = {NAMED!r}\nr['HyperParameters']['r'] = r\nr['New'] = r\n"
    found = imported_program(f"{text}boto3.client('sagemaker').create_training_job(**r)\n")
    assert found.request["HyperParameters"] == {"epochs": "3"}
    assert ("HyperParameters", "r") in [part.path for part in found.not_imported]


@pytest.mark.parametrize(
    ("change", "expected", "lost"),
    [
        ("r['TrainingJobName'] = f'churn-{int(time.time())}'", {}, ["TrainingJobName"]),
        ("r['RoleArn'] = os.environ['ROLE']", {"RoleArn": "?"}, []),
        ("r['HyperParameters'] = {'a': '1', 'b': str(f()), **more()}", {"HyperParameters": {"a": "1", "b": "?"}}, MORE),
        (
            "r['HyperParameters'] = {k: json.dumps(v) for k, v in {'a': 1, 'b': [1, 'x'], 'c': f()}.items()}",
            {"HyperParameters": {"a": "1", "b": '[1, "x"]', "c": "?"}},
            [],
        ),
        ("r['HyperParameters'] = f()", {"HyperParameters": None}, ["HyperParameters"]),
        ("r['Tags'] = [{'Key': 'a', 'Value': f()}, f()]", {"Tags": [{"Key": "a", "Value": "?"}]}, ["Tags"]),
        (
            "r['ResourceConfig']['InstanceType'] = f()",
            {"ResourceConfig": {**LITERALS["ResourceConfig"], "InstanceType": "?"}},
            [],
        ),
        ("r['InputDataConfig'].append(f())", {}, ["InputDataConfig"]),
        (
            "r['VpcConfig'] = {'Subnets': f(), 'SecurityGroupIds': ['sg-1', g()]}",
            {"VpcConfig": {"Subnets": "?", "SecurityGroupIds": ["sg-1", "?"]}},
            [],
        ),
        ("if spot:\n    r['EnableManagedSpotTraining'] = True", {}, ["create_training_job"]),
        ("log(r)", {}, ["create_training_job"]),
    ],
)
def test_unknown_members_of_a_call_keep_their_neighbors(change, expected, lost):
    text = (
        f"import boto3, json, os, time\nr = {NAMED!r}\n{change}\nboto3.client('sagemaker').create_training_job(**r)\n"
    )
    found = imported_program(text)
    request = without_names(found.request)
    whole = {name: value for name, value in {**NAMED, **expected}.items() if value is not None}
    if lost == ["TrainingJobName"]:
        del whole["TrainingJobName"]
        assert found.stem == "churn"
    assert request == whole
    if lost == MORE:
        assert any(MORE in part.why for part in found.not_imported)
    else:
        assert lost == [name for name in lost if name in {part.path[0] for part in found.not_imported}]
        assert bool(lost) == bool(found.not_imported)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import boto3, json\nboto3.client('sagemaker').create_training_job(**json.load(open('r.json')))",
            "create_training_job: line 2: it is read from `r.json`; import that file",
        ),
        ("api.create_training_job(config)", "create_training_job: line 1: what it sends is known only"),
        (
            "import json\nr = json.load(open('r.json'))\nsm.create_training_job(**r)",
            "it is read from `r.json`; import that file",
        ),
        (
            "import json\nwith open('a/r.json') as f:\n    r = json.loads(f.read())\nsm.create_training_job(**r)",
            "line 4: it is read from `a/r.json`; import that file",
        ),
        ("go(boto3.client('sagemaker').create_training_job, r)", "create_training_job: line 1: what it sends"),
        (
            "import boto3\nboto3.client('sagemaker').create_processing_job(RoleArn='a')",
            "no call of `create_training_job`",
        ),
    ],
)
def test_call_without_a_known_request_is_refused(text, said):
    with pytest.raises(RequestNotFound) as refused:
        imported_program(text)
    assert said in str(refused.value)


@pytest.mark.parametrize("image", ["f'{registry()}/churn:1'", "'{}:{}'.format(a(), b())", "f'{a()}/{b()}:1'"])
def test_image_with_unknown_parts_compiles(image):
    text = f"import boto3\nr = {NAMED!r}\nr['AlgorithmSpecification']['TrainingImage'] = {image}\n"
    written = write_spec(imported_program(f"{text}boto3.client('sagemaker').create_training_job(**r)\n"))
    compilation = compile_spec(in_memory_inputs(SourceText("job.yaml", written.text), written.settings))
    assert [found.code for found in compilation.diagnostics if found.severity == "error"] == []


@pytest.mark.parametrize(
    "head",
    ["@hydra.main(config_path='c')\ndef main(cfg):", "async def start(cfg):", "@app.post('/')\nasync def start(cfg):"],
)
def test_jobs_of_decorated_functions_are_found(head):
    body = f"r = {NAMED!r}\n    r['RoleArn'] = cfg.role\n    boto3.client('sagemaker').create_training_job(**r)\n"
    assert without_names(imported_program(f"import boto3\n{head}\n    {body}").request["RoleArn"]) == "?"


@pytest.mark.parametrize(
    ("body", "lost"),
    [
        (["r['HyperParameters'] = {'lr': str(x)}", "{}"], set()),
        (["name = f'{{x}}'", "r['HyperParameters'] = {'lr': name}", "r['Tags'] = []", "{}"], set()),
        (["if x:", "    r['Tags'] = []", "{}"], {"create_training_job"}),
        (["{}", "r['Tags'] = []"], {"create_training_job"}),
        (["r['Tags'] = [*r['Tags'], x]", "{}"], {"create_training_job", "Tags"}),
        (["go()", "r['Tags'] = []"], {"create_training_job"}),
        (["same = s['Tags'][0]", "r['Tags'] = []", "{}"], {"create_training_job"}),
    ],
)
def test_loop_that_sets_a_member_keeps_its_neighbors(body, lost):
    call = "boto3.client('sagemaker').create_training_job(**r)"
    lines = "\n".join(f"    {line}".replace("{}", call) for line in body)
    started = f"def go():\n    {call}\n" if "go()" in body else "s = r\n" if "same" in body[0] else ""
    found = imported_program(f"import boto3\nr = {NAMED!r}\n{started}for x in f():\n{lines}\n")
    assert {part.path[0] for part in found.not_imported} == lost
    assert found.request["ResourceConfig"] == LITERALS["ResourceConfig"]


@pytest.mark.parametrize(
    ("code", "is_doubted"),
    [
        ("from cfg import *", True),
        ("try:\n    from .local import *\nexcept ImportError:\n    pass", True),
        ("exec(open('cfg.py').read())", True),
        ("exec(text, globals())", True),
        ("globals().update(load())", True),
        ("globals().update(**load())", True),
        ("globals()[name()] = 1", True),
        ("fill(globals())", True),
        ("globals().update(other=1)", False),
        ("globals()['other'] = 1", False),
        ("print(globals()['role'])", False),
        ("from os.path import *", False),
        ("from sagemaker.estimator import *", False),
        ("names = {}\nexec(text, names)", False),
        ("from cfg import other", False),
    ],
)
def test_code_that_may_replace_names_makes_variables(code, is_doubted):
    text = f"import boto3\nsm = boto3.client('sagemaker')\nrole = 'r'\nhp = {{'a': '1'}}\n{code}\nlater = 'l'\n"
    members = "TrainingJobName='a', RoleArn=role, HyperParameters=hp, Environment={'A': later}"
    found = imported_program(f"{text}sm.create_training_job({members})\n")
    assert [each.name for each in found.variables] == ["role"] * is_doubted
    parts = [part.path for part in found.not_imported if part.path[0] != "names"]
    assert parts == [("HyperParameters",)] * is_doubted
    assert (found.request["HyperParameters"], found.request["Environment"]) == ({"a": "1"}, {"A": "l"})
