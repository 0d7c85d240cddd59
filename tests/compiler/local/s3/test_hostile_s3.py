"""``smspec run --data CHANNEL=s3://…`` reads correct data or none: a table of server responses."""

import time

import pytest

from smspec.local.s3 import fetching
from support.servers.hostile_s3 import BUCKET, CREDENTIALS, XML, HostileS3, error, etag, is_list, listing
from support.servers.hostile_server import chunked, dripped, hostile_server, response
from support.smspec_command import smspec

pytestmark = pytest.mark.slow

DEADLINE = 1.0
RANGE = 1 << 16
"""Bytes of one request in these tests, but for one."""

WHOLE = bytes(range(256)) * 384
"""98,304 bytes, which take two ranges."""

LARGE_RANGE = fetching.RANGE
SMALL = b"small"

SPEC = """\
smspec: v1
name: fed
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1
source: src/
entry_point: train.py
channels: {train: "s3://elsewhere/train/"}
hosts: {instance_type: ml.m5.large, count: 1, volume: 1GB}
output: s3://elsewhere/out/
"""


@pytest.fixture
def fed(tmp_path, monkeypatch):
    """Return a way to run a job whose channel S3 feeds, and its server; the run must end within its time."""
    for name, value in {**CREDENTIALS, "SMSPEC_HTTP_TIMEOUT": str(DEADLINE)}.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    request_ranges(monkeypatch, RANGE)
    (tmp_path / "job.yaml").write_text(SPEC)
    (tmp_path / "src").mkdir()
    seen = "import os, pathlib\nfor p in pathlib.Path(os.environ['SM_CHANNEL_TRAIN']).rglob('*'): print('SEEN', p.name)"
    (tmp_path / "src/train.py").write_text(seen)

    def run(s3, source=f"s3://{BUCKET}/train/"):
        monkeypatch.setenv("S3_ENDPOINT_URL", s3.environ["S3_ENDPOINT_URL"])
        started = time.monotonic()
        done = smspec("run", "--data", f"train={source}", cwd=tmp_path)
        assert time.monotonic() - started < DEADLINE + 12
        return done

    return run


def request_ranges(monkeypatch, size):
    for module in (fetching, fetching):
        monkeypatch.setattr(module, "RANGE", size)


def assert_refused(done, directory, status=3):
    assert (done.status, done.out) == (status, ""), done.err
    last = done.err.splitlines()[-1]
    assert last.startswith("smspec: ") and last.isprintable() and len(last) < 500, done.err
    assert "Traceback" not in done.err and "internal error" not in done.err
    # Of a run that could not start only the directory above those of all runs may be left.
    assert [path.name for path in sorted(directory.rglob("*")) if path.name != "run"] == ["job.yaml", "src", "train.py"]


def page(body, **headers):
    """Return a list with a given body."""
    named = {**XML, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return response(body, headers=named)


def of_size(size):
    return page(listing({"train/a": size}))


BOMB = b"".join(b'<!ENTITY e%d "%s">' % (n + 1, b"&e%d;" % n * 10) for n in range(9))

LISTS = {
    "nothing": b"",
    "no HTTP": b"220 mail.example ESMTP\r\n",
    "a status that is no number": b"HTTP/1.1 \xb2\xb0\xb0 OK\r\n\r\n",
    "a cut list": page(listing({"train/a": 5}))[:-9],
    "no list": page(b""),
    "a login page": response(b"<!DOCTYPE html><html><br></html>", headers={"Content-Type": "text/html"}),
    "a login page that is XML": page(b"<html><body>Log in</body></html>"),
    "JSON": response(b'{"Contents": []}', headers={"Content-Type": "application/json"}),
    "text": page(b"Log in"),
    "half of a list": page(listing({"train/a": 5})[:-9]),
    "an error that is none": page(b"<Error><Code>InternalError</Code></Error>"),
    "deep XML": page(b"<a>" * 3000 + b"</a>" * 3000),
    "entities of entities": page(b'<!DOCTYPE x [<!ENTITY e0 "x">' + BOMB + b"]><x>&e9;</x>"),
    "a file as an entity": page(b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'),
    "an unknown encoding": page(b'<?xml version="1.0" encoding="x-nothing"?><ListBucketResult/>'),
    "no UTF-8": page(listing({"train/a": 5}).replace(b"<Size>", b"\xff<Size>")),
    "60 MB": lambda: page(listing({f"train/{n:06}" + "x" * 500: 5 for n in range(90_000)})),
    "60 MB in chunks": lambda: response(
        chunked(*[b"<a>" * 300_000] * 60), headers={"Content-Length": None, "Transfer-Encoding": "chunked"}
    ),
    "many elements": lambda: page(listing({}, more="<a/>" * 200_000)),
    "compressed": page(listing({"train/a": 5}), Content_Encoding="gzip"),
    "no length": page(listing({"train/a": 5}), Content_Length=None),
    "no end said": page(listing({"train/a": 5}).replace(b"<IsTruncated>false</IsTruncated>", b"")),
    "too few of them": page(listing({"train/a": 5}, count=2)),
    "too many of them": page(listing({"train/a": 5}, count=0)),
    "a count in other digits": page(listing({"train/a": 5}, count="&#178;")),
    "a size in other digits": of_size("&#178;"),
    "a negative size": of_size(-1),
    "a size that is a fraction": of_size("1e3"),
    "a size of 5,000 digits": of_size("9" * 5000),
    "an empty size": of_size(""),
    "no size": page(listing({"train/a": 5}).replace(b"<Size>5</Size>", b"")),
    "no key": page(listing({"train/a": 5}).replace(b"<Key>train/a</Key>", b"")),
    "a key of elsewhere": page(listing({"other/a": 5})),
    "a key that is too long": page(listing({"train/" + "a" * 1100: 5})),
    "a key twice": page(listing({"train/a": 5}, count=2, more=listing({"train/a": 5})[-212:-19].decode())),
    "a time of another world": page(listing({"train/a": 5}).replace(b"2026-01-01", b"yesterday")),
    "more, without saying where": page(listing({"train/a": 5}, more="<IsTruncated>true</IsTruncated>")),
    "more of the same for ever": page(
        listing({"train/a": 5}, more="<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>")
    ),
    "no region": response(status="301 Moved Permanently", headers={"x-amz-bucket-region": "evil.example/"}),
    "a redirect": response(status="307 Temporary Redirect", headers={"Location": "http://127.0.0.1:9/"}),
    "a redirect without a place": response(status="307 Temporary Redirect"),
    "deep XML in a refusal": response(b"<a>" * 3000 + b"</a>" * 3000, status="403 Forbidden", headers=XML),
    "a refusal without words": response(status="403 Forbidden"),
    "a refusal of many words": error("AccessDenied", "403 Forbidden", "no " * 5000),
    "a refusal in control characters": error("A&#27;[31m", "403 Forbidden", "&#133;&#8238;"),
    "a refusal in HTML": response(b"<html><br>no</html>", status="403 Forbidden"),
    "busy for ever": error("SlowDown", "503 Slow Down"),
    "a teapot": response(b"\xff\xfe", status="418 Teapot"),
}

SLOW_LISTS = {
    "silent": [30.0],
    "dripping headers": dripped(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100),
    "a dripping list": [page(listing({"train/a": 5}))[:-300], *dripped(b" " * 300)],
}


@pytest.mark.parametrize("case", [*LISTS, *SLOW_LISTS])
def test_malformed_list_starts_no_job(case, fed, tmp_path):
    with hostile_server() as server:
        s3 = HostileS3(server, {"train/a": SMALL})
        s3.override = lambda asked: (list(SLOW_LISTS.get(case, ())) or [LISTS[case]]) if is_list(asked) else None
        assert_refused(fed(s3), tmp_path)


FIRST = f"0-{RANGE - 1}/{len(WHOLE)}"


def part(data=WHOLE[:RANGE], span=FIRST, status="206 Partial Content", **headers):
    """Return the first range of an object, or what is not it."""
    named = {"ETag": etag(WHOLE), "Content-Range": f"bytes {span}"}
    return response(
        data, status=status, headers={**named, **{name.replace("_", "-"): value for name, value in headers.items()}}
    )


PARTS = {
    "nothing": b"",
    "no HTTP": b"\x16\x03\x01",
    "a cut range": lambda: part()[:-1],
    "half of a range": lambda: part()[: RANGE // 2],
    "a range that is too short": lambda: part(WHOLE[:100], f"0-99/{len(WHOLE)}"),
    "a range that is too long": lambda: part(WHOLE[: RANGE + 1], f"0-{RANGE}/{len(WHOLE)}"),
    "fewer bytes than the range": lambda: part(WHOLE[:100]),
    "more bytes than the range": lambda: part(WHOLE[: RANGE + 5]),
    "100 bytes as the whole": lambda: part(WHOLE[:100], status="200 OK", Content_Range=None),
    "100 bytes as a range of 100": lambda: part(WHOLE[:100], "0-99/100"),
    "the whole, and no range": lambda: response(WHOLE, headers={"ETag": etag(WHOLE)}),
    "the whole, and a range": lambda: part(status="200 OK"),
    "another range": lambda: part(span=f"8-{RANGE + 7}/{len(WHOLE)}"),
    "a range without its total": lambda: part(span=f"0-{RANGE - 1}/*"),
    "a range of no total": lambda: part(span=f"0-{RANGE - 1}/0"),
    "a range in other digits": lambda: part(span=f"0-{RANGE - 1}/\xb2"),
    "a range of a terabyte": lambda: part(span=f"0-{RANGE - 1}/{1 << 40}"),
    "a range of 5,000 digits": lambda: part(span=f"0-{RANGE - 1}/{'9' * 5000}"),
    "a range in other units": lambda: part(Content_Range=f"items 0-{RANGE - 1}/{len(WHOLE)}"),
    "no range": lambda: part(Content_Range=None),
    "two ranges": lambda: part(Content_Range=(f"bytes 0-{RANGE - 1}/{len(WHOLE)}", "bytes 0-9/10")),
    "parts of ranges": lambda: part(b"--x\r\n", Content_Range=None, Content_Type="multipart/byteranges; boundary=x"),
    "no version": lambda: part(ETag=None),
    "an empty version": lambda: part(ETag=""),
    "a version in other letters": lambda: part(ETag='"\xb2"'),
    "two versions": lambda: part(ETag=('"a"', '"b"')),
    "a version on two lines": lambda: part(ETag='"a\r\n b"'),
    "a version without an end": lambda: part(ETag='"' + "a" * 5000),
    "no content": response(status="204 No Content"),
    "not modified": response(status="304 Not Modified"),
    "a redirect": response(status="307 Temporary Redirect", headers={"Location": "http://127.0.0.1:9/"}),
    "no first byte": error("InvalidRange", "416 Requested Range Not Satisfiable"),
    "no first byte, and no words": response(status="416 No"),
    "a refusal": error("AccessDenied", "403 Forbidden"),
    "a refusal that is deep": response(b"<a>" * 3000, status="403 Forbidden"),
    "busy for ever": error("SlowDown", "503 Slow Down"),
    "a login page": response(b"<html>", headers={"Content-Type": "text/html"}),
    "a terabyte": lambda: part(Content_Length=1 << 40),
    "60 MB": lambda: response(b"x" * 60_000_000),
    "two lengths": lambda: part(Content_Length=(RANGE, 5)),
    "another checksum": lambda: part(x_amz_checksum_crc32="AAAAAA=="),
    "a number that is none": lambda: part(x_amz_missing_meta="\xb2"),
    "a chunk without an end": lambda: part(b"5\r\nsmall\r\n", Content_Length=None, Transfer_Encoding="chunked"),
}


@pytest.mark.parametrize("case", PARTS)
def test_malformed_range_starts_no_job(case, fed, tmp_path):
    with hostile_server() as server:
        s3 = HostileS3(server, {"train/a": WHOLE})
        s3.override = lambda asked: None if is_list(asked) else [PARTS[case]]
        assert_refused(fed(s3), tmp_path)


@pytest.mark.parametrize("size", [0, 1, len(SMALL) + 1])
def test_object_of_another_size_than_listed_starts_no_job(size, fed, tmp_path):
    with hostile_server() as server:
        s3 = HostileS3(server, {"train/a": SMALL, "train/b": SMALL})
        s3.override = lambda asked: (
            [page(listing({"train/a": size, "train/b": len(SMALL)}))] if is_list(asked) else None
        )
        done = fed(s3)
    assert_refused(done, tmp_path)
    assert f"but listed {size}" in done.err


def test_repeating_list_ends(fed, tmp_path):
    with hostile_server() as server:
        s3 = HostileS3(server, {"train/a": SMALL})

        def again(asked):
            token = f"<NextContinuationToken>t{len(server.asked)}</NextContinuationToken>"
            more = f"<IsTruncated>true</IsTruncated>{token}"
            return [page(listing({"train/a": len(SMALL)}, more=more))] if is_list(asked) else None

        s3.override = again
        assert_refused(fed(s3), tmp_path)
        assert len(server.asked) < 10


def is_second_range(asked):
    """Return whether a request is for the second range of an object."""
    return asked.headers.get("range", "").startswith(f"bytes={RANGE}-")


SECOND = {
    "another version": lambda: part(WHOLE[RANGE:], f"{RANGE}-{len(WHOLE) - 1}/{len(WHOLE)}", ETag='"new"'),
    "a refusal of the version": error("PreconditionFailed", "412 Precondition Failed"),
}


@pytest.mark.parametrize("case", SECOND)
def test_object_changed_while_read_is_reported(case, fed, tmp_path):
    with hostile_server() as server:
        s3 = HostileS3(server, {"train/a": WHOLE})
        s3.override = lambda asked: [SECOND[case]] if is_second_range(asked) else None
        done = fed(s3)
    assert_refused(done, tmp_path, status=1)
    assert f"`s3://{BUCKET}/train/a` changed while smspec was reading it" in done.err


@pytest.mark.parametrize("total", [len(WHOLE) + 1, len(WHOLE) - 1])
def test_object_grown_while_read_is_not_joined(total, fed, tmp_path):
    with hostile_server() as server:
        s3 = HostileS3(server, {"train/a": WHOLE})
        second = part(WHOLE[RANGE:total], f"{RANGE}-{min(total, len(WHOLE)) - 1}/{total}")
        s3.override = lambda asked: [second] if is_second_range(asked) else None
        assert_refused(fed(s3), tmp_path)


def test_dripping_range_times_out(fed, tmp_path):
    with hostile_server() as server:
        s3 = HostileS3(server, {"train/a": WHOLE})
        s3.override = lambda asked: None if is_list(asked) else [part()[:5000], *dripped(WHOLE[:100])]
        done = fed(s3)
    assert_refused(done, tmp_path)
    assert "no complete response within 1 s" in done.err


def test_signature_is_not_sent_to_other_hosts(fed, tmp_path):
    """A redirect of S3 to any other host than AWS's own is not followed at all."""
    with hostile_server() as elsewhere, hostile_server() as server:
        s3 = HostileS3(server, {"train/a": SMALL})
        place = {"Location": f"http://{elsewhere.host}/", "x-amz-bucket-region": "eu-west-1"}
        s3.override = lambda asked: [response(status="307 Temporary Redirect", headers=place)]
        assert_refused(fed(s3), tmp_path)
        assert elsewhere.asked == []
        assert CREDENTIALS["AWS_SESSION_TOKEN"] in str(server.asked)


@pytest.mark.parametrize(
    ("content", "size"),
    [(b"", RANGE), (SMALL, RANGE), (WHOLE[:RANGE], RANGE), (WHOLE, RANGE), (WHOLE * 128, LARGE_RANGE)],
    ids=["empty", "small", "a range", "more", "more than a large range"],
)
def test_honest_table_is_fed(content, size, fed, tmp_path, monkeypatch):
    """The unmodified parts of the responses above are valid, so each rejection has one cause."""
    request_ranges(monkeypatch, size)
    monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", "30")
    with hostile_server() as server:
        done = fed(HostileS3(server, {"train/a": content, "train/b": SMALL}))
    assert done.status == 0, done.err
    assert (tmp_path / "run/fed/hosts/algo-1/opt/ml/input/data/train/a").read_bytes() == content


HARMLESS = {
    "the whole of what is small": response(SMALL, headers={"ETag": etag(SMALL)}),
    "no version of what is small": response(SMALL),
    "in chunks": response(chunked(b"sm", b"all"), headers={"Content-Length": None, "Transfer-Encoding": "chunked"}),
    "stored compressed": response(SMALL, headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("answer", HARMLESS)
def test_unusual_but_valid_responses_are_accepted(answer, fed, tmp_path):
    with hostile_server() as server:
        s3 = HostileS3(server, {"train/a": SMALL})
        s3.override = lambda asked: None if is_list(asked) else [HARMLESS[answer]]
        done = fed(s3)
    assert done.status == 0, done.err
    assert (tmp_path / "run/fed/hosts/algo-1/opt/ml/input/data/train/a").read_bytes() == SMALL


@pytest.mark.parametrize(
    ("keys", "status"),
    [
        (["train/a", "train/a/b"], 1),
        (["train/a\0b"], 1),
        (["train/../../../../../../../etc/x"], 1),
        (["train//x"], 1),
        (["train/" + "a" * 300], 1),
    ],
)
def test_keys_that_cannot_be_files_are_errors(keys, status, fed, tmp_path):
    with hostile_server() as server:
        assert_refused(fed(HostileS3(server, dict.fromkeys(keys, SMALL))), tmp_path, status)
