"""The policy of a role has what the script calls, and names what could not be read."""

from __future__ import annotations

import fnmatch
import json
import re

import boto3
import pytest

from smspec.render.iam.role import role_policy
from smspec.source import SourceText
from support.service import api_samples
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

HEAD = "import os\nimport boto3\n"


def rendered(text, /, beside=None, **parts):
    texts = [SourceText("src/train.py", text)]
    texts += [SourceText(f"src/{name}.py", content) for name, content in (beside or {}).items()]
    return role_policy(api_samples.changed(**parts), "us-west-2", script=tuple(texts))


def permissions(text, /, beside=None, **parts):
    """Return the pairs of action and resource in the statements about the script."""
    found = set()
    for statement in json.loads(rendered(text, beside, **parts).text)["PolicyDocument"]["Statement"]:
        if statement["Sid"].startswith("ScriptCalls"):
            resources = statement["Resource"]
            for resource in [resources] if isinstance(resources, str) else resources:
                found |= {(action, resource) for action in statement["Action"]}
    return found


def notes(text, **parts):
    return [note for note in rendered(text, **parts).notes if note.startswith(("the script", "the policy", "`Script"))]


GET, PUT, LIST = "s3:GetObject", "s3:PutObject", "s3:ListBucket"
ABORT = "s3:AbortMultipartUpload"
S3 = HEAD + "s3 = boto3.client('s3')\n"
READ = {
    "a client": (S3 + "s3.get_object(Bucket='b', Key='k')", {(GET, "arn:aws:s3:::b/k")}),
    "a transfer by position": (S3 + "s3.download_file('b', 'k', '/tmp/x')", {(GET, "arn:aws:s3:::b/k")}),
    "an upload": (
        S3 + "s3.upload_file('/tmp/x', 'b', 'k')",
        {(PUT, "arn:aws:s3:::b/k"), (ABORT, "arn:aws:s3:::b/k")},
    ),
    "an unknown key": (S3 + "s3.get_object(Bucket='b', Key=f'x/{name}.bin')", {(GET, "arn:aws:s3:::b/x/*.bin")}),
    "an unknown bucket": (S3 + "s3.get_object(Bucket=b, Key=k)", {(GET, "arn:aws:s3:::*/*")}),
    "a wildcard in a key": (S3 + "s3.get_object(Bucket='b', Key='a*')", {(GET, "arn:aws:s3:::b/a${*}")}),
    "a constant": (HEAD + "B = 'b'\nboto3.client('s3').head_bucket(Bucket=B)", {(LIST, "arn:aws:s3:::b")}),
    "a variable": (
        S3 + "s3.list_objects_v2(Bucket=os.environ['BUCKET'])",
        {(LIST, "arn:aws:s3:::from-the-spec")},
    ),
    "a session": (
        HEAD + "s = boto3.Session(region_name='eu-west-1')\ns.client('ssm').get_parameter(Name='/a/b')",
        {("ssm:GetParameter", "arn:aws:ssm:eu-west-1:111122223333:parameter/a/b")},
    ),
    "a secret": (
        HEAD + "boto3.client('secretsmanager').get_secret_value(SecretId='db')",
        {("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-west-2:111122223333:secret:db-??????")},
    ),
    "a secret by ARN": (
        HEAD + "boto3.client('secretsmanager').get_secret_value(SecretId='arn:aws:secretsmanager:a:1:secret:b-123456')",
        {("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:a:1:secret:b-123456")},
    ),
    "a queue": (
        HEAD + "boto3.client('sqs').send_message(QueueUrl='https://sqs.eu-west-1.amazonaws.com/111122223333/q')",
        {("sqs:SendMessage", "arn:aws:sqs:eu-west-1:111122223333:q")},
    ),
    "a metric": (
        HEAD + "boto3.client('cloudwatch').put_metric_data(Namespace='n', MetricData=[])",
        {("cloudwatch:PutMetricData", "*")},
    ),
    "a paginator": (
        S3 + "for p in s3.get_paginator('list_objects_v2').paginate(Bucket='b'):\n    pass",
        {(LIST, "arn:aws:s3:::b")},
    ),
    "a resource": (
        HEAD + "b = boto3.resource('s3').Bucket('b')\nfor o in b.objects.filter(Prefix='x'):\n    o.get()",
        {(LIST, "arn:aws:s3:::b"), (GET, "arn:aws:s3:::b/*")},
    ),
    "an object by name": (
        HEAD + "boto3.resource('s3').Object(bucket_name='b', key='k').put(Body=b'')",
        {(PUT, "arn:aws:s3:::b/k")},
    ),
    "the client of a resource": (
        HEAD + "boto3.resource('s3').meta.client.head_object(Bucket='b', Key='k')",
        {(GET, "arn:aws:s3:::b/k")},
    ),
    "a table": (
        HEAD + "boto3.resource('dynamodb').Table('t').put_item(Item={})",
        {("dynamodb:PutItem", "arn:aws:dynamodb:us-west-2:111122223333:table/t")},
    ),
    "a copy": (
        S3 + "s3.copy_object(Bucket='b', Key='k', CopySource={'Bucket': 'c', 'Key': 'l'})",
        {(PUT, "arn:aws:s3:::b/k"), (GET, "arn:aws:s3:::c/l")},
    ),
    "an argument of a function": (
        S3 + "def f(client, key):\n    client.get_object(Bucket='b', Key=key)\nf(s3, 'k')",
        {(GET, "arn:aws:s3:::b/k")},
    ),
    "an attribute of a class": (
        HEAD
        + "class A:\n    def __init__(self):\n        self.c = boto3.client('s3')\n"
        + "    def f(self):\n        self.c.get_object(Bucket='b', Key='k')\n",
        {(GET, "arn:aws:s3:::b/k")},
    ),
    "a result of a method": (
        HEAD
        + "class A:\n    def client(self):\n        return boto3.client('s3')\n"
        + "    def read(self, key):\n        self.client().get_object(Bucket='b', Key=key)\nA().read('k')\n",
        {(GET, "arn:aws:s3:::b/k")},
    ),
    "a result of a function": (
        HEAD + "def c():\n    return boto3.client('s3')\nc().get_object(Bucket='b', Key='k')",
        {(GET, "arn:aws:s3:::b/k")},
    ),
    "two clients of one name": (
        HEAD + "c = boto3.client('s3') if x else boto3.client('s3')\nc.get_object(Bucket='b', Key='k')",
        {(GET, "arn:aws:s3:::b/k")},
    ),
    "pandas": ("import pandas as pd\npd.read_csv('s3://b/k.csv')", {(GET, "arn:aws:s3:::b/k.csv")}),
    "a frame": (
        "import pandas as pd\ndf = pd.DataFrame()\ndf.to_csv('s3://b/k.csv')",
        {(PUT, "arn:aws:s3:::b/k.csv"), (ABORT, "arn:aws:s3:::b/k.csv")},
    ),
    "a file system": (
        "import s3fs\nfs = s3fs.S3FileSystem()\nfs.cat('b/k')",
        {(GET, "arn:aws:s3:::b/k")},
    ),
    "the SDK of SageMaker": (
        "from sagemaker.s3 import S3Downloader\nS3Downloader.download('s3://b/p', '/tmp')",
        {(GET, "arn:aws:s3:::b/p*"), (LIST, "arn:aws:s3:::b")},
    ),
}


@pytest.mark.parametrize("case", READ)
def test_calls_become_permissions(case):
    text, expected = READ[case]
    assert permissions(text, Environment={"BUCKET": "from-the-spec"}) == expected
    assert [note for note in notes(text) if "any resource" not in note] == []


def test_statement_without_a_name_has_its_own_id():
    text = S3 + "s3.get_object(Bucket=b, Key='k')\ns3.get_object(Bucket='b', Key='k')\n"
    found = json.loads(rendered(text).text)["PolicyDocument"]["Statement"]
    named = {statement["Sid"]: statement["Resource"] for statement in found}
    assert (named["ScriptCallsS3"], named["ScriptCallsAnyS3"]) == ("arn:aws:s3:::b/k", "arn:aws:s3:::*/k")
    assert notes(text) == ["`ScriptCallsAnyS3` allows any resource, since train.py:4 does not name one: narrow it"]


NOTHING = {
    "no call": "import boto3\nboto3.client('s3')",
    "a local file": "import pandas as pd\npd.read_csv('/opt/ml/input/data/train/a.csv').to_csv('/tmp/x')",
    "an unknown file": "import pandas as pd\npd.read_csv(path).to_csv(other)",
    "a call without permission": HEAD + "boto3.client('sts').get_caller_identity()",
    "another method of the same name": "x.get_object(Bucket='b', Key='k')",
    "a function that calls itself": "import boto3\ndef f(x):\n    return f(f(x)).client()\nf(1).get_object()",
    "names that are each other": "import boto3\na = b\nb = a + a\na.get_object(Bucket=b)",
    "a long chain": "import boto3\nx" + ".a(y.b())" * 150,
    "a signed address": "import json\njson.dumps({}).download_file('b', 'k')",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_other_code_needs_nothing(text):
    assert (permissions(text), notes(text)) == (set(), [])


UNREAD = {
    "an unknown service": (HEAD + "boto3.client(name).get_x()", "with a service that smspec cannot read"),
    "an unknown method": (S3 + "s3.get_bucket_policy(Bucket='b')", "the permissions of `s3.get_bucket_policy`"),
    "a client that is passed on": (S3 + "import other\nother.f(s3)", "its object `s3` of `s3` is passed to other code"),
    "a waiter": (S3 + "s3.get_waiter('object_exists').wait(Bucket='b')", "the permissions of `s3.get_waiter`"),
}


@pytest.mark.parametrize("case", UNREAD)
def test_unread_use_is_named_with_its_line(case):
    text, words = UNREAD[case]
    (note,) = notes(text)
    assert re.search(r"at train\.py:[2-5], but ", note)
    assert words in note


def test_many_unread_uses_are_counted():
    found = notes(HEAD + "".join(f"boto3.client(x).f{n}()\n" for n in range(8)))
    assert len(found) == 6
    assert "3 more" in found[-1]


def test_modules_of_the_source_are_followed():
    helper = HEAD + "def client():\n    return boto3.client('s3')\nBUCKET = 'b'\n"
    text = "import helper\nfrom helper import BUCKET\nhelper.client().get_object(Bucket=BUCKET, Key='k')\n"
    assert permissions(text, {"helper": helper}) == {(GET, "arn:aws:s3:::b/k")}


def test_isolated_job_may_call_nothing():
    text = READ["a client"][0]
    assert permissions(text) and not permissions(text, EnableNetworkIsolation=True)


def test_command_reads_the_script(tmp_path):
    write_job(tmp_path, BUILT.replace("image: {", "image: {python_packages: [boto3==1.40.0], "))
    script = next(path for path in tmp_path.rglob("*.py"))
    script.write_text(S3 + "s3.download_file('b-1', 'k', '/tmp/k')\nboto3.client(s3).x()\n")
    done = smspec("render", "--iam-policy=role", cwd=tmp_path)
    assert done.status == 0
    assert '"arn:aws:s3:::b-1/k"' in done.out
    assert f"{script.name}:5, but `boto3.client` is called with a service" in done.err


PROGRAM = """
import boto3
def save(bucket, name):
    boto3.client("s3").put_object(Bucket=bucket, Key=f"models/{name}", Body=b"")
s3 = boto3.resource("s3")
save("b-1", "m.bin")
list(s3.Bucket("b-2").objects.filter(Prefix="x/"))
s3.Object("b-3", "k").get()
boto3.client("secretsmanager").get_secret_value(SecretId="db")
boto3.client("ssm").get_parameter(Name="/a/b")
boto3.resource("dynamodb").Table("t").get_item(Key={"id": "1"})
boto3.client("sns").publish(TopicArn="arn:aws:sns:us-west-2:111122223333:t", Message="m")
boto3.client("kinesis").put_record(StreamName="s", Data=b"", PartitionKey="p")
boto3.client("cloudwatch").put_metric_data(Namespace="n", MetricData=[])
"""


def test_policy_allows_what_boto3_really_sends(monkeypatch):
    """Run a program with the real boto3, answer its calls, and look up each in the policy."""
    sent = []

    def answer(model, **_):
        sent.append((model.service_model.signing_name, model.name))
        return type("Answer", (), {"status_code": 200})(), {}

    session = boto3.session.Session("AKIAIOSFODNN7EXAMPLE", "x", region_name="us-west-2")
    session.events.register("before-call.*.*", answer)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
    exec(compile(PROGRAM, "train.py", "exec"), {})
    allowed = permissions(PROGRAM)
    irregular = {"ListObjects": "ListBucket", "ListObjectsV2": "ListBucket"}
    actions = {f"{service.replace('monitoring', 'cloudwatch')}:{irregular.get(name, name)}" for service, name in sent}
    assert len(sent) == 9
    assert actions == {action for action, _ in allowed}
    assert fnmatch.fnmatch("arn:aws:s3:::b-1/models/m.bin", next(arn for action, arn in allowed if action == PUT))
