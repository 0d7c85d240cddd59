"""Decode a merged, valid document into a job, key by key from the table of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from smspec.source import Document, Node, Scalar, to_data
from smspec.source import Mapping as MappingNode
from smspec.source.frozen import ByContent, ByIdentity
from smspec.spec import model
from smspec.spec.keys import ROW
from smspec.spec.keys.row import KeyRow, StructureForm, StructureListForm, ValueForm
from smspec.spec.shape import viewed

Data = dict[str, object]


def decode(document: Document, data: object = None) -> model.JobSpec:
    """Return the job that ``document`` describes. It must be merged and have no `shape_findings`.

    ``data``: what `viewed` returns for it, if that is known.
    """
    keys = cast(Data, viewed(document.root) if data is None else data)
    root = document.root
    parameters = root.get("hyperparameters") if isinstance(root, MappingNode) else None
    job = {name: _shared_value(name, value) for name, value in keys.items() if name not in _ELSEWHERE}
    if parameters is not None:
        job["hyperparameters"] = _hyperparameters(parameters)
    if "checks" in keys:
        job["ignored_checks"] = _below("checks", keys["checks"]).get("ignore", ())
    return model.JobSpec(**job)  # type: ignore[arg-type]  # the schema and the table say what is in it


def _shared_value(name: str, value: object) -> object:
    """Return the value of a top-level key: one frozen value for all jobs that have the same there."""
    if not isinstance(value, dict | list):
        return _value(ROW[name], value)
    return _DECODED.of(name, value, lambda: _value(ROW[name], value))


def _below(path: str, data: object) -> Data:
    """Return the values of the keys below ``path``. A key that is not set keeps the default of the model."""
    return {name: _value(ROW[f"{path}.{name}"], value) for name, value in cast(Data, data).items()}


def _value(row: KeyRow, value: object) -> object:
    form = row.form
    if isinstance(form, ValueForm):
        return form.read(value)
    if isinstance(form, StructureForm):
        return form.kind(**_below(row.path, value))
    if isinstance(form, StructureListForm):
        return tuple(form.kind(**_below(f"{row.path}.*", item)) for item in cast("list[object]", value))
    return IRREGULAR[row.path](value)


def _hyperparameters(node: Node) -> tuple[model.Hyperparameter, ...]:
    entries = node.entries if isinstance(node, MappingNode) else ()
    written = [
        (key.text, value.value, value.text, not value.plain)
        if isinstance(value, Scalar)
        else (key.text, to_data(value), "", False)
        for key, value in entries
    ]
    return _PARAMETERS.of("", written, _parameters)


def _parameters(written: Iterable[tuple[str, object, str, bool]]) -> tuple[model.Hyperparameter, ...]:
    return tuple(
        model.Hyperparameter(name=name, value=value, text=text, quoted=quoted) for name, value, text, quoted in written
    )


def _image(value: object) -> object:
    if isinstance(value, str):
        return model.ExistingImage(uri=value)
    return model.BuiltImage(**_below("image", value))  # type: ignore[arg-type]  # as in decode


def _build_secrets(value: object) -> object:
    secrets = cast("dict[str, Data]", value)
    return {name: model.BuildSecret(**_below("image.secrets.*", data)) for name, data in secrets.items()}  # type: ignore[arg-type]  # as in decode


def _entry_point(value: object) -> object:
    data = _below("entry_point", value)
    return next(kind for name, kind in model.ENTRY_POINTS.items() if name in data)(**data)  # type: ignore[arg-type]


def _distribution(value: object) -> object:
    ((name, options),) = cast(Data, value).items()
    return _value(ROW[f"distribution.{name}"], options)


def _channels(value: object) -> object:
    channels = cast("dict[str, Data]", value)
    return tuple(model.Channel(name=name, **_below("channels.*", data)) for name, data in channels.items())  # type: ignore[arg-type]  # as in decode


_DECODED: ByIdentity[object] = ByIdentity()
_PARAMETERS: ByContent[tuple[model.Hyperparameter, ...]] = ByContent()
_ELSEWHERE = frozenset(("smspec", "hyperparameters", "checks"))
IRREGULAR: dict[str, Callable[[object], object]] = {
    "image": _image,
    "image.secrets": _build_secrets,
    "entry_point": _entry_point,
    "distribution": _distribution,
    "channels": _channels,
}
"""Keys whose value can be of several kinds, or has names that the author chooses, and their decoders."""
