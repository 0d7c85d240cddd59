"""What authors write in place of a secret: a reference to where it is stored, or a placeholder.

A reference is shown unchanged, so only clear ones count. A placeholder is masked, but not reported.
"""

from __future__ import annotations

import re

from smspec.diagnostics.randomness import is_words

_VARIABLE = (
    r"\$\{\{[^{}]*\}\}|\$\{[\w.]+(?::[?+][^{}]*|:?-)?\}|\$[A-Z_][A-Z0-9_]*|\$[a-z]+(?:_[a-z0-9]+)+"
    r"|%[A-Za-z_][A-Za-z0-9_]*%"
)
# Variables in a row (`${USER}:${PASSWORD}`), templates, and references of vaults and secret stores.
_REFERENCE = (
    rf"(?:(?:{_VARIABLE})[:@/ ]?)+|\$\([^()]*\)|\{{\{{[^{{}}]*\}}\}}"
    r"|(?i:ENC\[[^\[\]]*\]|@microsoft\.keyvault\(.*\)|arn:[\w-]+:[\w-]+:[\w-]*:[0-9]*:\S+|alias/[\w/-]+)"
    r"|(?i:(?:ssm|secretsmanager|vault|op|env|ref\+\w+|doppler|awssm|gcpsm|akv|keyring|secret)://?[\w/.#{}$:@ -]*)"
    r"|(?i:(?:env|file|vault|ssm|secretsmanager|aws|op|secret|keyring):[\w/.#-]+)|projects/[\w-]+/secrets/[\w/-]+"
)
# URLs and paths refer to a secret, unless a part of them is one.
_PLACE = (
    r"(?:s3|https?|file)://[^\s@?]*|[./~][\w./-]*/[^\s]*|[\w.-]+/[\w./-]*\.(?:txt|json|ya?ml|pem|key|env|cfg|ini|toml)"
)
_RANDOM_PART = r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+=_~-]{10,}|[0-9a-f]{20,}"
_NOTHING = r"(?i)true|false|null|none|yes|no|on|off"
_IN_BRACKETS = r"<([^<>]*)>|\(([^()]*)\)|\[([^\[\]]*)\]"
# Placeholders in documentation and templates.
_PLACEHOLDER = (
    r"(?i)change[-_ ]?(?:me|this)|replace[-_ ]?(?:me|with|this)"
    r"|(?:\b|(?<=_))_?(?:your|insert|enter|put|paste)[-_ ]|[-_ ]here\b"
    r"|place-?_?holder|redact(?:ed)?|example|dummy|to-?do\b|fix-?me|x{3,}|\.{3}|…|_goes_|\bsample[-_]|\bfake[-_]"
    r"|not[-_]?(?:set|used|a[-_]secret)|\*+"
)
# Keys in the documentation of AWS.
_PRINTED = r"(?:AKIA|ASIA)[A-Z0-9]*EXAMPLE|(?:wJalrXUtnFEMI|je7MtGbClwBF)/[A-Za-z0-9/]*EXAMPLEKEY"
_COUNTED = "01234567890 abcdefghijklmnopqrstuvwxyz 0123456789abcdefghijklmnopqrstuvwxyz"


def is_reference(text: str) -> bool:
    """Return whether a value clearly refers to a stored secret, or means that there is none."""
    if re.fullmatch(_REFERENCE, text) or re.fullmatch(_NOTHING, text):
        return True
    return re.fullmatch(_PLACE, text) is not None and not _has_random_part(text)


def is_placeholder(text: str) -> bool:
    """Return whether all of a value is a placeholder; a random string that contains the word `example` is not."""
    if re.fullmatch(_PRINTED, text):
        return True
    bracketed = re.fullmatch(_IN_BRACKETS, text)
    inner = next((group for group in bracketed.groups() if group is not None), "") if bracketed else text
    rest, count = re.subn(_PLACEHOLDER, " ", inner)
    if not count and not bracketed:
        return False
    return all(piece.lower() in _COUNTED or is_words(piece) for piece in re.split(r"[\s_./,:;+#-]+", rest))


def _has_random_part(text: str) -> bool:
    return any(re.fullmatch(_RANDOM_PART, part) and not is_words(part) for part in re.split(r"[/.:]", text))
