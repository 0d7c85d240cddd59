"""A row of the table, and the question that it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from smspec.source.frozen import dataclass

State = Literal["ok", "wrong", "not checked"]

SPEC_AT_FAULT, SURROUNDINGS_AT_FAULT = 1, 3
"""The exit statuses of a row that is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is known about one thing. ``kind`` says what it is, such as `bucket`, and ``name`` which one.

    ``text`` follows the name. ``exit_status``: of a submission that ends because the row is wrong. ``action``: the
    permission that is missing, if that is why the row is not checked.
    """

    kind: str
    name: str
    state: State
    text: str
    exit_status: int = SPEC_AT_FAULT
    action: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``rows`` of the table; ``then``: the questions that arise from them."""

    rows: tuple[Row, ...]
    then: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``ask`` calls AWS. ``kind`` and ``name``: of its row if there is no answer. ``waits_for``: who is to answer.

    ``seconds`` None: the time limit of all questions.
    """

    kind: str
    name: str
    waits_for: str
    ask: Callable[[], Answer]
    seconds: float | None = None


class NotChecked(Exception):
    """There is no answer: the text says why. ``action``: the permission that is missing, else empty."""

    def __init__(self, reason: str, action: str = "") -> None:
        super().__init__(reason)
        self.action = action


class Contradiction(Exception):
    """Nothing can be asked, because the surroundings contradict the job: a submission ends."""


def ok(kind: str, name: str, text: str) -> Answer:
    return Answer(rows=(Row(kind=kind, name=name, state="ok", text=text),))


def wrong(kind: str, name: str, text: str, exit_status: int = SPEC_AT_FAULT) -> Answer:
    return Answer(rows=(Row(kind=kind, name=name, state="wrong", text=text, exit_status=exit_status),))


def not_checked(kind: str, name: str, reason: str, action: str = "") -> Answer:
    return Answer(rows=(Row(kind=kind, name=name, state="not checked", text=reason, action=action),))
