"""The files with the rules of an organization, named by `rule_files` of smspec.toml."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Diagnostic, InvalidInput, Note, Rule
from smspec.diagnostics.diagnostic import ParseErrors
from smspec.diagnostics.quoting import quoted
from smspec.organization.organization_config import OrganizationConfig
from smspec.organization.rule_cases import check_cases
from smspec.organization.rule_file import MALFORMED_RULE, read_rule
from smspec.organization.toml_faults import MALFORMED_POLICY, Fault, rejected_values
from smspec.rules.organization_rules.organization_rule import OrganizationRule
from smspec.source import Document, SourceText, Span
from smspec.spec.yaml.yaml_reader import decode_bytes, read
from smspec.workspace.boundary import Boundary, FileNotRead

KEY = "rule_files"
DUPLICATE_CODE = Rule("SM756", "duplicate code of a rule")

_LARGEST = 64 << 10
_MOST_FILES = 200


def read_rules(files: Iterable[tuple[OrganizationConfig, Boundary]]) -> tuple[OrganizationRule, ...]:
    """Return the rules in the files that policies name, the outermost policy first, in the order of their paths.

    Their cases have run. Raise `InvalidInput` with the errors in all files.
    """
    rules: dict[str, tuple[OrganizationRule, Span]] = {}
    found: list[Diagnostic] = []
    texts: list[SourceText] = []
    paths = {path: boundary for file, boundary in files for path in rule_paths(file, boundary)}
    for path, boundary in paths.items():
        try:
            rule, document = _read(path, boundary)
            place = document.span_of_value(("code",))
            texts += document.texts
            if rule.code in rules:
                _reject_duplicate(rule, place, rules[rule.code][1], document)
            rules[rule.code] = rule, place
            check_cases(rule, document)
        except InvalidInput as rejected:
            found += rejected.diagnostics
            texts += rejected.texts
    if found:
        raise InvalidInput(tuple(found), tuple(dict.fromkeys(texts)))
    return tuple(rule for rule, _ in rules.values())


def _read(path: str, boundary: Boundary) -> tuple[OrganizationRule, Document]:
    try:
        content = boundary.read(path, _LARGEST)
    except FileNotRead as fault:
        raise _unread(path, f"`{path}`: this {fault.reason}", "replace it with a file of the repository") from None
    if len(content) > _LARGEST:
        raise _unread(path, f"`{path}` has more than {_LARGEST >> 10} KiB", "write one rule in each file")
    document = read(decode_bytes(path, content))
    return read_rule(document), document


def _unread(path: str, message: str, help: str) -> InvalidInput:
    errors = ParseErrors(SourceText(path, ""))
    errors.add(MALFORMED_RULE, errors.span(0, 0), message, help=help)
    return errors.rejected()


def _reject_duplicate(rule: OrganizationRule, place: Span, first: Span, document: Document) -> None:
    errors = ParseErrors(document.texts[0])
    notes = (Note("the first rule with this code", first),)
    message = f"`code`: {quoted(rule.code)} is the code of two rules"
    errors.add(DUPLICATE_CODE, place, message, path=("code",), help="change one of the codes", notes=notes)
    raise errors.rejected()


def rule_paths(file: OrganizationConfig, boundary: Boundary) -> tuple[str, ...]:
    """Return the paths of the files, sorted, without duplicates. Raise `InvalidInput` for a pattern without a file."""
    top = os.path.dirname(file.path)
    patterns = file.tables.get(KEY)
    faults: list[Fault] = []
    paths: set[str] = set()
    if not isinstance(patterns, list) or not all(isinstance(one, str) and one for one in patterns):
        faults.append(((KEY,), f"`{KEY}` must be a list of strings", f'write `{KEY} = ["rules/*.yaml"]`'))
        patterns = []
    for pattern in patterns:
        matched = [*_matched(pattern, top, boundary)]
        if not matched:
            help = "write the path of .yaml or .yml files in the repository, relative to this file"
            faults.append(((KEY,), f"`{KEY}`: {quoted(pattern)} matches no file", help))
        paths.update(matched)
    if len(paths) > _MOST_FILES:
        faults.append(((KEY,), f"`{KEY}` matches more than {_MOST_FILES} files", "name the files with rules only"))
    if faults:
        raise rejected_values(file, faults, MALFORMED_POLICY)
    return tuple(sorted(paths))


def _matched(pattern: str, top: str, boundary: Boundary) -> Iterator[str]:
    """Yield the files that match a pattern; a pattern does not go into directories that it does not name."""
    if "\0" in pattern or "**" in pattern or os.path.isabs(pattern):
        return
    for name in glob.iglob(pattern, root_dir=top or os.curdir):
        path = os.path.normpath(os.path.join(top, name))
        # `smspec diff` extracts the YAML files of a revision, and no others.
        if path.endswith((".yaml", ".yml")) and (boundary.is_file(path) or os.path.islink(path)):
            yield path
