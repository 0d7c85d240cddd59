"""The secrets of the job: a run uses the author's variables of the same names, and never asks AWS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from smspec.local.request import RunFailed


def author_secrets(names: Iterable[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for `secrets`. Raise RunFailed, which names all that are missing."""
    missing = [f"`{name}`" for name in names if name not in variables]
    if missing:
        are = "variables " + ", ".join(missing) + " are" if len(missing) > 1 else f"variable {missing[0]} is"
        raise RunFailed(3, f"the {are} not set: a local run uses your variables instead of fetching `secrets` from AWS")
    return {name: variables[name] for name in names}
