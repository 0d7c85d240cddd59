"""The cells of a notebook, or a program as one cell: code, files that cells write, and why a cell cannot be read."""

from __future__ import annotations

import ast
import json
import posixpath
import re

from smspec.importer.imported import RequestNotFound
from smspec.script.script_files import tree_or_error
from smspec.source import SourceText
from smspec.source.frozen import dataclass

MAX_BYTES = 64 << 20
"""Notebooks contain images and tables of their results."""

MOST_CELLS = 5_000
NOT_KNOWN = "__value_of_a_shell_command__"
"""Stands for the result of a shell command or magic: a name that nothing defines."""

RUN_ELSEWHERE = "__names_of_other_code__"
"""The function that stands for code, such as that of `%run`, which may set any names; its argument is the line."""

_NOTEBOOK = re.compile(rb"(\xef\xbb\xbf)?\s*\{")
_CELL_MAGIC = re.compile(r"\s*%%(\w+)[ \t]*([^\n]*)\n?(.*)", re.DOTALL)
_SAME_LANGUAGE = frozenset(("time", "timeit", "capture", "prun", "local", "memit"))
_OF_ITS_OWN = frozenset(("timeit",))
"""Magics that keep the names which their code sets to themselves."""

_NO_PYTHON = frozenset(
    (
        *("bash", "sh", "system", "sx", "!", "cmd", "perl", "ruby", "html", "HTML", "javascript", "js", "latex", "svg"),
        *("markdown", "sql", "bigquery", "R", "cython", "configure", "writefile", "file", "cleanup", "info", "pretty"),
    )
)
_APART = frozenset(("python", "python2", "python3", "pypy", "px", "pyspark", "spark", "script"))
"""Magics of cells with code of Python that another process may run."""

_USED_MAGIC = re.compile(r"(\s*(?:[\w., \t\[\]]+=[ \t]*)?%{1,2})(\w+)")
_ALIAS = re.compile(
    r"[ \t]*%?alias_magic[ \t]+(?:-p[ \t]+(?:\"[^\"]*\"|'[^']*'|\S+)[ \t]+|-\w+[ \t]+)*(\w+)[ \t]+(\w+)"
)
_OUTPUTS = re.compile(r"(?:^|\s)--(?:out|err|proc)(?:\s+|=)([A-Za-z_]\w*)")
_CAPTURED = re.compile(r"\s*(?:--\S+\s+)*([A-Za-z_]\w*)\s*")
_ELSEWHERE = re.compile(
    r"([ \t]*)(?:%time[ \t]+)?%(?:run|load|loadpy|rerun|pylab|edit|ed|paste|cpaste|recall|rep|macro"
    r"|store[ \t]+-r[ \t]*$)(?:[ \t].*)?$"
)
_WITHOUT_SIGN = re.compile(r"[ \t]*(?:run|load|loadpy|rerun|store)[ \t]+(?:-|[\w./~$])[^=(]*")
"""A magic that IPython knows without its `%`: the line is no statement of Python."""

_RESTORES_ALL = re.compile(r"^[ \t]*store[ \t]+-r[ \t]*$", re.MULTILINE)
_SETS_NAMES = re.compile(
    r"get_ipython\(\)\.(?:ex|push|user_ns|user_global_ns|user_module|run_code|safe_execfile)\b"
    r"|\beval\(.*\b(?:globals|locals|exec|setattr)\b"
    r"|^import .*\b__main__|\b__main__\.\w|\bsetattr\(__main__|modules\[.__main__.\]"
)
"""A statement that sets names in the names of the program, by other means than an assignment."""

_RESTORED = re.compile(r"([ \t]*)%store[ \t]+-r[ \t]+([A-Za-z_][\w \t]*)")
_WRITES = frozenset(("writefile", "file"))
_COMMAND = re.compile(r"([ \t]*)(?:[!%?]|\w[\w.]*\?{1,2}[ \t]*$)")
_TARGET = r"[\w., \t]+(?:\[[^\[\]=]*\][ \t]*)?=[ \t]*"
_RESULT = re.compile(rf"([ \t]*{_TARGET})[!%]\w.*")
_TIMED = re.compile(
    rf"([ \t]*)((?!\s){_TARGET})?%(?:(time)"
    r"|timeit(?:[ \t]+-(?:[nrpv][ \t]*\S+|[^\Wnrpv]\w*))*"
    r"|prun(?:[ \t]+-(?:[lsTD][ \t]*\S+|[^\WlsTD]\w*))*"
    r"|memit(?:[ \t]+-(?:[rt][ \t]*\S+|[^\Wrt]\w*))*"
    r"|(?:lprun|mprun)(?:[ \t]+-[fmDTsu][ \t]*\S+|[ \t]+-\w)*|(?:snakeviz|pyinstrument)(?:[ \t]+-\S+)*"
    r")[ \t]+([^\s!%?-].*)",
    re.DOTALL,
)
"""A magic that runs the statement after its options; only `%time` returns the value of it."""

_LINE_END = re.compile(r"\r\n?")
"""What Python, and Jupyter when it opens a notebook, turn into a line feed."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Code; ``number`` counts the code cells of a notebook from 1, and is 0 for a program.

    ``is_apart``: another process runs it. ``sets``: names that the shell commands of the cell set.
    """

    number: int
    code: str
    is_apart: bool = False
    sets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookProgram:
    """The cells, and the files that cells write: path → text."""

    cells: tuple[Cell, ...]
    files: dict[str, str]
    is_notebook: bool


def is_sdk_program(name: str) -> bool:
    """Return whether a file is read as a notebook or program, by its name."""
    return name.lower().endswith((".ipynb", ".py"))


def is_notebook(data: object) -> bool:
    """Return whether JSON is that of a notebook."""
    return isinstance(data, dict) and isinstance(data.get("cells"), list) and "nbformat" in data


def read_program(name: str, content: bytes) -> NotebookProgram:
    """Return the cells of a notebook, or those of a program; raise `RequestNotFound` if it is not readable."""
    if len(content) > MAX_BYTES:
        raise RequestNotFound(f"the file is larger than {MAX_BYTES >> 20} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise RequestNotFound("the file is not UTF-8") from fault
    if name.lower().endswith(".py"):
        return NotebookProgram(cells=(Cell(0, _with_doubts(_LINE_END.sub("\n", text))),), files={}, is_notebook=False)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the notebook is not valid JSON") from fault
    listed = _listed(data)
    if listed is None:
        raise RequestNotFound("the file has no `cells` and `nbformat`, so it is not a notebook")
    return _cells(listed)


def _listed(data: object) -> list[object] | None:
    """Return the cells; those of format 3 are in worksheets. None if this is not a notebook."""
    if not isinstance(data, dict) or "nbformat" not in data:
        return None
    if is_notebook(data):
        return list(data["cells"])
    sheets = data.get("worksheets")
    if not isinstance(sheets, list):
        return None
    inner = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in inner if isinstance(cells, list) for cell in cells]


def _cells(listed: list[object]) -> NotebookProgram:
    cells: list[Cell] = []
    files: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for number, written in enumerate(filter(None, map(_code, listed[:MOST_CELLS])), start=1):
        text = _without_aliases(written, aliases)
        magic = _CELL_MAGIC.fullmatch(text)
        sets = tuple(_OUTPUTS.findall(magic[2])) if magic else ()
        if magic is None or magic[1] in _SAME_LANGUAGE:
            if magic and magic[1] == "capture" and (captured := _CAPTURED.fullmatch(magic[2])):
                sets = (captured[1],)
            if magic and magic[1] in _OF_ITS_OWN:
                sets = _set_by(without_commands(magic[3]))
            cells.append(Cell(number, _with_doubts(without_commands(magic[3] if magic else text)), sets=sets))
        elif magic[1] in _APART or (magic[1] not in _NO_PYTHON and not sets and _is_code(without_commands(magic[3]))):
            cells.append(Cell(number, without_commands(magic[3]), is_apart=True, sets=sets))
        elif sets:
            cells.append(Cell(number, "", sets=sets))
        elif magic[1] in _WRITES:
            _write(files, magic[2], magic[3])
    return NotebookProgram(cells=tuple(cells), files=files, is_notebook=True)


def _without_aliases(text: str, aliases: dict[str, str]) -> str:
    """Return a cell with the magics that `%alias_magic` has given other names, and learn those of this cell."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if (used := _USED_MAGIC.match(line)) and used[2] in aliases:
            lines[index] = f"{used[1]}{aliases[used[2]]}{line[used.end() :]}"
        if (alias := _ALIAS.match(line)) is not None:
            aliases[alias[1]] = aliases.get(alias[2], alias[2])
    return "\n".join(lines)


def _set_by(code: str) -> tuple[str, ...]:
    """Return the names that code sets."""
    tree = tree_or_error(SourceText("cell", code))
    parts = ast.walk(tree) if isinstance(tree, ast.Module) else ()
    return tuple(
        dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    )


def _code(cell: object) -> str:
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return ""
    source = cell.get("source", cell.get("input"))  # `input` in format 3
    lines = [source] if isinstance(source, str) else source if isinstance(source, list) else []
    return _LINE_END.sub("\n", "".join(line for line in lines if isinstance(line, str)))


def _write(files: dict[str, str], words: str, text: str) -> None:
    names = [word for word in words.split() if not word.startswith("-")]
    if len(names) != 1:
        return
    path = posixpath.normpath(names[0].strip("\"'"))
    if path.startswith(("/", "..", "~")) or "$" in path or "{" in path:
        return
    files[path] = files.get(path, "") + text if "-a" in words.split() else text


def without_commands(text: str) -> str:
    """Return the code without shell commands and magics; the number of lines stays the same.

    What `%time` and its like run is code.
    """
    return _replaced(_with_signs(_dedented(text)))


def _replaced(text: str) -> str:
    lines = text.split("\n")
    is_continued = False
    kept = 0
    for index, line in enumerate(lines):
        if index < kept:
            continue
        command = _COMMAND.match(line)
        if not is_continued and (run := _run_by_magic(lines, index)):
            kept = index + len(run)
            lines[index:kept] = run
        elif not is_continued and (elsewhere := _ELSEWHERE.fullmatch(line)):
            lines[index] = f"{elsewhere[1]}{RUN_ELSEWHERE}({line.strip()!r})"
        elif not is_continued and (restored := _RESTORED.fullmatch(line)):
            lines[index] = f"{restored[1]}{' = '.join([*restored[2].split(), NOT_KNOWN])}"
        elif is_continued or command:
            ends_open = line.rstrip().endswith("\\")
            lines[index] = "" if is_continued or command is None else f"{command[1]}pass"
            is_continued = ends_open
        elif result := _RESULT.fullmatch(line):
            lines[index] = f"{result[1]}{NOT_KNOWN}"
            is_continued = line.rstrip().endswith("\\")
    return "\n".join(lines)


def _with_doubts(code: str) -> str:
    """Return code with a call of `RUN_ELSEWHERE` after each statement that sets names in another way."""
    if not ("__main__" in code or "get_ipython" in code or "eval(" in code):
        return code
    tree = tree_or_error(SourceText("cell", code))
    if not isinstance(tree, ast.Module):
        return code
    lines = code.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Import | ast.Delete):
            continue
        text = ast.unparse(node)
        at, end = (node.end_lineno or node.lineno) - 1, node.end_col_offset or 0
        if _SETS_NAMES.search(text) and at < len(lines):
            line = lines[at].encode()
            doubt = f"; {RUN_ELSEWHERE}({text[:60]!r})"
            lines[at] = f"{line[:end].decode()}{doubt}{line[end:].decode()}"
    found = "\n".join(lines)
    return found if isinstance(tree_or_error(SourceText("cell", found)), ast.Module) else code


def _dedented(text: str) -> str:
    """Return a cell without the blanks that its first line begins with, as IPython does."""
    blanks = re.match(r"[ \t]+(?=\S)", text)
    return re.sub(rf"^{re.escape(blanks[0])}", "", text, flags=re.MULTILINE) if blanks else text


def _is_code(text: str) -> bool:
    return isinstance(tree_or_error(SourceText("cell", text)), ast.Module)


def _with_signs(text: str) -> str:
    """Return a cell with the `%` that IPython adds to a line which is no Python, if the cell is none without it."""
    is_code = _is_code(_replaced(text))
    if is_code and (
        _RESTORES_ALL.search(text) is None or re.search(r"\bstore\b[^-\n]*=|import.*\bstore\b|\"\"\"", text)
    ):
        return text
    lines = [
        re.sub(r"^([ \t]*)", r"\1%", line)
        if _RESTORES_ALL.fullmatch(line) or (_WITHOUT_SIGN.fullmatch(line) and not _is_code(line.strip()))
        else line
        for line in text.split("\n")
    ]
    return "\n".join(lines) if _is_code(_replaced("\n".join(lines))) else text


def _run_by_magic(lines: list[str], start: int) -> list[str]:
    """Return the lines of the statement that a magic such as `%time` runs; none if the line is no such magic."""
    if "%" not in lines[start]:
        return []
    end = start
    while end < len(lines) - 1 and lines[end].rstrip().endswith("\\"):
        end += 1
    found = _TIMED.fullmatch("\n".join(lines[start : end + 1]))
    if found is None:
        return []
    indent, target, is_plain, statement = found.groups()
    if "timeit" in lines[start].partition(statement)[0]:
        statement = "; ".join([statement, *(f"{name} = {NOT_KNOWN}" for name in _set_by(statement))])
    if target:
        statement = f"{target}{statement}" if is_plain else f"{target}{NOT_KNOWN}; {statement}"
    is_code = isinstance(tree_or_error(SourceText("line", statement)), ast.Module)
    return f"{indent}{statement}".split("\n") if is_code else []


def code_of_magic(method: str, words: list[object]) -> str | None:
    """Return the code that a method of `get_ipython()` runs, as in a notebook that is now a program; None if none."""
    texts = [word for word in words if isinstance(word, str)]
    if method == "run_cell_magic" and len(texts) == len(words) == 3 and texts[0] in _SAME_LANGUAGE:
        return without_commands(texts[2])
    line = " ".join(texts) if method == "run_line_magic" else texts[0] if method == "magic" and texts else ""
    run = _run_by_magic([f"%{line.lstrip('%')}"], 0) if line else []
    return run[0] if run else None


def unreadable(cell: Cell, error: SyntaxError | None) -> str:
    """Return the place and the cause. ``error`` None: the parser did not get as far as the syntax."""
    where = f"cell {cell.number}, " if cell.number else ""
    before, found, _ = cell.code.partition("\0")
    if found:
        return f"{where}line {before.count(chr(10)) + 1}: a NUL byte"
    if error is None:
        return f"{where}line 1: it is too large, or nested too deep"
    return f"{where}line {error.lineno or 1}: {error.msg}"
