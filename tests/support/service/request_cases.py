"""The two tests of every group of request rules, made from tables of faulty and of valid requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from smspec.service.request_rules import request_findings
from smspec.source import Path, dotted

Request = dict[str, object]


def request_tests(
    reported: Sequence[tuple[Request, str, Path]], accepted: Sequence[Request]
) -> tuple[Callable, Callable]:
    """Return two tests: each request of ``reported`` has exactly its finding, each of ``accepted`` has none."""

    @pytest.mark.parametrize(
        ("request_", "code", "path"), reported, ids=[f"{code}-{dotted(path)}" for _, code, path in reported]
    )
    def fault_is_reported_at_its_path(request_, code, path):
        assert [(finding.code, finding.path) for finding in request_findings(request_)] == [(code, path)]

    @pytest.mark.parametrize("request_", accepted)
    def similar_request_is_accepted(request_):
        assert request_findings(request_) == []

    return fault_is_reported_at_its_path, similar_request_is_accepted
