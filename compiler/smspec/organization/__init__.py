"""Settings that an organization sets for all of its specs: its configuration file, policy, prices, and lockfile.

An `OrganizationConfig` is one file, ``smspec.toml`` or ``[tool.smspec]`` of a pyproject.toml, as it was read. An
`OrganizationSearch` finds those that apply to a directory, from the root of the repository down, and their
`SettingsLayer`s become one `Policy`, one `PriceBook`, and defaults for specs. A file further down may tighten a policy,
never loosen it.

Every file is read within the boundary of `smspec.workspace`, and its faults are diagnostics at their lines, as those of
a spec. The package must not know the job to which settings apply: it returns values of `smspec.service`, `smspec.spec`,
and `smspec.rules`, and `smspec.pipeline` applies them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smspec.diagnostics import InvalidInput
from smspec.organization.organization_config import (
    MalformedConfig,
    OrganizationConfig,
    SettingsLayer,
    organization_configs_in,
)
from smspec.service.job_costs import PriceBook
from smspec.service.policy import Policy
from smspec.source import Document
from smspec.source.frozen import replace
from smspec.workspace.boundary import Boundary
from smspec.workspace.boundary_search import DATED_FILES, superproject_of
from smspec.workspace.path_targets import repository_top, upwards

if TYPE_CHECKING:
    from smspec.organization.policy_layers import DatedLayer
    from smspec.rules.organization_rules.condition import OrganizationRule


class Organization:
    """The settings in the files of some layers, the outermost first, each read when it is first asked for."""

    def __init__(self, layers: Sequence[SettingsLayer]) -> None:
        self.layers = tuple(layers)
        self._policy: Policy | InvalidInput | None = None
        self._defaults: Document | None = None
        self._rules: tuple[OrganizationRule, ...] | InvalidInput | None = None
        self._patterns: tuple[str, ...] | None = None
        self._has_defaults = any("defaults" in file.tables for file in self.files)

    @property
    def _bounded(self) -> tuple[tuple[OrganizationConfig, Boundary], ...]:
        return tuple((one.file, one.boundary) for one in self.layers if isinstance(one.file, OrganizationConfig))

    @property
    def files(self) -> tuple[OrganizationConfig, ...]:
        """The files that are TOML, the outermost first."""
        return tuple(file for file, _ in self._bounded)

    def policy(self) -> Policy | None:
        """Return the policy, with prices, quotas, and newer facts; None without files.

        Raise `InvalidInput` for an invalid file, or one that loosens.
        """
        if self._policy is None and self.layers:
            try:
                self._policy = self._read()
            except InvalidInput as rejected:
                self._policy = rejected
        if isinstance(self._policy, InvalidInput):
            raise _again(self._policy)
        return self._policy

    def prices(self) -> PriceBook:
        """Return the prices, whatever else the files require. Raise `MalformedConfig`, `InvalidInput`."""
        for layer in self.layers:
            if isinstance(layer.file, MalformedConfig):
                raise layer.file
        if not self.layers:
            return PriceBook()
        # Imported late: few repositories have prices.
        from smspec.organization.policy_layers import combined_prices

        return combined_prices(self._dated(has_quotas=False))[-1]

    def defaults(self) -> Document | None:
        """Return the lowest layer of all specs; None if there is none, or if no file is TOML.

        Raise `InvalidInput` for invalid defaults.
        """
        if self._has_defaults and self._defaults is None:
            # Imported late: few repositories have defaults.
            from smspec.organization.default_layer import default_layers

            self._defaults = default_layers(self.files)
        return self._defaults

    def rules(self) -> tuple[OrganizationRule, ...]:
        """Return the rules that the organization wrote; none of a file that is not TOML. Raise `InvalidInput`."""
        if self._rules is None:
            try:
                self._rules = self._read_rules()
            except InvalidInput as rejected:
                self._rules = rejected  # every spec asks for them, and reading many files takes time
        if isinstance(self._rules, InvalidInput):
            raise _again(self._rules)
        return self._rules

    def rule_files(self) -> tuple[str, ...]:
        """Return the paths of the files with rules, unread; none of a file with invalid names."""
        if not any("rule_files" in file.tables for file in self.files):
            return ()
        from smspec.organization.rule_files import rule_paths

        found: list[str] = []
        for file, boundary in self._bounded:
            try:
                found += rule_paths(file, boundary) if "rule_files" in file.tables else ()
            except InvalidInput:
                continue
        return tuple(dict.fromkeys(found))

    def rule_patterns(self) -> tuple[str, ...]:
        """Return the patterns of the files with rules, below real directories: no path of one is a pattern."""
        if self._patterns is None:
            named = [(file, boundary) for file, boundary in self._bounded if "rule_files" in file.tables]
            if not named:
                return ()
            from smspec.organization.rule_files import rule_patterns

            self._patterns = tuple(dict.fromkeys(one for each in named for one in rule_patterns(*each)))
        return self._patterns

    def _read_rules(self) -> tuple[OrganizationRule, ...]:
        named = [(file, boundary) for file, boundary in self._bounded if "rule_files" in file.tables]
        if not named:
            return ()
        # Imported late: few organizations have rules of their own.
        from smspec.organization.rule_files import read_rules

        return read_rules(named)

    def _read(self) -> Policy:
        # Imported late: reading a policy takes longer than the checks of a spec.
        for layer in self.layers:
            if isinstance(layer.file, MalformedConfig):
                from smspec.organization.organization_config import rejected

                raise rejected(layer.file)
        policy = Policy(path="")
        if self.files:
            from smspec.organization.policy_file import read_values
            from smspec.organization.policy_layers import combined_policy

            codes = tuple(rule.code for rule in self.rules())
            policy = combined_policy([read_values(file, codes) for file in self.files])
        return self._with_dated_files(policy) if any(layer.has_dated_files for layer in self.layers) else policy

    def _with_dated_files(self, policy: Policy) -> Policy:
        # Imported late: few repositories have these files.
        from smspec.organization.newer_facts import with_newer_facts
        from smspec.organization.policy_layers import combined_prices, combined_quotas

        layers = self._dated()
        books = combined_prices(layers)
        limiting = (
            book
            for layer, book in zip(layers, books, strict=True)
            if layer.file is not None and "max_cost" in layer.file.tables
        )
        priced_by = next(limiting, None)
        return replace(
            policy,
            prices=books[-1],
            priced_by=priced_by,
            quotas=combined_quotas(layers),
            facts=with_newer_facts(policy.facts, self.layers),
        )

    def _dated(self, *, has_quotas: bool = True) -> list[DatedLayer]:
        from smspec.organization.dated_file import known_quotas, listed_prices
        from smspec.organization.policy_layers import DatedLayer
        from smspec.service.policy import Quotas

        return [
            DatedLayer(
                directory=layer.directory,
                boundary=layer.boundary,
                file=layer.file if isinstance(layer.file, OrganizationConfig) else None,
                regions=listed_prices(layer.directory, layer.boundary) if layer.has_dated_files else {},
                quotas=known_quotas(layer.directory, layer.boundary)
                if layer.has_dated_files and has_quotas
                else Quotas(),
            )
            for layer in self.layers
        ]


class OrganizationSearch:
    """Finds the settings for directories. It looks into each directory once: specs share those above them."""

    def __init__(self) -> None:
        self._layers: dict[tuple[str, str], tuple[SettingsLayer, ...]] = {}  # by the root of the boundary
        self._known: dict[tuple[str, tuple[str, ...]], Organization] = {}
        self._asked: dict[tuple[str, str], Organization] = {}
        self._outer: dict[str, str | None] = {}

    def of(self, directory: str, boundary: Boundary) -> Organization:
        """Return the settings for specs in a directory."""
        question = boundary.root, directory
        if question not in self._asked:
            self._asked[question] = self._search(directory, boundary)
        return self._asked[question]

    def directories(self, directory: str, boundary: Boundary) -> list[str]:
        """Return the directories whose settings apply to specs in a directory, the outermost first."""
        top = self._outer_top(boundary.root)
        outer = [] if top is None else self.directories(os.path.dirname(boundary.root), Boundary(top))
        return [*outer, *_directories(directory, boundary)]

    def _search(self, directory: str, boundary: Boundary) -> Organization:
        found = [layer for above in _directories(directory, boundary) for layer in self._in(above, boundary)]
        top = self._outer_top(boundary.root)
        if top is not None:
            found = [*self.of(os.path.dirname(boundary.root), Boundary(top)).layers, *found]
        key = boundary.root, tuple(layer.directory for layer in found)
        if key not in self._known:
            self._known[key] = Organization(found)
        return self._known[key]

    def _outer_top(self, root: str) -> str | None:
        """Return the top of the repository whose policies apply, too: around a submodule, or an inner `--root`."""
        if root not in self._outer:
            top = repository_top(root)
            self._outer[root] = superproject_of(root) if top == root else top
        return self._outer[root]

    def _in(self, directory: str, boundary: Boundary) -> tuple[SettingsLayer, ...]:
        key = boundary.root, directory
        if key not in self._layers:
            self._layers[key] = _layers_in(directory, boundary)
        return self._layers[key]


def policy_of(directory: str, boundary: Boundary) -> Policy | None:
    """Return the policy that applies to a directory, or None. Raises `InvalidInput` for an invalid one."""
    return OrganizationSearch().of(directory, boundary).policy()


def prices_of(directory: str, boundary: Boundary) -> PriceBook:
    """Return the prices that apply to a directory. Raise `MalformedConfig`, `InvalidInput`."""
    return OrganizationSearch().of(directory, boundary).prices()


def settings_directory(directory: str, boundary: Boundary) -> str:
    """Return the outermost directory with a policy above one; without a policy, the top of the repository."""
    layers = OrganizationSearch().of(directory, boundary).layers
    return next((layer.directory for layer in layers if layer.file is not None), boundary.root)


def _directories(directory: str, boundary: Boundary) -> list[str]:
    """Return the directories whose settings apply, the outermost first.

    A directory that a link leads to is in its own place, too: the settings there apply as well.
    """
    lexical = [*boundary.upwards(directory)]
    real = os.path.realpath(directory)
    if real == os.path.abspath(directory) or not boundary.contains(real):
        return lexical[::-1]
    places = {os.path.realpath(above): above for above in lexical}
    for above in upwards(real):
        places.setdefault(above, above)
        if above == boundary.root:
            break
    return [places[place] for place in sorted(places, key=lambda place: (place.count(os.sep), place))]


def _layers_in(directory: str, boundary: Boundary) -> tuple[SettingsLayer, ...]:
    """Return the layers in a directory itself.

    The files of prices, quotas, and facts are next to smspec.toml; without one, at the top of the repository.
    """
    try:
        files: tuple[OrganizationConfig | MalformedConfig, ...] = organization_configs_in(directory, boundary)
    except MalformedConfig as malformed:
        files = (malformed,)
    is_dated = any(os.path.lexists(os.path.join(directory, name)) for name in DATED_FILES)
    if not files and is_dated and os.path.realpath(directory) == boundary.root:
        return (SettingsLayer(directory=directory, boundary=boundary, file=None, has_dated_files=True),)
    last = len(files) - 1
    return tuple(
        SettingsLayer(directory=directory, boundary=boundary, file=file, has_dated_files=is_dated and number == last)
        for number, file in enumerate(files)
    )


def _again(known: InvalidInput) -> InvalidInput:
    """Return what was found before, without the traceback of the first time."""
    return InvalidInput(known.diagnostics, known.texts)
