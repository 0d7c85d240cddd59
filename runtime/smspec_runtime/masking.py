"""Masks secrets in log lines and the failure file."""

import json
import os
import re

from .hyperparameters import decoded
from .lean_typing import Any, Environ, Iterator, List, Sequence
from .secret_names import LIKELY, strength
from .token_formats import without_tokens

MASK = "******"
_SHORTEST = 6  # Characters; shorter ones occur in other words.
_SURELY_UNIQUE = 12
_COMMON = (
    r"[\W_]*|[a-z-]{3,8}(north|south|east|west|central)+-\d|passwor[dt]|secrets?|default|disabled|enabled|required"
    "|optional|unknown|changeme|example|anonymous|offline|online|localhost|training|production|development|postgres"
    "|public|private|service|account|undefined|placeholder|environment|sagemaker"
)
"""Masked, these would hide causes of failures."""
_QUOTED = re.compile(r"(?a)[^\w.~-]")  # In a URL.
_KEY = re.compile(r"""(?<![\w.-])([\w.-]+)([\\"']*\s*[=:]\s*|\s+)""")
_VALUE = re.compile(r"""(?s)(?!--)(?:"(?:\\.|[^"\\])*"?|'[^']*'?|[^\s"']+)+""")


def is_secret(name: str) -> bool:
    return strength(name) >= LIKELY


def secret_values(hyperparameters: Any) -> List[str]:
    """The values with the name of a secret, or below one."""
    found, waiting = [], [(False, hyperparameters)]
    while waiting:
        is_inside, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(is_inside or is_secret(key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(is_inside, inner) for inner in value]
        elif is_inside:
            found.append(str(value))
    return found


def fetched_values(texts: Sequence[str]) -> List[str]:
    return [*texts, *secret_values({"secret": [*map(decoded, texts)]})]


def secret_variables(environ: Environ) -> List[str]:
    """Those of variables; a path only refers to a secret."""
    return [value for name, value in environ.items() if is_secret(name) and not os.path.exists(value)]


def secret_arguments(words: Sequence[str]) -> List[str]:
    """Of `--password x`, `--token=x`."""
    pairs = re.findall(r"(?:^|\0)(?=([^\0=]+)[\0=]([^\0]+))", "\0".join(words))
    return secret_values([dict([pair]) for pair in pairs])


def masked_command(words: Sequence[str], secrets: Sequence[str]) -> str:
    """Mask these, and what follows the name of a secret."""
    shown = []
    stop = ""  # Without it a word is a value.
    for word in words:
        if stop and not word.startswith(stop):
            shown.append(MASK)
            stop = "-"
        else:
            shown.append(_masked_values(masked_text(word, secrets)))
            stop = "--" if word[:1] == "-" and "=" not in word and is_secret(word) else ""
    return " ".join(shown)


def masked_text(text: str, secrets: Sequence[str]) -> str:
    """Mask known formats, and these values in any form."""
    forms = {form for secret in secrets for form in _forms(secret)}
    for form in sorted(forms, key=len, reverse=True):
        if form not in text:
            continue
        if len(form) < _SURELY_UNIQUE and form.isalnum():
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", MASK, text)
        else:
            text = text.replace(form, MASK)
    return without_tokens(text, MASK)


def _forms(secret: str) -> Iterator[str]:
    """How a program may write a value or its lines."""
    lines = secret.splitlines()
    for part in {secret, secret.strip(), *(line.strip() for line in lines if len(lines) > 1)}:
        if len(part) < _SHORTEST or re.fullmatch(_COMMON, part.lower()):
            continue
        quoted = _QUOTED.sub(_percent, part)
        yield from (part, json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1], repr(part)[1:-1])
        yield from (quoted, quoted.replace("%20", "+"), quoted.replace("%2F", "/"))
        yield json.dumps(json.dumps(part))[3:-3]
        yield part.replace("'", "'\"'\"'")  # as shlex quotes it


def _percent(character: "re.Match[str]") -> str:
    return "".join(f"%{byte:02X}" for byte in character[0].encode("utf-8", "surrogateescape"))


def _masked_values(text: str) -> str:
    """Mask the values of secret names, or more."""
    shown, end = "", 0
    for key in _KEY.finditer(text):
        is_option = key[1][0] == "-" or not key[2].isspace()
        if key.start() >= end and is_option and is_secret(key[1]) and (value := _VALUE.match(text, key.end())):
            shown += text[end : value.start()] + MASK
            end = value.end()
    return shown + text[end:]
