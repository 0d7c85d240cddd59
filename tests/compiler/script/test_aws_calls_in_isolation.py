"""A call of AWS in an isolated job is reported only where every run fails by it."""

import pytest

from support.script.read_programs import codes

ISOLATED = {"network": {"isolation": True}}
CALL = "boto3.client('s3').download_file('b', 'k', '/tmp/k')"

FAILING = {
    "a call": f"import boto3\n{CALL}\n",
    "a session": "import boto3\nboto3.session.Session().client('ssm').get_parameter(Name='x')\n",
    "an object": "import boto3\nboto3.resource('s3').Object('b', 'k').get()\n",
    "a bucket": "import boto3\nb = boto3.resource('s3').Bucket('b')\nb.upload_file('/tmp/x', 'k')\n",
    "a function": f"import boto3\ndef main():\n    {CALL}\nif __name__ == '__main__':\n    main()\n",
    "an error that is raised again": f"import boto3\ntry:\n    {CALL}\nexcept Exception:\n    raise\n",
    "a path of pandas": "import pandas as pd\ndata = pd.read_csv('s3://bucket/data.csv', sep=';')\n",
    "a made path of pandas": "from pandas import read_parquet\nB = 's3://bucket'\nread_parquet(f'{B}/data.parquet')\n",
    "a list of s3fs": "import s3fs\nfs = s3fs.S3FileSystem(anon=False)\nfs.ls('bucket/data')\n",
    "an unknown bucket": "import boto3, sys\nboto3.client('s3').head_bucket(Bucket=sys.argv[1])\n",
}
PASSING = {
    "a client without a call": "import boto3\ns3 = boto3.client('s3')\n",
    "a condition": f"import boto3, sys\nif len(sys.argv) > 3:\n    {CALL}\n",
    "a caught error": f"import boto3\ntry:\n    {CALL}\nexcept Exception:\n    pass\n",
    "a function that nothing calls": f"import boto3\ndef f():\n    {CALL}\n",
    "a loop": f"import boto3\nfor x in y:\n    {CALL}\n",
    "another address": "import boto3\nboto3.client('s3', endpoint_url='http://localhost').list_buckets()\n",
    "a signed address": "import boto3\nboto3.client('s3').generate_presigned_url('get_object')\n",
    "a paginator": "import boto3\nboto3.client('s3').get_paginator('list_objects_v2')\n",
    "a lazy collection": "import boto3\nboto3.resource('s3').Bucket('b').objects.all()\n",
    "a simulation": f"import boto3\nfrom moto import mock_aws\nmock_aws().start()\n{CALL}\n",
    "a mock": f"import boto3\nfrom unittest.mock import patch\npatch('boto3.client').start()\n{CALL}\n",
    "a local path of pandas": "import pandas as pd\npd.read_csv('/opt/ml/input/data/train/a.csv')\n",
    "a path that may be local": "import pandas as pd, sys\npd.read_csv(sys.argv[1])\n",
    "a server of its own": "import pandas as pd\npd.read_csv('s3://b/k', storage_options={'endpoint_url': 'http://localhost'})\n",
    "a file system elsewhere": "import s3fs\ns3fs.S3FileSystem(endpoint_url='http://localhost').ls('b')\n",
    "a lazy file": "import s3fs\ns3fs.S3FileSystem().open('b/k', 'wb')\n",
    "a path in a fallback": "import pandas as pd\ntry:\n    pd.read_csv('s3://b/k')\nexcept OSError:\n    pass\n",
    "a path under a simulation": "import pandas\nfrom moto import mock_aws\nmock_aws().start()\npandas.read_csv('s3://b/k')\n",
    "a path under a mock": "import pandas\nfrom unittest.mock import patch\npatch('pandas.read_csv').start()\n"
    "pandas.read_csv('s3://b/k')\n",
    "an exit before": f"import boto3, sys\nif x():\n    sys.exit(0)\n{CALL}\n",
}


@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING)
def test_certain_call_is_an_error(text):
    assert [code for code, _ in codes(text, **ISOLATED)] == ["SM539"]
    assert codes(text) == []


@pytest.mark.parametrize("text", PASSING.values(), ids=PASSING)
def test_uncertain_call_is_not_reported(text):
    assert codes(text, **ISOLATED) == []


def test_endpoint_of_the_job_is_respected():
    assert codes(FAILING["a call"], **ISOLATED, environment={"AWS_ENDPOINT_URL_S3": "http://localhost:9000"}) == []
