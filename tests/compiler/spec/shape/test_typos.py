"""One-letter typos in keys and values suggest the intended name in at least 90 percent."""

import functools
import random
import string
from collections import Counter

import pytest

from smspec.diagnostics.suggestions import nearest
from smspec.service.shapes import pinned_model
from smspec.spec.schema import choices, keys_in, spec_keys
from smspec.spec.shape.faulty_keys import suggestion
from smspec.spec.shape.schema_errors import choice_meant

CLASSES = ("left out", "swapped", "changed", "added")
AT_LEAST = 0.90


def typos(word, letters):
    """Yield (class, word with one slip) for every slip there is."""
    for at in range(len(word)):
        yield "left out", word[:at] + word[at + 1 :]
        if word[at : at + 1] != word[at + 1 : at + 2] != "":
            yield "swapped", word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        yield from (("changed", word[:at] + letter + word[at + 1 :]) for letter in letters if letter != word[at])
    for at in range(len(word) + 1):
        yield from (("added", word[:at] + letter + word[at:]) for letter in letters)


def drawn(cases, most):
    """Return that many cases, always the same; a letter was left out, or two were swapped, in up to a half of them."""
    distinct = list(dict.fromkeys(cases))
    few = [case for case in distinct if case[0] in ("left out", "swapped")]
    many = [case for case in distinct if case[0] in ("changed", "added")]
    draw = random.Random(5)
    few = draw.sample(few, min(len(few), most // 2))
    return few + draw.sample(many, most - len(few))


def of_keys():
    for key in spec_keys():
        known = keys_in(key[:-1])
        for kind, typo in typos(key[-1], string.ascii_lowercase + "_") if key[-1] != "*" else ():
            if typo and typo not in known:
                yield kind, typo, key


def offered_key(typo, key):
    guess = suggestion(typo, tuple("x" if step == "*" else step for step in key[:-1]))
    return guess is not None and guess.key == key


@functools.cache
def enums():
    found = {choices(schema) for schema in spec_keys().values()}
    return sorted(found | {shape.enum for _, shape in pinned_model().walk()})


def of_values():
    for number, enum in enumerate(enums()):
        letters = string.ascii_lowercase + string.digits + "." if len(enum) > 50 else string.ascii_lowercase
        for value in enum:
            for kind, typo in typos(value, letters):
                if typo and typo not in enum:
                    yield kind, typo, (value, number)


def offered_value(typo, meant):
    value, number = meant
    return choice_meant(typo, enums()[number]) == value


@functools.cache
def structures():
    return [tuple(shape.members) for shape in (pinned_model().root, *(shape for _, shape in pinned_model().walk()))]


def of_members():
    for number, members in enumerate(structures()):
        for member in members:
            for kind, typo in typos(member, string.ascii_lowercase):
                if typo and typo not in members:
                    yield kind, typo, (member, number)


def offered_member(typo, meant):
    member, number = meant
    return nearest(typo, structures()[number]) == member


KINDS = {
    "keys of the spec": (of_keys, offered_key, 1_500),
    "values": (of_values, offered_value, 600),
    "members of a request": (of_members, offered_member, 1_500),
}
"""What → every case, whether the right name is offered, and how many of them are tried."""


@pytest.mark.slow
def test_typo_suggests_the_intended_name():
    tried: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    right: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for kind, (cases, is_offered, most) in KINDS.items():
        for slip, typo, meant in drawn(cases(), most):
            tried[kind][slip] += 1
            right[kind][slip] += is_offered(typo, meant)
    assert sum(counts.total() for counts in tried.values()) > 3_500
    # Nobody can tell which of `c5`, `m5`, `r5` and `g5` was meant in `ml.x5.xlarge`: with ties taken as well as can be,
    # a wrong letter in a value is told in 0.918 of all cases.
    share = {(kind, slip): right[kind][slip] / tried[kind][slip] for kind in KINDS for slip in CLASSES}
    assert min(share.values()) >= AT_LEAST, share


def test_likely_slip_wins_then_the_order():
    assert nearest("ml.p4.24xlarge", ["ml.p5.24xlarge", "ml.p4d.24xlarge"]) == "ml.p4d.24xlarge"
    assert nearest("hosst", ["hoset", "hosts"]) == "hosts"
    assert nearest("sspot", ["aspot", "spot"]) == "spot"
    assert nearest("hxsts", ["hasts", "hosts"]) == "hasts"


def test_equally_near_names_prefer_the_same_length():
    assert nearest("ml.r5.2mxlarge", ["ml.r5.2xlarge", "ml.r5.24xlarge"]) == "ml.r5.24xlarge"
    assert nearest("hostxs", ["hosts", "hostas"]) == "hostas"
