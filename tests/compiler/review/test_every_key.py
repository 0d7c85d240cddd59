"""Every change of a key has the kind in its row; only keys without effect are cosmetic."""

import pytest

from smspec.review.kinds import KINDS
from support.review.job_reviews import kinds, version
from support.spec import job_samples, sent_keys
from support.spec.key_changes import CHANGES, changed, row_of

SAME_FILES = {"source.dir", "source.ignore"}
"""The code is that of other files, which here are the same."""


@pytest.mark.parametrize("key", CHANGES)
def test_change_of_a_key_has_its_kind(key):
    spec, value = CHANGES[key]
    old = version({name: there for name, there in spec.items() if there is not None})
    new = version(changed(spec, key, value), requirements=b"numpy\n" if "requirements" in key else None)
    found = kinds(old, new)
    kind = "cosmetic" if key in SAME_FILES else row_of(key).kind
    assert kind in found
    assert (found == {"cosmetic"}) == (kind == "cosmetic")
    assert not kinds(new, new)


@pytest.mark.parametrize(("keys", "_payload"), sent_keys.KEYS)
def test_key_that_reaches_the_request_is_not_cosmetic(keys, _payload):
    plain = job_samples.spec(channels=None)
    found = kinds(version(plain), version({**plain, **keys}))
    assert found - {"cosmetic"}
    assert found <= set(KINDS)
