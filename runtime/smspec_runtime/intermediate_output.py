"""Sends what the program writes to ``output/intermediate`` to S3, as `sagemaker_s3_output` asks for.

A process beside the program sends what it finds changed; when the program has ended, another sends the rest. Neither
can fail the job or hold it up.
"""

import json
import os
import signal
import stat
import sys
import time

from .aws import open_client, service_errors
from .command import Companion
from .input_config import InputConfig
from .layout import Layout
from .lean_typing import Any, Dict, List, Mapping, NamedTuple, Tuple, Type
from .log import log
from .refusal import Refused
from .supervisor import Supervisor
from .variables import python_path

LIMIT = 60
"""Seconds for the rest; and when the job is being stopped:"""
LIMIT_OF_STOPPED = 5
_INTERVAL = 0.3


class Sender(NamedTuple):
    """``words`` start a process that sends, but for the seconds it has; none where nothing is to be sent."""

    words: List[str]
    environ: Mapping[str, str]

    def start(self, supervisor: Supervisor) -> None:
        if self.words:
            supervisor.accompany(Companion([*self.words, "0"], is_essential=False), self.environ, "/")

    def finish(self, supervisor: Supervisor, stopped: bool) -> None:
        limit = LIMIT_OF_STOPPED if stopped else LIMIT
        if self.words and supervisor.run([*self.words, str(limit)], self.environ, "/").status:
            log(f"intermediate output: not all of it was sent within {limit} s")


def find_sender(layout: Layout, config: InputConfig, environ: Mapping[str, str], runtime: str) -> Sender:
    """Make the directory and return what sends from it. One that is there already is SageMaker's own to send."""
    directory = layout.output_intermediate
    sagemaker = config.hyperparameters.sagemaker
    target = str(sagemaker["sagemaker_s3_output"])
    scheme, _, place = target.partition("://")
    if os.path.exists(directory):
        return Sender([], {})
    if scheme not in ("s3", "file"):
        raise Refused(f"sagemaker_s3_output: `{target}` is neither an s3:// nor a file:// URL")
    try:
        os.makedirs(directory)
    except OSError as error:
        log(f"intermediate output is not sent: {error}")
        return Sender([], {})
    if scheme == "file":
        return Sender([], {})
    bucket, _, prefix = place.partition("/")
    key = "/".join(filter(None, [prefix.strip("/"), environ.get("TRAINING_JOB_NAME"), "output/intermediate"]))
    log(f"intermediate output goes to s3://{bucket}/{key}/")
    region = str(environ.get("AWS_REGION") or sagemaker.get("sagemaker_region") or "")
    words = [sys.executable or "python3", "-m", __name__, directory, bucket, key, region]
    # Without the author's directory: a json.py in it is not for this process.
    path = python_path(environ, layout.code, runtime)[len(layout.code) + 1 :]
    return Sender([*words, environ.get("S3_ENDPOINT_URL", "")], {**environ, "PYTHONPATH": path})


def main(words: List[str]) -> int:
    """Send what changes until we are killed; or, given seconds, what is left, once."""
    directory, bucket, key, region, endpoint, seconds = words
    is_last = seconds != "0"
    signal.alarm(int(seconds))
    # Tells the last process what has been sent; an empty path, that we have said why nothing can be.
    state = os.path.join(os.path.dirname(directory), ".intermediate")
    sent: Dict[str, Any] = {}
    if os.path.exists(state):
        with open(state, encoding="ascii") as file:
            sent = json.load(file)
        os.unlink(state)
    if is_last and sent == _find(directory):
        return 0
    try:
        purpose = "intermediate output goes to S3"
        client = open_client("s3", purpose, region_name=region or None, endpoint_url=endpoint or None)
    except Refused as refusal:
        if "" not in sent:
            log(refusal.message)
            _save(state, {"": None})
        return 0
    errors: Tuple[Type[Exception], ...] = (OSError, ValueError, *service_errors())
    tried, before = dict(sent), sent
    while True:
        started = time.monotonic()
        found = _find(directory)
        for path, mark in found.items():
            # What has changed since the last round may be in the middle of being written.
            if mark == tried.get(path) or (not is_last and mark != before.get(path)):
                continue
            tried[path] = mark
            try:
                client.upload_file(os.path.join(directory, path), bucket, f"{key}/{path}")
                sent[path] = mark
                if not is_last:
                    _save(state, sent)
            except FileNotFoundError:
                pass
            except errors as error:
                log(f"intermediate output: cannot send {path!a}: {error}")
        if is_last:
            return 0
        before = found
        time.sleep(max(_INTERVAL, 10 * (time.monotonic() - started)))


def _find(directory: str) -> Dict[str, Any]:
    """Return the files below a directory: path → what tells one content from another."""
    found = {}
    for parent, _, names in os.walk(directory):
        for path in (os.path.join(parent, name) for name in names):
            try:
                status = os.stat(path)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                found[os.path.relpath(path, directory)] = [status.st_mtime_ns, status.st_size]
    return found


def _save(path: str, sent: Mapping[str, Any]) -> None:
    with open(path + ".new", "w", encoding="ascii") as file:
        json.dump(sent, file)
    os.replace(path + ".new", path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
