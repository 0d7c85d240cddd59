"""Interfaces, addresses, and routes of the current network namespace, by netlink (rtnetlink(7))."""

from __future__ import annotations

import os
import socket
import struct
from typing import Union

from .kernel import StepFailed

_ERROR = 2
_NEW_LINK, _SET_LINK, _NEW_ADDRESS, _NEW_ROUTE = 16, 19, 20, 24
_REQUEST, _ANSWER, _ONLY_NEW, _CREATE = 0x1, 0x4, 0x200, 0x400
_UP = 1
_NAME, _MASTER, _KIND_AND_DATA, _OF_PROCESS = 3, 10, 18, 19
_KIND, _DATA, _PEER = 1, 2, 1
_ADDRESS, _OWN_ADDRESS = 1, 2
_GATEWAY, _OUTGOING = 5, 4
_DESTINATION = 1
_MAIN_TABLE, _BY_ADMINISTRATOR, _UNICAST, _UNREACHABLE = 254, 3, 1, 7

Attributes = dict[int, Union[bytes, "Attributes"]]


def add_bridge(name: str) -> None:
    """Create a bridge and activate it."""
    _link(_NEW_LINK, name, {_KIND_AND_DATA: {_KIND: b"bridge"}}, _CREATE | _ONLY_NEW)
    activate(name)


def add_pair(name: str, peer: str, process: int) -> None:
    """Create two connected interfaces; ``peer`` is in the network of a process."""
    other = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + _packed(
        {_NAME: _text(peer), _OF_PROCESS: struct.pack("=I", process)}
    )
    info: Attributes = {_KIND: b"veth", _DATA: _packed({_PEER: other})}
    _link(_NEW_LINK, name, {_KIND_AND_DATA: info}, _CREATE | _ONLY_NEW)


def join(name: str, bridge: str) -> None:
    """Connect an interface to a bridge and activate it."""
    _link(_SET_LINK, name, {_MASTER: struct.pack("=I", socket.if_nametoindex(bridge))}, 0)
    activate(name)


def activate(name: str) -> None:
    """Set an interface up."""
    _link(_NEW_LINK, name, {}, 0, _UP)


def add_address(name: str, address: str, prefix: int) -> None:
    """Give an interface an address."""
    packed = socket.inet_aton(address)
    body = struct.pack("=BBBBi", socket.AF_INET, prefix, 0, 0, socket.if_nametoindex(name))
    _ask(_NEW_ADDRESS, body + _packed({_OWN_ADDRESS: packed, _ADDRESS: packed}), _CREATE | _ONLY_NEW)


def add_default_route(name: str, gateway: str) -> None:
    """Send everything else to a gateway."""
    body = struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, _MAIN_TABLE, _BY_ADMINISTRATOR, 0, _UNICAST, 0)
    index = struct.pack("=I", socket.if_nametoindex(name))
    attributes = _packed({_GATEWAY: socket.inet_aton(gateway), _OUTGOING: index})
    _ask(_NEW_ROUTE, body + attributes, _CREATE | _ONLY_NEW)


def refuse_route(network: str, prefix: int) -> None:
    """Send nothing to a network, also if a socket is bound to an interface that would reach it."""
    body = struct.pack("=BBBBBBBBI", socket.AF_INET, prefix, 0, 0, _MAIN_TABLE, _BY_ADMINISTRATOR, 0, _UNREACHABLE, 0)
    _ask(_NEW_ROUTE, body + _packed({_DESTINATION: socket.inet_aton(network)}), _CREATE | _ONLY_NEW)


def _link(kind: int, name: str, attributes: Attributes, flags: int, state: int = 0) -> None:
    body = struct.pack("=BxHiII", 0, 0, 0, state, state)
    _ask(kind, body + _packed({_NAME: _text(name), **attributes}), flags)


def _ask(kind: int, body: bytes, flags: int) -> None:
    message = struct.pack("=IHHII", 16 + len(body), kind, _REQUEST | _ANSWER | flags, 1, 0) + body
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as channel:
        channel.send(message)
        answer = channel.recv(1 << 16)
    _, answered, _, _, _, error = struct.unpack_from("=IHHIIi", answer)
    if answered != _ERROR or error:
        raise StepFailed("network", -error)


def _packed(attributes: Attributes) -> bytes:
    parts = []
    for kind, value in attributes.items():
        content = value if isinstance(value, bytes) else _packed(value)
        size = 4 + len(content)
        parts.append(struct.pack("=HH", size, kind) + content + bytes(-size % 4))
    return b"".join(parts)


def _text(name: str) -> bytes:
    return os.fsencode(name) + b"\0"
