"""The jobs that `smspec submit` has made in a region, as SageMaker lists them: the newest first, page by page.

Search returns descriptions and tags together, a hundred times fewer calls than a description of each job would need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from smspec.service.request import DIGEST_TAG
from smspec.service.shapes import items, member
from smspec.submission.client import AwsUnavailable, persistently, sagemaker_client, submission_errors
from smspec.submission.queue_service import ATTEMPT_PREFIX
from smspec.wire.aws import is_in_aws, responses
from smspec.wire.fault import BadResponse, WireFault

SEARCH_ACTION = "sagemaker:Search"
_PAGE_SIZES = (50, 10, 1)
"""A response of JSON has limits, and a job may have hundreds of hyperparameters and variables: then, fewer jobs."""

_MOST_PAGES = 2_000
_MOST_PAGES_WITHOUT = 20
"""Pages in a row without a job that no earlier one has."""


class JobSearch:
    """The search for jobs with the credentials of a profile. Raise `AwsUnavailable`, `JobRefused`."""

    def __init__(self, profile: str | None, region: str | None) -> None:
        self._client = sagemaker_client(profile, region)

    @property
    def region(self) -> str:
        return str(self._client.meta.region_name)

    def jobs(self, names: Sequence[str], since: datetime | None) -> Iterator[tuple[Mapping[str, Any], dict[str, str]]]:
        """Yield the description and the tags of each job that `submit` has made. Raise as the class does.

        ``names``: if there is one, only jobs whose names contain it; if there are any, also jobs that a queue has made,
        which have no tags. ``since``: only jobs that were created then or later.
        """
        request: dict[str, Any] = {"Resource": "TrainingJob", "SortBy": "CreationTime", "SortOrder": "Descending"}
        filters = self._filters(names, since)
        if filters:
            request["SearchExpression"] = {"Filters": filters}
        if is_in_aws(self._client):  # emulators know few operators
            made = [{"Name": f"Tags.{DIGEST_TAG}", "Operator": "Exists"}]
            made += [{"Name": "TrainingJobName", "Operator": "Contains", "Value": ATTEMPT_PREFIX}] if names else []
            request.setdefault("SearchExpression", {})["SubExpressions"] = [{"Filters": made, "Operator": "Or"}]
        what, seen, tokens = f"the list of jobs in {self.region}", set[str](), set[str]()
        sizes, without = list(_PAGE_SIZES), 0
        for _ in range(_MOST_PAGES):
            page = self._page(what, request, sizes)
            without += 1
            for result in items(page, "Results"):
                job = member(result, "TrainingJob")
                arn = str(member(job, "TrainingJobArn") or member(job, "TrainingJobName") or "")
                if not isinstance(job, Mapping) or not arn or arn in seen:
                    continue
                seen.add(arn)
                without = 0
                tags = {str(member(tag, "Key")): str(member(tag, "Value")) for tag in items(job, "Tags")}
                is_attempt = str(member(job, "TrainingJobName")).startswith(ATTEMPT_PREFIX)
                if DIGEST_TAG in tags or (names and is_attempt):
                    yield job, tags
            token = page.get("NextToken")
            if not token:
                return
            if token in tokens or without > _MOST_PAGES_WITHOUT:
                break
            tokens.add(token)
            request["NextToken"] = token
        raise AwsUnavailable(f"SageMaker sends {what} without an end")

    def _filters(self, names: Sequence[str], since: datetime | None) -> list[dict[str, str]]:
        filters = []
        if len(names) == 1:
            filters.append({"Name": "TrainingJobName", "Operator": "Contains", "Value": names[0]})
        if since is not None and is_in_aws(self._client):
            moment = since.strftime("%Y-%m-%dT%H:%M:%SZ")
            filters.append({"Name": "CreationTime", "Operator": "GreaterThanOrEqualTo", "Value": moment})
        return filters

    def _page(self, what: str, request: Mapping[str, Any], sizes: list[int]) -> dict[str, Any]:
        """Return a page, with fewer jobs if it is beyond the limits of a response."""

        def attempt() -> dict[str, Any]:
            with responses(f"ask AWS for {what}"):
                found: dict[str, Any] = self._client.search(**request, MaxResults=sizes[0])
                return found

        with submission_errors(what, SEARCH_ACTION):
            while True:
                try:
                    return persistently(attempt)
                except WireFault as fault:
                    if len(sizes) == 1 or not _is_beyond_limits(fault):
                        raise
                    sizes.pop(0)


def _is_beyond_limits(fault: BaseException | None) -> bool:
    """Return whether a response was refused for itself: the fault that says so is the context of one about the call."""
    while fault is not None and not isinstance(fault, BadResponse):
        fault = fault.__context__
    return fault is not None
