"""The questions of the table, and the rows that answer them: several are asked at once, within a time limit.

While they are open, whose answers are waited for is shown. Their calls are read-only, with the credentials of one
session, and few attempts.
"""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

from smspec.source.frozen import dataclass
from smspec.submission.client import DENIED, INVALID_CREDENTIALS, THROTTLED, AwsUnavailable
from smspec.wire.aws import AwsRefused, AwsSession, EndpointElsewhere, Unsendable, is_in_aws, responses
from smspec.wire.connections import Connections, trust_of_environment
from smspec.wire.exchange import fetched
from smspec.wire.fault import BadResponse, Deadline, WireFault, timeout

State = Literal["ok", "wrong", "not checked"]
SPEC_AT_FAULT, SURROUNDINGS_AT_FAULT = 1, 3
"""The exit statuses of a row that is wrong."""

MOST_THREADS = 8
_LOOK_SECONDS = 0.1
_Place = tuple[int, ...]
"""Where the rows of a question are in the table; those of a question that arises from it follow."""

_UNSUPPORTED = re.compile(r"UnknownOperation.*|InvalidAction|Not.?Impl.*|UnsupportedOperation|501|405|MethodNotAllowed")
"""Error codes of a server that does not have the call: an emulator, or a region without the service."""

_SHARE, _SHARE_OF_A_CALL = 0.5, 0.2
"""Of the time limit of a server: for all questions together, and for each of their calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
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

    rows: tuple[CheckRow, ...]
    then: tuple[AwsQuestion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsQuestion:
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
    return Answer(rows=(CheckRow(kind=kind, name=name, state="ok", text=text),))


def wrong(kind: str, name: str, text: str, exit_status: int = SPEC_AT_FAULT) -> Answer:
    return Answer(rows=(CheckRow(kind=kind, name=name, state="wrong", text=text, exit_status=exit_status),))


def not_checked(kind: str, name: str, reason: str, action: str = "") -> Answer:
    return Answer(rows=(CheckRow(kind=kind, name=name, state="not checked", text=reason, action=action),))


def answers(
    questions: Iterable[AwsQuestion], seconds: float, watch: Callable[[Sequence[str]], None] = lambda _waits: None
) -> list[CheckRow]:
    """Return the rows of all questions, in their order. A question without an answer in time is not checked.

    ``watch`` gets what is waited for, several times a second. An error of a question that is not an answer of AWS is
    raised here. Its threads never keep the process: Ctrl-C, and the time limit, leave them behind.
    """
    return _Asking(questions, seconds).rows(watch)


class _Asking:
    def __init__(self, questions: Iterable[AwsQuestion], seconds: float) -> None:
        self._seconds = seconds
        self._start = time.monotonic()
        self._open: dict[_Place, AwsQuestion] = {}
        self._rows: dict[_Place, tuple[CheckRow, ...]] = {}
        self._asked: queue.SimpleQueue[tuple[_Place, AwsQuestion] | None] = queue.SimpleQueue()
        self._answered: queue.SimpleQueue[tuple[_Place, Answer | BaseException]] = queue.SimpleQueue()
        self._threads = 0
        self._is_over = False
        for index, question in enumerate(questions):
            self._add((index,), question)

    def rows(self, watch: Callable[[Sequence[str]], None]) -> list[CheckRow]:
        try:
            while self._open:
                watch(tuple(dict.fromkeys(question.waits_for for question in self._open.values())))
                try:
                    place, answer = self._answered.get(timeout=_LOOK_SECONDS)
                except queue.Empty:
                    self._give_up()
                    continue
                if isinstance(answer, BaseException):
                    raise answer
                if self._open.pop(place, None) is not None:
                    self._rows[place] = answer.rows
                    for index, question in enumerate(answer.then):
                        self._add((*place, index), question)
                self._give_up()
        finally:
            self._is_over = True
            for _ in range(self._threads):
                self._asked.put(None)
        return [row for _, rows in sorted(self._rows.items()) for row in rows]

    def _add(self, place: _Place, question: AwsQuestion) -> None:
        self._open[place] = question
        self._asked.put((place, question))
        if self._threads < min(MOST_THREADS, len(self._open)):
            self._threads += 1
            threading.Thread(target=self._answer_all, daemon=True).start()

    def _give_up(self) -> None:
        waited = time.monotonic() - self._start
        for place, question in list(self._open.items()):
            limit = self._seconds if question.seconds is None else question.seconds
            if waited > limit:
                del self._open[place]
                reason = f"no answer from {question.waits_for} within {limit:g} s"
                self._rows[place] = not_checked(question.kind, question.name, reason).rows

    def _answer_all(self) -> None:
        while not self._is_over:
            item = self._asked.get()
            if item is None or self._is_over:
                return
            place, question = item
            with _Handing(self._answered, place):
                self._answered.put((place, _answer(question)))


class _Handing:
    """Hands an error of a thread to the main thread, which raises it: here it would only be printed."""

    def __init__(self, answered: queue.SimpleQueue[tuple[_Place, Answer | BaseException]], place: _Place) -> None:
        self._answered = answered
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, fault: BaseException | None, _traceback: object) -> bool:
        if fault is not None:
            self._answered.put((self._place, fault))
        return True


def _answer(question: AwsQuestion) -> Answer:
    try:
        return question.ask()
    except Contradiction as fault:
        return wrong(question.kind, question.name, str(fault), SURROUNDINGS_AT_FAULT)
    except NotChecked as fault:
        return not_checked(question.kind, question.name, str(fault), fault.action)
    except AwsRefused as refusal:
        return not_checked(question.kind, question.name, f"{question.waits_for} rejects the request: {refusal}")


def seconds_of_questions() -> float:
    """Return how long the answers to all questions may take. Raise `AwsUnavailable` for a malformed variable."""
    return _timeout() * _SHARE


def seconds_of_a_call() -> float:
    """Return how long one response may take. Raise `AwsUnavailable` for a malformed variable."""
    return _timeout() * _SHARE_OF_A_CALL


def _timeout() -> float:
    try:
        return timeout()
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None


class PreflightCalls:
    """The clients of one session, which threads share. ``region``: of the job. ``seconds``: for a response."""

    def __init__(self, profile: str | None, region: str, *, seconds: float) -> None:
        self.region = region
        self._seconds = seconds
        self._connections = Connections(trust_of_environment())
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}
        try:
            with responses("call AWS"):
                self._session = AwsSession(profile, region, seconds=seconds, connections=MOST_THREADS)
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None

    def client(self, service: str, region: str | None = None) -> Any:
        """Return the client of a service, in the region of the job or in a different one. Raise `NotChecked`."""
        where = region or self.region
        with self._lock:  # sessions cannot be shared by threads
            if (service, where) not in self._clients:
                try:
                    with responses(f"call {service} in {where}"):
                        self._clients[service, where] = (
                            self._session.s3_client()
                            if service == "s3"
                            else self._session.client(service, region_name=where)
                        )
                except EndpointElsewhere as fault:
                    raise Contradiction(str(fault)) from None
                except WireFault as fault:
                    raise NotChecked(str(fault)) from None
            return self._clients[service, where]

    def emulator(self, service: str) -> str:
        """Return the host that calls of a service go to, if that is not AWS's; else an empty string."""
        client = self.client(service)
        return "" if is_in_aws(client) else urlsplit(str(client.meta.endpoint_url)).hostname or ""

    def download(self, url: str, size: int) -> bytes:
        """Return what a link of AWS leads to, which contains its own permission. Raise `WireFault`."""
        response = fetched(
            self._connections, url, {"Accept": "*/*"}, deadline=Deadline(self._seconds), size=size
        ).response
        if response.status != 200:
            raise BadResponse(f"HTTP status {response.status}")
        return response.body

    def called(
        self, purpose: str, action: str, call: Callable[[], dict[str, Any]], *, keeps: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return a response. ``purpose`` follows "cannot"; ``action``: what IAM calls it.

        Raise `NotChecked`, or `AwsRefused` for an error code that says something about the subject, as those in
        ``keeps`` do.
        """
        try:
            with responses(purpose):
                return call()
        except AwsRefused as refusal:
            if refusal.code in keeps:
                raise
            if refusal.code in DENIED:
                raise NotChecked(f"AWS denies `{action}`", action) from None
            if refusal.code in THROTTLED:
                raise NotChecked(f"AWS throttles `{action}`") from None
            if _UNSUPPORTED.fullmatch(refusal.code):
                raise NotChecked(f"the endpoint does not support `{action}`") from None
            if refusal.code in INVALID_CREDENTIALS:
                raise NotChecked(f"AWS does not accept the credentials ({refusal.code})") from None
            raise
        except Unsendable as fault:
            raise NotChecked(f"cannot {purpose}: {fault}") from None
        except WireFault as fault:
            raise NotChecked(str(fault)) from None
