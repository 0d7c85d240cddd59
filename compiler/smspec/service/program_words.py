"""The command of a request: which of its words lead into channels, and which of them is the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.service.members import items
from smspec.service.request import Request
from smspec.source import Path
from smspec.source.frozen import dataclass

_IN_CHANNEL = r"/opt/ml/input/data/(?P<channel>[A-Za-z0-9._-]+)"
_WHOLE_WORD = re.compile(rf"(?:--?[A-Za-z][\w-]*=)?{_IN_CHANNEL}(?:/.*)?", re.ASCII | re.DOTALL)
_PROGRAM = re.compile(rf"{_IN_CHANNEL}/.+", re.DOTALL)
_SUFFIX = re.compile(r"\S+\.(?:py|sh|bash|R|r|jl|pl|js|jar)")
_INTERPRETER = re.compile(r"(?:\S*/)?(?:python[0-9.]*|(?:ba|da|z|k)?sh|Rscript|julia|perl|node|exec|env)")
# In a shell's text a program stands at the beginning of a command, or after what reads it.
_IN_SHELL_TEXT = re.compile(
    r"(?:^|[;&|(\n]|(?<![\w.-])(?:exec|source|\.|sh|bash|python[0-9.]*|Rscript)\s)\s*(?:-[A-Za-z]+\s+)*"
    + _IN_CHANNEL
    + r"/\S"
)
# Such a text may make the directory, or look first whether it is there.
_IS_HEDGED = re.compile(r"\bmkdir\b|\btest\s|\[\s")
_LONGEST_WORD = 256
_FILE_BESIDE_A_CHANNEL = re.compile(r"(?P<channel>.+)(?:_[0-9]+|-manifest)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelWord:
    """A word of ContainerEntrypoint or ContainerArguments that leads into ``channel``."""

    path: Path
    text: str
    channel: str

    def leads_to(self, name: str) -> bool:
        """Tell whether ``name`` is the channel: its directory, one of its FIFOs `name_0`, or the manifest beside it."""
        beside = _FILE_BESIDE_A_CHANNEL.fullmatch(self.channel)
        return name == self.channel or (beside is not None and beside["channel"] == name)


def channel_words(request: Request) -> Iterator[ChannelWord]:
    """Yield every word that is a path in a channel, and every program that a shell's text starts from one."""
    for path, text in _words(request):
        match = _WHOLE_WORD.fullmatch(text)
        if match is None:
            yield from _in_shell_text(path, text)
        elif match["channel"] not in (".", ".."):
            yield ChannelWord(path=path, text=text, channel=match["channel"])


def program_words(request: Request) -> Iterator[ChannelWord]:
    """Yield the program of the command if it lies in a channel; of a shell's text all that it starts from channels.

    The program is the first word, or what an interpreter is given, or else the first word that ends as scripts do.
    """
    reads_next = True
    for path, text in _words(request):
        started = list(_in_shell_text(path, text)) if re.search(r"\s", text) else []
        if started:
            yield from started
            return
        if (reads_next and not _INTERPRETER.fullmatch(text) and not text.startswith("-")) or _SUFFIX.fullmatch(text):
            match = _PROGRAM.fullmatch(text)
            if match:
                yield ChannelWord(path=path, text=text, channel=match["channel"])
                return
            if _SUFFIX.fullmatch(text):
                return
            reads_next = False


def _words(request: Request) -> Iterator[tuple[Path, str]]:
    for name in ("ContainerEntrypoint", "ContainerArguments"):
        for index, word in enumerate(items(request.algorithm, name)):
            if isinstance(word, str) and len(word) <= _LONGEST_WORD:
                yield ("AlgorithmSpecification", name, index), word


def _in_shell_text(path: Path, text: str) -> Iterator[ChannelWord]:
    if not _IS_HEDGED.search(text):
        for match in _IN_SHELL_TEXT.finditer(text):
            if match["channel"] not in (".", ".."):
                yield ChannelWord(path=path, text=text, channel=match["channel"])
