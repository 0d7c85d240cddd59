"""Read the files of a build that a spec names: what there is, and the findings about it.

The shape of the spec is not checked yet: an invalid value is reported there, and skipped here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.diagnostics.suggestions import nearest
from smspec.organization.lock_file import name_in_lock
from smspec.pipeline.input_cache import LARGEST_REQUIREMENTS, InputCache
from smspec.plan import BuildInputs, StartupPackages
from smspec.render import templates_digest
from smspec.source import Document, Listing, Mapping, Path
from smspec.source.frozen import replace
from smspec.spec.startup import REQUIREMENTS as AT_STARTUP
from smspec.workspace.boundary import OUTSIDE, Boundary, FileNotRead, outside
from smspec.workspace.ignore_rules import WORTH_NAMING
from smspec.workspace.path_targets import not_found
from smspec.workspace.source_listing import ScannedSource, SourceSecret, runtime_files, unreadable
from smspec.workspace.source_walk import FaultKind, SourceFault

SOURCE = ("source", "dir")

NO_SOURCE_DIRECTORY = Rule("SM143", "source directory not found")
NO_REQUIREMENTS_FILE = Rule("SM144", "requirements file missing or too large")
LEAVES_THE_SOURCE = Rule("SM259", "symbolic link that leaves the source")
NOWHERE = Rule("SM260", "dangling link in the source")
AROUND = Rule("SM261", "link to a parent directory")
IGNORED = Rule("SM262", "link to an ignored file")
NOT_UTF_8 = Rule("SM263", "file name that is not UTF-8")
UNREADABLE = Rule("SM264", "unreadable file in the source")
UNBOUNDED = Rule("SM265", "oversized source")
SPECIAL = Rule("SM266", "special file in the source", "warning")
LARGE = Rule("SM267", "large source", "warning")
LEFT_OUT = Rule("SM268", "files excluded by default", "note")
SECRET = Rule("SM604", "secret in the source")
LIKELY_SECRET = Rule("SM605", "likely secret in the source", "warning")
UNSEARCHED = Rule("SM606", "file not searched for secrets", "note")

_UNLISTED = (
    LEAVES_THE_SOURCE,
    NOWHERE,
    AROUND,
    IGNORED,
    NOT_UTF_8,
    UNREADABLE,
    UNBOUNDED,
    NO_SOURCE_DIRECTORY,
    OUTSIDE,
)
_HIDE_FILES = frozenset(rule.code for rule in _UNLISTED)
"""Codes of findings about files that cannot be listed: that they are missing there is not reported again."""

_LARGE_BYTES = 50_000_000
_LARGE_FILES = 2_000
_MOST_NAMED = 5

_MOVE = "move the target into the source, or add the link to `source.ignore`"
# Kind → rule, the error in `{path}`, and what to do.
_FAULTS: dict[FaultKind, tuple[Rule, str, str]] = {
    "outside": (LEAVES_THE_SOURCE, "{path} links to {detail}, outside of the source", _MOVE),
    "nowhere": (
        NOWHERE,
        "{path} links to {detail}, which does not exist",
        "fix the link, or add it to `source.ignore`",
    ),
    "around": (
        AROUND,
        "{path} links to {detail}, a directory that contains the link",
        "remove the link, or add it to `source.ignore`",
    ),
    "ignored": (
        IGNORED,
        "{path} links to {detail}, which is ignored",
        "add the link to `source.ignore`, or include its target: `!NAME` takes back a default",
    ),
    "name": (
        NOT_UTF_8,
        "the file name {path} is not UTF-8",
        "rename the file, or add a pattern for it to `source.ignore`",
    ),
    "unreadable": (UNREADABLE, "{path} cannot be read: {detail}", "make it readable, or add it to `source.ignore`"),
    "special": (SPECIAL, "{path} is {detail}, which `source` excludes", "add it to `source.ignore`"),
}

REQUIREMENTS = ("image", "python_requirements")


def source_findings(scanned: ScannedSource, written: str) -> Iterator[Finding]:
    """Yield every error and note about a source; ``written``: its directory, as in the spec."""
    for fault in scanned.faults:
        if fault.kind == "unbounded":
            yield UNBOUNDED.at(
                SOURCE,
                f"`source` cannot be {quoted(written)}: {fault.detail}",
                help="use a directory that contains only the code of the job",
            )
    for kind, (rule, title, help) in _FAULTS.items():
        faults = [title.format(path=_name(f.path), detail=_detail(f)) for f in scanned.faults if f.kind == kind]
        if faults:
            yield _listed(rule, faults, help)
    yield from _secrets(scanned.secrets)
    yield from _size(scanned.listing)
    named = [path for group, path in scanned.left_out if group in WORTH_NAMING]
    if named:
        yield LEFT_OUT.at(
            SOURCE,
            f"`source` excludes {_names(named)}",
            help=f"add `!{_pattern(named[0])}` to `source.ignore` to include it",
        )
    if scanned.unsearched:
        yield UNSEARCHED.at(
            SOURCE,
            f"`source` contains {_names(scanned.unsearched)}, not searched for secrets",
            help="move data to a channel: text above 5 MB a file, 10 MB in all, or full of token prefixes is skipped",
        )


def _secrets(secrets: Sequence[SourceSecret]) -> Iterator[Finding]:
    for rule, verb, is_certain in ((SECRET, "contains", True), (LIKELY_SECRET, "might contain", False)):
        found = [f"{_name(s.path)} line {s.line} {verb} {s.what}" for s in secrets if s.is_certain is is_certain]
        if found:
            help = "remove it and revoke it, or add the file to `source.ignore`; fetch secrets at run time"
            effect = "exposes the value to everyone who can pull the image or read the source in S3"
            yield _listed(rule, found, help, effect)


def _size(listing: Listing) -> Iterator[Finding]:
    size = sum(file.size for file in listing.files)
    if size <= _LARGE_BYTES and len(listing.files) <= _LARGE_FILES:
        return
    largest = sorted(listing.files, key=lambda file: -file.size)[:3]
    sizes = [f"{_name(file.path)} ({file.size / 1e6:,.1f} MB)" for file in largest]
    yield LARGE.at(
        SOURCE,
        f"`source` contains {_count(len(listing.files))} with {size / 1e6:,.1f} MB",
        help="add what training does not need to `source.ignore`, or move data to a channel",
        notes=(Note(f"the largest: {', '.join(sizes)}"),),
    )


def _listed(rule: Rule, faults: Sequence[str], help: str, effect: str = "") -> Finding:
    """Return one finding for all paths of a kind: they have the same position and help."""
    more = len(faults) - 1
    others = [Note(fault) for fault in faults[1:_MOST_NAMED]]
    if more >= _MOST_NAMED:
        others.append(Note(f"{_count(more - len(others), 'more')}"))
    title = faults[0] + (f" (and {more} more)" if more else "")
    return rule.at(SOURCE, title, help=help, notes=(*([Note(effect)] if effect else []), *others))


def _names(paths: Sequence[str]) -> str:
    shown = ", ".join(map(_name, paths[:3]))
    return f"{shown} and {len(paths) - 3:,} more" if len(paths) > 3 else shown


def _name(path: str) -> str:
    """Return a path in printable form, whatever its bytes are."""
    return quoted(path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def _detail(fault: SourceFault) -> str:
    return _name(fault.detail) if fault.kind in ("outside", "nowhere", "around", "ignored") else fault.detail


def _pattern(path: str) -> str:
    """Return the name of a file or directory as a pattern."""
    name = path.rstrip("/").rpartition("/")[2]
    return f"{name}/" if path.endswith("/") else name


def _count(number: int, what: str = "files") -> str:
    return f"{number:,} {what}" if number != 1 else f"1 {what.removesuffix('s')}"


def read_build_inputs(document: Document, findings: list[Finding], cache: InputCache, *, is_whole: bool) -> BuildInputs:
    """Return the inputs of a build, and add to ``findings`` what is wrong with files that the spec names.

    ``is_whole``: the layers of the spec have no faults. Otherwise the environments of a lock are not read.
    """
    directory = os.path.dirname(document.texts[0].name)
    boundary = cache.boundary(directory)
    source = _source(document, directory, findings, cache)
    lock_path, lock = cache.lock(directory) or ("", None)
    requirements = requirements_file(document, directory)
    inputs = BuildInputs(
        source=source,
        runtime=runtime_files(document, source),
        templates=templates_digest(),
        requirements=_requirements(document, requirements, findings, cache, boundary),
        requirements_name=name_in_lock(requirements, lock_path) if lock and requirements else "",
        lock=lock,
        startup=_startup(document, source, cache, boundary),
    )
    if lock is not None and lock.environments and is_whole:
        return _with_environments(document, inputs, lock_path, boundary, cache)
    return inputs


def hides_files(findings: Iterable[Finding]) -> bool:
    """Return whether any of the findings about a build is about a source that could not be listed."""
    return any(finding.path == SOURCE and finding.code in _HIDE_FILES for finding in findings)


def requirements_file(document: Document, directory: str) -> str | None:
    """Return the path of the requirements file in the spec."""
    written = document.string(REQUIREMENTS)
    return None if written is None else os.path.join(directory, written)


def _source(document: Document, directory: str, findings: list[Finding], cache: InputCache) -> Listing:
    written = document.string(SOURCE)
    if written is None:
        return Listing()
    path = os.path.join(directory, written)
    boundary = cache.boundary(directory)
    try:
        is_there = boundary.is_directory(path)
    except OSError as fault:
        findings.extend(source_findings(unreadable(fault, path), written))
        return Listing()
    if not is_there:
        is_inside = boundary.contains(path)
        findings.append(
            _missing(NO_SOURCE_DIRECTORY, SOURCE, "directory", written, path)
            if is_inside
            else outside(SOURCE, written, path, boundary)
        )
        return Listing()
    scanned = cache.source(path, document.strings(("source", "ignore")))
    findings.extend(source_findings(scanned, written))
    return scanned.listing


def _requirements(
    document: Document, path: str | None, findings: list[Finding], cache: InputCache, boundary: Boundary
) -> bytes | None:
    if path is None:
        return None
    written = document.string(REQUIREMENTS) or ""
    if not boundary.contains(path):
        findings.append(outside(REQUIREMENTS, written, path, boundary))
        return None
    if not boundary.is_file(path):
        findings.append(_missing(NO_REQUIREMENTS_FILE, REQUIREMENTS, "file", written, path))
        return None
    try:
        content = cache.requirements(path, boundary)
    except FileNotRead:  # it was replaced after the first check
        findings.append(outside(REQUIREMENTS, written, path, boundary))
        return None
    if len(content) > LARGEST_REQUIREMENTS:
        findings.append(requirements_too_large(REQUIREMENTS, f"`{written}`"))
        return None
    return _converted(written, content, findings) if written.endswith(".toml") else content


def requirements_too_large(path: Path, file: str) -> Finding:
    """Return the finding about a list of packages that smspec does not read."""
    most = f"{LARGEST_REQUIREMENTS >> 20} MiB"
    return NO_REQUIREMENTS_FILE.at(
        path, f"{file} is larger than {most}", help="use a file with one requirement per line"
    )


def _converted(written: str, content: bytes, findings: list[Finding]) -> bytes | None:
    """Return the packages of a ``pylock.toml`` as a requirements file, and any other file as it is."""
    # Imported late: few jobs have such a file.
    from smspec.rules.requirements import unreadable_lock
    from smspec.service.pylock import NotConvertible, is_pylock, requirements_of

    if not is_pylock(os.path.basename(written)):
        return content
    try:
        return requirements_of(content)
    except NotConvertible as reason:
        findings.append(unreadable_lock(written, str(reason)))
        return None


def _startup(document: Document, source: Listing, cache: InputCache, boundary: Boundary) -> StartupPackages | None:
    if not any(file.path == AT_STARTUP for file in source.files):
        return None
    # Imported late: few sources have one.
    from smspec.pipeline.startup_lists import startup_lists

    return startup_lists(document, source, cache, boundary)


def _missing(rule: Rule, at: Path, what: str, written: str, path: str) -> Finding:
    parent, name = os.path.split(os.path.normpath(path))
    try:
        near = nearest(name, sorted(set(os.listdir(parent or ".")) - {name}))
    except (OSError, ValueError):
        near = None
    return rule.at(
        at,
        not_found(path, written, what),
        help="fix the path; it is relative to the directory of this file",
        label=f"did you mean `{os.path.join(os.path.dirname(written.rstrip('/')), near)}`?" if near else "",
    )


def _with_environments(
    document: Document, build_inputs: BuildInputs, lock: str, boundary: Boundary, cache: InputCache
) -> BuildInputs:
    """Return the inputs with the environments that the image and the job of a document need, as far as they are known.

    ``lock``: the path of the lockfile, which has environments. Raise `InvalidInput` if an entry in it is invalid.
    """
    # Imported late: few repositories have locked environments.
    from smspec.plan import with_image_uri
    from smspec.plan.image_planning import authored_image
    from smspec.spec.decoding import decode
    from smspec.spec.shape import shape_findings, viewed
    from smspec.spec.startup import startup_requirements

    if document.is_partly_known or not isinstance(document.node(("image",)), Mapping):
        return build_inputs
    data = viewed(document.root)
    if shape_findings(document, data):
        return build_inputs
    job, _ = with_image_uri(decode(document, data), build_inputs.lock)
    image = authored_image(job, build_inputs)
    if image is None or (image.python_requirements is not None and build_inputs.requirements is None):
        return build_inputs
    environment = cache.environment(image, build_inputs.requirements, lock, boundary)
    build_inputs = replace(build_inputs, environment=environment)
    startup, installed = build_inputs.startup, build_inputs.locked_environment
    if startup is None or (environment is not None and installed is None):
        return build_inputs
    # Imported late: few sources have a list of packages.
    from smspec.plan.image_planning import image_at_start, key_at_start, obstacle_at_start

    if startup_requirements(job, build_inputs.source) is None or obstacle_at_start(job, build_inputs.source):
        return build_inputs
    key = key_at_start(image_at_start(job, image), startup.content, installed)
    added = cache.environment_at_start(key, startup.content, lock, boundary)
    return replace(build_inputs, startup=replace(startup, environment=added))
