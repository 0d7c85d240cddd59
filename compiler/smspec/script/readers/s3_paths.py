"""Paths in S3 that pandas and s3fs open in every run."""

from __future__ import annotations

from smspec.script.call import Call
from smspec.script.interpreter import Handler
from smspec.script.program import AwsUse
from smspec.script.readers import environment
from smspec.script.values import UNKNOWN, Value, text

_ENDPOINTS = ("AWS_ENDPOINT_URL", "FSSPEC_S3_ENDPOINT_URL")
_SCHEMES = ("s3://", "s3a://", "s3n://")
_READERS = ("csv", "excel", "feather", "fwf", "json", "orc", "parquet", "pickle", "table")
_ELSEWHERE = frozenset({"storage_options", "filesystem", "engine_kwargs"})
"""Parameters by which a path may be at another address."""

_LISTING = frozenset({"cat", "download", "du", "find", "get", "glob", "info", "ls", "put", "size", "upload"})
"""Methods of a file system that contact S3; those that are lazy are not among them."""


class _FileSystem(Value):
    """``s3fs.S3FileSystem()``."""

    def method(self, name: str, call: Call) -> Value:
        if name in _LISTING:
            _note(call, f"S3FileSystem.{name}")
        return call.unknown_result()


def _note(call: Call, written: str) -> None:
    if call.is_certain and not any(map(call.run.may_have_set, _ENDPOINTS)):
        call.run.aws_uses.append(AwsUse(written=written, place=call.place))


def _reader(name: str) -> Handler:
    known = environment.HANDLERS.get(name)

    def read(call: Call) -> Value:
        path = text(call.arguments[0]) if call.arguments else None
        is_plain = call.is_whole and not call.keywords.keys() & _ELSEWHERE
        if path is not None and path.startswith(_SCHEMES) and is_plain:
            _note(call, name)
        return call.unknown_result() if known is None else known(call)

    return read


def _file_system(call: Call) -> Value:
    is_plain = call.is_whole and not call.arguments and call.keywords.keys() <= {"anon"}
    call.unknown_result()
    return _FileSystem() if is_plain else UNKNOWN


HANDLERS: dict[str, Handler] = {
    **{name: _reader(name) for name in (f"pandas.read_{kind}" for kind in _READERS)},
    "s3fs.S3FileSystem": _file_system,
}
