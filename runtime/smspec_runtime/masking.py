"""Keeps secrets out of our log lines and the failure file."""

import re

from .lean_typing import Any, List, Mapping, Sequence, Tuple

MASK = "******"
_SECRETS = "password passwd passphrase secret token credential apikey privatekey accesskey authkey"
_HARMLESS_ENDS = "arn parameter param file path dir id ids type length"
_SHORTEST = 6  # Characters; a shorter value would blacken unrelated words.
_KEY = re.compile(r"""(?<![\w.-])([\w.-]+)([\\"']*\s*[=:]\s*|\s+)""")
_VALUE = re.compile(r"""(?s)(?!--)(?:"(?:\\.|[^"\\])*"?|'[^']*'?|[^\s"']+)+""")


def is_secret(key: str) -> bool:
    words = key.lower().replace("-", "_").replace(".", "_").split("_")
    name = "".join(words)
    if words[-1] in _HARMLESS_ENDS.split() or "tokeniz" in name or "tokenis" in name or name.endswith("tokens"):
        return False
    return any(secret in name for secret in _SECRETS.split())


def secret_values(hyperparameters: Mapping[str, Any]) -> List[str]:
    """Return the values, as text, that have the name of a secret or lie below one."""
    found = []
    waiting: List[Tuple[bool, Any]] = [(False, hyperparameters)]
    while waiting:  # However deep they are nested.
        is_inside, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(is_inside or is_secret(key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(is_inside, inner) for inner in value]
        elif is_inside:
            found.append(str(value))
    return found


def masked_command(words: Sequence[str], secrets: Sequence[str]) -> str:
    """Return a command with its secrets masked: these, and whatever follows the name of one."""
    shown = []
    stop = ""  # What does not begin with it is a value of a secret option.
    for word in words:
        if stop and not word.startswith(stop):
            shown.append(MASK)
            stop = "-"
        else:
            shown.append(_masked_values(masked_text(word, secrets)))
            stop = "--" if word[:1] == "-" and "=" not in word and is_secret(word) else ""
    return " ".join(shown)


def masked_text(text: str, secrets: Sequence[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, MASK)
    return text


def _masked_values(text: str) -> str:
    """Mask what stands behind the name of a secret, in JSON and commands of a shell too; rather too much of it."""
    shown, end = "", 0
    for key in _KEY.finditer(text):
        is_option = key[1][0] == "-" or not key[2].isspace()
        if key.start() >= end and is_option and is_secret(key[1]):
            value = _VALUE.match(text, key.end())
            if value:
                shown += text[end : value.start()] + MASK
                end = value.end()
    return shown + text[end:]
