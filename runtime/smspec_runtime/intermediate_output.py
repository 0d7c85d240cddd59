"""Sends ``output/intermediate`` to S3, for `sagemaker_s3_output`.

One process sends changes during the job, another the rest; neither can fail it."""

import json
import os
import signal
import stat
import sys
import time
from importlib.util import find_spec

from .aws import client_errors, open_client, s3_options
from .command import Companion
from .input_config import InputConfig
from .layout import Layout
from .lean_typing import Callable, Dict, Environ, List, Optional
from .log import log
from .program import PYTHON
from .refusal import Refused
from .snapshot import snapshot
from .supervisor import Supervisor
from .variables import python_path


def start_sending(
    layout: Layout, config: InputConfig, environ: Environ, supervisor: Supervisor
) -> Optional[Callable[[bool], None]]:
    """What sends the rest, given whether the job is stopped. SageMaker sends an existing directory itself."""
    directory, sagemaker = layout.output_intermediate, config.hyperparameters.sagemaker
    target = str(sagemaker["sagemaker_s3_output"])
    scheme, _, place = target.partition("://")
    if os.path.exists(directory):
        return None
    if scheme not in ("s3", "file"):
        raise Refused(f"sagemaker_s3_output: `{target}` is neither an s3:// nor a file:// URL")
    try:
        os.makedirs(directory)
        if scheme == "file":
            return None
        if not find_spec("boto3"):
            raise OSError("the image has no boto3: install it there")
    except OSError as error:
        log(f"intermediate output is not sent: {error}")
        return None
    bucket, _, prefix = place.partition("/")
    key = "/".join(filter(None, [prefix.strip("/"), environ.get("TRAINING_JOB_NAME"), "output/intermediate"]))
    log(f"intermediate output goes to s3://{bucket}/{key}/")
    options = json.dumps(s3_options(sagemaker, environ))
    words = [PYTHON, "-m", __name__, os.path.realpath(directory), bucket, key, options]
    # Without the author's directory, which may have a json.py.
    path = python_path(environ, layout.code).partition(os.pathsep)[2]
    variables = {**environ, "PYTHONPATH": path}
    supervisor.accompany(Companion([*words, "0"], is_essential=False), variables, "/")

    def finish(stopped: bool) -> None:
        seconds = 5 if stopped else 60
        if supervisor.run([*words, str(seconds)], variables, "/").status:
            log(f"intermediate output: not all of it was sent within {seconds} s")

    return finish


def main(words: List[str]) -> int:
    """Send changes until killed; or, given seconds, the rest."""
    directory, bucket, key, options, seconds = words
    is_last = seconds != "0"
    signal.alarm(int(seconds))
    output = os.path.dirname(directory)
    try:
        notes = _open_inside(output, ".intermediate", os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW)
    except OSError as error:
        log(f"intermediate output is not sent: {error}")
        return 1
    sent = open(notes, "a+", encoding="ascii", buffering=1)
    sent.seek(0)
    tried = dict(map(json.loads, sent))
    found: Dict[str, List[int]] = {}
    client = None
    while True:
        before, found = found, snapshot(directory)
        for path, mark in found.items():
            # A file that changed lately may be incomplete.
            if mark == tried.get(path) or not (is_last or mark == before.get(path)):
                continue
            tried[path] = mark
            try:
                client = client or open_client("s3", "intermediate output", json.loads(options))
                with open(_open_inside(directory, path, os.O_RDONLY), "rb") as file:
                    client.upload_fileobj(file, bucket, f"{key}/{path}")
                print(json.dumps([path, mark]), file=sent)
            except FileNotFoundError:
                pass
            except client_errors() as error:
                log(f"intermediate output: cannot send {path!a}: {error}")
        if is_last:
            os.unlink(output + "/.intermediate")
            return 0
        time.sleep(1)


def _open_inside(root: str, name: str, flags: int) -> int:
    """The program may have created links anywhere."""
    descriptor = os.open(f"{root}/{name}", flags | os.O_NONBLOCK, 0o644)
    status, real = os.fstat(descriptor), os.path.realpath(f"/proc/self/fd/{descriptor}")
    is_own = stat.S_ISREG(status.st_mode) and real.startswith(root + "/")
    if is_own and (flags == os.O_RDONLY or status.st_nlink == 1):
        return descriptor
    os.close(descriptor)
    raise OSError(f"{name} is not a file in {root}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
