"""Messages of an operating system, a library, or a server, as the end of a sentence of smspec."""

from __future__ import annotations


def continued(text: str) -> str:
    """Return a message in one line, without a full stop and, if it begins with a word, in lower case."""
    words = " ".join(text.split()).rstrip(".")
    # `SSL: …` and `S3 …` are names.
    return words if words[1:2].isupper() or words[1:2].isdigit() else words[:1].lower() + words[1:]


def reason(fault: OSError) -> str:
    """Return the message of the system."""
    return continued(fault.strerror or str(fault))
