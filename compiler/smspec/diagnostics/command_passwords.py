"""Passwords in commands without a name for them, such as `curl -u user:password`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WITHIN = r"[^\n|;&]{0,200}?"
"""More of the same command; bounded, because a text may contain its name a thousand times."""
_VALUE = r"""(?P<value>(?:[^\s"',\\]|\\(?![\\"']))+)"""
_QUOTE = r"""(?:\\{0,3}["'])?"""
_NEXT = rf"""(?:[ =]|\\{{0,3}}["'],[ ]?\\{{0,3}}["'])?{_QUOTE}"""

# A word that every such command contains, and the command.
_COMMANDS = (
    ("curl", rf"""\bcurl\b{_WITHIN}\s{_QUOTE}(?:-[uU]|--(?:proxy-)?user){_NEXT}[^\s:"'\\]+:{_VALUE}"""),
    ("mysql", rf"""\bmysql(?:dump|admin|import)?\b{_WITHIN}\s{_QUOTE}-p{_VALUE}"""),
    ("mariadb", rf"""\bmariadb\b{_WITHIN}\s{_QUOTE}-p{_VALUE}"""),
    ("sshpass", rf"""\bsshpass\b{_WITHIN}\s{_QUOTE}-p{_NEXT}{_VALUE}"""),
    (
        "login",
        rf"""\b(?:docker|podman|nerdctl|helm|az|oras|crane|skopeo)\b[^\n|;&]{{0,40}}?\slogin\b{_WITHIN}\s-p{_NEXT}{_VALUE}""",
    ),
    ("redis-cli", rf"""\bredis-cli\b{_WITHIN}\s{_QUOTE}-a{_NEXT}{_VALUE}"""),
    ("openssl", rf"""\bopenssl\b{_WITHIN}\s{_QUOTE}-pass(?:in|out)?{_NEXT}pass:{_VALUE}"""),
)


def command_passwords(text: str) -> Iterator[re.Match[str]]:
    """Yield commands with a password, which is their group `value`."""
    for word, pattern in _COMMANDS:
        if word in text:
            yield from re.finditer(pattern, text)
