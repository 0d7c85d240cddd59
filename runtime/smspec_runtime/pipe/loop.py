"""The entry point `pipe_loop`: epochs over the Pipe channels."""

import json
import sys
import time
from typing import Callable, Dict, Mapping, NamedTuple

import smspec_runtime

from ..log import log
from ..module import load
from ..stopping import STOP_REQUEST
from ..training_job import Job
from .channel import Fifos
from .progress import Progress
from .stop_waits import Wake, process_wake
from .stream import Stream


class Handler(NamedTuple):
    """The author's part. ``resume`` follows ``begin``; given the epoch after the checkpoints, it returns the first."""

    begin: Callable[[Job], object] = lambda _: None
    resume: Callable[[Job, int], int] = lambda _, epoch: epoch
    epoch: Callable[[Job, int, Mapping[str, Stream]], object] = lambda *_: None
    end: Callable[[Job], object] = lambda _: None


def load_handler(name: str) -> Handler:
    """Import a function or a class."""
    found = load(name)
    if isinstance(found, type):
        found = found()
    methods = {method: getattr(found, method) for method in Handler._fields if hasattr(found, method)}
    if callable(found) and not methods:
        methods["epoch"] = found
    if not methods:
        raise TypeError(f"`{name}` is neither a function nor a class with `begin`, `epoch` or `end`")
    return Handler(**methods)


def main(name: str) -> None:
    job = smspec_runtime.job()
    wake = process_wake()
    STOP_REQUEST.notify = wake.stop
    if not job.stopping:  # installs the handler before slow imports
        run(job, load_handler(name), wake)


def run(job: Job, handler: Handler, wake: Wake) -> None:
    """Run the epochs left. `end` follows SIGTERM too, to save."""
    count = number_of_epochs(job)
    fifos = {name: Fifos(name, it.path, it.settings) for name, it in job.channels.items() if it.mode == "Pipe"}
    if wake.heard():
        return
    progress = Progress(job)
    handler.begin(job)
    completed = handler.resume(job, progress.completed())
    if not isinstance(completed, int):
        raise TypeError(f"`resume` of the handler returned `{completed}`, not the epoch to begin with")
    if completed:
        log(f"resuming: {completed} of {count} epochs are in {job.checkpoint_dir}")
    while completed < count and not wake.heard():
        if not run_epoch(job, handler, completed, fifos):
            break
        completed += 1
        progress.note(completed)
    handler.end(job)
    if completed < count:
        progress.note(completed)
    else:
        progress.clear()


def run_epoch(job: Job, handler: Handler, epoch: int, fifos: Dict[str, Fifos]) -> bool:
    """False if the job stops before its end."""
    streams = Streams((name, channel.next()) for name, channel in fifos.items())
    began = time.monotonic()
    try:
        handler.epoch(job, epoch, streams)
    finally:
        for stream in streams.values():
            stream.close()
    opened = [stream for stream in streams.values() if stream.stats.opened]
    waited = sum(stream.stats.waited for stream in opened)
    computed = max(time.monotonic() - began - waited, 0.0)
    for stream in opened:
        stats = stream.stats
        what = "Stopped in" if stream.stopped else "Completed"  # the line of the published sample
        where = f"; channel: {stream.origin.channel}" if len(streams) > 1 else ""
        sys.stdout.write(
            f"{what} epoch {epoch}; read {stats.bytes} bytes; time: {stats.seconds:.2f}s, "
            f"throughput: {stats.mb_per_s:.2f} MB/s{where}\n{metrics(epoch, stream, waited, computed)}"
        )
    sys.stdout.flush()
    return not job.stopping or {stream.end for stream in opened} == {"eof"}


class Streams(Dict[str, Stream]):
    def __missing__(self, name: str) -> Stream:
        names = ", ".join(sorted(self)) or "none"
        raise KeyError(f"`{name}` is no Pipe channel of this job; there is {names}")


def number_of_epochs(job: Job) -> int:
    """The spec's, else the hyperparameter's, else 1."""
    if job.settings.epochs is not None:
        return job.settings.epochs
    value = job.hyperparameters.get("epochs", 1)
    if type(value) in (int, float) and value >= 0 and value % 1 == 0:
        return int(value)
    raise ValueError(f"the hyperparameter `epochs` is `{value}`, not a number of epochs")


def metrics(epoch: int, stream: Stream, waited: float, computed: float) -> str:
    """``waited``, ``computed``: of all channels."""
    verdict = "data-bound" if waited > computed else "compute-bound"
    handler = {"waited": round(waited, 6), "computed": round(computed, 6), "verdict": verdict}
    origin = {"smspec": "pipe", "channel": stream.origin.channel, "epoch": epoch, "fifo": stream.origin.epoch}
    return json.dumps({**origin, "end": stream.end, **stream.stats.as_dict(), **handler}) + "\n"


if __name__ == "__main__":
    main(sys.argv[1])
