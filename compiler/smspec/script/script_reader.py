"""Read the text of a script: its arguments, channels, and hyperparameters.

Arguments that its parser does not know are dropped, unless the script reads hyperparameters in another way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from smspec.script.parsing import ScriptUnreadable, is_readable
from smspec.script.program import Program, bare
from smspec.script.script_files import ScriptSource
from smspec.source import SourceText
from smspec.source.frozen import replace

_OTHER_WAYS = (
    r"SM_HPS|SM_HP_|SM_USER_ARGS|SM_TRAINING_ENV|hyperparameters\.json|smspec_runtime|sagemaker_training"
    r"|sagemaker_containers|\bargv\b|\bflags\b"
    r"|^[ \t]*(?:from|import)[ \t]+(?:absl|click|colossalai|deepspeed|detectron2|fairseq|fire|hydra|jsonargparse"
    r"|lightning|megatron|mmcv|mmengine|nemo|parlai|pytorch_lightning|tensorflow_models|typer)\b"
)
"""Other ways to read hyperparameters, and libraries that may read the command line themselves."""

_QUOTED = r"""["']-{0,2}([A-Za-z0-9][\w.-]*)"""


def read_script(text: SourceText, source: ScriptSource) -> Program:
    """Return what is known about a script. Raise `ScriptUnreadable`."""
    return _read(text, source, "__main__", None)


def read_handler(text: SourceText, module: str, name: str, source: ScriptSource) -> Program:
    """Return what is known about a function or class ``name`` that is called with the job, or that it is missing.

    Raises `ScriptUnreadable`.
    """
    from smspec.script.handlers import definitions, lacks  # imported late: few scripts are handlers

    if lacks(text.text, name):
        return Program(texts=(text,), missing_handler=name, definitions=definitions(text.text))
    asks = any(word in text.text for word in ("hyperparameters", "channel", "/opt"))
    return _read(text, source, module, name) if asks else Program(texts=(text,))


def _read(text: SourceText, source: ScriptSource, module: str, handler: str | None) -> Program:
    if not is_readable(text.text):
        raise ScriptUnreadable("it is too long or too deeply nested to follow")
    from smspec.script.tracing import followed  # imported late: `ast` is only needed for Python scripts

    return followed(text, source, module, handler)


def confirmed(program: Program, texts: Sequence[str] | None) -> Program:
    """Return the script, with the quoted names in the Python files of its source where it may drop arguments.

    ``texts`` None: there are too many files.
    """
    if not any(line.drops for line in program.command_lines):
        return program
    if texts is None or any(re.search(_OTHER_WAYS, text, re.MULTILINE) for text in texts):
        lines = tuple(replace(line, drops=False) for line in program.command_lines)
        return replace(program, command_lines=lines)
    return replace(program, mentioned=frozenset(bare(name) for text in texts for name in re.findall(_QUOTED, text)))
