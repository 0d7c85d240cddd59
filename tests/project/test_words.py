"""What users read is plain English: none of the phrases that docs, help, pages, and messages once had."""

import ast
import json
import re
from pathlib import Path

import pytest

from smspec.cli import COMMANDS
from support.smspec_command import smspec

ROOT = Path(__file__).parents[2]
COMPILER = ROOT / "compiler" / "smspec"
GENERATED = {"diagnostics.md", "spec-reference.md"}

STOP = re.compile(
    r"\b(?:told|nobody|somebody|whoever|beside|anew|half-way|ours?|aloud|in silence|mends?|of its own|of their own)\b"
    r"|(?<!there )\bis no (?!longer|\w+ (?:in|on|for)\b)"
    r"|\ball the same\b|\ball is well\b|\bnothing (?:says|to say)\b|\b(?:leave|leaves|left) (?:it |them |this )?out\b"
    r"|\btakes? (?:it |them |this )?(?:out|away)\b|\bsaid otherwise\b|\bgiven twice\b|\bwhole number\b"
    r"|\b(?:organis|customis|recognis|licence|labelled|colour)\w*",
    re.IGNORECASE,
)

ONCE = [
    "smspec reports to nobody.",
    "## Beside what people use today",
    "which image layers are built anew",
    "each epoch of a Pipe channel falls silent half-way, for so long",
    "then it is printed all the same, for you to complete",
    "What the spec cannot hold is told on standard error",
    "`1` is no quote of JSON",
    "nothing says how many hosts the job has",
    "channel `train` is given twice",
    "`ml.m5.large` has no disk of its own",
    "the licence of the model is not accepted",
    "the policy of an organisation",
    "what runs in the container, ours or theirs",
    "waits 30 minutes for them at most, aloud",
    "no launcher does the wrong thing in silence",
    "take it out, or turn managed spot on",
]


TESTS = ROOT / "tests"
LONGEST_NAME = 60
STOP_IN_NAMES = re.compile(
    r"_(?:told|tells?|says?|said|nobody|somebody|whoever|beside|anew|vain)(?=_|$)"
    r"|^test_(?:an?|the|what|who|whose|it)_|_s_|_is_no_",
)

FORMER_NAMES = [
    "test_misuse_is_told",
    "test_where_no_spec_is_the_way_to_one_is_told",
    "test_a_cut_archive_is_reported",
    "test_what_is_not_read",
    "test_who_held_the_epoch_up",
    "test_it_is_gone_afterwards",
    "test_the_toolkit_s_arguments",
    "test_a_request_of_junk_is_no_crash",
    "test_names_that_nobody_knows",
]


def prose(text):
    """Return a page without its code, whose words are those of other programs and of examples."""
    return re.sub(r"`[^`\n]*`", "`…`", re.sub(r"^(?:```.*?^```|    .*?$)", "", text, flags=re.MULTILINE | re.DOTALL))


def documented(node):
    """Return the strings below a node that are docstrings."""
    found = set()
    for inner in ast.walk(node):
        for statement in getattr(inner, "body", ()) if isinstance(getattr(inner, "body", ()), list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                found.add(id(statement.value))
    return found


def messages(path):
    """Return the strings of a module that may be part of a message: those with a space, except docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = documented(tree)
    strings = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and " " in node.value
        and id(node) not in known
    ]
    return "\n".join(strings)


def descriptions(value):
    """Yield titles and descriptions of a schema."""
    if isinstance(value, dict):
        yield from (text for key, text in value.items() if key in ("title", "description") and isinstance(text, str))
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from descriptions(inner)


def pages():
    """Return [(path, text)] of everything that is checked."""
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [(path, prose(path.read_text(encoding="utf-8"))) for path in documents if path.name not in GENERATED]
    found += [(path, prose(path.read_text(encoding="utf-8"))) for path in sorted(COMPILER.rglob("*.md"))]
    found += [(path, prose(messages(path))) for path in sorted(COMPILER.rglob("*.py"))]
    schema = ROOT / "schemas/smspec_schemas/job.v1.schema.json"
    described = "\n".join(descriptions(json.loads(schema.read_text(encoding="utf-8"))))
    return [*found, (schema, prose(described))]


def test_texts_have_none_of_the_phrases():
    found = [(path.name, [hit[0] for hit in STOP.finditer(text)]) for path, text in pages()]
    assert [(name, hits) for name, hits in found if hits] == []


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_none_of_the_phrases(command):
    shown = smspec(*[command] if command else [], "--help").out
    assert STOP.findall(prose(shown)) == []


@pytest.mark.parametrize("phrase", ONCE)
def test_former_phrases_are_found(phrase):
    assert STOP.search(phrase)


def names_of_tests():
    """Return [(path, name)] of all test functions and of the modules that contain them."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        heads = re.findall(r"^ *(?:def )?(test_[\w, ]+)[(=]", path.read_text(encoding="utf-8"), re.MULTILINE)
        names = [path.stem, *re.findall(r"\btest_\w+", " ".join(heads))]
        found += [(str(path.relative_to(ROOT)), name) for name in names]
    return found


def test_names_of_tests_are_short_and_plain():
    """The form is ``test_<subject>_<verb>_<outcome>``: it reads without the body of the test."""
    names = names_of_tests()
    assert len(names) > 1000
    assert [name for name in names if len(name[1]) > LONGEST_NAME or STOP_IN_NAMES.search(name[1])] == []


@pytest.mark.parametrize("name", FORMER_NAMES)
def test_former_names_are_found(name):
    assert STOP_IN_NAMES.search(name)
