"""Why a cell or program cannot be read, and where."""

from __future__ import annotations

from smspec.importer.sdk.notebook import Cell


def unreadable(cell: Cell, error: SyntaxError | None) -> str:
    """Return the place and the cause. ``error`` None: the parser did not get as far as the syntax."""
    where = f"cell {cell.number}, " if cell.number else ""
    before, found, _ = cell.code.partition("\0")
    if found:
        return f"{where}line {before.count(chr(10)) + 1}: a NUL byte"
    if error is None:
        return f"{where}line 1: it is too large, or nested too deep"
    return f"{where}line {error.lineno or 1}: {error.msg}"
