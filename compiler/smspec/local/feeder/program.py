"""The feeder as a program: ``feeder [--until-eof] [plan.json]``; without a file, the plan is the first line of stdin.

It runs until every epoch of the plan was read, or until a signal asks it to end, or with ``--until-eof`` until stdin
ends, which means that its parent process has died. It removes its FIFOs.
"""

import os
import select
import signal
import sys
import threading
from typing import List, NoReturn

from .feeding import Feeding, Reporting
from .fifo import Fifos
from .objects import LocalStore, OpenStore
from .plan import FeederPlan, decode_plan

PROGRESS_SECONDS = 0.2
UNTIL_EOF = "--until-eof"
_STDIN, _STDOUT = 0, 1


def main(arguments: List[str], open_store: OpenStore = LocalStore) -> NoReturn:
    """Feed the channels of the plan, from the stores that ``open_store`` opens."""
    until_eof = UNTIL_EOF in arguments
    files = [argument for argument in arguments if argument != UNTIL_EOF]
    try:
        if files:
            with open(files[0], encoding="utf-8") as file:
                plan = decode_plan(file.read())
        else:
            plan = decode_plan(_first_line(_STDIN))
    except (OSError, ValueError) as fault:
        sys.stderr.write("feeder: {}\n".format(fault))
        sys.exit(2)
    stop = threading.Event()
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda _number, _frame: stop.set())
    fifos = Fifos(plan.directory)
    _feed(plan, open_store, fifos, stop, [wake, _STDIN] if until_eof else [wake])
    stop.set()
    fifos.close()
    # Not sys.exit: a thread may hang in a write without a reader.
    os._exit(0)


def _feed(plan: FeederPlan, open_store: OpenStore, fifos: Fifos, stop: threading.Event, watched: List[int]) -> None:
    reporting = Reporting(_STDOUT)
    feedings = [Feeding(channel, open_store(channel), plan, fifos, reporting, stop) for channel in plan.channels]
    for feeding in feedings:
        feeding.prepare()
    reporting.ready()
    for feeding in feedings:
        feeding.thread.start()
    while not stop.is_set() and any(feeding.thread.is_alive() for feeding in feedings):
        readable = select.select(watched, [], [], PROGRESS_SECONDS)[0]
        if _STDIN in readable and not os.read(_STDIN, 4096):
            break
        for feeding in feedings:
            _report(feeding, reporting)
    for feeding in feedings:
        _report(feeding, reporting)


def _report(feeding: Feeding, reporting: Reporting) -> None:
    current = feeding.current
    if current is not None:
        epoch, sink = current
        reporting.sent(feeding.channel.name, epoch, sink.sent)


def _first_line(descriptor: int) -> str:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            break
        line += byte
    return line.decode("utf-8")
