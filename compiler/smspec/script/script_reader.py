"""Read the text of a script: its arguments, channels, and hyperparameters."""

from __future__ import annotations

from smspec.script.parse_limits import ScriptUnreadable, is_readable
from smspec.script.program import Program
from smspec.script.script_files import Source
from smspec.source import SourceText


def read_script(text: SourceText, source: Source) -> Program:
    """Return what is known about a script. Raise `ScriptUnreadable`."""
    return _read(text, source, "__main__", None)


def read_handler(text: SourceText, module: str, name: str, source: Source) -> Program:
    """Return what is known about a function or class ``name`` that is called with the job, or that it is missing.

    Raises `ScriptUnreadable`.
    """
    from smspec.script.handler_names import definitions, lacks  # imported late: few scripts are handlers

    if lacks(text.text, name):
        return Program(texts=(text,), missing_handler=name, definitions=definitions(text.text))
    asks = any(word in text.text for word in ("hyperparameters", "channel", "/opt"))
    return _read(text, source, module, name) if asks else Program(texts=(text,))


def _read(text: SourceText, source: Source, module: str, handler: str | None) -> Program:
    if not is_readable(text.text):
        raise ScriptUnreadable("it is too long or too deeply nested to follow")
    from smspec.script.tracing import followed  # imported late: `ast` is only needed for Python scripts

    return followed(text, source, module, handler)
