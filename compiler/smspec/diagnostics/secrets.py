"""Detect secrets: strings in a known format, or values with a secret name that look like one.

A name alone is not enough to report a value: half of the names in machine learning contain `token` or `key`. Showing a
value is stricter: with a secret name it is masked unless it clearly is not a secret.

What authors write in place of a secret is a reference to where it is stored, which is shown unchanged, so only clear
ones count, or a placeholder, which is masked, but not reported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from smspec.diagnostics.secret_formats import written_secrets
from smspec_runtime.secret_names import LIKELY, SURE, strength

_SHORTEST_SURE = 3
_SHORTEST_LIKELY = 8
_LEAST_ENTROPY = 2.5
"""Bits per character. A dozen random characters have more; `aaaa-1111-aaaa` has less."""
_NUMBER = r"[-+]?[0-9._,]+(?:[eE][-+]?[0-9]+)?[kKMGTB%]?"
_SHORT_NUMBER = r"-?[0-9.]{1,5}"
_BUILD = r"[0-9]+(?:\.[0-9a-z]+)+=[0-9a-z_.]+"
"""The version and the build of a package, as conda exports them after its name."""
# Values that enable or disable a service instead of a key.
_SETTING = r"(?i)disabled?|enabled?|default|auto|required|optional|offline|online|anonymous|dry-?run"
_OPTION = r"--[^=\s]+|-[A-Za-z][^=\s]{2,}"
# After any other word, such as `token`, the name may be about tokens in a text.
_CREDENTIAL = r"(?i)(?:secret|key|pat|credentials?|creds?|bearer|jwt)[0-9]*"

# `prod`, `v2`, `8bit`, `2024`, `DefaultChain`: random strings mix letters and digits more.
_WORD = (
    r"(?:[a-z]{1,14}[0-9]{0,2}|[A-Z]{1,14}[0-9]{0,2}|[0-9]{1,4}[a-z]{0,4}|[0-9]+"
    r"|[a-z]{0,12}(?:[A-Z][a-z]{1,11}[0-9]?|[A-Z]{2,4}(?=[A-Z][a-z]))+[0-9]?)?"
)
_BETWEEN_WORDS = r"[\s_./,:;+#-]+"
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_MIXED = r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+/=_.~-]{20,}"
_LEAST_RANDOM = 3.8
"""Bits per character of a string that counts as random."""

_VARIABLE = (
    r"\$\{\{[^{}]*\}\}|\$\{[\w.]+(?::[?+][^{}]*|:?-)?\}|\$[A-Z_][A-Z0-9_]*|\$[a-z]+(?:_[a-z0-9]+)+"
    r"|%[A-Za-z_][A-Za-z0-9_]*%"
)
COMMAND = r"\$\([^()\n]*\)|`[^`\n]*`"
"""What a shell replaces by the output of a command."""
_WRITES = r"(?:\b(?:echo|printf)\b|<<<)(?P<words>[^|;&>]*)"
_NOT_WRITTEN = r"(?:[\w.@+-]*:)?\$(?:\w+|\{\w+\})|%[a-z]|\\[a-z]|(?<!\S)-[neE]+(?!\S)"
"""In the words of such a command: variables, also after the name of a user, formats, and options."""
# Variables in a row (`${USER}:${PASSWORD}`), templates, and references of vaults and secret stores.
_REFERENCE = (
    rf"(?:(?:{_VARIABLE})[:@/ ]?)+|{COMMAND}|\{{\{{[^{{}}]*\}}\}}|[A-Za-z_]\w*(?:\.\w+)+\([0-9]*\)"
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


def secret_in(name: str, value: str) -> str | None:
    """Return what kind of secret a value looks like, given its name; None for none."""
    for what, _ in written_secrets(value):
        return what
    return "a secret" if is_named_secret(name, value) else None


def option_name(word: str) -> str:
    """Return the name of an option in a command whose value is the next word; else empty."""
    return word.lstrip("-") if re.fullmatch(_OPTION, word) else ""


def names_a_secret(name: str) -> bool:
    """Return whether a name is typical for secrets."""
    return strength(name) > 0


def is_named_secret(name: str, value: str) -> bool:
    """Return whether a value with a name is a secret, not a reference, a placeholder, or a harmless word."""
    return _is_any(_is_reported, strength(name), name, value)


def is_withheld(name: str, value: str) -> bool:
    """Return whether a value with a name must not be shown: every reported one, and all possible ones."""
    return _is_any(_is_withheld, strength(name), name, value)


def _is_any(is_secret: Callable[[int, str, str], bool], sure: int, name: str, value: str) -> bool:
    """Return the result of ``is_secret`` for a value, or for any item of a list."""
    text = value.strip()
    items = _items(text) if text.startswith(("[", "- ")) else [text]
    return sure > 0 and any(
        is_secret(sure, name, item) for item in items if item.strip("\\\"'") and not is_reference(item)
    )


def _is_reported(sure: int, _name: str, text: str) -> bool:
    if is_placeholder(text) or re.fullmatch(_SHORT_NUMBER, text):
        return False
    if sure == SURE:
        return len(text) >= _SHORTEST_SURE
    if re.fullmatch(_BUILD, text):
        return False
    if sure == LIKELY:
        return _is_no_word(text)
    return is_random(text)


def _is_withheld(sure: int, name: str, text: str) -> bool:
    if sure == SURE:
        return True
    if sure < LIKELY:
        return is_random(text)
    if any(re.fullmatch(form, text) for form in (_NUMBER, _SETTING, _BUILD)):
        return False
    return not is_words(text) or ("/" not in text and _is_credential(name))


def _is_credential(name: str) -> bool:
    """Return whether a name is that of a credential, not of a token in a text, where both are possible."""
    last = re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))[-1]
    # Tokens of a text are plural; `HF_TOKENS` are credentials, `initializer_tokens` are not.
    plural = f"{name}{'S' if name[-1:].isupper() else 's'}"
    is_token = last.lower().endswith("token") and strength(plural) >= LIKELY
    return is_token or re.fullmatch(_CREDENTIAL, last) is not None


def _is_no_word(text: str) -> bool:
    if len(text) < _SHORTEST_LIKELY or text.isdigit():
        return False
    return entropy(text) >= _LEAST_ENTROPY and not is_words(text)


def _items(text: str) -> list[str]:
    """Return the items of a list in YAML or JSON, without their quotes."""
    separator = r"\n[ \t]*-[ \t]+" if text.startswith("- ") else ","
    return [item.strip("[]-\"' \t\n") for item in re.split(separator, text)]


def is_random(text: str) -> bool:
    """Return whether a string is certainly random; digests and UUIDs, which identify things, do not count."""
    if not re.fullmatch(_MIXED, text) or re.fullmatch(_UUID, text):
        return False
    return entropy(text) >= _LEAST_RANDOM and not is_words(text)


def is_words(text: str) -> bool:
    """Return whether a string consists of words, such as the name of a scheme or a model, rather than being random."""
    return all(re.fullmatch(_WORD, piece) for piece in re.split(_BETWEEN_WORDS, text))


def entropy(text: str) -> float:
    """Return Shannon's entropy of the characters, in bits per character."""
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def is_reference(text: str) -> bool:
    """Return whether a value clearly refers to a stored secret, or means that there is none."""
    if re.fullmatch(_REFERENCE, text):
        return text[0] not in "$`" or not writes_text(text)
    if re.fullmatch(_NOTHING, text):
        return True
    return re.fullmatch(_PLACE, text) is not None and not _has_random_part(text)


def writes_text(command: str) -> bool:
    """Return whether a command writes text that is in it: `echo -n user:password | base64`, not `echo $PASSWORD`."""
    written = (found["words"] for found in re.finditer(_WRITES, command))
    return any(re.search(r"[A-Za-z0-9]", re.sub(_NOT_WRITTEN, "", words)) for words in written)


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
