"""A directory in place of the path of its only job spec."""

import pytest

from support.smspec_command import smspec

FAULTY = """\
smspec: v1
name: a
input_mode: Pip
"""


@pytest.mark.parametrize("command", ["run", "submit", "check", "rehearse", "logs", "stop", "collect"])
def test_directory_with_several_specs_is_ambiguous(command, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(f"smspec: v1\nname: {name}\n")
    done = smspec(command, "./", cwd=tmp_path)
    assert done.status == 2
    assert "`./` has 2 job specs; pass one: `a.yaml`, `b.yaml`" in done.err.replace("./a", "a").replace("./b", "b")


def test_directory_stands_for_its_spec(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "train.yaml").write_text(FAULTY)
    for command in ("run", "check"):
        done = smspec(command, "jobs", cwd=tmp_path)
        assert done.status == 1
        assert "jobs/train.yaml:3:13" in done.out + done.err
