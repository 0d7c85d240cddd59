"""Find the prices for a directory, whatever else its policy requires."""

from __future__ import annotations

import os

from smspec.organization.organization_config import organization_config_in
from smspec.organization.price_file import listed_prices
from smspec.organization.price_list import price_list
from smspec.service.prices import PriceBook
from smspec.workspace.boundary import Boundary
from smspec.workspace.nearest import Nearest


def prices_of(directory: str, boundary: Boundary) -> PriceBook:
    """Return the prices that apply to a directory.

    Raise `MalformedConfig` for an invalid smspec.toml, `InvalidInput` for an invalid file of prices.
    """
    return Nearest(_prices_in).of(directory, boundary) or PriceBook()


def settings_directory(directory: str, boundary: Boundary) -> str:
    """Return the directory of the nearest smspec.toml; without one, the top of the repository."""

    def here(place: str, within: Boundary) -> str | None:
        return place if organization_config_in(place, within) is not None else None

    return Nearest(here).of(directory, boundary) or boundary.root


def _prices_in(directory: str, boundary: Boundary) -> PriceBook | None:
    file = organization_config_in(directory, boundary)
    if file is None and os.path.realpath(directory) != boundary.root:
        return None
    return PriceBook(own=price_list(file), regions=listed_prices(directory, boundary))
