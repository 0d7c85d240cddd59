"""Calls of AWS that happen in every run: by boto3, and by pandas and s3fs, which open paths in S3."""

from __future__ import annotations

from smspec.script.follow.frames import Call
from smspec.script.follow.values import UNKNOWN, Value, text
from smspec.script.program import AwsUse
from smspec.script.readers import environment
from smspec.script.record import Handler, record_of

_ENDPOINT = "AWS_ENDPOINT_URL"

_SILENT = frozenset(
    {"can_paginate", "close", "generate_presigned_post", "generate_presigned_url", "get_paginator", "get_waiter"}
)
"""Methods of a client that do not contact AWS."""

_OF_RESOURCES = {
    "Bucket": ("download_file", "download_fileobj", "put_object", "upload_file", "upload_fileobj"),
    "Object": ("delete", "download_file", "download_fileobj", "get", "put", "upload_file", "upload_fileobj"),
    "Table": ("delete_item", "get_item", "put_item", "query", "scan", "update_item"),
    "Queue": ("receive_messages", "send_message", "send_messages"),
    "Topic": ("publish",),
}
"""Methods of the objects of a resource that contact AWS."""

_ENDPOINTS = ("AWS_ENDPOINT_URL", "FSSPEC_S3_ENDPOINT_URL")
_SCHEMES = ("s3://", "s3a://", "s3n://")
_READERS = ("csv", "excel", "feather", "fwf", "json", "orc", "parquet", "pickle", "table")
_ELSEWHERE = frozenset({"storage_options", "filesystem", "engine_kwargs"})
"""Parameters by which a path may be at another address."""

_LISTING = frozenset({"cat", "download", "du", "find", "get", "glob", "info", "ls", "put", "size", "upload"})
"""Methods of a file system that contact S3; those that are lazy are not among them."""


class _Contacting(Value):
    """An object with methods that contact AWS; ``contacts`` None: all but silent ones."""

    def __init__(self, name: str, contacts: tuple[str, ...] | None = None) -> None:
        self._name = name
        self._contacts = contacts

    def method(self, name: str, call: Call) -> Value:
        contacts = name not in _SILENT if self._contacts is None else name in self._contacts
        if contacts and call.is_certain and not call.run.may_have_set(_ENDPOINT):
            record_of(call.run).aws_uses.append(AwsUse(written=f"{self._name}.{name}", place=call.place))
        return call.unknown_result()


class _Resource(Value):
    """A resource: it makes objects, and contacts nothing itself."""

    def __init__(self, service: str) -> None:
        self._service = service

    def method(self, name: str, call: Call) -> Value:
        call.unknown_result()
        return _Contacting(f"{self._service}.{name}", _OF_RESOURCES[name]) if name in _OF_RESOURCES else UNKNOWN


class _Session(Value):
    """A session of boto3."""

    def method(self, name: str, call: Call) -> Value:
        if name == "client":
            return _client(call)
        return _resource(call) if name == "resource" else call.unknown_result()


def _service(call: Call) -> str | None:
    """Return the service of a client; None if it is unknown, or may be at another address."""
    service = text(call.argument(0, "service_name"))
    call.unknown_result()
    return None if "endpoint_url" in call.keywords or len(call.arguments) > 2 or not call.is_whole else service


def _client(call: Call) -> Value:
    service = _service(call)
    return UNKNOWN if service is None else _Contacting(service)


def _resource(call: Call) -> Value:
    service = _service(call)
    return UNKNOWN if service is None else _Resource(service)


def _session(call: Call) -> Value:
    call.unknown_result()
    return _Session()


class _FileSystem(Value):
    """``s3fs.S3FileSystem()``."""

    def method(self, name: str, call: Call) -> Value:
        if name in _LISTING:
            _note(call, f"S3FileSystem.{name}")
        return call.unknown_result()


def _note(call: Call, written: str) -> None:
    if call.is_certain and not any(map(call.run.may_have_set, _ENDPOINTS)):
        record_of(call.run).aws_uses.append(AwsUse(written=written, place=call.place))


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
    "boto3.client": _client,
    "boto3.resource": _resource,
    **dict.fromkeys(("boto3.Session", "boto3.session.Session"), _session),
    **{name: _reader(name) for name in (f"pandas.read_{kind}" for kind in _READERS)},
    "s3fs.S3FileSystem": _file_system,
}
