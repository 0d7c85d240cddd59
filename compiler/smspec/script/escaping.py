"""The effects of a function that escapes: other code may run it at any time, or never."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.call_effects import ENDING_METHODS, EXITS, FRAMES, LISTS, sees_all
from smspec.script.external_names import Named

if TYPE_CHECKING:
    import ast

    from smspec.script.frame import Frame
    from smspec.script.interpreter import Interpreter

NODES_A_STEP = 8
"""Nothing in them is followed, so a step is cheap."""


def leak(run: Interpreter, node: ast.AST, frame: Frame) -> None:
    """Treat everything that the code of ``node`` names as unknown; ``frame`` is where it looks up names."""
    code = run.codes.of(node)
    run.step(1 + code.size // NODES_A_STEP)
    for name, attributes in code.free.items():
        frame.leak(name, attributes)
    for imported, uses in code.imports:
        run.imported_by_others(imported, uses, frame)
    for name in code.shared:
        frame.forget_for_good(name)
    reached = {full_name(frame, name) for name in code.names}
    for name in sorted(filter(sees_all, reached)):
        run.sees(name, frame)
    if FRAMES & code.attributes:
        run.handed_on("globals")
    if (
        ENDING_METHODS & code.attributes
        or reached & EXITS
        or any(full_name(frame, name) == "SystemExit" for name in code.raised)
    ):
        run.ends()
    for name in code.changed:
        if (full := full_name(frame, name)) in LISTS:
            run.handed_on(full)


def full_name(frame: Frame, dotted: str) -> str:
    """Return the full name of something of another module, or of a builtin; empty for everything else."""
    root, dot, rest = dotted.partition(".")
    found = frame.get(root)
    if isinstance(found, Named):
        return found.name + dot + rest
    return dotted if found is None else ""
