"""The CreateTrainingJob request as a file for ``aws … --cli-input-json``."""

from __future__ import annotations

import json

from smspec.plan.plan import RequestPlan


def request_json(request: RequestPlan) -> str:
    """Return the request as JSON in ASCII, members in the order of the API.

    ASCII, because the AWS CLI reads the file in whatever encoding the locale names.
    """
    return json.dumps(request.payload, indent=2) + "\n"
