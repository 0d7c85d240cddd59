"""The pages behind the codes."""

import re

import pytest

from smspec.diagnostics.explanation import explained_codes, explanation


def test_there_is_no_page_for_a_code_that_does_not_exist():
    assert explanation("SM000") is None
    assert explanation("../../../etc/passwd") is None
    assert explanation("") is None


@pytest.mark.parametrize("code", explained_codes())
def test_a_page_names_its_code_and_shows_what_to_write(code):
    page = explanation(code)
    assert re.match(rf"# {code}: \S.*\n\n", page), "the first line is `# CODE: the bad thing`"
    assert page.endswith("\n")
