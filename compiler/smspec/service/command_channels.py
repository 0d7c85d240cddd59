"""The command of a request: which of its words are paths in channels, and which of them is the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.service.members import items
from smspec.service.request import Request
from smspec.source import Path
from smspec.source.frozen import dataclass

# Patterns are strings, compiled only when a request needs them.
_IN_CHANNEL = r"/opt/ml/input/data/(?P<channel>[A-Za-z0-9._-]+)"
_WHOLE_WORD = rf"(?s)(?:--?[A-Za-z][A-Za-z0-9_-]*=)?{_IN_CHANNEL}(?:/.*)?"
_PROGRAM = rf"(?s){_IN_CHANNEL}/.+"
_SUFFIX = r"\S+\.(?:py|sh|bash|R|r|jl|pl|js|jar)"
_INTERPRETER = r"(?:\S*/)?(?:python[0-9.]*|(?:ba|da|z|k)?sh|Rscript|julia|perl|node|exec|env)"
# In a shell command, a program is at the beginning of a command, or after what reads it.
_IN_SHELL_TEXT = (
    r"(?:^|[;&|(\n]|(?<![\w.-])(?:exec|source|\.|sh|bash|python[0-9.]*|Rscript)\s)\s*(?:-[A-Za-z]+\s+)*"
    + _IN_CHANNEL
    + r"/\S"
)
# Such a command may create the directory, or check first whether it exists.
_IS_HEDGED = r"\bmkdir\b|\btest\s|\[\s"
_LONGEST_WORD = 256
_FILE_BESIDE_A_CHANNEL = r"(?P<channel>.+)(?:_[0-9]+|-manifest)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelWord:
    """A word of ContainerEntrypoint or ContainerArguments that is a path in ``channel``."""

    path: Path
    text: str
    channel: str

    def leads_to(self, name: str) -> bool:
        """Return whether ``name`` is the channel: its directory, one of its FIFOs `name_0`, or its manifest."""
        beside = re.fullmatch(_FILE_BESIDE_A_CHANNEL, self.channel)
        return name == self.channel or (beside is not None and beside["channel"] == name)


def channel_words(request: Request) -> Iterator[ChannelWord]:
    """Yield every word that is a path in a channel, and every program that a shell command starts from one."""
    for path, text in _words(request):
        match = re.fullmatch(_WHOLE_WORD, text)
        if match is None:
            yield from _in_shell_text(path, text)
        elif match["channel"] not in (".", ".."):
            yield ChannelWord(path=path, text=text, channel=match["channel"])


def program_words(request: Request) -> Iterator[ChannelWord]:
    """Yield the program of the command if it is in a channel; for a shell command, all programs from channels.

    The program is the first word, or the argument of an interpreter, or else the first word with the suffix of a
    script.
    """
    reads_next = True
    for path, text in _words(request):
        started = list(_in_shell_text(path, text)) if re.search(r"\s", text) else []
        if started:
            yield from started
            return
        if (reads_next and not re.fullmatch(_INTERPRETER, text) and not text.startswith("-")) or re.fullmatch(
            _SUFFIX, text
        ):
            match = re.fullmatch(_PROGRAM, text)
            if match:
                yield ChannelWord(path=path, text=text, channel=match["channel"])
                return
            if re.fullmatch(_SUFFIX, text):
                return
            reads_next = False


def _words(request: Request) -> Iterator[tuple[Path, str]]:
    for name in ("ContainerEntrypoint", "ContainerArguments"):
        for index, word in enumerate(items(request.algorithm, name)):
            if isinstance(word, str) and len(word) <= _LONGEST_WORD:
                yield ("AlgorithmSpecification", name, index), word


def _in_shell_text(path: Path, text: str) -> Iterator[ChannelWord]:
    if not re.search(_IS_HEDGED, text):
        for match in re.finditer(_IN_SHELL_TEXT, text):
            if match["channel"] not in (".", ".."):
                yield ChannelWord(path=path, text=text, channel=match["channel"])
