"""Secrets, wherever a request has room for text."""

from __future__ import annotations

from smspec.service.request_rules.rule import Check
from smspec.service.request_rules.secrets import secret_in_the_request

RULES: tuple[Check, ...] = (secret_in_the_request.check,)
