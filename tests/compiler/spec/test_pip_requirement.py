"""Versions and markers of requirements, as pip reads them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement, Requirement

from smspec.spec.packages import fault_in, is_pip_requirement

OPERATORS = ("===", "==", "!=", "~=", "<=", ">=", "<", ">")
VERSIONS = (
    *("1", "1.0", "1.0.*", "v1.0", "1!2.0", "1.0a1", "1.0.post1", "1.0-1", "1.0.dev", "1.0rc", "1.0+cu121", "2.x"),
    *("latest", "1..2", "*", "1.*.2", "1.0c2", "1.0.alpha.1", "1.0-r4", "1.0post.2.dev3", "1.0a.1-3.dev", "2004d"),
)
COMPARISONS = (
    *("python_version<'3.9'", 'sys_platform == "linux"', "'linux' in sys_platform", "platform_machine not in 'a b'"),
    *("python_version", "python<'3.9'", "python_version<3.9", "extra == 'gpu'", "os.name=='nt'", "'a'=='b'"),
)
markers = st.recursive(
    st.sampled_from(COMPARISONS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(("and", "or", "")), inner).map(" ".join), inner.map("({})".format)
    ),
    max_leaves=4,
)
clauses = st.tuples(st.sampled_from(OPERATORS), st.sampled_from(VERSIONS)).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.lists(clauses, max_size=2), st.one_of(st.none(), markers))
def test_same_verdict_as_packaging(versions, marker):
    text = f"numpy{','.join(versions)}" + ("" if marker is None else f"; {marker}")
    try:
        Requirement(text)
        is_valid = True
    except InvalidRequirement:
        is_valid = False
    assert (is_pip_requirement(text) and not fault_in(text)) == is_valid, text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("numpy>=latest", "`latest` is not a version"),
        ("numpy>=1,==2.x", "`2.x` is not a version"),
        ("numpy~=2", "`~=` requires two parts of a version, such as `2.0`"),
        ("numpy>=2.*", "`>=` cannot be combined with `*`"),
        ("torch>2.5+cu121", "`>` cannot be combined with a local version such as `+cu121`"),
        ("numpy; python<'3.9'", "`python<'3.9'` is not a condition such as `python_version < '3.11'`"),
        ("six @ https://example.com/six~=2.whl", ""),
    ],
)
def test_fault_is_named(text, fault):
    assert fault_in(text) == fault
