"""Whether arguments that a parser does not know are dropped: not if the script reads hyperparameters in another way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from smspec.script.program import Program, bare
from smspec.source.frozen import replace

_OTHER_WAYS = re.compile(
    r"SM_HPS|SM_HP_|SM_USER_ARGS|SM_TRAINING_ENV|hyperparameters\.json|smspec_runtime|sagemaker_training"
    r"|sagemaker_containers|\bargv\b|\bflags\b"
    r"|^[ \t]*(?:from|import)[ \t]+(?:absl|click|colossalai|deepspeed|detectron2|fairseq|fire|hydra|jsonargparse"
    r"|lightning|megatron|mmcv|mmengine|nemo|parlai|pytorch_lightning|tensorflow_models|typer)\b",
    re.MULTILINE,
)
"""Other ways to read hyperparameters, and libraries that may read the command line themselves."""

_QUOTED = re.compile(r"""["']-{0,2}([A-Za-z0-9][\w.-]*)""")


def confirmed(program: Program, texts: Sequence[str] | None) -> Program:
    """Return the script, with the quoted names in the Python files of its source where it may drop arguments.

    ``texts`` None: there are too many files.
    """
    if not any(line.drops for line in program.command_lines):
        return program
    if texts is None or any(_OTHER_WAYS.search(text) for text in texts):
        lines = tuple(replace(line, drops=False) for line in program.command_lines)
        return replace(program, command_lines=lines)
    return replace(program, mentioned=frozenset(bare(name) for text in texts for name in _QUOTED.findall(text)))
