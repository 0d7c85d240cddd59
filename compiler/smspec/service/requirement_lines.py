"""The lines of a requirements file: where a requirement is written, what it is, and the variables of its indexes."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping

from smspec.source.frozen import dataclass, replace

# pip, requirements file format: upper case letters, digits, and `_`, in braces.
_INDEX_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")

# A spec must not choose what else a resolver does on the machine that locks. An image has pip: variables of uv have no
# effect there.
_SETTING = re.compile(r"PIP_(?:INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|TRUSTED_HOST|PRE|PREFER_BINARY)")
FILES = ("PIP_CONFIG_FILE", "NETRC")
"""Secrets in files that pip reads."""

CERTIFICATES = ("PIP_CERT", "PIP_CLIENT_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""Secrets in files with which pip trusts an index, or shows who it is."""

_OF_THE_SYSTEM = re.compile(
    r"(?:LD|DYLD|PIP|UV|SMSPEC|XDG|LC|SSL)_.*|PYTHON.*|(?:.+_)?PROXY|(?:REQUESTS|CURL)_CA_BUNDLE|PATH|HOME|IFS|SHELL"
    r"|LANG|TMPDIR|ENV|BASH_ENV|NETRC|VIRTUAL_ENV|CONDA_PREFIX|PROJECT_ROOT|CC|CXX|C(?:PP|XX)?FLAGS|LDFLAGS"
)

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_REQUIREMENT = re.compile(rf"({_NAME})\s*(\[[^\]]*\])?\s*(?:@\s*(\S+)|\(?([^;@)]*)\)?)\s*(?:;(.*))?", re.DOTALL)
_OPTIONS_OF_A_LINE = re.compile(r"\s+--?[A-Za-z].*", re.DOTALL)
_OPTION_OF_A_LINE = re.compile(r"\s(--?[A-Za-z][\w-]*)")
_FLAGS = ("--no-index", "--pre", "--prefer-binary", "--require-hashes")
_KNOWN = (
    *_FLAGS,
    "--index-url",
    "--extra-index-url",
    "--find-links",
    "--trusted-host",
    "--no-binary",
    "--only-binary",
    "--use-feature",
)
_LONG = {"-i": "--index-url", "-f": "--find-links", "-r": "--requirement", "-c": "--constraint", "-e": "--editable"}
_CODE = "/opt/ml/code"
_LISTS = ("--requirement", "--constraint")
_PLAIN = (*_KNOWN[len(_FLAGS) :], "--editable")
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")
NOT_PLAIN = re.compile(r"[\s\"'\\$]|^-")
_FILE = re.compile(rf"(?:{_CODE}/)?(?:\.\.?/)*(?:(?!\.\.?/)[\w.+@-]+/)*(?!\.\.?$)[\w.+@-]+")
"""No variable, URL, or way out of a directory that may be a link."""
_OUTSIDE = re.compile(r"(?:(?:-e|--editable)[ \t=]*)?((?![/-])(?:[\w.+@-]+/)*?\.\.(?:/[\w./+@-]*)?)(?:\[[\w,. -]*\])?")
_SHA256 = re.compile(r"--hash[=\s]+sha256:([0-9a-f]{64})")
_OTHER_HASH = re.compile(r"--hash[=\s]+(?!sha256:)(\w+):")
_PASSWORD = re.compile(r"://[^/\s@]*:(?!\$\{[A-Z0-9_]+\}@)[^/\s@]+@|://(?!\$\{)[^/\s:@]+@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """``name`` is normalized; ``specifier`` the versions as written, empty for any; ``url`` a file instead of these.

    ``place`` is the position in the file: line, and column, from 1; or in the list of the spec: its index, and 0.
    ``hashes``: the SHA-256 of the only files that the author accepts, none for any.
    """

    name: str
    specifier: str
    url: str
    text: str
    place: tuple[int, int]
    hashes: frozenset[str] = frozenset()

    @property
    def shown(self) -> str:
        """The requirement for a message."""
        return f"{self.name}{self.specifier.replace(' ', '')}"[:60]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementLines:
    """``options``: lines such as ``--index-url URL``. ``obstacle``: why the file cannot be locked, empty if it can."""

    requirements: tuple[Requirement, ...] = ()
    options: tuple[str, ...] = ()
    obstacle: str = ""


def without_comment(line: str) -> str:
    """Return a line of a requirements file without its comment, which begins at its start, or after a blank."""
    found = re.search(r"(?:^|(?<=\s))#", line)
    return line if found is None else line[: found.start()]


def variables_in(line: str) -> list[str]:
    """Return the names of the variables that pip and uv replace in a line of a requirements file."""
    return _INDEX_VARIABLE.findall(line)


def named_variables(requirements: bytes) -> set[str]:
    """Return the variables that a requirements file names outside of comments."""
    lines = requirements.decode("utf-8-sig", "replace").splitlines()
    return {name for line in lines for name in variables_in(without_comment(line))}


def index_variables(requirements: bytes, env: Mapping[str, str], secrets: Iterable[str]) -> dict[str, str | None]:
    """Return what else of an image chooses its packages: the variables that its requirements refer to, and secrets.

    The value of a secret is None: it may differ between authors.
    """
    named = named_variables(requirements)
    found: dict[str, str | None] = {name: env[name] for name in sorted(named) if name in env}
    return found | {name: None for name in sorted(secrets) if name in named or name in FILES or is_index_setting(name)}


def expanded(line: str, variables: Mapping[str, str]) -> str:
    """Return a line with the values of its variables; one that is not set stays as it is written."""
    return _INDEX_VARIABLE.sub(lambda match: variables.get(match[1], match[0]), line)


def is_index_setting(name: str) -> bool:
    """Return whether a variable of an image is a setting of pip that chooses indexes."""
    return _SETTING.fullmatch(name) is not None


def installing_variables(env: Mapping[str, str], named: Iterable[str]) -> dict[str, str]:
    """Return the variables of an image that choose its packages: its indexes, and what its requirements name."""
    usable = {*usable_in_requirements(named)}
    return {name: value for name, value in env.items() if is_index_setting(name) or name in usable}


def usable_in_requirements(names: Iterable[str]) -> Iterator[str]:
    """Yield the variables of a build that its requirements can refer to where they are locked."""
    return (name for name in names if is_index_setting(name) or not _OF_THE_SYSTEM.fullmatch(name))


def normalized(name: str) -> str:
    """Return the normalized name of a project."""
    return re.sub(r"[-_.]+", "-", name).lower()


def has_lines(content: bytes) -> bool:
    """Return whether a requirements file has a line besides comments."""
    return any(True for _ in joined_lines(content.decode("utf-8-sig", "replace")))


def lists_named(path: str, content: bytes, known: Container[str], variables: Container[str]) -> tuple[list[str], int]:
    """Return the known paths of a source that a requirements file in it leads to, and the first line not understood.

    0: there is none. pip splits, shortens, and expands options in many ways, so only the plain forms that people write
    count as understood. ``variables``: those whose value is one plain word.
    """
    found: list[str] = []
    unseen: list[int] = []
    for joint in (" ", ""):  # pip joins lines without a blank
        for number, _, line in joined_lines(content.decode("utf-8-sig", "replace"), joint):
            option = line.lstrip("\\").strip()
            if not option.startswith(("-", "${")):
                continue
            names = _plain_lists(option, variables)
            places = [posixpath.normpath(posixpath.join(_CODE, posixpath.dirname(path), name)) for name in names or ()]
            inside = [posixpath.relpath(place, _CODE) for place in places]
            found += [name for name in inside if name in known]
            if names is None or not all(name in known for name in inside):
                unseen.append(number)
    return found, min(unseen, default=0)


def lists_missing(path: str, content: bytes, known: Container[str]) -> Iterator[tuple[int, str]]:
    """Yield (line, path) of the lists that a requirements file names by relative paths, and that its source lacks.

    Packages are among them whose paths leave the source: pip starts there, whatever file names them.
    """
    for number, _, line in joined_lines(content.decode("utf-8-sig", "replace")):
        for name in (_plain_lists(line, ()) or ()) if line.startswith("-") else ():
            place = posixpath.normpath(posixpath.join(_CODE, posixpath.dirname(path), name))
            is_data = place.startswith("/opt/ml/input/")  # a channel may have it
            if not (name.startswith("/") or is_data or posixpath.relpath(place, _CODE) in known):
                yield number, name
        if package := _OUTSIDE.fullmatch(line):
            place = posixpath.normpath(posixpath.join(_CODE, package[1]))
            if not f"{place}/".startswith((f"{_CODE}/", "/opt/ml/input/")):
                yield number, package[1]


def _plain_lists(line: str, variables: Container[str]) -> list[str] | None:
    """Return the lists that a line of options names; None if it is not in a plain form."""
    if not all(name in variables for name in variables_in(line)):
        return None
    words = re.split("[ \t]+", line)
    if any(NOT_PLAIN.search(_VARIABLE.sub("x", word.lstrip("-"))) for word in words):
        return None
    found = []
    for name, joint, value in _split_options(words):
        if name in _FLAGS and not joint:
            continue
        long = _LONG.get(name, name)
        is_list = long in _LISTS
        is_odd = (name in _LONG and joint == "=") or not value or value[0] in "-="
        if is_odd or not (is_list or long in _PLAIN) or (is_list and not _FILE.fullmatch(value)):
            return None
        found += [value] if is_list else []
    return found


def read_packages(packages: tuple[str, ...]) -> RequirementLines:
    """Return the requirements in a list of a spec."""
    found = [
        "contains a variable" if variables_in(text) else _read(text, (index, 0)) for index, text in enumerate(packages)
    ]
    faults = ((index, each) for index, each in enumerate(found) if isinstance(each, str))
    obstacle = next((f"`image.python_packages[{index}]` {fault}" for index, fault in faults), "")
    return RequirementLines(
        requirements=tuple(each for each in found if isinstance(each, Requirement)), obstacle=obstacle
    )


def read_requirements(content: bytes, variables: Iterable[str] = ()) -> RequirementLines:
    """Return the requirements and options of a requirements file; ``variables``: those that the build sets."""
    known = {*usable_in_requirements(variables)}
    requirements: list[Requirement] = []
    options: list[str] = []
    obstacle = ""
    for number, column, line in joined_lines(content.decode("utf-8-sig", "replace")):
        found: Requirement | str = ""
        unset = next((name for name in variables_in(line) if name not in known), None)
        if unset is not None:
            found = f"uses `${{{unset}}}`, which neither `image.env` nor `image.secrets` sets"
        elif line.startswith("-"):
            split = _options(line)
            found = next(filter(None, map(_obstacle_of_option, split)), "") if split else "has quotes that do not end"
            options += [] if found else split
        elif option := next((name for name in _OPTION_OF_A_LINE.findall(line) if name != "--hash"), ""):
            found = f"has the option `{option}`, which applies only to builds"
        elif variables_in(line):
            found = "contains a variable outside of an option"  # the lockfile would have its value
        else:
            found = _read(_OPTIONS_OF_A_LINE.sub("", line), (number, column))
            if isinstance(found, Requirement):
                other = _OTHER_HASH.search(line)
                found = replace(found, hashes=frozenset(_SHA256.findall(line)))
                found = f"has a hash of {other[1]}; a lockfile requires sha256" if other else found
        if isinstance(found, Requirement):
            requirements.append(found)
        elif found:
            obstacle = obstacle or f"line {number} of its requirements {found}"
    return RequirementLines(requirements=tuple(requirements), options=tuple(options), obstacle=obstacle)


def joined_lines(text: str, joint: str = " ") -> Iterator[tuple[int, int, str]]:
    """Yield each line with its number and column, without comments; a backslash continues one on the next."""
    parts, first, column = "", 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        if not parts:
            first, column = number, len(line) - len(line.lstrip()) + 1
        is_comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not is_comment:
            parts += line[:-1] + joint if joint else line.strip("\\")
            continue
        if is_comment:
            line = f" {line}"
        whole, parts = without_comment(parts + line).strip(), ""
        if whole:
            yield first, column, whole
    if parts.strip():
        yield first, column, without_comment(parts).strip()


def _read(text: str, place: tuple[int, int]) -> Requirement | str:
    """Return a requirement, or why it cannot be locked."""
    text = without_comment(text).strip()
    is_url = re.match(r"[a-z+]+:", text) is not None
    match = None if is_url else _REQUIREMENT.fullmatch(text)
    url = text if is_url else (match[3] or "" if match else "")
    if re.match(r"(?:git|hg|svn|bzr)\+", url):
        return "is a version control URL, which has no hash"
    if url and (not re.match(r"https?://", url) or _PASSWORD.search(url) or "${" in url):
        return "is a URL that a lockfile cannot contain"
    if match is None and not url:
        return "is not a name with versions"
    name = normalized(match[1]) if match else ""
    specifier = (match[4] or "").strip() if match else ""
    if specifier and not re.match(r"[<>]|[=!~]=", specifier):
        return "is not a name with versions"
    return Requirement(name=name, specifier=specifier, url=url, text=text, place=place)


def _options(line: str) -> list[str]:
    """Return the options of a line as pip splits them, with long names; none if that is not possible."""
    try:
        words = shlex.split(line)
    except ValueError:
        return []
    return [f"{_LONG.get(name, name)} {value}".strip() for name, _, value in _split_options(words)]


def _split_options(words: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each option as it is written, what joins its value to it, and the value; both may be empty."""
    ahead = iter(words)
    for word in ahead:
        name, joint, value = word.partition("=")
        if name[:2] in _LONG and name[2:]:
            yield word[:2], "", word[2:]  # as in `-ihttps://…`, where a `=` is part of the value
        elif joint or name in _FLAGS:
            yield name, joint, value
        else:
            yield name, " ", next(ahead, "")


def _obstacle_of_option(option: str) -> str:
    """Return why an option, its name and value, cannot be locked."""
    name = option.partition(" ")[0]
    if name in ("--requirement", "--constraint"):
        return "refers to another file, which the image does not contain"
    if name == "--editable":
        return "is an editable requirement"
    if name in ("--config-settings", "--config-setting", "--global-option", "--build-option", "--install-option", "-C"):
        return f"has the option `{name}`, which applies only to builds"
    if name not in _KNOWN:
        return f"has the option `{name[:40]}`, which smspec does not know"
    if _PASSWORD.search(option):
        return "contains a password; use `${NAME}`, and set `NAME` in `image.secrets`"
    if name == "--find-links":
        return "" if re.search(r"https?://", option) else "refers to files that the image does not contain"
    return ""
