"""Text that an image cannot contain is reported at its key."""

import re
import unicodedata

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.explanation import explanation
from smspec.plan import BuildInputs
from smspec.render.dockerfile import dockerfile
from smspec.render.representable import dockerfile_findings
from smspec.source import Listing
from smspec.spec.model import BuiltImage, CommandEntry, ExistingImage, JobSpec, Output, ScriptEntry
from support.render.plan_samples import image_plan


def findings(image=None, entry=None, requirements=None):
    job = JobSpec(
        name="job",
        role="arn:aws:iam::111122223333:role/SageMaker",
        output=Output(s3="s3://bucket/"),
        image=image or BuiltImage(base="python:3.12"),
        entry_point=entry or ScriptEntry(script="train.py"),
    )
    parts = BuildInputs(source=Listing(), runtime=Listing(), templates="", requirements=requirements)
    return dockerfile_findings(job, parts)


def built(**members):
    return BuiltImage(**{"base": "python:3.12", **members})


def test_representable_image_has_no_findings():
    image = built(
        env={"A": "tab-free $5 and ünïcode", "B": ""},
        labels={"a.b/c": "x"},
        run=("make\nmake install\n\tdone",),
        system_packages=("g++",),
        python_packages=("numpy",),
    )
    assert findings(image, requirements=b"six\n") == []


@pytest.mark.parametrize(
    ("image", "code", "path", "words"),
    [
        (built(base="--platform=x python"), "SM250", ("image", "base"), "`--platform=x python`"),
        (built(base="$BASE"), "SM250", ("image", "base"), "`$BASE`"),
        (built(base="scratch"), "SM250", ("image", "base"), "needs Python"),
        (built(env={"A": "x\ny"}), "SM252", ("image", "env", "A"), "a line break"),
        (built(env={"A": "x\ty"}), "SM252", ("image", "env", "A"), "a tab"),
        (built(env={"A": "x\x7f"}), "SM252", ("image", "env", "A"), "U+007F"),
        (built(env={"A": "x\u2028y"}), "SM252", ("image", "env", "A"), "U+2028"),
        (built(labels={"a": "x\r"}), "SM252", ("image", "labels", "a"), "a carriage return"),
        (built(run=("a", "b\x1b[0m")), "SM252", ("image", "run", 1), "U+001B"),
        (built(labels={"a b": "x"}), "SM254", ("image", "labels", "a b"), "`a b`"),
        (built(labels={"smspec.tag": "x"}), "SM254", ("image", "labels", "smspec.tag"), "reserved for smspec"),
        (built(system_packages=("git", "-y")), "SM255", ("image", "system_packages", 1), "`-y`"),
        (built(python_packages=("-r x.txt",)), "SM256", ("image", "python_packages", 0), "`-r x.txt`"),
        (built(env={"PATH": "/x:$PATH"}), "SM258", ("image", "env", "PATH"), "not expanded"),
        (built(env={"A": "${B}"}), "SM258", ("image", "env", "A"), "not expanded"),
    ],
    ids=[
        "option as base",
        "variable as base",
        "scratch",
        "line break",
        "tab",
        "delete",
        "line separator",
        "carriage return",
        "escape",
        "blank in a label",
        "reserved label",
        "option for apt",
        "option for pip",
        "PATH",
        "variable",
    ],
)
def test_each_fault_is_located_at_its_key(image, code, path, words):
    (finding,) = findings(image)
    assert (finding.code, finding.path) == (code, path)
    assert words in finding.message
    assert finding.help
    assert finding.severity == ("warning" if code == "SM258" else "error")


def test_undecodable_requirements_suggest_utf_8():
    (finding,) = findings(requirements=b"six\n# caf\xe9\n")
    assert (finding.message, finding.help) == (
        "`image.python_requirements`: line 2 is not UTF-8",
        "convert it to UTF-8",
    )


def test_requirements_file_that_needs_another_is_reported():
    (finding,) = findings(requirements=b"six\n-r other.txt\n")
    assert (finding.code, finding.path) == ("SM257", ("image", "python_requirements"))
    assert finding.message == "`image.python_requirements`: line 2 names another file"


@pytest.mark.parametrize("image", [built(), ExistingImage(uri="x")], ids=["built", "existing"])
def test_nul_is_rejected_in_arguments(image):
    (first,) = findings(image, ScriptEntry(script="train.py", args=("a", "b\0")))
    assert (first.code, first.path) == ("SM252", ("entry_point", "args", 1))
    (second,) = findings(image, CommandEntry(command=("./train", "\ud800")))
    assert (second.path, "U+D800" in second.message) == (("entry_point", "command", 1), True)
    assert findings(image, CommandEntry(command=("sh", "-c", "a\nb\t\x1b"))) == []


@given(st.text(), st.text(), st.text(), st.text(), st.text())
def test_accepted_text_does_not_break_a_line(base, value, key, script, word):
    """Text of any kind: either there is a finding, or each value stays on the line of its instruction."""
    members = {
        "base": base,
        "env": {"NAME": value},
        "labels": {key: value},
        "run": (script,),
        "system_packages": (word,),
        "python_packages": (word,),
    }
    plain = {"env": {}, "labels": {}, "run": (), "system_packages": (), "python_packages": (), "base": "python:3.12"}
    for member, content in members.items():
        changed = {**plain, member: content}
        if not any(finding.severity == "error" for finding in findings(BuiltImage(**changed))):
            text = dockerfile(image_plan(**changed))
            assert text.count("\n") - dockerfile(image_plan()).count("\n") <= 10
            assert {unicodedata.category(character) for character in text if character != "\n"}.isdisjoint(
                {"Cc", "Cs", "Zl", "Zp"}
            )


@pytest.mark.parametrize("code", ["SM250", "SM252", "SM254", "SM255", "SM256", "SM257", "SM258"])
def test_explanation_examples_hold(code):
    """The first is found, the second is not."""
    pieces = re.findall(r"```yaml\n(.*?)```", explanation(code), re.DOTALL)
    assert len(pieces) == 2
    for piece, expected in zip(pieces, ({code}, set()), strict=True):
        image = yaml.safe_load(piece)["image"]
        (content,) = re.findall("# holds: (.*)", piece) or [""]
        lists = {key: tuple(value) for key, value in image.items() if isinstance(value, list)}
        assert {
            finding.code for finding in findings(built(**{**image, **lists}), requirements=content.encode())
        } == expected
