"""Findings for keys that are unknown, missing, or cannot be combined, with the key that the author probably meant.

The table of keys has the names of other tools for keys and values of the spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.diagnostics.suggestions import Fix, bare, nearest, spelling_fix
from smspec.source import Path, dotted
from smspec.source.frozen import dataclass, replace
from smspec.spec.keys import ROWS, rows_below, rows_by_member
from smspec.spec.keys.row import API, TOOLS, KeyRow
from smspec.spec.schema import KeyPath, SchemaPart, key_path, keys_in, part, spec_keys, written_key
from smspec.spec.schema.reference import example_of
from smspec.spec.shape.shape_faults import ShapeFault

MISSING_KEY = Rule("SM202", "missing key")
UNKNOWN_KEY = Rule("SM204", "unknown key")
KEYS_THAT_EXCLUDE_EACH_OTHER = Rule("SM209", "mutually exclusive keys")
KEY_WITHOUT_ITS_PARTNER = Rule("SM210", "key without its required key", needs_every_layer=True)

KEYWORDS_OF_KEYS = ("additionalProperties", "required", "oneOf", "anyOf", "not", "dependencies")

MOST_GUESSED = 100
"""With more unknown keys they are not misspelled, and no reader needs them all."""

MOST_LISTED = 8
"""The most keys of a mapping that a message lists."""

_VALUES: dict[str, str] = {
    "sharded": "ShardedByS3Key",
    "replicated": "FullyReplicated",
    "manifest": "ManifestFile",
    "augmentedmanifest": "AugmentedManifestFile",
    "prefix": "S3Prefix",
    "stream": "Pipe",
    "streaming": "Pipe",
    "download": "File",
    "copy": "File",
    "mount": "FastFile",
    "gz": "Gzip",
    "readonly": "ro",
    "readwrite": "rw",
    "lustre": "FSxLustre",
    "fsx": "FSxLustre",
    "protobuf": "recordio_protobuf",
    "jsonl": "jsonlines",
    "docker": "image",
    "tf": "tensorflow",
    "romount": "FastFile",
    "mountcached": "FastFile",
    "rwmount": "FastFile",
    "urifolder": "S3Prefix",
    "urifile": "S3Prefix",
    "bykey": "ShardedByS3Key",
    "replicate": "FullyReplicated",
    "text": "lines",
    "tfrecords": "tfrecord",
    "efsfilesystem": "EFS",
    "ddp": "torchrun",
}


def key_findings(faults: Iterable[ShapeFault]) -> list[Finding]:
    """Return the findings for faults of keys. A key that is missing because it is misspelled is reported once."""
    ordered = sorted(faults, key=lambda fault: KEYWORDS_OF_KEYS.index(fault.keyword))
    findings: list[Finding] = []
    intended: set[Path] = set()
    open_choices: set[Path] = set()
    strange: dict[Path, int] = {}
    for fault in ordered:
        if fault.keyword == "additionalProperties":
            known = part(fault.schema, "properties")
            for word in (key for key in fault.names if key not in known):
                guess = suggestion(word, fault.path) if len(findings) < MOST_GUESSED else None
                findings.append(_unknown_key(fault.path, word, guess, fault.names))
                if guess is None:
                    strange[fault.path] = len(findings) - 1
                else:
                    is_here = guess.named_from(fault.path) == guess.key[-1]
                    intended.add((*fault.path, guess.key[-1]) if is_here else guess.key)
        elif fault.keyword == "required":
            findings += [_missing(fault.path, (key,)) for key in _missing_keys(fault, intended)]
        elif fault.keyword in ("oneOf", "anyOf"):
            kinds = kinds_of(fault.argument)
            if kinds and len(fault.names) == 1 and fault.path in strange:
                # `distribution: none`: its one key is not among the choices; do not also report that they are missing.
                index = strange[fault.path]
                findings[index] = replace(findings[index], help=f"use {one_of(kinds)}")
            else:
                findings += _not_one_of(fault, intended)
            open_choices |= {(*fault.path, kind) for kind in kinds}
        elif fault.keyword == "not":
            findings += _exclusive(fault.path, required_of(fault.argument))
        else:
            findings += _dependencies(fault, intended | open_choices)
    return findings


def _unknown_key(mapping: Path, word: str, guess: Suggestion | None, written: tuple[str, ...]) -> Finding:
    message = f"unknown key `{word}`" + (f" in `{dotted(mapping)}`" if mapping else "")
    label, help = "", ""
    if guess and guess.is_hint:
        place = "move it to" if guess.key[-1] == "api" else "use"
        label = f"{place} `{guess.named_from(mapping)}`"
        help = f"rename it: `{word}` is a key of {guess.tool}" if guess.tool else ""
    elif guess:
        label = f"did you mean `{guess.named_from(mapping)}`?"
    elif (here := key_path(mapping)) is not None and 0 < len(keys := keys_in(here)) <= MOST_LISTED:
        help = f"use {one_of(keys)}"
    fix = None if guess is None else _renaming(mapping, word, guess, written)
    return UNKNOWN_KEY.at((*mapping, word), message, label=label, help=help, on="key", fix=fix)


def _renaming(mapping: Path, word: str, guess: Suggestion, written: tuple[str, ...]) -> Fix | None:
    """Return the fix of a key that is only misspelled, if the mapping does not have the intended key too."""
    here = key_path(mapping)
    if here is None or guess.is_hint or guess.key[:-1] != here or guess.key[-1] in written:
        return None
    fix = spelling_fix(word, keys_in(here))
    return fix if fix and fix.meant == guess.key[-1] else None


def _missing(mapping: Path, keys: tuple[str, ...]) -> Finding:
    place = f" in `{dotted(mapping)}`" if mapping else ""
    if len(keys) > 1:
        # None of them is the missing one, so the position is that of the mapping.
        return MISSING_KEY.at(mapping, f"missing key{place}: {one_of(keys)}", help="add one of them", on="key")
    path = (*mapping, keys[0])
    example = example_of(path)
    help = f"add it, for example `{example}`" if example else ""
    return MISSING_KEY.at(path, f"missing key `{keys[0]}`{place}", help=help, on="key")


def _missing_keys(fault: ShapeFault, intended: set[Path]) -> Iterator[str]:
    return (
        key
        for key in required_of(fault.schema)
        if key not in fault.names and not _explains((*fault.path, key), intended)
    )


def _explains(path: Path, intended: set[Path]) -> bool:
    """Return whether a misspelled key was meant as the one at ``path``, or one below it."""
    return any(written[: len(path)] == path for written in intended)


def _not_one_of(fault: ShapeFault, intended: set[Path]) -> Iterator[Finding]:
    if not isinstance(fault.value, dict):
        return
    kinds = kinds_of(fault.argument)
    written = tuple(key for key in fault.names if key in kinds)
    if written:
        yield from _exclusive(fault.path, written)
    elif not any(_explains((*fault.path, kind), intended) for kind in kinds):
        yield _missing(fault.path, kinds)


def kinds_of(alternatives: SchemaPart) -> tuple[str, ...]:
    """Return the keys of which one is required; an alternative without inline ``required`` is not offered."""
    listed = alternatives if isinstance(alternatives, list) else []
    return tuple(key for schema in listed for key in required_of(schema))


def required_of(schema: SchemaPart) -> tuple[str, ...]:
    """Return the keys that a schema requires."""
    keys = schema.get("required") if isinstance(schema, dict) else None
    return tuple(str(key) for key in keys) if isinstance(keys, list) else ()


def _exclusive(mapping: Path, keys: tuple[str, ...]) -> Iterator[Finding]:
    first, *others = keys
    for other in others:
        yield KEYS_THAT_EXCLUDE_EACH_OTHER.at(
            (*mapping, other),
            f"`{dotted((*mapping, first))}` cannot be combined with `{other}`",
            help="remove one of them",
            on="key",
        )


def _dependencies(fault: ShapeFault, intended: set[Path]) -> Iterator[Finding]:
    for key, needed in part(fault.schema, "dependencies").items():
        partners = tuple(map(str, needed)) if isinstance(needed, list) else ()
        if key in fault.names and partners and not set(partners) & set(fault.names):
            yield from _partnerless(fault.path, key, partners, intended)


def _partnerless(mapping: Path, key: str, partners: tuple[str, ...], intended: set[Path]) -> Iterator[Finding]:
    if not any(_explains((*mapping, partner), intended) for partner in partners):
        listed = " or ".join(f"`{partner}`" for partner in partners)
        yield KEY_WITHOUT_ITS_PARTNER.at(
            (*mapping, key),
            f"`{dotted((*mapping, key))}` requires {listed}",
            help="remove it, or add the key that it requires",
            on="key",
        )


@dataclass(frozen=True, slots=True)
class Suggestion:
    """``key`` is the path of the key that was meant; ``tool`` is the tool that uses the word, empty for a typo."""

    key: KeyPath
    tool: str = ""
    is_hint: bool = False

    def named_from(self, mapping: Path) -> str:
        """Return the name of the key as seen from ``mapping``."""
        return self.key[-1] if self.key[:-1] == key_path(mapping) else written_key(self.key)


def suggestion(word: str, mapping: Path) -> Suggestion | None:
    """Return what ``word`` was meant to be in the mapping at the path ``mapping``, or None."""
    here = key_path(mapping)
    if here is None:
        return None
    near = nearest(word, keys_in(here))
    known = hint(word)
    if known and not (near and _is_same(word, near)):
        key = _fitting(known, here)
        return Suggestion(key) if key[-1] == word else Suggestion(key, known.tool, is_hint=True)
    if near:
        return Suggestion((*here, near))
    elsewhere = _misplaced(word, here)
    return Suggestion(elsewhere) if elsewhere else None


def _is_same(word: str, name: str) -> bool:
    return word.replace("_", "").replace("-", "").lower() == name.replace("_", "")


def _fitting(known: Hint, here: KeyPath) -> KeyPath:
    """Return the key of a hint that belongs to this mapping; else one near it; else the first."""
    keys = [tuple(key.split(".")) for key in known.keys]
    return max(keys, key=lambda key: (key[:-1] == here, key[:1] == here[:1]))


def _misplaced(word: str, here: KeyPath) -> KeyPath | None:
    """Return the key of this name that belongs somewhere else, if there is only one."""
    found = [key for key in spec_keys() if _is_same(word, key[-1])]
    near = [key for key in found if here and key[0] == here[0]] or [key for key in found if len(key) <= 2]
    return min(near, key=len) if near else None


@dataclass(frozen=True, slots=True)
class Hint:
    """``tool`` uses the word for one of ``keys``: the one that fits where it was written, else the first."""

    tool: str
    keys: tuple[str, ...]


def hint(word: str) -> Hint | None:
    """Return the hint for a key that the spec does not have."""
    return _known().get(bare(word))


@lru_cache(maxsize=1)
def _known() -> dict[str, Hint]:
    """Return every word with its hint; a word of several tools has the meaning of the first."""
    known: dict[str, Hint] = {}
    for tool in TOOLS:
        keys: dict[str, list[str]] = {}
        for row in ROWS:
            for word in _words(row, tool):
                keys.setdefault(bare(word), []).append(row.path)
        for word, paths in keys.items():
            known.setdefault(word, Hint(tool, tuple(paths)))
    return known


def _words(row: KeyRow, tool: str) -> Iterator[str]:
    yield from row.words.get(tool, "").split()
    if tool == API:
        yield from _members().get(row.path, ())


@lru_cache(maxsize=1)
def _members() -> dict[str, list[str]]:
    """Return the names of the members that each key sets, except those that are also top-level keys of a spec."""
    ours = {bare(row.name) for row in rows_below("")}
    members: dict[str, list[str]] = {}
    for path, rows in rows_by_member().items():
        name = str(path[-1])
        for row in rows:
            if bare(name) not in ours:
                members.setdefault(row.path, []).append(name)
    return members


def value_hint(word: str, allowed: tuple[str, ...]) -> str | None:
    """Return the value that a different tool's word corresponds to, if it is one of those allowed."""
    value = _VALUES.get(bare(word))
    return value if value in allowed else None


def hinted_keys() -> dict[str, tuple[str, ...]]:
    """Return every word of the table with its keys, so that tests can check that these exist."""
    keys: dict[str, tuple[str, ...]] = {}
    for row in ROWS:
        for word in (word for tool in TOOLS for word in _words(row, tool)):
            keys[word] = (*keys.get(word, ()), row.path)
    return keys
