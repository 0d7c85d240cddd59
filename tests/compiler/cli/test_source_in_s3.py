"""The source of a job in S3 is that of the spec by its content: anyone who may write to the bucket may change it."""

import pytest

from support.aws_account import SPEC, row
from support.sampled_cases import only_in_all
from support.servers.aws_server import BUCKET
from support.servers.posing_aws import Refusal
from support.small_job import write_job
from support.smspec_command import smspec

ARCHIVE = SPEC + f"source: {{dir: src/, delivery: s3, s3: 's3://{BUCKET}/code/'}}\nentry_point: train.py\n"
CHANNEL = ARCHIVE.replace("delivery: s3", "delivery: channel")


def stored(account):
    return sorted(key for key in account.store.keys if key.startswith("code/"))


ENCRYPTED = {"ServerSideEncryption": "aws:kms"}
# A source in a channel is a hundred objects, and each submission looks at all of them.
in_archive = pytest.mark.parametrize("submitted", [ARCHIVE], ids=["archive"], indirect=True)
in_both = pytest.mark.parametrize("submitted", [ARCHIVE, CHANNEL], ids=["archive", "channel"], indirect=True)


@pytest.fixture
def submitted(request, account, tmp_path):
    """Return the account after the files of a source have been uploaded; its job is gone since."""
    account.store.delete(*stored(account))
    write_job(tmp_path, request.param)
    done = smspec("submit", "--detach")
    assert done.status == 0, done.err
    account.jobs.reset()
    yield account
    account.store.delete(*stored(account))


def put(account, key, content, **options):
    account.store.client.put_object(Bucket=BUCKET, Key=key, Body=content, **options)


@in_archive
def test_unchanged_source_is_used(submitted):
    assert row("source")[0] == "ok"
    assert smspec("submit", "--detach").status == 0


@pytest.mark.parametrize(
    "submitted",
    [pytest.param(ARCHIVE, id="archive"), pytest.param(CHANNEL, id="channel", marks=only_in_all)],
    indirect=True,
)
def test_source_without_checksum_is_downloaded_and_compared(submitted):
    """The other objects of a channel are used by their checksums, as in the test above."""
    for key in stored(submitted)[:5]:
        put(submitted, key, submitted.store.content(key))
    assert smspec("submit", "--detach").status == 0


@pytest.mark.parametrize(
    ("submitted", "is_longer", "options"),
    [
        pytest.param(ARCHIVE, True, {}, id="archive-longer-plain"),
        pytest.param(ARCHIVE, True, ENCRYPTED, id="archive-longer-encrypted"),
        pytest.param(ARCHIVE, False, {}, id="archive-as-long-plain"),
        pytest.param(ARCHIVE, False, ENCRYPTED, id="archive-as-long-encrypted"),
        pytest.param(CHANNEL, False, {}, id="channel-as-long-plain"),
    ],
    indirect=["submitted"],
)
def test_each_overwritten_file_is_wrong(submitted, is_longer, options):
    """Each file of the source and of the runtime is compared, by its content and not by its size."""
    keys = stored(submitted)
    for key in (*[key for key in keys if key.endswith(("train.py", ".gz"))], keys[0]):
        before = submitted.store.content(key)
        put(submitted, key, bytes([before[0] ^ 1]) + before[1:] + b"x" * is_longer, **options)
        done = smspec("submit", "--detach")
        assert done.status == 3, done.err
        assert f"`s3://{BUCKET}/{key}` in S3 is not the file of the spec" in done.err
        assert submitted.jobs.created == []
        put(submitted, key, before)


@in_both
def test_object_that_is_not_of_the_spec_is_wrong(submitted):
    for prefix in {key.rpartition("/")[0] for key in stored(submitted) if key.count("/") == 2}:
        key = f"{prefix}/json.py"
        put(submitted, key, b"print('theirs')")
        done = smspec("submit", "--detach")
        assert done.status == 3, done.err
        assert f"`s3://{BUCKET}/{key}` in S3 is not of the spec" in done.err
        assert submitted.jobs.created == []
        submitted.store.client.delete_object(Bucket=BUCKET, Key=key)


@in_archive
def test_folder_of_the_console_is_accepted(submitted):
    put(submitted, f"{stored(submitted)[0].rpartition('/')[0]}/", b"")
    assert smspec("submit", "--detach").status == 0


@in_archive
def test_source_that_may_not_be_read_is_not_trusted(submitted):
    submitted.aws.faults["s3 HEAD"] = Refusal(403, "AccessDenied")
    done = smspec("submit", "--detach")
    assert done.status == 3, done.err
    assert submitted.jobs.created == []
