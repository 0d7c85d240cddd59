"""Names and values of job specs: secrets and texts that resemble them.

Every secret is made here, from a seed, so that no scanner takes the repository for a leak. ``{a20}`` in a value stands
for 20 letters and digits made at random, and ``{}`` for nothing. ``python tests/support/secret_corpus.py secrets``
prints the secrets as YAML for other tools; the names of the other files print theirs.
"""

import json
import random
import re
import string
import sys
from pathlib import Path

ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "_-",
    "s": string.ascii_letters + string.digits + "+/",
    "h": string.hexdigits.lower()[:16],
    "H": string.hexdigits.upper()[:10] + "ABCDEF",
    "u": string.ascii_uppercase + "234567",
    "l": string.ascii_lowercase + string.digits,
    "d": string.digits[1:],
}

RANDOM_PARTS: dict[str, list[str]] = {}
"""Value → what in it was made at random and is long enough to be looked for in a text."""


def made(template: str, seed: str) -> str:
    """Return a value in which every ``{a20}`` is replaced by as many characters at random."""
    chance = random.Random(seed)

    def characters(match: re.Match[str]) -> str:
        alphabet, length = ALPHABETS[match[1]], int(match[2])
        while True:
            text = "".join(chance.choice(alphabet) for _ in range(length))
            # What is made at random has a digit and, of several kinds of letters, each; a short one may lack them.
            if length < 12 or re.search("[0-9]", text):
                parts.append(text)
                return text

    parts: list[str] = []
    value = re.sub(r"\{([abshHuld])([0-9]+)\}", characters, template.replace("{}", ""))
    RANDOM_PARTS[value] = [part for part in parts if len(part) >= 12]
    return value


def entries(file: str) -> list[tuple[str, str]]:
    """Return (name, value) of each line ``name value``."""
    lines = (Path(__file__).parent / "secret_corpus" / file).read_text(encoding="utf-8").splitlines()
    pairs = [line.partition(" ") for line in lines if line and not line.startswith("# ")]
    return [(name, made(value.strip().replace("\\n", "\n"), name + value)) for name, _, value in pairs]


SECRETS = entries("secrets.txt")
"""Each must be found."""

INNOCENT = entries("innocent.txt")
"""None may be found."""

WITHHELD = entries("withheld.txt")
"""None may be found, and none may be shown."""

HELD_OUT_SECRETS = entries("held_out_secrets.txt")
HELD_OUT_INNOCENT = entries("held_out_innocent.txt")
"""Written after the formats and names that smspec knows, without them at hand: they measure what it misses."""

if __name__ == "__main__":
    for name, value in entries(f"{sys.argv[1]}.txt"):
        print(f"{name}: {json.dumps(value, ensure_ascii=False)}")
