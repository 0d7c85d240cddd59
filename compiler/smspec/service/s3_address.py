"""S3 addresses: where a request has them, their buckets, and the valid bucket names."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from smspec.service.arns import parsed_arn, partition_of, partitions
from smspec.service.shapes import Shape, pinned_model
from smspec.source import Path
from smspec.source.frozen import ByIdentity

# Host names of S3: <bucket>.s3.<region>.amazonaws.com, s3.<region>.amazonaws.com/<bucket>, and the older s3-<region>;
# those of VPC endpoints begin with bucket.vpce-<id>, after a bucket or before the path that contains it.
_VPCE = r"(?:bucket|accesspoint)\.vpce-[a-z0-9-]+\."
_HOST = (
    rf"https://(?:(?P<virtual>(?!{_VPCE})[^/]+?)\.)?(?:{_VPCE})?s3[.-](?P<labels>(?:(?!s3[.-])[a-z0-9-]+\.)*)"
    r"(?:SUFFIXES)(?::[0-9]+)?(?:/(?P<rest>.*))?"
)
_ADDRESS = "S3Uri"
_ACCESS_POINT = (
    r"arn:[a-z0-9-]+:s3(?:-[a-z-]+)?:(?:[a-z0-9-]+:[0-9]{12}:(?:outpost[:/][^/:]+[:/])?|:[0-9]{12}:)"
    r"accesspoint[:/][^/:]+(?:/(?P<key>.*))?"
)
LONGEST_KEY = 1024
"""Bytes of a key in UTF-8 (S3 user guide, "Naming Amazon S3 objects")."""

_SHORTEST, _LONGEST = 3, 63
_NAME = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
_IP_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"

_LAST = "\U0010ffff"
_FILE = r"/[^/]*[^/.]\.[A-Za-z][A-Za-z0-9]{0,9}$"
"""The end of an address whose last name has a file extension."""

AS_A_FOLDER = "add a `/` if the address is a folder; S3 compares prefixes as text"

EXPRESS_SUFFIX = "--x-s3"
"""The suffix of the names of directory buckets (S3 Express One Zone)."""


_Addresses = list[tuple[Path, str]]
_FOUND: ByIdentity[_Addresses] = ByIdentity()  # jobs share most members


def addresses(payload: dict[str, object]) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of every S3 address of a request, wherever the API model has one."""
    leading = _leading(pinned_model().root.name)
    for name, value in payload.items():
        if name in leading:
            yield from _FOUND.of(name, value, functools.partial(_below_all, name, leading[name], value))


def _below_all(name: str, shape: Shape, value: object) -> _Addresses:
    return [*_below((name,), shape, value)]


def _below(path: Path, shape: Shape, value: object) -> Iterator[tuple[Path, str]]:
    if shape.kind == "structure" and isinstance(value, dict):
        leading = _leading(shape.name)
        for name, inner in value.items():
            if name in leading:
                yield from _below((*path, name), leading[name], inner)
    elif shape.kind == "list" and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _below((*path, index), pinned_model().shapes[shape.item], inner)
    elif shape.name == _ADDRESS and isinstance(value, str):
        yield path, value


@functools.cache
def _leading(structure: str) -> dict[str, Shape]:
    """Return the members of a structure that are S3 addresses or contain one: few do."""
    shapes = pinned_model().shapes
    return {name: shapes[kind] for name, kind in shapes[structure].members.items() if _leads(shapes[kind])}


def _leads(shape: Shape) -> bool:
    if shape.kind == "list":
        return _leads(pinned_model().shapes[shape.item])
    return bool(_leading(shape.name)) if shape.kind == "structure" else shape.name == _ADDRESS


def _of_host(address: str) -> re.Match[str] | None:
    return re.fullmatch(_host_pattern(), address) if address.startswith("https://") else None


@functools.cache
def _host_pattern() -> str:
    return _HOST.replace("SUFFIXES", "|".join(re.escape(each.dns_suffix) for each in partitions()))


def bucket_of(address: str) -> str | None:
    """Return the bucket of an address; None if it is unknown."""
    scheme, _, rest = address.partition("://")
    if scheme == "s3":
        return rest.partition("/")[0]
    match = _of_host(address)
    if match is None:
        return None
    return match["virtual"] or (match["rest"] or "").partition("/")[0] or None


def region_of(address: str) -> str | None:
    """Return the region that an address contains: that of an access point's ARN, or of the host of a URL."""
    point = parsed_arn(address.removeprefix("s3://"))
    if point is not None:
        return point.region or None
    match = _of_host(address)
    labels = match["labels"].split(".") if match else []
    return next((name for each in labels if partition_of(name := re.sub("^(?:website|fips)-", "", each))), None)


def key_of(address: str) -> str:
    """Return the key, or the key prefix, of an address `s3://…`; empty for a whole bucket or access point."""
    rest = address.partition("://")[2]
    point = re.fullmatch(_ACCESS_POINT, rest, re.DOTALL) if is_access_point(address) else None
    return rest.partition("/")[2] if point is None else point["key"] or ""


def as_s3(address: str) -> str:
    """Return an address `s3://…` of what the URL of a bucket leads to; any other as it is."""
    match = _of_host(address)
    if match is None:
        return address
    return f"s3://{match['virtual']}/{match['rest'] or ''}" if match["virtual"] else f"s3://{match['rest'] or ''}"


def key_prefix(address: str) -> str:
    """Return the text with which the address of every object of a channel begins: a bucket is a whole name."""
    return address if key_of(address) else f"{address.rstrip('/')}/"


def is_access_point(address: str) -> bool:
    """Return whether an address names an access point by its ARN instead of a bucket."""
    return address.startswith("s3://arn:")


def names_access_point(address: str) -> bool:
    """Return whether an address that begins with an ARN names an access point, with a key or without one."""
    return re.fullmatch(_ACCESS_POINT, address.removeprefix("s3://"), re.DOTALL) is not None


def normal(prefix: str) -> str:
    """Return a prefix as a directory: for what a job writes, it is the same location with and without a slash."""
    return prefix.rstrip("/") + "/"


def above(prefix: str) -> Iterator[str]:
    """Yield the parent prefixes of a normalized one, the innermost first, the bucket last."""
    end = len(prefix) - 1
    bucket = prefix.find("/", prefix.find("://") + 3)
    while end > bucket:
        end = prefix.rfind("/", 0, end)
        yield prefix[: end + 1]


def ends_inside_a_name(prefix: str) -> bool:
    """Return whether a prefix may match names that only begin like its last one. A bucket is a whole name."""
    return key_of(prefix) != "" and not prefix.endswith("/")


def longer_names(prefix: str, addresses: Sequence[str]) -> Iterator[str]:
    """Yield the addresses, which are sorted, in which the last name of a prefix goes on: ``exp-10`` for ``exp-1``."""
    if ends_inside_a_name(prefix):
        for address in addresses[bisect_left(addresses, prefix) : bisect_left(addresses, prefix + _LAST)]:
            if not address.startswith(f"{prefix}/") and address != prefix:
                yield address


def longer_data(prefix: str, addresses: Sequence[str]) -> Iterator[str]:
    """Yield the `longer_names` of a channel. Two files, such as ``a.csv`` and ``a.csv.gz``, are named so on purpose."""
    is_file = re.search(_FILE, prefix) is not None
    return (address for address in longer_names(prefix, addresses) if not (is_file and re.search(_FILE, address)))


@functools.lru_cache(maxsize=256)  # jobs share buckets
def can_be_a_bucket(name: str) -> bool:
    """Return whether a name is a valid name of an S3 bucket or access point."""
    if name.startswith("arn:"):
        return True
    return (
        _SHORTEST <= len(name) <= _LONGEST
        and re.fullmatch(_NAME, name) is not None
        and ".." not in name
        and re.fullmatch(_IP_ADDRESS, name) is None
    )
