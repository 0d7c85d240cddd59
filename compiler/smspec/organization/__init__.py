"""Settings that an organization sets for all of its specs: its configuration file, policy, prices, and lockfile.

An `OrganizationConfig` is one file, ``smspec.toml`` or ``[tool.smspec]`` of a pyproject.toml, as it was read. An
`OrganizationSearch` finds those that apply to a directory, from the root of the repository down, and their
`SettingsLayer`s become one `Policy`, one `PriceBook`, and defaults for specs. A file further down may tighten a policy,
never loosen it.

Every file is read within the boundary of `smspec.workspace`, and its faults are diagnostics at their lines, as those of
a spec. The package must not know the job to which settings apply: it returns values of `smspec.service`, `smspec.spec`,
and `smspec.rules`, and `smspec.pipeline` applies them.
"""
