"""Write the text of a spec for a request: keys are imported by the table or a part, the rest goes to `api`.

It is formatted for people: groups of keys, comments where needed, and at the end what was not imported. Specs that are
alike but for their hosts become one with `hosts.any_of`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from smspec.diagnostics.quoting import visible
from smspec.importer.imported import Imported, NotImported, RequestNotFound, Variable, names
from smspec.importer.marks import DOLLAR, MARK, filled, holds_dollar, node
from smspec.importer.parts import PARTS
from smspec.importer.unmapped_members import UnmappedMembers, taken, without_unsupported_values
from smspec.render.spec_yaml import spec_yaml
from smspec.source import Document, Scalar
from smspec.source.frozen import dataclass, replace
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import KeyRow
from smspec.spec.layers.variables import OptionError, SpecVariable, valued

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:-]*")
"""Values that `--set` reads without quotes."""

_REGION = "region"
_HOSTS = ("hosts", "spot")
_OWN = ("instance_type", "count", "volume")

_WORDS = {
    "job_name": "name of the imported job; without this key, the job name is `name` and a digest of the request",
    "api": "members without a spec key, merged into the request",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSpec:
    """A spec as YAML, the request that it must render, and the parts of the source that it cannot contain.

    ``request`` has no TrainingJobName if the source had none. ``left_out`` are members that no request has.
    ``settings`` are values for its variables, with which it can be compiled. ``script`` is the one that it names.
    ``alternatives`` are the requests of the later alternatives.
    """

    text: str
    request: dict[str, object]
    not_imported: tuple[NotImported, ...]
    left_out: tuple[str, ...]
    settings: dict[str, str]
    script: str | None
    additions: tuple[str, ...]
    alternatives: tuple[dict[str, object], ...]


def write_spec(imported: Imported) -> WrittenSpec:
    """Return the shortest spec that renders the request.

    Raise `RequestNotFound` if its alternatives differ in more than a spec can express.
    """
    request, not_imported = without_unsupported_values(imported.request)
    spec = _spec(request, imported)
    others = [without_unsupported_values(other)[0] for other in imported.alternatives]
    if others:
        spec = with_alternatives([spec, *({**_spec(other, imported), "name": spec["name"]} for other in others)])
    used = set(MARK.findall(json.dumps([request, others, imported.keys, imported.patch, imported.region])))
    variables = [each for each in imported.variables if each.name in used or each.default is not None]
    declared: dict[str, object] = {each.name: _declared(each) for each in variables}
    if holds_dollar(node(spec)):
        declared[DOLLAR] = {"default": "$"}
    if declared:
        spec["vars"] = declared
    skipped = (*imported.not_imported, *not_imported)
    settings = {each.name: _setting(each.placeholder) for each in variables if each.default is None}
    placeholders = {each.name: each.placeholder for each in variables}
    script = filled(spec.get("entry_point"), placeholders) if "source" in spec else None
    return WrittenSpec(
        text=commented(spec, imported, skipped),
        request=request,
        not_imported=skipped,
        left_out=imported.left_out,
        settings=settings,
        script=script if isinstance(script, str) else None,
        additions=imported.additions,
        alternatives=tuple(others),
    )


def with_values(jobs: Sequence[Imported], settings: Mapping[str, str], region: str | None) -> tuple[Imported, ...]:
    """Return the imports with the values of `--set` and `--region` as defaults of the variables that they declare.

    A region becomes that of a job that has none. Raise `OptionError` for a variable that no job declares, a value that
    it does not take, and a region other than that of the source or of its variable.
    """
    declared = {each.name: _variable(each) for job in jobs for each in job.variables}
    values = {name: scalar for name, scalar in valued(declared, settings).items() if name in settings}
    return tuple(_with_values(job, values, region) for job in jobs)


def _with_values(job: Imported, values: Mapping[str, Scalar], region: str | None) -> Imported:
    found: dict[str, object] = {name: _plain(scalar) for name, scalar in values.items()}
    if region is not None:
        stands_for = MARK.fullmatch(job.region or "")
        if stands_for is not None:
            _set_region(found, stands_for[1], region)
        elif job.region not in (None, region):
            raise OptionError(f"--region {region}: the region of the source is `{job.region}`")
        elif any(each.name == _REGION for each in job.variables):
            _set_region(found, _REGION, region)
        else:
            job = replace(job, region=region)
    variables = tuple(
        replace(each, default=found[each.name], placeholder=found[each.name]) if each.name in found else each
        for each in job.variables
    )
    return replace(job, variables=variables)


def _set_region(found: dict[str, object], name: str, region: str) -> None:
    if found.setdefault(name, region) != region:
        raise OptionError(
            f"--region {region}: --set vars.{name}={found[name]} sets a different region; omit one of them"
        )


def _variable(variable: Variable) -> SpecVariable:
    default = None if variable.default is None else node(variable.default)
    return SpecVariable(variable.name, default if isinstance(default, Scalar) else None, ())


def _plain(scalar: Scalar) -> object:
    """Return a number, true, or false by its only spelling, and the text of any other value."""
    is_typed = isinstance(scalar.value, bool | int | float) and json.dumps(scalar.value) == scalar.text
    return scalar.value if is_typed else scalar.text


def _spec(request: dict[str, object], imported: Imported) -> dict[str, object]:
    rest = UnmappedMembers(request)
    spec: dict[str, object] = {"smspec": "v1"}
    if imported.region:
        spec["region"] = imported.region
    for row in rows_below(""):
        if row.path in PARTS:
            spec.update(PARTS[row.path](rest))
        else:
            spec.update(taken(rest, [row]))
    spec.update(imported.keys)
    spec.update(names(rest.text("TrainingJobName"), imported.stem, request))
    patch = {**rest.members, **imported.patch}
    if patch:
        spec["api"] = patch
    return spec


def _declared(variable: Variable) -> dict[str, object]:
    default = {} if variable.default is None else {"default": variable.default}
    return {**default, "description": variable.description}


def _setting(value: object) -> str:
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value)
    return value if isinstance(value, str) and is_plain else json.dumps(value)


def with_alternatives(specs: Sequence[dict[str, object]]) -> dict[str, object]:
    """Return the first spec with the hosts of all as its alternatives: what all share is in `hosts`.

    Raise `RequestNotFound` if they differ in more than that.
    """
    hosts = [_mapping(spec.get("hosts")) for spec in specs]
    shared = {key: value for key, value in hosts[0].items() if all(each.get(key) == value for each in hosts)}
    shared.pop("instance_type", None)
    items: list[object] = []
    for spec, each in zip(specs, hosts, strict=True):
        own = {key: value for key, value in each.items() if key not in shared}
        unlike = [f"hosts.{key}" for key in own if key not in _OWN]
        unlike += [key for key in {**specs[0], **spec} if key not in _HOSTS and spec.get(key) != specs[0].get(key)]
        if unlike:
            raise RequestNotFound(f"the alternatives differ in `{unlike[0]}`, but those of `hosts.any_of` share it")
        items.append({**own, **({"spot": spec["spot"]} if "spot" in spec else {})})
    rest = {key: value for key, value in specs[0].items() if key != "spot"}
    return {**rest, "hosts": {**shared, "any_of": items}}


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def commented(spec: dict[str, object], imported: Imported, not_imported: tuple[NotImported, ...]) -> str:
    """Return the spec as YAML with comments."""
    written = [row for row in rows_below("") if row.path in spec]
    groups = ["".join(_group(spec, rows)) for _, rows in groupby(written, lambda row: row.group or row.path)]
    comments = "".join(f"# {visible(line)}\n" for line in _not_kept(imported, not_imported))
    return "\n".join([f"# Imported from {imported.form}.\n" + groups[0], *groups[1:], *filter(None, [comments])])


def _group(spec: dict[str, object], rows: Iterable[KeyRow]) -> Iterator[str]:
    for key in (row.path for row in rows):
        if key in _WORDS:
            yield f"# {_WORDS[key]}\n"
        if key == "vars":
            yield from (f"# {line}\n" for line in _about_variables(spec[key]))
        yield spec_yaml(Document(node({key: spec[key]}), ()))


def _about_variables(declared: object) -> Iterator[str]:
    declared = declared if isinstance(declared, dict) else {}
    if any("default" not in about for about in declared.values() if isinstance(about, dict)):
        yield "values that only a run of the source has: set them with --set, or give each a default"
    if DOLLAR in declared:
        yield f"`${{{{ vars.{DOLLAR} }}}}{{{{` stands for a dollar sign and two braces"


def _not_kept(imported: Imported, not_imported: tuple[NotImported, ...]) -> Iterator[str]:
    if imported.additions:
        yield f"Added by the SDK, not by the source: {', '.join(imported.additions)}"
    if not_imported:
        yield "Not imported:"
        yield from (f"- {part}" for part in not_imported)
    if imported.left_out:
        yield f"Ignored, not part of a request: {', '.join(imported.left_out)}"
