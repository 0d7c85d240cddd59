"""Unknown keys and choices suggest the nearest name in at least 90 percent."""

import random
import string

import pytest

from smspec.spec.schema.job_schema import choices, key_path, keys_in, spec_keys, written_key
from smspec.spec.shape.faulty_keys import suggestion
from smspec.spec.shape.foreign_keys import hinted_keys
from smspec.spec.shape.schema_errors import choice_meant

PROMISED = 0.9


def slips(word, random_source):
    """Return texts that differ from ``word`` by one letter: left out, doubled, changed, added, or two swapped."""
    letters = string.ascii_lowercase + "_"
    found = []
    for place in range(len(word)):
        found.append(word[:place] + word[place + 1 :])
        found.append(word[:place] + random_source.choice(letters) + word[place + 1 :])
        found.append(word[:place] + random_source.choice(letters) + word[place:])
        found.append(word[:place] + word[place] + word[place:])
        found.append(word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :])
    return [slip for slip in dict.fromkeys(found) if slip and slip != word]


def place_of(mapping):
    """Return a path that leads to a mapping of the spec: a name, or the first item, for every `*`."""
    path = ()
    for step in mapping:
        is_item = "array" in str(spec_keys()[key_path(path)].get("type")) if step == "*" else False
        path = (*path, 0 if is_item else "some-name" if step == "*" else step)
    return path


def test_unknown_keys_suggest_the_nearest():
    random_source = random.Random(1)
    right, wrong = 0, []
    for key in spec_keys():
        *mapping, name = key
        if name == "*":
            continue
        others = set(keys_in(tuple(mapping)))
        for slip in slips(name, random_source):
            if slip in others:
                continue
            guess = suggestion(slip, place_of(mapping))
            if guess and guess.key == key:
                right += 1
            else:
                wrong.append((written_key(key), slip, guess and written_key(guess.key)))
    assert right / (right + len(wrong)) >= PROMISED, wrong
    assert right > 3000


def test_unknown_choices_suggest_the_nearest():
    random_source = random.Random(2)
    right, wrong = 0, []
    for schema in spec_keys().values():
        allowed = choices(schema)
        for value in allowed:
            for slip in slips(value, random_source):
                if slip in allowed:
                    continue
                guess = choice_meant(slip, allowed)
                if guess == value:
                    right += 1
                else:
                    wrong.append((value, slip, guess))
    assert right / (right + len(wrong)) >= PROMISED, wrong
    assert right > 500


def test_choice_in_another_case_is_suggested():
    for schema in spec_keys().values():
        for value in choices(schema):
            for other in (value.upper(), value.lower(), value.title()):
                if other not in choices(schema):
                    assert choice_meant(other, choices(schema)) == value


@pytest.mark.parametrize("word", hinted_keys())
def test_every_hint_leads_to_an_existing_key(word):
    for key in hinted_keys()[word]:
        assert tuple(key.split(".")) in spec_keys()


def test_hinted_keys_are_not_keys_themselves():
    at_the_top = set(keys_in(()))
    assert not set(hinted_keys()) & at_the_top
