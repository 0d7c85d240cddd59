"""Where packages come from: the settings of the author's machine, of the image, and its secrets, for pip and for uv.

Credentials travel in variables of the resolver alone, never in its arguments, and are masked in what it prints.
"""

from __future__ import annotations

import base64
import netrc
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import SplitResult, unquote, urlsplit

from smspec.diagnostics.quoting import hidden
from smspec.installers import is_on, pip_options, uv_flags, uv_settings, variables_of_installers
from smspec.lock.resolver_process import ResolverFailed
from smspec.service.requirement_lines import (
    FILES,
    expanded,
    installing_variables,
    is_index_setting,
    usable_in_requirements,
    variables_in,
)
from smspec.spec.model import BuildSecret

_INDEX_OPTIONS = ("index-url", "extra-index-url", "find-links")
_INDEXES_OF_UV = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
_URL = re.compile(r"(?:https?|file)://[^\s,\"']+")
# What would make a resolver write somewhere else, or resolve for something else.
_NOT_PASSED = re.compile(
    r"(?:PYTHON|PIP_(?:USER|TARGET|PREFIX|ROOT|PYTHON|REQUIRE_VIRTUALENV|REPORT|DRY_RUN|PLATFORM|ABI|IMPLEMENTATION"
    r"|ONLY_BINARY|NO_BINARY|CONSTRAINT|REQUIREMENT|QUIET|VERBOSE|LOG|NO_DEPS|REQUIRE_HASHES)"
    r"|UV_(?:PYTHON|SYSTEM_PYTHON|BREAK_SYSTEM_PACKAGES|TARGET|PREFIX|CONSTRAINT|OVERRIDE|CONFIG_FILE|NO_BUILD|NO_BINARY"
    r"|ONLY_BINARY|PROJECT|WORKING_DIR|TORCH_BACKEND|REQUIRE_HASHES)).*"
)


@dataclass(frozen=True)
class IndexSettings:
    """``variables``: those of this process, then those of the image, then its secrets. ``lines``: of the file.

    ``own``: the variables of the image and its secrets, to which the lines can refer. ``secrets``: values that no
    message contains.
    """

    variables: Mapping[str, str]
    own: Mapping[str, str]
    lines: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

    @cached_property
    def pip(self) -> dict[str, str]:
        """The variables of pip."""
        return {
            **self._passed,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PIP_RETRIES": self.variables.get("PIP_RETRIES", "1"),
        }

    @cached_property
    def uv(self) -> dict[str, str]:
        """The variables of uv. Raise `ResolverFailed` if it has no equivalent for an option of pip."""
        settings = uv_settings(self._options, self.variables)
        if isinstance(settings, str):
            raise ResolverFailed(f"uv has no equivalent for `{settings}` in the settings of pip; remove it there")
        return {**self._passed, "UV_HTTP_RETRIES": "1", **{k: v for k, v in settings.items() if _is_passed(k)}}

    @cached_property
    def uv_flags(self) -> list[str]:
        """The arguments of uv for options of pip that it has no variable for."""
        return uv_flags(self._options)

    def masked(self, text: str) -> str:
        """Return a text of a resolver for a message."""
        for secret in sorted({*self.secrets, *self._passwords}, key=len, reverse=True):
            text = text.replace(secret, "********")
        return hidden(text)

    def authorization(self, url: SplitResult) -> str | None:
        """Return the header for the place of an index with credentials, and for no other host; else that of netrc."""
        for index in self._urls:
            if index.password is not None or index.username:
                try:
                    same = (index.scheme, index.hostname, index.port) == (url.scheme, url.hostname, url.port)
                except ValueError:
                    continue
                if same:
                    return _basic(unquote(index.username or ""), unquote(index.password or ""))
        try:
            found = netrc.netrc(self.variables.get("NETRC") or None).authenticators(url.hostname or "")
        except (OSError, netrc.NetrcParseError):
            return None
        return _basic(found[0], found[2] or "") if found and url.scheme == "https" else None

    def indexes(self) -> tuple[str, ...]:
        """Return the URLs of the indexes, with credentials, the default one first."""
        settings = self._of_indexes
        options = [_words(line) for line in self._expanded]
        if is_on(self._options.get("no-index", "")) or any(name == "--no-index" for name, _ in options):
            return ()
        found = [settings.get("UV_DEFAULT_INDEX") or settings.get("UV_INDEX_URL") or "https://pypi.org/simple"]
        found[:1] = [value for name, value in options if name in ("-i", "--index-url")][-1:] or found
        found += [value for name, value in options if name == "--extra-index-url"]
        for variable in ("UV_INDEX", "UV_EXTRA_INDEX_URL"):
            # `name=URL` gives an index of uv a name.
            found += [re.sub(r"^[\w-]+=", "", word) for word in settings.get(variable, "").split()]
        return tuple(dict.fromkeys(found))

    def find_links(self) -> tuple[str, ...]:
        """Return the directories and pages that list files besides the indexes."""
        found = [value for name, value in map(_words, self._expanded) if name in ("-f", "--find-links")]
        found += re.split(r"[\s,]+", self._of_indexes.get("UV_FIND_LINKS", ""))
        return tuple(place for place in found if place)

    @cached_property
    def _passed(self) -> dict[str, str]:
        return {name: value for name, value in self.variables.items() if _is_passed(name)}

    @cached_property
    def _of_indexes(self) -> dict[str, str]:
        """The variables of uv that name indexes."""
        options = {name: value for name, value in self._options.items() if name in _INDEX_OPTIONS}
        settings = uv_settings(options, self.variables)
        assert not isinstance(settings, str), "uv has an equivalent for each"
        return settings

    @cached_property
    def _options(self) -> dict[str, str]:
        options = pip_options(self.variables)
        return {name: value for name, value in options.items() if _is_passed(f"PIP_{name.upper().replace('-', '_')}")}

    @cached_property
    def _expanded(self) -> tuple[str, ...]:
        return tuple(expanded(line, self.own) for line in self.lines)

    @cached_property
    def _urls(self) -> tuple[SplitResult, ...]:
        texts = [self._options.get(name, "") for name in _INDEX_OPTIONS]
        texts += [self.variables.get(name, "") for name in _INDEXES_OF_UV]
        return tuple(_split(_URL.findall(" ".join([*texts, *self._expanded]))))

    @cached_property
    def _passwords(self) -> frozenset[str]:
        found = {word for url in self._urls for word in (url.password, url.username if not url.password else None)}
        return frozenset(form for word in found if word for form in (word, unquote(word)) if len(form) > 2)


def secret_variables(secrets: Mapping[str, BuildSecret], lines: Iterable[str], directory: str) -> dict[str, str]:
    """Return the secrets of a build that concern indexes; a file is relative to ``directory``.

    Raise `ResolverFailed` for a variable that is not set.
    """
    named = _named(lines)
    found = {}
    for name, secret in secrets.items():
        if secret.file is not None and name in FILES:
            found[name] = os.path.abspath(os.path.join(directory, os.path.expanduser(secret.file)))
        elif secret.env is not None and (is_index_setting(name) or name in named):
            if secret.env not in os.environ:
                raise ResolverFailed(f"the variable `{secret.env}` is not set: `image.secrets.{name}` requires it")
            found[name] = os.environ[secret.env]
    return found


def index_settings(image_env: Mapping[str, str], secrets: Mapping[str, str], lines: tuple[str, ...]) -> IndexSettings:
    """Return the settings of this process with those of an image: its indexes, and variables in its requirements.

    The lines must name no other variables, as `read_requirements` says it.
    """
    kept = installing_variables(image_env, _named(lines))
    hidden_values = tuple(value for name, value in secrets.items() if name not in FILES and len(value) > 2)
    machine = variables_of_installers(os.environ)
    own = {**kept, **secrets}
    return IndexSettings({**machine, **own}, own, lines, hidden_values)


def _named(lines: Iterable[str]) -> set[str]:
    """Return the names of the variables in lines of a requirements file."""
    return set(usable_in_requirements(name for line in lines for name in variables_in(line)))


def _words(option: str) -> tuple[str, str]:
    """Return the name and the value of an option."""
    name, _, value = re.sub(r"[=\s]\s*", " ", option, count=1).partition(" ")
    return name, value.strip()


def _is_passed(name: str) -> bool:
    return _NOT_PASSED.fullmatch(name) is None


def _split(urls: Iterable[str]) -> list[SplitResult]:
    found = []
    for url in urls:
        try:
            found.append(urlsplit(url))
        except ValueError:
            continue
    return found


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
