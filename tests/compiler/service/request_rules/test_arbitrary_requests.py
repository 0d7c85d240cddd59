"""Rules handle any JSON in any member without an exception."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.service.request_rules import request_findings
from smspec.service.shapes import pinned_model
from support.examples import at_most
from support.service import api_samples

PATHS = [path for path, _ in pinned_model().walk()]
WORDS = st.sampled_from(
    [
        *("File", "Pipe", "FastFile", "AugmentedManifestFile", "ManifestFile", "Vpc", "Gzip", "RecordIO", "train"),
        *("s3://", "s3:///", "https://s3.amazonaws.com", "s3://a\n/b", "registry/x:1", "@sha256:", "://", "x" * 3000),
        *("/opt/ml/input/data/train/x.py", "bash -c /opt/ml/input/data/\0", "(", "[", "\\", "(?", "(?<", "\\Q", "(?#"),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3))


@settings(max_examples=at_most(300), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PATHS), JSON), min_size=1, max_size=6), st.booleans())
def test_rules_handle_any_request_and_write_sentences(changes, in_spec_words):
    request = api_samples.small_request()
    for path, value in changes:
        # What was put in before may leave no such place.
        with contextlib.suppress(TypeError, KeyError, IndexError, AttributeError):
            holder, key = api_samples.fill(request, path)
            holder[key] = value
    for finding in request_findings(request, in_spec_words=in_spec_words):
        assert finding.message
        assert not finding.message.endswith(".")
        assert all(isinstance(step, (str, int)) for step in finding.path)
