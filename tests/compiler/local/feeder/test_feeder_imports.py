"""The feeder also runs in containers: standard library and Python 3.8 only."""

from __future__ import annotations

import ast
import glob
import os
import sys

import pytest

import smspec.local.feeder

FILES = sorted(glob.glob(os.path.join(os.path.dirname(smspec.local.feeder.__file__), "*.py")))


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_feeder_modules_import_only_the_standard_library(path):
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), feature_version=(3, 8))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        else:
            continue
        assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_feeder_modules_are_found():
    assert len(FILES) > 5
