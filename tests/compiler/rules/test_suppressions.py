"""`checks.ignore` removes exactly the named findings; unused entries are reported."""

from importlib import import_module

from smspec.diagnostics import Finding, Rule
from smspec.rules.suppressions import not_ignored
from smspec.service.request_rules import FAMILIES
from smspec.service.shape_limits import SHAPE_RULES
from smspec.spec.model import IgnoredCheck


def finding(code, *path, severity="error"):
    return Finding(code=code, severity=severity, path=path, message="something")


def ignore(rule, at=""):
    return IgnoredCheck(rule=rule, at=at, because="the exporter guarantees it")


def kept(findings, *ignored):
    return [(found.code, found.path) for found in not_ignored(findings, ignored)]


TRAIN = finding("SM322", "channels", "train", "input_mode")
OTHER = finding("SM322", "channels", "training")


def test_check_is_ignored_at_and_below_its_path():
    assert kept([TRAIN, OTHER], ignore("SM322", "channels.train")) == [("SM322", ("channels", "training"))]
    assert kept([TRAIN, OTHER], ignore("SM322", "channels.train.input_mode")) == [("SM322", ("channels", "training"))]
    assert kept([finding("SM429", "tags", 1)], ignore("SM429", "tags")) == []


def test_ignore_without_a_path_applies_everywhere():
    assert kept([TRAIN, OTHER], ignore("SM322")) == []


def test_other_checks_at_the_path_are_kept():
    other = finding("SM324", "channels", "train")
    assert kept([TRAIN, other], ignore("SM322", "channels.train")) == [("SM324", ("channels", "train"))]


def test_unused_ignore_is_a_warning():
    found = not_ignored([OTHER], [ignore("SM322", "channels.train")])
    assert [(one.code, one.severity, one.path) for one in found] == [
        ("SM322", "error", ("channels", "training")),
        ("SM331", "warning", ("checks", "ignore", 0)),
    ]


def test_shape_of_spec_and_request_cannot_be_ignored():
    shape = finding("SM405", "hyperparameters", "x")
    assert kept([shape], ignore("SM405")) == [
        ("SM405", ("hyperparameters", "x")),
        ("SM330", ("checks", "ignore", 0, "rule")),
    ]
    word = finding("SM255", "image", "system_packages", 0)
    assert kept([word], ignore("SM255"))[0] == ("SM255", ("image", "system_packages", 0))


def test_warnings_and_described_limits_can_be_ignored():
    assert kept([finding("SM258", "image", "env", "A", severity="warning")], ignore("SM258")) == []
    assert kept([finding("SM413", "hosts", "instance_type", severity="warning")], ignore("SM413")) == []
    assert kept([finding("SM424", "image")], ignore("SM424")) == []


def rules_about_requests():
    """Return the rules that look at a whole request, not at the shape of a member."""
    modules = [import_module(f"smspec.service.request_rules.{name}") for name in FAMILIES]
    return sorted({rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)}, key=str)


ABOUT_REQUESTS = rules_about_requests()


def test_inferred_rules_can_be_ignored():
    """They may be wrong about a job that the service accepts: its author has the last word."""
    for rule in ABOUT_REQUESTS:
        assert rule not in SHAPE_RULES
        assert kept([rule.at(("channels", "train"), "something")], ignore(rule.code, "channels.train")) == []


def test_request_rules_declare_their_evidence():
    assert [r.code for r in ABOUT_REQUESTS if r.evidence is None and not r.code.startswith("SM6")] == []


def test_unknown_rule_is_reported():
    (found,) = not_ignored([], [ignore("SM999")])
    assert (found.code, found.path) == ("SM331", ("checks", "ignore", 0, "rule"))
    assert found.message == "`checks.ignore[0].rule`: unknown rule `SM999`"
