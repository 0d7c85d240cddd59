"""Patches follow RFC 7396 and keep the origin of every member."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from smspec.plan.draft import Draft

NAMES = st.sampled_from("abc")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("xy"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
PATCHES = st.dictionaries(NAMES, JSON, max_size=3)


def merge_patch(target, patch):
    """The pseudocode of RFC 7396, section 2."""
    if not isinstance(patch, dict):
        return patch
    target = target if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = merge_patch(target.get(name), value)
    return target


def drafted(members):
    draft = Draft()
    for name, value in members.items():
        draft.put((name,), value, ("written", name))
    return draft


def paths_of(value, path=()):
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*path, key), inner
        yield from paths_of(inner, (*path, key))


@given(PATCHES, PATCHES)
def test_patch_follows_rfc_7396(members, patch):
    draft = drafted(members)
    before, written = copy.deepcopy(draft.members), copy.deepcopy(patch)
    draft.patch(patch, ("api",))
    assert draft.members == merge_patch(before, copy.deepcopy(patch))
    assert patch == written


def origin(draft, path):
    return next((draft.origins[path[:size]] for size in range(len(path), 0, -1) if path[:size] in draft.origins), ())


@given(PATCHES, PATCHES)
def test_only_patched_members_originate_in_the_patch(members, patch):
    draft = drafted(members)
    draft.patch(patch, ("api",))
    merged = dict(paths_of(draft.members))
    for path, value in paths_of(patch):
        inside_a_list = any(isinstance(step, int) for step in path)
        if value is None and not inside_a_list:
            assert path not in merged
            assert origin(draft, path) == ("api", *path)
        elif not isinstance(value, dict) or inside_a_list:
            assert origin(draft, path) == ("api", *path)
    for path in merged:
        known = origin(draft, path)
        assert known == ("api", *path) or known[0] == "written"
        patched = dict(paths_of(patch))
        if known[0] == "written":
            assert path not in patched or isinstance(patched[path], dict)


def test_patched_names_are_forgotten():
    draft = drafted({"a": {"b": "x"}})
    draft.names |= {("a", "b"), ("a", "c")}
    draft.patch({"a": {"b": "y"}}, ("api",))
    assert draft.names == {("a", "c")}
