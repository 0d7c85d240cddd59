"""Headers of tar archives: ustar, GNU and pax."""

from zlib import adler32

from .lean_typing import Dict

BLOCK = 512
ZEROS = bytes(BLOCK)
FILES = b"0\x007"  # regular files: of today, of old archives, contiguous
ABOUT = b"xXgLK"  # extended headers. Pax: the next member, all; GNU: name and link of the next
_KEPT = (b"path", b"linkpath", b"size", b"sparse")
_LONGEST = 4096  # Linux opens no longer path.


def text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def number(field: bytes) -> int:
    """Read octal digits, or, with the first bit set, base 256 (sizes from 8 GiB)."""
    if field[0] & 0x80:
        return int.from_bytes(field[1:], "big") if field[0] == 0x80 else -1
    return int(field.split(b"\0", 1)[0].strip() or b"0", 8)


def checksum(head: bytes) -> int:
    """The sum of the bytes, with the checksum as blanks. Adler-32 has 1 and the sum of up to 256 bytes."""
    parts = (head[:148], b" " * 8, head[156:400], head[400:])
    return sum((adler32(part) & 0xFFFF) - 1 for part in parts)


def short_name(head: bytes) -> str:
    prefix = text(head[345:500]) if head[257:263] == b"ustar\0" else ""
    return f"{prefix}/{text(head[:100])}" if prefix else text(head[:100])


def read_about(kind: bytes, body: bytes) -> Dict[str, str]:
    """Path, linkpath and size, and whether a file is sparse."""
    found, at = {}, 0
    if kind in b"LK":
        found["path" if kind == b"L" else "linkpath"] = text(body)
        at = len(body)
    while at < len(body):  # Records: `length key=value` and a newline.
        length = body[at : at + 9].split(b" ", 1)[0]
        end = at + int(length) if length.isdigit() else at
        equals = body.find(b"=", at, end)
        if equals < 0 or body[end - 1 : end] != b"\n":
            raise ValueError("its extended header is damaged")
        key = body[at + len(length) + 1 : equals]
        key = b"sparse" if key.startswith(b"GNU.sparse.") else key
        if key in _KEPT:
            found[key.decode()] = text(body[equals + 1 : end - 1])
        at = end
    if any(len(value) > _LONGEST for value in found.values()):
        raise ValueError(f"a name in it is longer than {_LONGEST} characters")
    return found
