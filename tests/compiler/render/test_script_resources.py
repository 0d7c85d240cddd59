"""The resources of what a script calls are ARNs that IAM compares with, in the form of each service."""

from __future__ import annotations

import json

import pytest

from smspec.render.iam.role import role_policy
from smspec.source import SourceText
from support.service import api_samples

HERE = "us-west-2:111122223333"


def policy_of(call, /, **parts):
    """Return the actions by resource in the statements about one call of a client, their conditions, and the notes."""
    text = call if "\n" in call else f"import boto3\nboto3.client({call}\n"
    found = role_policy(api_samples.changed(**parts), "us-west-2", script=(SourceText("train.py", text),))
    pairs, conditions = set(), []
    for statement in json.loads(found.text)["PolicyDocument"]["Statement"]:
        if statement["Sid"].startswith("ScriptCalls"):
            assert statement["Sid"].isalnum()
            resources = statement["Resource"]
            for resource in [resources] if isinstance(resources, str) else resources:
                pairs |= {(action, resource) for action in statement["Action"]}
            conditions += [statement["Condition"]] if "Condition" in statement else []
    return pairs, conditions, [note for note in found.notes if "cript" in note]


def resources(call, **parts):
    pairs, _, notes = policy_of(call, **parts)
    return {arn for _, arn in pairs}, notes


ROLE = "arn:aws:iam::999922223333:role/X"
POINT = "arn:aws:s3:eu-west-1:111122223333:accesspoint/p"
MODELS = "arn:aws:bedrock:*::foundation-model"
MACHINE = "arn:aws:states:us-west-2:111122223333:stateMachine:m"
SECRET = "arn:aws:secretsmanager:eu-west-1:111122223333:secret"
NAMED = {
    f"'sts').assume_role(RoleArn='{ROLE}')": {ROLE},
    "'sts').assume_role(RoleArn=f'arn:aws:iam::{a}:role/X')": {"arn:aws:iam::*:role/X"},
    "'bedrock-runtime').invoke_model(modelId='anthropic.claude-3-haiku-20240307-v1:0')": {
        "arn:aws:bedrock:us-west-2::foundation-model/anthropic.claude-3-haiku-20240307-v1:0"
    },
    "'bedrock-runtime', 'eu-west-1').converse(modelId='meta.llama3')": {
        "arn:aws:bedrock:eu-west-1::foundation-model/meta.llama3"
    },
    "'bedrock-runtime').converse(modelId='us.meta.llama3')": {
        f"arn:aws:bedrock:{HERE}:inference-profile/us.meta.llama3",
        f"{MODELS}/meta.llama3",
    },
    f"'bedrock-runtime').converse(modelId='arn:aws:bedrock:{HERE}:inference-profile/eu.meta.llama3')": {
        f"arn:aws:bedrock:{HERE}:inference-profile/eu.meta.llama3",
        f"{MODELS}/meta.llama3",
    },
    f"'bedrock-runtime').converse(modelId='arn:aws:bedrock:{HERE}:provisioned-model/x')": {
        f"arn:aws:bedrock:{HERE}:provisioned-model/x"
    },
    "'bedrock-runtime').converse(modelId='meta.x', guardrailConfig={'guardrailIdentifier': 'g'})": {
        "arn:aws:bedrock:us-west-2::foundation-model/meta.x",
        f"arn:aws:bedrock:{HERE}:guardrail/g",
    },
    "'kms').encrypt(KeyId='k')": {f"arn:aws:kms:{HERE}:key/k"},
    "'kms').decrypt(KeyId='k')": {f"arn:aws:kms:{HERE}:key/k"},
    f"'s3').get_object(Bucket='{POINT}', Key='k')": {f"{POINT}/object/k"},
    f"'s3').list_objects_v2(Bucket='{POINT}')": {POINT},
    f"'s3').copy_object(Bucket='b', Key='k', CopySource='{POINT}/object/a')": {
        f"{POINT}/object/a",
        "arn:aws:s3:::b/k",
    },
    "'s3').get_object(Bucket='b--usw2-az1--x-s3', Key='k')": {f"arn:aws:s3express:{HERE}:bucket/b--usw2-az1--x-s3"},
    "'sqs').send_message(QueueUrl=f'https://sqs.eu-west-1.amazonaws.com/{a}/q')": {"arn:aws:sqs:eu-west-1:*:q"},
    "'sqs').send_message(QueueUrl='https://eu-west-1.queue.amazonaws.com/111122223333/q')": {
        "arn:aws:sqs:eu-west-1:111122223333:q"
    },
    "'sqs').get_queue_url(QueueName='q', QueueOwnerAWSAccountId='999922223333')": {
        "arn:aws:sqs:us-west-2:999922223333:q"
    },
    "'lambda').invoke(FunctionName='f', Qualifier='7')": {f"arn:aws:lambda:{HERE}:function:f:7"},
    "'lambda').invoke(FunctionName='f:live')": {f"arn:aws:lambda:{HERE}:function:f:live"},
    "'lambda').invoke(FunctionName='999922223333:function:f')": {"arn:aws:lambda:us-west-2:999922223333:function:f"},
    f"'lambda').invoke(FunctionName='arn:aws:lambda:{HERE}:function:f', Qualifier='live')": {
        f"arn:aws:lambda:{HERE}:function:f:live"
    },
    f"'dynamodb').query(TableName='arn:aws:dynamodb:{HERE}:table/T', IndexName='n')": {
        f"arn:aws:dynamodb:{HERE}:table/T",
        f"arn:aws:dynamodb:{HERE}:table/T/index/n",
    },
    f"'kinesis').put_record(StreamARN='arn:aws:kinesis:{HERE}:stream/s')": {f"arn:aws:kinesis:{HERE}:stream/s"},
    f"'logs').get_log_events(logGroupIdentifier='arn:aws:logs:{HERE}:log-group:g:*')": {
        f"arn:aws:logs:{HERE}:log-group:g:*"
    },
    "'logs').create_log_group(logGroupName='g')": {
        f"arn:aws:logs:{HERE}:log-group:g",
        f"arn:aws:logs:{HERE}:log-group:g:*",
    },
    "'secretsmanager').get_secret_value(SecretId=f'prod/{x}/db')": {
        f"arn:aws:secretsmanager:{HERE}:secret:prod/*/db-??????"
    },
    f"'secretsmanager').get_secret_value(SecretId='{SECRET}:db')": {f"{SECRET}:db-??????"},
    "'ssm').get_parameter(Name='/a/b:3')": {f"arn:aws:ssm:{HERE}:parameter/a/b"},
    "'ssm').get_parameter(Name='/aws/service/ecs/x')": {"arn:aws:ssm:us-west-2:*:parameter/aws/service/ecs/x"},
    "'ssm').get_parameter(Name='/aws/reference/secretsmanager/db')": {
        f"arn:aws:ssm:{HERE}:parameter/aws/reference/secretsmanager/db",
        f"arn:aws:secretsmanager:{HERE}:secret:db-??????",
    },
    "'ssm').get_parameters_by_path(Path='/a/')": {
        f"arn:aws:ssm:{HERE}:parameter/a",
        f"arn:aws:ssm:{HERE}:parameter/a/*",
    },
    "'sagemaker-runtime').invoke_endpoint(EndpointName='Mine')": {
        f"arn:aws:sagemaker:{HERE}:endpoint/Mine",
        f"arn:aws:sagemaker:{HERE}:endpoint/mine",
    },
    f"'stepfunctions').start_execution(stateMachineArn='{MACHINE}')": {MACHINE},
    "'stepfunctions').start_execution(stateMachineArn=f'arn:aws:states:us-west-2:{a}:stateMachine:m')": {
        "arn:aws:states:us-west-2:*:stateMachine:m"
    },
    "'ecr').list_images(repositoryName='r', registryId='999922223333')": {
        "arn:aws:ecr:us-west-2:999922223333:repository/r"
    },
}


@pytest.mark.parametrize("call", NAMED)
def test_resource_has_the_form_that_iam_compares(call):
    assert resources(call) == (NAMED[call], [])


WIDE = {
    "'sts').assume_role(RoleArn=x)": "*",
    "'sts').assume_role(RoleArn=f'{x}/name')": "*",
    "'bedrock-runtime').invoke_model(modelId=x)": "*",
    "'sns').publish(PhoneNumber='+1')": "*",
    "'sns').publish(TopicArn=f'{x}:t')": f"arn:aws:sns:{HERE}:*",
    "'kms').encrypt(KeyId=f'alias/{x}')": f"arn:aws:kms:{HERE}:key/*",
    "'sqs').send_message(QueueUrl=f'https://{x}')": f"arn:aws:sqs:{HERE}:*",
    "'s3').get_object(Bucket='p-abc-s3alias', Key='k')": f"arn:aws:s3:{HERE}:accesspoint/*/object/k",
    "'lambda').invoke(FunctionName=x)": f"arn:aws:lambda:{HERE}:function:*",
    "'s3').get_object(Bucket='arn:aws:s3:::b', Key='k')": "*",
    "'dynamodb').get_item(TableName='arn:aws:s3:::b')": f"arn:aws:dynamodb:{HERE}:*",
}


@pytest.mark.parametrize("call", WIDE)
def test_unknown_resource_is_wide_and_noted(call):
    found, (note,) = resources(call)
    assert found == {WIDE[call]}
    assert "allows any resource, since train.py:2" in note


@pytest.mark.parametrize(
    ("key", "arn"),
    [
        ("alias/foo", f"arn:aws:kms:{HERE}:key/*"),
        ("arn:aws:kms:eu-west-1:999922223333:alias/foo", "arn:aws:kms:eu-west-1:999922223333:key/*"),
    ],
)
def test_key_with_an_alias_is_any_key_that_has_it(key, arn):
    pairs, conditions, notes = policy_of(f"'kms').encrypt(KeyId='{key}')")
    assert (pairs, notes) == ({("kms:Encrypt", arn)}, [])
    assert conditions == [{"ForAnyValue:StringEquals": {"kms:ResourceAliases": "alias/foo"}}]


S3 = "import boto3\ns3 = boto3.client('s3')\n"
KEY = f"arn:aws:kms:{HERE}:key/k"
OBJECT = "arn:aws:s3:::b/k"
WRITE = {("s3:PutObject", OBJECT), ("s3:AbortMultipartUpload", OBJECT)}
READ = {("s3:GetObject", OBJECT)}
ENCRYPT = {("kms:GenerateDataKey", KEY), ("kms:Decrypt", KEY)}
TABLE = f"arn:aws:dynamodb:{HERE}:table/T"
ARGUMENTS = {
    "s3.get_object(Bucket='b', Key='k', VersionId='1')": READ | {("s3:GetObjectVersion", OBJECT)},
    "s3.download_file('b', 'k', '/x', {'VersionId': '1'})": READ | {("s3:GetObjectVersion", OBJECT)},
    "s3.delete_objects(Bucket='b', Delete={'Objects': [{'Key': 'k', 'VersionId': '1'}]})": {
        ("s3:DeleteObject", "arn:aws:s3:::b/*"),
        ("s3:DeleteObjectVersion", "arn:aws:s3:::b/*"),
    },
    f"s3.upload_file('/x', 'b', 'k', ExtraArgs={{'ACL': 'private', 'SSEKMSKeyId': '{KEY}'}})": {
        *WRITE,
        *ENCRYPT,
        ("s3:PutObjectAcl", OBJECT),
    },
    f"extra = {{'SSEKMSKeyId': '{KEY}'}}\ns3.upload_file('/x', 'b', 'k', extra)": WRITE | ENCRYPT,
    "extra = dict(ACL='private')\ns3.put_object(Bucket='b', Key='k', **extra)": {
        ("s3:PutObject", OBJECT),
        ("s3:PutObjectAcl", OBJECT),
    },
    "s3.put_object(Bucket='b', Key='k', Tagging='a=b', ACL=None)": {
        ("s3:PutObject", OBJECT),
        ("s3:PutObjectTagging", OBJECT),
    },
    "s3.copy({'Bucket': 'src-b', 'Key': 's'}, 'b', 'k')": WRITE | {("s3:GetObject", "arn:aws:s3:::src-b/s")},
    "source = {'Bucket': 'src-b', 'Key': 's'}\ns3.copy(source, 'b', 'k')": WRITE
    | {("s3:GetObject", "arn:aws:s3:::src-b/s")},
    "s3.copy_object(Bucket='b', Key='k', CopySource='src-b/a%20b')": {
        ("s3:PutObject", OBJECT),
        ("s3:GetObject", "arn:aws:s3:::src-b/a b"),
    },
    "boto3.resource('s3').Bucket('b').copy({'Bucket': 'src-b', 'Key': 's'}, 'k')": WRITE
    | {("s3:GetObject", "arn:aws:s3:::src-b/s")},
    "boto3.resource('dynamodb').Table('T').query(IndexName='n')": {
        ("dynamodb:Query", TABLE),
        ("dynamodb:Query", f"{TABLE}/index/n"),
    },
    "boto3.client('rekognition').detect_labels(Image={'S3Object': {'Bucket': 'b', 'Name': 'k'}})": {
        *READ,
        ("rekognition:DetectLabels", "*"),
    },
    **{
        f"import s3fs\ns3fs.S3FileSystem().open('b/k', {mode})": WRITE | READ
        for mode in ("'wb'", "'ab'", "'xb'", "'r+b'", "mode")
    },
    "import s3fs\ns3fs.S3FileSystem().open('b/k', 'rb')": READ,
    "getattr(s3, 'get_object')(Bucket='b', Key='k')": READ,
    "read = s3.get_object\nread(Bucket='b', Key='k')": READ,
}


@pytest.mark.parametrize("call", ARGUMENTS)
def test_arguments_determine_the_permissions(call):
    pairs, _, notes = policy_of(S3 + call)
    assert (pairs, notes) == (ARGUMENTS[call], [])


UNREAD = {
    "import subprocess\nsubprocess.run(['aws', 's3', 'cp', 's3://b/k', '.'], check=True)": "`aws s3 cp s3://b/k .`",
    "import subprocess\nc = f'aws s3 sync {x} .'.split()\nsubprocess.check_call(c)": "`aws s3 sync … .`",
    "import os\nos.system('mkdir -p x && /usr/bin/aws s3 cp a b')": "`aws s3 cp a b`",
    S3 + "pool.submit(s3.download_file, 'b', 'k', 'f')": "its method `s3.download_file` is passed to other code",
    S3 + "s3.upload_file('/x', 'b', 'k', ExtraArgs=f())": "the `ExtraArgs` of `s3.upload_file` cannot be read",
    S3 + "boto3.setup_default_session(profile_name='p')": "sets a profile for later clients",
    S3 + "boto3.client('athena').start_query_execution(WorkGroup='w')": "also needs the catalog",
}


@pytest.mark.parametrize("text", UNREAD)
def test_use_that_is_not_read_is_noted(text):
    _, _, (note,) = policy_of(text)
    assert note.startswith("the script uses AWS at train.py:")
    assert UNREAD[text] in note


OTHERS = {
    "boto3.client('s3', aws_access_key_id=k, aws_secret_access_key=s)": "explicit keys",
    "boto3.Session(aws_access_key_id=c['AccessKeyId']).client('s3')": "explicit keys",
    "boto3.session.Session(profile_name='p').resource('s3').meta.client": "a profile",
    "boto3.client('s3', endpoint_url='http://minio:9000')": "an endpoint that is not of AWS",
    "boto3.client('s3', config=Config(signature_version=UNSIGNED))": "unsigned requests",
    "boto3.Session('k', 's').client('s3')": "explicit keys",
    "boto3.client('s3', **{'aws_access_key_id': k})": "explicit keys",
}
IMPORTS = "import boto3, os\nfrom botocore import UNSIGNED\nfrom botocore.config import Config\n"


@pytest.mark.parametrize("client", OTHERS)
def test_other_credentials_need_no_permission(client):
    pairs, _, (note,) = policy_of(f"{IMPORTS}{client}.get_object(Bucket='b', Key='k')\n")
    assert pairs == set()
    assert f"at train.py:4 with {OTHERS[client]}, not with the role" in note


@pytest.mark.parametrize(
    "client",
    [
        "boto3.client('s3', endpoint_url='https://s3.us-west-2.amazonaws.com')",
        "boto3.client('s3', endpoint_url=None, aws_access_key_id=None)",
        "boto3.client('s3', endpoint_url=x)",
        "boto3.Session(profile_name=args.profile).client('s3')",
        "boto3.client('s3', aws_access_key_id=os.getenv('KEY'))",
        "boto3.client('s3', config=Config(signature_version='s3v4'))",
    ],
)
def test_options_that_keep_the_role_keep_the_permission(client):
    assert policy_of(f"{IMPORTS}{client}.get_object(Bucket='b', Key='k')\n") == (READ, [], [])


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ENDPOINT_URL_S3"])
def test_variables_of_the_job_replace_its_credentials(name):
    pairs, _, notes = policy_of(f"{S3}s3.get_object(Bucket='b', Key='k')", Environment={name: "http://x"})
    assert (pairs, len(notes)) == (set(), 1)
