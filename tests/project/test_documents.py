"""Generated pages are current, links between documents work, and what names code names code that exists."""

import ast
import functools
import re
import runpy
import shutil
import textwrap
from pathlib import Path

import pytest

from smspec.cli import COMMANDS
from smspec.diagnostics.explanation import explained_codes
from smspec.spec.keys import ROW
from support.smspec_command import smspec_process

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "specs").glob("*/*.md")),
]
QUOTED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"\b(?:(?:[A-Z][a-z]+)+|_?[A-Z]+(?:_[A-Z]+)*)\b")
"""A class, as `RunPlan`, or a constant, as `RULES`."""
CODE_FILE = re.compile(r"(?<![\w<>/])(?:[a-z_0-9]+/)*[a-z_0-9]+\.py\b")
PACKAGES = [*sorted((ROOT / "compiler/smspec").glob("*/__init__.py")), ROOT / "compiler/maintenance/__init__.py"]
INNER_PACKAGES = sorted((ROOT / "compiler/smspec").glob("*/**/*/__init__.py"))
DEFINED = re.compile(r"^ *(?:class |def )(\w+)|^(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.mark.parametrize(
    "script, name, content",
    [("diagnostics", "INDEX", "index"), ("diagnostics", "PAGE", "page"), ("failures", "PAGE", "page")],
)
def test_generated_page_is_current(script, name, content, update):
    names = runpy.run_path(str(ROOT / f"docs/{script}.py"))
    page, current = names[name], names[content]()
    if update:
        page.write_text(current, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == current, f"{page.name} is not current: `make golden` writes it"


def test_every_code_is_in_the_index():
    index = (ROOT / "docs/diagnostics.md").read_text(encoding="utf-8")
    assert [code for code in explained_codes() if f"[{code}]" not in index] == []


@functools.cache
def anchors(path):
    headings = HEADING.findall(path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_are_not_broken(document):
    """Also to headings, under the names that GitHub gives them."""
    for name, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        target = document.parent / name if name else document
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


@pytest.mark.parametrize("name", ["architecture.md", "extending.md"])
def test_names_of_code_exist(name):
    """A renamed class, constant, or file is renamed here too."""
    code = [path for part in ("compiler", "runtime", "tests", "docs") for path in ROOT.glob(f"{part}/**/*.py")]
    known = {word for path in code for word in NAME.findall(path.read_text(encoding="utf-8"))}
    quoted = QUOTED.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
    named = {word for text in quoted for word in NAME.findall(text)}
    assert sorted(named - known) == []
    paths = {path for text in quoted for path in CODE_FILE.findall(text)}
    assert sorted(path for path in paths if not any(f"/{file}".endswith(f"/{path}") for file in code)) == []
    assert len(named) > 9 < len(paths), "the names were found"


@pytest.fixture(scope="module")
def defined():
    """Return the names of all modules, classes, functions, and constants."""
    paths = [path for part in ("compiler", "runtime", "schemas") for path in ROOT.glob(f"{part}/**/*.py")]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    names = {name for text in texts for found in DEFINED.findall(text) for name in found}
    return names | {step for path in paths for step in path.relative_to(ROOT).with_suffix("").parts}


def essay_of(path):
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.parent.name)
def test_package_begins_with_an_essay(path):
    """What it is, its main type, and what it must not know."""
    assert 5 <= len(essay_of(path).splitlines()) <= 20


@pytest.mark.parametrize(
    "path", [*PACKAGES, *INNER_PACKAGES], ids=lambda path: ".".join(path.parent.relative_to(ROOT / "compiler").parts)
)
def test_essay_of_a_package_names_code_that_exists(path, defined):
    essay = essay_of(path)
    names = [name for name in QUOTED.findall(re.sub("``.*?``", "", essay)) if re.fullmatch(r"[A-Za-z_.]+", name)]
    assert sorted(name for name in names if not {*name.split(".")} <= defined | {*COMMANDS} and name not in ROW) == []


def test_readme_job_is_its_spec():
    shown = re.search(r"```yaml\n(# yaml-language-server.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    assert shown[1] == (ROOT / "specs/script-mode/job.yaml").read_text(encoding="utf-8")


def test_readme_is_short():
    assert len(README.read_bytes()) <= 7_000


def test_readme_shows_what_commands_print(tmp_path):
    """A line `…` stands for any lines, and a number of seconds for any number."""
    shutil.copytree(ROOT / "specs/script-mode", tmp_path / "job", ignore=shutil.ignore_patterns("build", "run"))
    (tmp_path / "job/smspec.toml").touch()
    text = README.read_text(encoding="utf-8")
    for command in ("validate", "build", "run"):
        done = smspec_process(command, cwd=tmp_path / "job", timeout=300)
        assert done.status == 0, done.err
        printed = [re.sub(r"[0-9.]+ s$", "0 s", line) for line in f"{done.err}\n{done.out}".splitlines()]
        (block,) = re.findall(rf"^    \$ smspec {command}\n((?:    .*\n)+)", text, re.MULTILINE)
        shown = [re.sub(r"[0-9.]+ s$", "0 s", line) for line in textwrap.dedent(block).splitlines()]
        assert [line for line in shown if line != "…" and line not in printed] == []


def test_readme_diagnostics_are_exact():
    """The frame is that of a rejected spec, to the letter."""
    text = README.read_text(encoding="utf-8")
    frames = re.findall(r"(?:^    (?:error|warning)\[SM\d+\]: .*\n)(?:^     .*\n)+", text, re.MULTILINE)
    told = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/rejected").glob("*/expected.txt"))
    assert frames
    for frame in frames:
        assert textwrap.dedent(frame) in told


def test_sixteen_pages_are_written_by_hand():
    pages = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
    by_hand = {name: text for name, text in pages.items() if "<!-- Written by docs/" not in text}
    assert len(by_hand) <= 16
    for name, text in by_hand.items():
        title, head, *_ = text.split("\n\n")
        assert re.fullmatch("# .+", title), name
        assert not head.startswith((" ", "|", "#")), name
        assert len(head.splitlines()) <= 5, f"{name}: begin with what the page is for, in five lines"


def test_pages_that_code_names_exist():
    named = re.compile(r"\bdocs/[\w-]+\.md\b")
    texts = [
        path
        for part in ("compiler", "runtime", "schemas")
        for path in ROOT.glob(f"{part}/**/*")
        if path.suffix in (".py", ".md", ".json")
    ]
    found = {page for path in texts for page in named.findall(path.read_text(encoding="utf-8"))}
    assert len(found) > 9
    assert sorted(page for page in found if not (ROOT / page).exists()) == []


def test_pictures_of_pages_are_those_of_the_script():
    made = runpy.run_path(str(ROOT / "docs/pictures.py"))["MADE"]
    assert {f"{name}.png" for name in made} == {path.name for path in (ROOT / "docs/pictures").iterdir()}
    shown = re.compile(r"<img src=\"([^\"]+)\" width=\"\d+\" alt=\"[^\"]{20,}\">")
    found = {
        (path.parent / name).resolve() for path in DOCUMENTS for name in shown.findall(path.read_text(encoding="utf-8"))
    }
    assert found == {path.resolve() for path in (ROOT / "docs/pictures").iterdir()}


def test_index_names_every_command_and_page():
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"smspec {name}" not in text] == []
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert [name for name in pages if f"]({name})" not in text] == []
