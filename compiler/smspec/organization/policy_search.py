"""Find the settings of the organization for a directory; most repositories have none, which takes one lookup."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from smspec.diagnostics import InvalidInput
from smspec.organization.organization_config import MalformedConfig, OrganizationConfig, organization_config_in
from smspec.service.policy import Policy
from smspec.service.prices import PriceBook
from smspec.source import Document
from smspec.source.frozen import replace
from smspec.workspace.boundary import Boundary
from smspec.workspace.nearest import Nearest
from smspec.workspace.organization_marker import DATED_FILES

if TYPE_CHECKING:
    from smspec.rules.organization_rules.organization_rule import OrganizationRule


class Organization:
    """The settings in the files of one directory, each read when it is first asked for."""

    def __init__(self, directory: str, boundary: Boundary, file: OrganizationConfig | MalformedConfig | None) -> None:
        self._directory = directory
        self._boundary = boundary
        self._file = file
        self._policy: Policy | None = None
        self._defaults: Document | None = None
        self._rules: tuple[OrganizationRule, ...] | InvalidInput | None = None
        self._has_defaults = isinstance(file, OrganizationConfig) and "defaults" in file.tables

    def policy(self) -> Policy:
        """Return the policy, with the prices and quotas next to it. Raise `InvalidInput` for an invalid file."""
        if self._policy is None:
            self._policy = self._read()
        return self._policy

    def defaults(self) -> Document | None:
        """Return the lowest layer of all specs; None if there is none, or if the file is not TOML.

        Raise `InvalidInput` for invalid defaults.
        """
        if self._has_defaults and self._defaults is None and isinstance(self._file, OrganizationConfig):
            # Imported late: few repositories have defaults.
            from smspec.organization.default_layer import default_layer

            self._defaults = default_layer(self._file)
        return self._defaults

    def rules(self) -> tuple[OrganizationRule, ...]:
        """Return the rules that the organization wrote; none if the file is not TOML. Raise `InvalidInput`."""
        if self._rules is None:
            try:
                self._rules = self._read_rules()
            except InvalidInput as rejected:
                self._rules = rejected  # every spec asks for them, and reading many files takes time
        if isinstance(self._rules, InvalidInput):
            raise InvalidInput(self._rules.diagnostics, self._rules.texts)
        return self._rules

    def _read_rules(self) -> tuple[OrganizationRule, ...]:
        if not isinstance(self._file, OrganizationConfig) or "rule_files" not in self._file.tables:
            return ()
        # Imported late: few organizations have rules of their own.
        from smspec.organization.rule_files import read_rules

        return read_rules(self._file, self._boundary)

    def _read(self) -> Policy:
        # Imported late: reading a policy takes longer than the checks of a spec.
        if isinstance(self._file, MalformedConfig):
            from smspec.organization.toml_faults import rejected

            raise rejected(self._file)
        if self._file is None:
            return _with_dated_files(Policy(path=""), self._directory, self._boundary)
        from smspec.organization.policy_file import read_policy

        policy = read_policy(self._file, tuple(rule.code for rule in self.rules()))
        is_dated = _has_dated_files(self._directory)
        return _with_dated_files(policy, self._directory, self._boundary) if is_dated else policy


def policy_of(directory: str, boundary: Boundary) -> Policy | None:
    """Return the policy that applies to a directory, or None. Raises `InvalidInput` for an invalid one."""
    found = Nearest(organization_in).of(directory, boundary)
    return None if found is None else found.policy()


def organization_in(directory: str, boundary: Boundary) -> Organization | None:
    """Return the settings in a directory itself; None if it has no file with settings.

    The files of prices and quotas are next to smspec.toml; without one, at the top of the repository.
    """
    try:
        file: OrganizationConfig | MalformedConfig | None = organization_config_in(directory, boundary)
    except MalformedConfig as malformed:
        file = malformed
    if file is None and not (_has_dated_files(directory) and os.path.realpath(directory) == boundary.root):
        return None
    return Organization(directory, boundary, file)


def _has_dated_files(directory: str) -> bool:
    return any(os.path.lexists(os.path.join(directory, name)) for name in DATED_FILES)


def _with_dated_files(policy: Policy, directory: str, boundary: Boundary) -> Policy:
    # Imported late: few repositories have these files.
    from smspec.organization.price_file import listed_prices
    from smspec.organization.quota_file import known_quotas

    prices = PriceBook(own=policy.prices.own, regions=listed_prices(directory, boundary))
    return replace(policy, prices=prices, quotas=known_quotas(directory, boundary))
