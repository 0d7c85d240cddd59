"""The explanation pages: the first spec has the finding, the second does not."""

import re

import pytest
import yaml

from smspec.diagnostics.explanation import explained_codes, explanation
from support.script.read_programs import findings

CODES = [code for code in explained_codes() if code.startswith("SM5")]


def found(code, index):
    page = explanation(code)
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    piece = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[index]
    return {finding.code for finding in findings(program, **yaml.safe_load(piece))}


@pytest.mark.parametrize("code", CODES)
def test_example_has_its_finding(code):
    assert found(code, 0) == {code}


@pytest.mark.parametrize("code", CODES)
def test_fixed_example_has_no_finding(code):
    assert found(code, 1) == set()
