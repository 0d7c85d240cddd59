"""The files of a script's source: what a text imports and whether it is relevant, and its syntax tree, parsed once.

Only what is safe is parsed: a hostile text would exhaust the stack of the parser, or all memory.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Protocol, Union

from smspec.script.follow.code import absolute
from smspec.source import SourceText
from smspec.source.frozen import dataclass

WORDS = (
    "argparse",
    "add_argument",
    "mpirun",
    "mpiexec",
    "torchrun",
    "horovodrun",
    "boto3",
    "click",
    "typer",
    "jsonargparse",
    "HfArgumentParser",
    "optparse",
    "getopt",
    "LightningCLI",
    "absl",
    "app.run",
    "fire",
    "hydra",
    "from_cli",
    "tyro",
    "SM_",
    "init_process_group",
    "/opt",
    'environ["',
    "environ['",
    "smspec_runtime",
    '"pip"',
    "'pip'",
    "pip install",
    "pip.main",
    "s3://",
    "s3fs",
)
"""A script without any of these, in itself or in what it imports from the source, contains nothing relevant."""

MOST_MODULES = 60
MOST_CHARACTERS = 600_000
"""How many modules of a source are read with a script, and their length."""

DEEPEST_IMPORTS = 20
"""The maximum depth of nested imports."""

MOST_IMPORTS = 1_000
"""A module with more imports is not searched further."""

_FIRST = frozenset({"abc", "codecs", "encodings", "genericpath", "io", "os", "posixpath", "site", "stat"})
BEFORE_SOURCE = frozenset(sys.builtin_module_names) | _FIRST | {"smspec_runtime"}
"""Python finds these before modules next to a script; the runtime brings its own package."""

_DEEPEST = 30
"""No real package has names with more dots."""

_LOUD = frozenset(
    {"SystemExit", "__globals__", "__import__", "_getframe", "abort", "addsitedir", "argv", "ctypes", "dataclass"}
    | {"dotenv", "entry_points", "f_globals", "gc", "imp", "importlib", "inspect", "mock", "monkeypatch"}
    | {"pkg_resources", "pkgutil", "putenv", "quit", "runpy", "setprofile", "settrace", "unsetenv"}
)
_LOUD_BEGINNINGS = ("environ", "exec", "spawn")
"""Without any of these words a module has no relevant code, ends nothing, and does not change other modules."""

# Patterns are strings, compiled only for a script of several modules.
_MAIN = r"(?<!== [\"'])\b__main__\b"
_EVAL = r"(?<![.\w])eval\b"

_IMPORT = (
    r"\b(?:from[ \t\\\r\n]+(?P<source>\.*[ \t]*[\w.]*)[ \t\\\r\n]+)?"
    r"import\b[ \t\\\r\n]*(?P<names>\([^)]*\)?|(?:[^\n;\\]|\\\r?\n)*)"
)
_ELSEWHERE = r"\bsys\s{0,9}\.\s{0,9}path\b|\bfrom\s+sys\s+import\b|\baddsitedir\b|\b__path__\b"


class ScriptSource(Protocol):
    """The files of a script's source. ``searches``: the job makes Python search for modules elsewhere, too."""

    searches: bool

    def module(self, name: str) -> SourceText | None:
        """Return the module that an import of a full name finds, or None. Raise `ScriptUnreadable`."""

    def elsewhere(self, name: str) -> SourceText | None:
        """Return a module of that name in any other directory. Raise `ScriptUnreadable`."""

    def lacks_files(self, text: str) -> bool:
        """Return whether a text names a data file that the source may lack, or reads sections of one."""


_DATA_FILE = (
    r"""\.(?:cfg|conf|csv|feather|ini|joblib|jsonl?|np[yz]|parquet|pickle|pkl|pth?|toml|tsv|txt|ya?ml)(?=["'])"""
)
_LONGEST_NAME = 100


def data_files(text: str) -> set[str]:
    """Return the names of data files that a text mentions, without their directories."""
    found = islice(re.finditer(_DATA_FILE, text), MOST_IMPORTS)
    ends = (text[max(0, one.start() - _LONGEST_NAME) : one.end()] for one in found)
    return {re.split(r"[^\w.-]", end)[-1] for end in ends}


def is_package(file: str) -> bool:
    return file.replace("\\", "/").endswith("/__init__.py")


def own_package(name: str, file: str) -> str:
    """Return the package where relative imports of a module start: itself, or the one that it is in."""
    return name if is_package(file) else name.rpartition(".")[0]


def has_relevant_word(text: str) -> bool:
    """Return whether a text contains any relevant word."""
    return any(word in text for word in WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """The result of a quick search of a module. ``is_quiet``: it contains no relevant word itself.

    ``searches``: it may change where Python searches for modules. ``names``: what it may import, by full names,
    packages first; more rather than fewer.
    """

    is_quiet: bool
    searches: bool
    names: tuple[str, ...]


def glance(text: str, package: str) -> Glance:
    """Search a module for imports and relevant words."""
    names = tuple(dict.fromkeys(names_imported(text, package)))
    return Glance(
        is_quiet=len(names) <= MOST_IMPORTS and not _is_loud(text),
        searches=re.search(_ELSEWHERE, text) is not None,
        names=names[:MOST_IMPORTS],
    )


def _is_loud(text: str) -> bool:
    words = set(re.findall(r"\w+", text))
    if has_relevant_word(text) or words & _LOUD or {"sys", "modules"} <= words:
        return True
    if any(word.startswith(_LOUD_BEGINNINGS) or "exit" in word.lower() for word in words):
        return True
    return ("__main__" in words and re.search(_MAIN, text) is not None) or (
        "eval" in words and re.search(_EVAL, text) is not None
    )


def names_imported(text: str, package: str) -> Iterator[str]:
    """Yield the full names of what a module of a package may import."""
    for count, match in enumerate(re.finditer(_IMPORT, text)):
        above = absolute(re.sub(r"\s", "", match["source"] or ""), package)
        if above is None:
            continue
        if above:
            yield from _with_packages(above)
        for part in match["names"].strip("() \t").split(",", MOST_IMPORTS):
            name = part.split(maxsplit=1)[0] if part.strip() else ""
            if re.fullmatch(r"[\w.]+", name):
                yield from _with_packages(f"{above}.{name}" if above else name)
        if count > MOST_IMPORTS:
            return


def _with_packages(name: str) -> Iterator[str]:
    parts = name.split(".", _DEEPEST)
    if len(parts) <= _DEEPEST:
        for count in range(1, len(parts) + 1):
            yield ".".join(parts[:count])


MOST_BYTES = 1 << 20

MOST_TOKENS = 60_000
"""A tree takes some hundred bytes per token. Scripts of 3,000 lines have about 35,000."""

DEEPEST = 60
"""Levels of brackets, and of indentation: no author nests deeper."""

LONGEST_CHAIN = 2_000
"""Operators in one logical line, or branches of one chain: each is a level of the tree."""

# An unclosed string extends to the end: searching for its end again at each quote would take forever.
_STRING_OR_COMMENT = (
    r"""\"{3}(?:[^"\\]+|\\.|"(?!""))*(?:\"{3})?|'{3}(?:[^'\\]+|\\.|'(?!''))*(?:'{3})?"""
    r"""|"(?:[^"\\\n]+|\\.)*"?|'(?:[^'\\\n]+|\\.)*'?|\#[^\n]*"""
)
# Each is compiled when it is first used: most texts need only the brackets.
_TOKEN = _STRING_OR_COMMENT + r"|\n[ \t]*|\w+|[^\w\s]"

_BRACKET = _STRING_OR_COMMENT + r"|[()\[\]{}]"

_FAR_INDENTED = rf"\n[ \t]{{{DEEPEST}}}"

_WORD_OPERATORS = frozenset({"not", "lambda", "await", "if", "for", "or", "and", "in", "is", "yield"})

_OPERATORS = frozenset("+-*/%|&^~@<>=.!")

MOST_TREES = 64
"""How many trees are kept: one script with its modules."""


def _most_operators(text: str) -> int:
    """Return how many operators, brackets, and branches a text can have at most: strings are searched too."""
    return sum(map(text.count, (*_OPERATORS, *_WORD_OPERATORS, *"([{", "elif")))


def _is_flat(text: str) -> bool:
    """Return whether brackets are not nested too deep: what is left to check where little else can be too much."""
    depth = 0
    for match in re.finditer(_BRACKET, text, re.DOTALL):
        token = match[0]
        if token in "([{":
            depth += 1
            if depth > DEEPEST:
                return False
        elif token in ")]}":
            depth = max(0, depth - 1)
    return True


class ScriptUnreadable(Exception):
    """A script that cannot be followed; the message ends a sentence about it."""


def is_readable(text: str) -> bool:
    """Return whether a text is small and flat enough to be parsed within a moment."""
    # Only Python treats a single carriage return as the end of a line.
    if "\0" in text or "\r" in text or len(text) > MOST_BYTES:
        return False
    if len(text) <= MOST_TOKENS and not re.search(_FAR_INDENTED, text) and _most_operators(text) <= LONGEST_CHAIN:
        return _is_flat(text)
    depth = chain = branches = 0
    for count, match in enumerate(re.finditer(_TOKEN, text, re.DOTALL)):
        token = match[0]
        if token[0] == "\n":
            if depth == 0:
                chain = 0
            if len(token.expandtabs(4)) > DEEPEST * 4 + 1 and depth == 0:
                return False
        elif token in "([{":
            depth += 1
            chain += 1
        elif token in ")]}":
            depth = max(0, depth - 1)
        elif token in _OPERATORS or token in _WORD_OPERATORS:
            chain += 1
        elif token == "elif":
            branches += 1
        if count > MOST_TOKENS or depth > DEEPEST or max(chain, branches) > LONGEST_CHAIN:
            return False
    return True


@lru_cache(maxsize=MOST_TREES)
def tree_or_error(text: SourceText) -> Union[ast.Module, SyntaxError, None]:
    """Return the tree of a module, or why this Python cannot parse it; None if that would take too much memory."""
    if not is_readable(text.text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings, which are not relevant here
            return ast.parse(text.text)
    except SyntaxError as error:
        return error.with_traceback(None)
    except (ValueError, RecursionError, MemoryError):
        return None


def parsed(text: SourceText) -> ast.Module | None:
    """Return the tree of a module; None if this Python cannot parse it, or it would take too much memory."""
    found = tree_or_error(text)
    return found if isinstance(found, ast.Module) else None


@lru_cache(maxsize=MOST_TREES)
def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes that `ast.walk` yields, in its order: several checks look at all nodes of a module."""
    found = [tree]
    for node in found:  # it grows meanwhile
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
    return found


def forget_trees() -> None:
    """Free the trees: they take many times the memory of the texts."""
    tree_or_error.cache_clear()
    nodes_of.cache_clear()
