"""Any bytes are imported or rejected with a position, never with a traceback."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.examples import at_most
from support.service.request_strategies import HOSTILE, anything
from support.smspec_command import smspec

pytestmark = pytest.mark.slow

WORDS = st.sampled_from(
    [
        b"apiVersion: sagemaker.services.k8s.aws/v1alpha1\n",
        b"kind: TrainingJob\n",
        b"spec:\n",
        b"---\n",
        b"- ",
        b"  ",
        b"\n",
    ]
    + [
        b'{"TrainingJobName": ',
        b'"States": {',
        b'"Parameters": ',
        b"}",
        b"]",
        b"[",
        b",",
        b'"',
        b"\xff",
        b"\xef\xbb\xbf",
    ]
    + [json.dumps(word).encode() for word in HOSTILE]
)


def import_of(content, directory):
    (directory / "source.txt").write_bytes(content)
    done = smspec("import", "source.txt", cwd=directory)
    assert done.status in (0, 1), done.err
    assert "internal error" not in done.err
    assert bool(done.out) or done.err
    return done


@settings(max_examples=at_most(400))
@given(st.binary(max_size=200) | st.lists(WORDS, max_size=12).map(b"".join))
def test_any_bytes_are_imported_or_rejected(tmp_path_factory, content):
    import_of(content, tmp_path_factory.getbasetemp())


@settings(max_examples=at_most(100))
@given(anything())
def test_any_request_is_imported_with_its_faults(tmp_path_factory, request):
    directory = tmp_path_factory.getbasetemp()
    done = import_of(json.dumps(request).encode(), directory)
    if done.out:
        (directory / "job.yaml").write_text(done.out, encoding="utf-8")
        assert smspec("validate", "job.yaml", cwd=directory).status == done.status
