"""Ctrl-C while ``smspec prices --update`` waits for AWS."""

import os
import signal
import subprocess
import sys
import time

from support.servers.hostile_s3 import CREDENTIALS
from support.servers.hostile_server import hostile_server
from support.smspec_command import environment


def test_interrupted_update_writes_nothing(tmp_path):
    with hostile_server(lambda _: [30.0]) as server:
        variables = {**environment(), **CREDENTIALS, "AWS_ENDPOINT_URL": f"http://{server.host}"}
        command = [sys.executable, "-m", "smspec", "prices", "--update"]
        process = subprocess.Popen(command, cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 30
        while not server.asked and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "Traceback" not in err
    assert [*tmp_path.iterdir()] == []
