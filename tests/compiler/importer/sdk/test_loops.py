"""Requests that a loop changes: what an import takes for known is what each pass sends."""

import copy

import pytest

from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from support.service.imported_requests import imported_program, without_names

REQUEST = {
    "TrainingJobName": "churn-1",
    "RoleArn": "arn:aws:iam::111122223333:role/X",
    "AlgorithmSpecification": {"TrainingImage": "example:1", "TrainingInputMode": "File"},
    "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {"S3Uri": "s3://example-data/a"}}}],
    "OutputDataConfig": {"S3OutputPath": "s3://example-models/churn/"},
    "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    "HyperParameters": {"epochs": "3", "lr": "0.1"},
}
START = "c.create_training_job(**r)"
EXACT = [
    f'r["ResourceConfig"]["InstanceCount"] = i + 1; r["AlgorithmSpecification"]["TrainingInputMode"] = "Pipe"; {START}',
    f'r["HyperParameters"]["lr"] = str(i); {START}',
    f'r["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] = f"s3://example-data/{{i}}"; {START}',
    f'r["HyperParameters"] = dict(epochs="4"); r["HyperParameters"]["lr"] = str(i); {START}',
    'q = copy.deepcopy(r); q["HyperParameters"]["lr"] = str(i); c.create_training_job(**q)',
    'q = {**r, "HyperParameters": {"lr": str(i)}}; q["RoleArn"] = "other"; c.create_training_job(**q)',
]
LATER = [
    f'{START}; r["ResourceConfig"]["InstanceCount"] = i + 1',
    f'{START}; r["HyperParameters"].update(lr=str(i))',
    f'{START}; x = r["ResourceConfig"]; x["InstanceCount"] = 7',
    f'{START}; x = r.get("ResourceConfig"); x["InstanceCount"] = 7',
    f'{START}; x = r.copy(); x["ResourceConfig"]["InstanceCount"] = 7',
    f'{START}; x = {{**r}}; x["ResourceConfig"]["InstanceCount"] = 7',
    f'{START}; x = dict(r); x["HyperParameters"].pop("lr", None)',
    f'{START}; x = y = r; y["HyperParameters"]["lr"] = "7"',
    f'{START}\n    for k, v in r.items():\n        if k == "ResourceConfig": v["InstanceCount"] = 7',
    f'{START}; x = [r]; x[0]["ResourceConfig"]["InstanceCount"] = 7',
    f'{START}; r["InputDataConfig"].append(r["InputDataConfig"][0])',
    f'{START}; r["ResourceConfig"].pop("VolumeSizeInGB", None)',
    f'{START}; del r["HyperParameters"]["lr"]; r["HyperParameters"]["lr"] = str(i)',
    f'r["HyperParameters"]["lr"] += "1"; {START}',
    f'r["ResourceConfig"]["InstanceCount"] += 1; {START}',
    f'r["HyperParameters"]["n"] = r["HyperParameters"].get("n", "") + "x"; {START}',
    f'r["HyperParameters"].update(lr=str(i)); {START}',
    f'shared["InstanceCount"] = i; {START}',
]


def sent_by(program):
    """Run a program with a client that records the requests."""
    sent = []

    class Client:
        def create_training_job(self, **request):
            sent.append(copy.deepcopy(request))

    exec(program, {"c": Client(), "copy": copy, "unknown": lambda: [1, 2, 3]})
    return sent


def assert_true_of(known, real, doubted, path=()):
    """Compare what is known with what was sent, except below members that the import doubts."""
    if any(path[: len(each)] == each for each in doubted) or (isinstance(known, str) and "?" in known):
        return
    if isinstance(known, dict):
        assert isinstance(real, dict)
        assert known.keys() == real.keys() or path in doubted, path
        for name, value in known.items():
            assert_true_of(value, real.get(name), doubted, (*path, name))
    elif isinstance(known, list):
        assert len(known) == len(real), path
        for index, (one, two) in enumerate(zip(known, real, strict=True)):
            assert_true_of(one, two, doubted, (*path, index))
    else:
        assert known == real, path


@pytest.mark.parametrize("body", [*EXACT, *LATER])
def test_known_parts_of_a_request_are_true_in_each_pass(body):
    program = f'r = {REQUEST!r}\nshared = r["ResourceConfig"]\nfor i in unknown():\n    {body}\n'
    found = imported_program(f"import boto3, copy\nc = boto3.client('sagemaker')\n{program}")
    doubted = {part.path for part in found.not_imported}
    is_open = ("create_training_job",) in doubted
    known = without_names(found.request)
    for real in sent_by(program):
        real.pop("TrainingJobName")
        kept = real if not is_open else {name: value for name, value in real.items() if name in known}
        assert_true_of({n: v for n, v in known.items() if n != "TrainingJobName"}, kept, doubted)


@pytest.mark.parametrize("body", EXACT)
def test_entries_that_each_pass_sets_keep_the_others(body):
    program = f"r = {REQUEST!r}\nfor i in unknown():\n    {body}\n"
    found = imported_program(f"import boto3, copy\nc = boto3.client('sagemaker')\n{program}")
    assert not found.not_imported
    assert found.request["ResourceConfig"]["VolumeSizeInGB"] == 30
    assert found.request["StoppingCondition"] == {"MaxRuntimeInSeconds": 3600}


LISTS = 'a = ["0.1", "0.2"]; b = [1, 2, 3]; m = {"x": "7", "w": "8"}\n'
KNOWN = [
    'for i, lr in enumerate(a):\n    r["TrainingJobName"] = f"a-{i}"; r["HyperParameters"]["lr"] = lr; ',
    'for i, lr in enumerate(a, start=5):\n    r["HyperParameters"] = {"lr": lr, "i": str(i)}; ',
    'for i, lr in zip(b, a):\n    r["ResourceConfig"]["InstanceCount"] = i; r["HyperParameters"]["lr"] = lr; ',
    'for i in range(3):\n    r["HyperParameters"]["lr"] = str(i); ',
    'for i in range(5, 0, -2):\n    r["HyperParameters"]["lr"] = str(i); ',
    'for i in range(len(a)):\n    r["HyperParameters"]["lr"] = a[i]; ',
    'for k, v in sorted(m.items()):\n    r["HyperParameters"][k] = v; ',
    'for i in reversed(b):\n    r["ResourceConfig"]["InstanceCount"] = i; ',
    'for i in sorted(b, reverse=True):\n    r["ResourceConfig"]["InstanceCount"] = i; ',
    'import itertools\nfor n, (i, s) in enumerate(itertools.product(b, a)):\n    r["RoleArn"] = f"{n}{i}{s}"; ',
    'import itertools\nfor i in itertools.chain(b, [9]):\n    r["ResourceConfig"]["InstanceCount"] = i; ',
    'z = zip(b, a)\nfor i, lr in list(z):\n    r["HyperParameters"]["lr"] = lr; ',
    'for k in dict.fromkeys(a):\n    r["HyperParameters"]["lr"] = k; ',
    'for i in b[1:]:\n    r["ResourceConfig"]["InstanceCount"] = max(i, 2); ',
]


@pytest.mark.parametrize("loop", KNOWN)
def test_loop_over_known_items_has_one_job_per_pass(loop):
    program = f"r = {REQUEST!r}\n{LISTS}{loop}{START}\n"
    sent = sent_by(program)
    found = found_jobs("a.py", f"import boto3, copy\nc = boto3.client('sagemaker')\n{program}".encode())
    assert [imported_job(found, str(number)).request for number in range(1, len(found.jobs) + 1)] == sent


def test_iterator_has_its_items_once():
    program = (
        f'r = {REQUEST!r}\nz = zip([1, 2])\nfor x in z: pass\nfor (i,) in z:\n    r["RoleArn"] = str(i)\n    {START}\n'
    )
    found = found_jobs("a.py", f"import boto3\nc = boto3.client('sagemaker')\n{program}".encode())
    assert sent_by(program) == []
    assert {without_names(imported_job(found, "1").request["RoleArn"])} == {"?"}
