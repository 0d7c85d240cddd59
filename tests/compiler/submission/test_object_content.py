"""Checksums of objects as S3 computes them: of the whole content, or of the checksums of its parts."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.submission import s3_service
from smspec.submission.client import JobRefused
from smspec.submission.s3_service import FileContent, MemoryContent, has_md5, has_sha256

PART = 4
CONTENTS = st.binary(max_size=5 * PART)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(s3_service, "_PART", PART)


def in_parts(data, algorithm):
    """The digest of the digests, and their number, from the user guide of S3."""
    parts = [data[start : start + PART] for start in range(0, max(1, len(data)), PART)]
    return algorithm(b"".join(algorithm(part).digest() for part in parts)).digest(), len(parts)


@given(data=CONTENTS)
def test_parts_are_the_content(data):
    parts = list(MemoryContent(data).parts())
    assert b"".join(parts) == data
    assert all(len(part) == PART for part in parts[:-1])


@given(data=CONTENTS, other=CONTENTS)
def test_checksums_recognize_only_the_same_content(data, other):
    whole = base64.b64encode(hashlib.sha256(data).digest()).decode()
    digest, count = in_parts(data, hashlib.sha256)
    parts = f"{base64.b64encode(digest).decode()}-{count}"
    assert has_sha256(MemoryContent(data), whole) is True
    assert has_sha256(MemoryContent(data), parts) is True
    assert has_sha256(MemoryContent(other), whole) is (other == data)
    assert not has_sha256(MemoryContent(other), parts) or other == data


@given(data=CONTENTS)
def test_etag_is_the_md5_of_the_content_or_its_parts(data):
    digest, count = in_parts(data, hashlib.md5)
    assert has_md5(MemoryContent(data), hashlib.md5(data).hexdigest()) is True
    assert has_md5(MemoryContent(data), f"{digest.hex()}-{count}") is True
    assert has_md5(MemoryContent(data), f"{digest.hex()}-{count + 1}") is None
    assert has_md5(MemoryContent(data), "0" * 32) is False


@pytest.mark.parametrize("size", range(2 * PART + 2))
@pytest.mark.parametrize("written", range(2 * PART + 2))
def test_file_that_changed_its_size_is_refused(tmp_path, size, written):
    (tmp_path / "data").write_bytes(bytes(range(written)))
    content = FileContent(path=str(tmp_path / "data"), size=size)
    if size == written:
        assert list(content.parts()) == list(MemoryContent(bytes(range(written))).parts())
    else:
        with pytest.raises(JobRefused, match="has changed while it was read"):
            list(content.parts())


def test_largest_object_has_the_most_parts():
    largest = 5 << 40  # bytes (S3 user guide)
    assert largest / s3_service.part_length(largest) <= 10_000
