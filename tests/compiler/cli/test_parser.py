"""Arguments that argparse alone would misread."""

import pytest

from support.smspec_command import smspec


@pytest.mark.parametrize("words", [["--set=--"], ["-O--"], ["--format=--"], ["--overlay=--", "job.yaml"]])
def test_two_dashes_are_not_a_value(words):
    done = smspec("validate", *words)
    assert done.status == 2
    assert "`--` is not a value" in done.err


def test_two_dashes_end_the_options(tmp_path):
    done = smspec("validate", "--", "--set=--", cwd=tmp_path)
    assert done.status == 2
    assert "cannot find `--set=--`" in done.err
