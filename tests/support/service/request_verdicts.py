"""Tables of requests and what is told of each, as the two tests that every part of the request rules has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from smspec.service.checking import request_findings
from smspec.source import Path, dotted

Request = dict[str, object]


def verdict_tests(told: Sequence[tuple[Request, str, Path]], silent: Sequence[Request]) -> tuple[Callable, Callable]:
    """Return two tests: each request of ``told`` has one finding, its code at its path; each of ``silent`` has none."""

    @pytest.mark.parametrize(
        ("request_", "code", "path"), told, ids=[f"{code}-{dotted(path)}" for _, code, path in told]
    )
    def it_is_told_at_the_place_of_the_fault(request_, code, path):
        assert [(finding.code, finding.path) for finding in request_findings(request_)] == [(code, path)]

    @pytest.mark.parametrize("request_", silent)
    def its_neighbours_are_not(request_):
        assert request_findings(request_) == []

    return it_is_told_at_the_place_of_the_fault, its_neighbours_are_not
