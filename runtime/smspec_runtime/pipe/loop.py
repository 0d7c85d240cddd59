"""The loop of an entry point `pipe_loop`: epochs over the Pipe channels, the author's handler in the middle.

Run as ``python -m smspec_runtime.pipe.loop package.module:name``. It ends with status 0 when the handler has seen all
epochs, or when SIGTERM came and the handler's ``end`` has returned; an error of the handler keeps its traceback.
"""

import json
import sys
from typing import Dict, List, Optional

import smspec_runtime

from ..training_job import Job
from .channel import Fifos
from .handler import Handler, load_handler
from .stream import Stream
from .wake import Wake, process_wake

USAGE = "usage: python -m smspec_runtime.pipe.loop package.module:name\n"


def main(arguments: List[str]) -> int:
    """Run the handler that the only argument names."""
    if len(arguments) != 1:
        sys.stderr.write(USAGE)
        return 2
    job = smspec_runtime.job()
    wake = process_wake()
    if not job.stopping:  # asking makes the job remember SIGTERM for the handler
        wake.take_sigterm()  # now, since the handler's imports may take a minute
        run(job, load_handler(arguments[0]), wake)
    return 0


def run(job: Job, handler: Handler, wake: Wake, first_epoch: int = 0) -> None:
    """Run the epochs from ``first_epoch`` on. When the job is to stop, `end` is called all the same, to save."""
    count = number_of_epochs(job)
    fifos = {name: Fifos(channel, wake) for name, channel in job.channels.items() if channel.mode == "Pipe"}
    if wake.heard():
        return
    handler.begin(job)
    for epoch in range(first_epoch, count):
        if wake.heard():
            break
        run_epoch(job, handler, epoch, fifos)
    handler.end(job)


def run_epoch(job: Job, handler: Handler, epoch: int, fifos: Dict[str, Fifos]) -> None:
    """Call the handler with a stream per channel. What it leaves unread is ended, what it leaves unopened stays."""
    streams = Streams((name, channel.next()) for name, channel in fifos.items())
    try:
        handler.epoch(job, epoch, streams)
    finally:
        for stream in streams.values():
            stream.close()
    for name, stream in streams.items():
        if stream.opened:
            sys.stdout.write(summary(epoch, stream, name if len(streams) > 1 else None))
            sys.stdout.write(metrics(epoch, stream))
    sys.stdout.flush()


class Streams(Dict[str, Stream]):
    """Channel → stream. Opening waits until a stream is read, so a channel left alone costs nothing."""

    def __missing__(self, name: str) -> Stream:
        names = ", ".join(sorted(self)) or "none"
        raise KeyError(f"`{name}` is no Pipe channel of this job; there is {names}")


def number_of_epochs(job: Job) -> int:
    """Return what the job spec says, else the hyperparameter `epochs`, else 1."""
    if job.settings.epochs is not None:
        return job.settings.epochs
    value = job.hyperparameters.get("epochs", 1)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"the hyperparameter `epochs` is `{value}`, not a number of epochs")


def summary(epoch: int, stream: Stream, channel: Optional[str]) -> str:
    """Return the line that the published sample of Pipe mode prints, with the channel's name at its end if given."""
    line = "Completed epoch {}; read {} bytes; time: {:.2f} s, throughput: {:.2f} MB/s{}\n"
    stats = stream.stats
    where = "" if channel is None else f"; channel: {channel}"
    return line.format(epoch, stats.bytes, stats.seconds, stats.throughput, where)


def metrics(epoch: int, stream: Stream) -> str:
    """Return the epoch's figures as one line of JSON."""
    origin = {"smspec": "pipe", "channel": stream.origin.channel, "epoch": epoch, "fifo": stream.origin.epoch}
    return json.dumps({**origin, "end": stream.end, **stream.stats.as_dict()}) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
