"""Keeps secrets out of our log lines and the failure file."""

from .lean_typing import Any, List, Mapping, Sequence

MASK = "******"
_SECRETS = ("password", "passwd", "passphrase", "secret", "token", "credential")
_SECRET_KEYS = ("apikey", "privatekey", "accesskey", "authkey")
_HARMLESS_ENDS = ("arn", "parameter", "param", "file", "path", "dir", "id", "ids", "type", "length")
_SHORTEST = 6
"""Characters; a shorter value would blacken words that have nothing to do with it."""


def is_secret(key: str) -> bool:
    """Whether a name says that its value is not for everybody."""
    words = key.lower().replace("-", "_").replace(".", "_").split("_")
    name = "".join(words)
    if words[-1] in _HARMLESS_ENDS or "tokeniz" in name or "tokenis" in name or name.endswith("tokens"):
        return False
    return any(secret in name for secret in _SECRETS + _SECRET_KEYS)


def secret_values(hyperparameters: Mapping[str, Any]) -> List[str]:
    """Return the values, as text, of the hyperparameters that are secrets."""
    return [str(value) for key, value in hyperparameters.items() if is_secret(key)]


def masked_words(words: Sequence[str]) -> List[str]:
    """Return the words of a command with the values of secret options masked."""
    shown = []
    is_next = False
    for word in words:
        key, equals, _ = word.partition("=")
        is_value = is_next and not word.startswith("--")
        is_option = not is_value and word.startswith("-") and is_secret(key.lstrip("-"))
        shown.append(MASK if is_value else key + equals + MASK if is_option and equals else word)
        is_next = is_option and not equals
    return shown


def masked_text(text: str, secrets: Sequence[str]) -> str:
    """Return running text with every secret value masked."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, MASK)
    return text
