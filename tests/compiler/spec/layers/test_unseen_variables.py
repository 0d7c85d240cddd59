"""A name that variables make is checked like one that is written out."""

import pytest

from support.small_job import BUILT, write_job
from support.smspec_command import smspec

SPEC = BUILT.replace("SageMakerTraining", "Team${{ vars.team }}").replace(
    "smspec: v1\n", 'smspec: v1\ndescription: "of ${{ vars.team }}"\nvars:\n  team: {default: "DEFAULT"}\n'
)


@pytest.mark.parametrize(
    ("team", "code"),
    [
        ("Admin", ""),
        ("Аdmin", "SM115"),
        ("Admin\u200b", "SM103"),
        ("Adm\u202ein", "SM103"),
        ("Ａdmin", "SM115"),
        ("\xa0Admin", "SM103"),
    ],
)
def test_option_of_the_command_line_is_checked(tmp_path, team, code):
    write_job(tmp_path, SPEC.replace("DEFAULT", "x"))
    done = smspec("validate", "--set", f"vars.team={team}", cwd=tmp_path)
    is_misuse = code == "SM103" and done.status == 2  # it is no YAML
    assert done.status == (1 if code else 0) or is_misuse
    assert code in done.out or (is_misuse and "--set vars.team" in done.err)
    assert team not in done.out + done.err or not code


def test_parts_that_look_like_another_name_are_reported(tmp_path):
    """`бра` alone is a word; within a Latin one, its last two letters look like Latin ones."""
    write_job(tmp_path, SPEC.replace("DEFAULT", "бра").replace("team }}\n", "team }}s\n"))
    done = smspec("validate", cwd=tmp_path)
    assert done.status == 1 and "error[SM115]: `role` contains U+0431" in done.out


@pytest.mark.parametrize("text", ["кликабельность", "広告", "публикация рекламы", "广告 v2", "café", "ελληνικά"])
def test_honest_descriptions_are_silent(tmp_path, text):
    write_job(tmp_path, SPEC.replace("Team${{ vars.team }}", "Team").replace("DEFAULT", text))
    assert "SM1" not in smspec("validate", cwd=tmp_path).out
