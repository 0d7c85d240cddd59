"""The trusted certificates: those of this machine, or of the file that the user sets."""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from smspec.diagnostics.quoting import continued, system_reason
from smspec.wire.fault import WireFault
from smspec.wire.sockets import TimedTls

VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Files or directories of certificates; OpenSSL itself honors SSL_CERT_FILE and SSL_CERT_DIR."""


_LARGEST_FILE = 16 << 20
"""Bytes of a file that a variable names: bundles of certificates have less than one million."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """``named``: the only trusted certificates, and the variable that sets them.

    ``added``: files besides the machine's.
    """

    named: tuple[str, str] | None = None
    added: tuple[str, ...] = ()

    def context(self) -> ssl.SSLContext:
        """Return the context of TLS sockets. Raise `WireFault` for certificates that cannot be read."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.sslsocket_class = TimedTls
        if self.named is None:
            context.load_default_certs()
            for path in self.added:
                context.load_verify_locations(path)
            return context
        path, by = self.named
        require_file(path, by)
        try:
            if os.path.isdir(path):
                context.load_verify_locations(capath=path)
            else:
                context.load_verify_locations(path)
        except OSError as fault:  # ssl.SSLError is a subclass
            why = "it holds no certificates" if isinstance(fault, ssl.SSLError) else system_reason(fault)
            raise WireFault(f"{by} is `{path}`: {why}") from None
        return context


def require_file(path: str, named_by: str) -> None:
    """Raise `WireFault` for a path whose content may never end or never begin, such as a FIFO; a missing one is not."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return
    if os.path.samestat(status, os.stat(os.devnull)) or stat.S_ISDIR(status.st_mode):
        return
    if not stat.S_ISREG(status.st_mode):
        raise WireFault(f"{named_by} is `{path}`, which is not a regular file")
    if status.st_size > _LARGEST_FILE:
        raise WireFault(f"{named_by} is `{path}`, which has more than {_LARGEST_FILE >> 20} MiB")


def trust_of_environment(variables: Iterable[str] = VARIABLES, added: tuple[str, ...] = ()) -> Trust:
    """Return the certificates in the first of the variables that is set, or those of this machine."""
    named = next(((os.environ[name], name) for name in variables if os.environ.get(name)), None)
    return Trust(named=named, added=added)


def tls_sentence(place: str, fault: BaseException) -> str:
    """Return a sentence about a TLS error of a server."""
    found = _tls_error(fault)
    if isinstance(found, ssl.SSLCertVerificationError):
        why = continued(found.verify_message or str(found))
        return f"the certificate of `{place}` is not trusted: {why}; for a CA of your own, set REQUESTS_CA_BUNDLE"
    why = continued((getattr(found, "reason", None) or str(found)).replace("_", " ").lower())
    return f"no TLS connection to `{place}`: {why}"


def _tls_error(fault: BaseException) -> BaseException:
    """Return the OpenSSL error that urllib3 wraps."""
    visited: list[BaseException] = []
    inner: object = fault
    while isinstance(inner, BaseException) and inner not in visited:
        if isinstance(inner, ssl.SSLError):
            return inner
        visited.append(inner)
        inner = inner.__cause__ or inner.__context__ or (inner.args[-1] if inner.args else None)
    return fault
