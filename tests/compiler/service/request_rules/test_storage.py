"""S3 addresses and outputs."""

import pytest

from smspec.service.request_rules import request_findings
from smspec.service.shapes import pinned_model
from support.service.api_samples import changed, fill
from support.service.request_cases import request_tests

OUTPUT = ("OutputDataConfig", "S3OutputPath")
EXPRESS = "s3://example--usw2-az1--x-s3/x/"
PLACES = [path for path, shape in pinned_model().walk() if shape.name == "S3Uri"]


def to(address, **members):
    return changed(OutputDataConfig={"S3OutputPath": address} | members)


NO_BUCKETS = [
    "ab",
    "a" * 64,
    "Example",
    "my_bucket",
    "my bucket",
    "-example",
    "example-",
    ".example",
    "a..b",
    "192.168.5.4",
    "<your_s3_bucket_name_here>",
    "{bucket}",
    "$BUCKET",
    "ex*mple",
    "bücket",
]

CHANNEL = ("InputDataConfig", 0, "DataSource", "S3DataSource", "S3Uri")
PLAIN = ["s3://example", "s3://example/", "s3://example/x/y.csv", "s3://example/ü/", "s3://example/a=1/b+c/(d)/"]


def reading(*addresses, InputMode="File", **members):
    """Return a request with a channel for each address; ``members`` are those of its S3DataSource."""
    channels = [
        {
            "ChannelName": f"c{number}",
            "InputMode": InputMode,
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": address} | members},
        }
        for number, address in enumerate(addresses)
    ]
    return changed(InputDataConfig=channels)


LITERAL = ["a/*", "a?", "?versionId=3", "a/?versionId=3", "%20", "a%2Fb", "../a", "a/..", "./a", "a/.", " a", "a ",
           "a /b", "a\\b", "a\tb", "a\x7f", "a/\u00a0b"]  # fmt: skip
DOUBLE = ["/a", "a//", "a//b", "//"]
WRITTEN = [
    ("OutputDataConfig", "S3OutputPath"),
    ("CheckpointConfig", "S3Uri"),
    ("TensorBoardOutputConfig", "S3OutputPath"),
]

POINT = "arn:aws:s3:us-west-2:111122223333:accesspoint"
REPORTED = [
    *((reading(f"s3://example/{text}"), "SM804", CHANNEL) for text in LITERAL),
    *(
        (reading(f"s3://example/{text}", InputMode="Pipe"), "SM804", CHANNEL)
        for text in (*LITERAL, "/a", "a//", "a//b")
    ),
    *((reading(f"s3://example/{text}"), "SM803", CHANNEL) for text in ("/a", "a//", "a//b", "//")),
    *((to(f"s3://example/{text}"), "SM804", OUTPUT) for text in (*LITERAL, "/a", "a//", "a//b")),
    (reading("s3://example/a", "s3://example/a-2/"), "SM805", CHANNEL),
    (reading("s3://example/a", "s3://example/a.csv"), "SM805", CHANNEL),
    (reading("s3://example/a.csv", "s3://example/a.csv-old/"), "SM805", CHANNEL),
    (reading("s3://example/v1.2", "s3://example/v1.20"), "SM805", CHANNEL),
    (reading("s3://example/v.1/a", "s3://example/v.1/a.csv"), "SM805", CHANNEL),
    (reading("s3://example/.data", "s3://example/.data2"), "SM805", CHANNEL),
    *(
        (reading(address) | {path[0]: {path[1]: "s3://example/x/y/"}}, "SM806", path)
        for address in ("s3://example", "s3://example/", "s3://example/x", "s3://example/x/", "s3://example/x/y")
        for path in WRITTEN
        if (path[0], address) != ("CheckpointConfig", "s3://example/x/y")
    ),
    *(
        (changed(CheckpointConfig={"S3Uri": address}), "SM807", ("CheckpointConfig", "S3Uri"))
        for address in (f"s3://{POINT}/example", f"s3://{POINT}/example/", f"s3://{POINT}:example")
    ),
    *(
        (to(output) | {"CheckpointConfig": {"S3Uri": address}}, "SM355", ("CheckpointConfig", "S3Uri"))
        for address, output in (
            ("s3://example/x/", "s3://example/x/models/"),
            ("s3://example/x", "s3://example/x-models/"),
            (f"s3://{POINT}/example/x/", f"s3://{POINT}/example/x/models"),
        )
    ),
    *((to(f"s3://example/{key}"), "SM808", OUTPUT) for key in ("é" * 513, "日" * 342, "a" * 900 + "é" * 63)),
    *(
        (to(f"s3://arn:aws:{rest}/x/"), "SM454", OUTPUT)
        for rest in ("s3:::example", "kms:us-west-2:111122223333:key", "s3:us-west-2:111122223333:bucket", "s3:x")
    ),
    *(
        (to("s3://example/x/", KmsKeyId=f"arn:aws:{rest}"), "SM809", ("OutputDataConfig", "KmsKeyId"))
        for rest in ("s3:us-west-2:111122223333:accesspoint/x", "kms:us-west-2:111122223333:grant/x")
    ),
    *(
        (to("s3://example/x/", KmsKeyId=key), "SM809", ("OutputDataConfig", "KmsKeyId"))
        for key in ("my-key", "alias/", "key/1234abcd-12ab-34cd-56ef-1234567890ab", "1234abcd", "mrk-1234abcd")
    ),
    (changed(CheckpointConfig={"S3Uri": "s3://example"}), "SM807", ("CheckpointConfig", "S3Uri")),
    (changed(CheckpointConfig={"S3Uri": "s3://example/"}), "SM807", ("CheckpointConfig", "S3Uri")),
    *((to(f"s3://{bucket}/x/"), "SM454", OUTPUT) for bucket in NO_BUCKETS),
    (to("s3://my_bucket"), "SM454", OUTPUT),
    (to("https://s3.us-west-2.amazonaws.com/example/x/"), "SM346", OUTPUT),
    (to("https://example.s3.us-west-2.amazonaws.com/x/"), "SM346", OUTPUT),
    (to("https://files.example.com/x/"), "SM346", OUTPUT),
    (to(EXPRESS, KmsKeyId="alias/x"), "SM455", ("OutputDataConfig", "KmsKeyId")),
]

ACCEPTED = [
    *(reading(address) for address in PLAIN),
    *(
        reading(f"s3://example/x/{text}", InputMode="Pipe")
        for text in ("a b/", "a.b/", "..a/", "a../", "100%/", "%zz/")
    ),
    reading("s3://example/x", "s3://example/x/y/"),
    reading("s3://example/x", "s3://example/x"),
    reading("s3://example", "s3://example-2/"),
    reading("s3://example/a.csv", "s3://example/a.csv.gz"),
    reading("s3://example/x.y/a.csv", "s3://example/x.y/a.csv.idx"),
    reading("s3://example/a.parquet", "s3://example/a.parquet2"),
    reading("s3://example/x/m", S3DataType="ManifestFile") | {"CheckpointConfig": {"S3Uri": "s3://example/x/m-2/"}},
    reading("s3://example/x/") | {"OutputDataConfig": {"S3OutputPath": "s3://example/x-models/"}},
    reading("s3://example/x") | {"OutputDataConfig": {"S3OutputPath": "s3://example-2/x/"}},
    reading("s3://example/x/") | {"CheckpointConfig": {"S3Uri": "s3://example/x"}},
    changed(CheckpointConfig={"S3Uri": f"s3://{POINT}/example/x/"}),
    to("s3://example/x/") | {"CheckpointConfig": {"S3Uri": "s3://example/x/y/"}},
    to("s3://example/x/") | {"CheckpointConfig": {"S3Uri": "s3://example/x-1"}},
    to("s3://example/" + "é" * 20),
    to(f"s3://{POINT}:example/x/"),
    to("s3://arn:aws:s3::111122223333:accesspoint/mfzwi23gnjvgw.mrap/x/"),
    to("s3://arn:aws:s3-outposts:us-west-2:111122223333:outpost/op-1/accesspoint/x/y/"),
    *(
        to("s3://example/x/", KmsKeyId=key)
        for key in ("1234abcd-12ab-34cd-56ef-1234567890ab", "alias/x", "arn:aws:kms:us-west-2:111122223333:alias/x")
    ),
    to("s3://abc"),
    to("s3://1.2-3.x/y/"),
    to(f"s3://{'a' * 63}/"),
    to("s3://192.168.5.4.example/x/"),
    to("s3://example-1a2b3c-s3alias/x/"),
    to("s3://arn:aws:s3:us-west-2:111122223333:accesspoint/example/x/"),
    to("s3://arn:aws:s3:us-west-2:111122223333:accesspoint:example/x/"),
    to("s3://example/<placeholder>/UPPER_case"),
    to(EXPRESS),
    to(EXPRESS, KmsKeyId=""),
    *(
        to("s3://example/x/", KmsKeyId=key)
        for key in ("1234ABCD-12ab-34cd-56ef-1234567890ab", f"mrk-{'1234abcd' * 4}", "alias/aws/s3")
    ),
    to("s3://example/x--x-s3/", KmsKeyId="alias/x"),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)


@pytest.mark.parametrize("bucket", ["My_Bucket.s3.us-west-2.amazonaws.com", "s3-us-west-2.amazonaws.com/My_Bucket"])
def test_bucket_of_an_https_address_is_checked(bucket):
    found = [(finding.code, finding.path) for finding in request_findings(to(f"https://{bucket}/x"))]
    assert sorted(found) == [("SM346", OUTPUT), ("SM454", OUTPUT)]


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_every_s3_address_of_a_request_is_checked(path):
    request = changed()
    holder, key = fill(request, path)
    holder[key] = "s3://<bucket>/x/"
    assert ("SM454", path) in [(finding.code, finding.path) for finding in request_findings(request)]
