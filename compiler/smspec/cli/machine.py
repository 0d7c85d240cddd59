"""``smspec --version -v``: what a report about smspec needs of this machine.

It names variables without their values, and no directories: people paste it into public issues.
"""

from __future__ import annotations

import locale
import os
import platform
import sys
from collections.abc import Iterator, Mapping

from smspec import __version__
from smspec.cli.console import Console
from smspec.diagnostics.quoting import masked

_PACKAGES = ("PyYAML", "jsonschema", "Jinja2", "boto3", "botocore", "rich", "pygls", "google-re2", "uv")
_NAMED = ("SMSPEC_", "AWS_", "DOCKER_", "CONTAINER", "BUILDX_", "PIP_", "UV_")
_ALSO_NAMED = {"CI", "COLUMNS", "LC_ALL", "NO_COLOR", "SOURCE_DATE_EPOCH", "TERM", "TMPDIR", "XDG_CACHE_HOME"}
_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"}
_FIRST_COLUMN = 12


def show_machine(console: Console) -> None:
    """Print the version, and a line for each fact; an engine that does not answer takes up to 15 seconds."""
    console.result(f"smspec {__version__}\n")
    for name, value in _facts(os.environ):
        console.result(f"{name:{_FIRST_COLUMN}}{masked(value)}\n")


def _facts(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield "installed", _origin()
    yield "python", f"{platform.python_implementation()} {platform.python_version()}"
    libc = " ".join(part for part in platform.libc_ver() if part)
    yield "system", ", ".join(part for part in (platform.platform(terse=True), platform.machine(), libc) if part)
    yield "packages", ", ".join(f"{name} {_version(name)}" for name in _PACKAGES) + f", libyaml {_has_libyaml()}"
    yield "facts", _dates()
    yield "text", f"{sys.stdout.encoding}, locale {locale.setlocale(locale.LC_CTYPE)}"
    yield "variables", ", ".join(sorted(filter(_is_named, variables))) or "none"
    yield from (("engine", each) for each in _engines())


def _origin() -> str:
    """Return how smspec was installed: from an index, a commit, or a directory, whose name is not shown."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution("smspec")
    except PackageNotFoundError:
        return "not as a package"
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if "vcs_info" in origin:
        return f"from commit {origin['vcs_info'].get('commit_id')}"
    if "dir_info" in origin:
        return "from a directory" + (", editable" if origin["dir_info"].get("editable") else "")
    return "from a file" if origin else "from a package index"


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _has_libyaml() -> str:
    import yaml

    return "present" if yaml.__with_libyaml__ else "missing"


def _dates() -> str:
    from smspec.service.facts import images, table
    from smspec.service.shapes import pinned_model

    return f"API model of {pinned_model().date}, images of {images.date()}, instances of {table('instances').date}"


def _is_named(name: str) -> bool:
    return name.startswith(_NAMED) or name in _ALSO_NAMED or name.upper() in _PROXIES


def _engines() -> Iterator[str]:
    from smspec.local.engines.choice import ENGINES, builds_images
    from smspec.local.engines.containers.client import Client, ClientFailed
    from smspec.source.real_file import program_named

    for name, engine in ENGINES.items():
        shown, reason = name, engine.unavailable()
        if builds_images(name) and program_named(name) is not None:
            try:
                shown = Client(name).run("--version").partition("\n")[0]
            except ClientFailed as fault:
                reason = str(fault)
        yield f"{shown}: {reason or 'available'}"
