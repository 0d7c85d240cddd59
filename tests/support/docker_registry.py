"""A registry that looks like Amazon ECR to a private Docker engine and to smspec: Debian's docker-registry, and moto.

Everything runs in the network and the mounts of the engine, where the name of the registry is this machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509

from support.debian_archive import small_archive
from support.docker_engine import Engine
from support.servers.certificates import certificate_files
from support.smspec_command import Done, environment

ACCOUNT = "111122223333"
HOST = f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com"
PASSWORD = f"{ACCOUNT}-auth-token"
"""What moto gives out."""

BASE = "smspec-small:bookworm"

_HASH = "$2b$04$nx4jLmhhmlOgDB2Snjk/xetixOCr.P6kyTzCzfrB3i/IUnunoBIta"
_MOTO = "http://127.0.0.1:5005"
_CONFIG = """\
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {root}/blobs}}}}
auth: {{htpasswd: {{realm: basic-realm, path: {root}/passwords}}}}
http: {{addr: "127.0.0.1:443", tls: {{certificate: {certificate}, key: {key}}}}}
"""
_SETUP = """\
ip link set lo up
mount --bind {root}/hosts /etc/hosts
mount --bind {certificate} /etc/ssl/certs/ca-certificates.crt
"""


class EcrSite:
    """An engine, its registry, and AWS; ``home``: that of the user who publishes."""

    def __init__(self, engine: Engine, root: Path) -> None:
        self.engine = engine
        self.home = root / "home"
        self.home.mkdir()
        self.root = root
        first = engine.process.pid
        self._engine_process = Path(f"/proc/{first}/task/{first}/children").read_text().split()[0]
        certificate, key = certificate_files(root, x509.DNSName(HOST))
        (root / "hosts").write_text(f"127.0.0.1 localhost {HOST}\n")
        (root / "passwords").write_text(f"AWS:{_HASH}\n")
        (root / "config.yml").write_text(_CONFIG.format(root=root, certificate=certificate, key=key))
        self.variables = {
            "DOCKER_HOST": engine.host,
            "HOME": str(self.home),
            "TMPDIR": str(root),
            "PATH": f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}",
            "SSL_CERT_FILE": str(certificate),
            "AWS_ENDPOINT_URL": _MOTO,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_EC2_METADATA_DISABLED": "true",
            "MOTO_ACCOUNT_ID": ACCOUNT,
        }
        subprocess.run(
            self.inside("sh", "-e"), input=_SETUP.format(root=root, certificate=certificate).encode(), check=True
        )
        self._servers = [
            self._started("docker-registry", "serve", root / "config.yml"),
            self._started(sys.executable, "-m", "moto.server", "-p", _MOTO.rpartition(":")[2]),
        ]

    def inside(self, *words: object) -> list[str]:
        """Return the words that run a command where the engine runs."""
        return ["nsenter", "--target", self._engine_process, "--net", "--mount", "--", *map(str, words)]

    def smspec(self, *words: object, cwd: Path, **variables: str) -> Done:
        """Run smspec to its end."""
        process = self.start(*words, cwd=cwd, **variables)
        out, err = process.communicate(timeout=120)
        return Done(process.returncode, out.decode(), err.decode())

    def start(self, *words: object, cwd: Path, **variables: str) -> subprocess.Popen[bytes]:
        """Start smspec."""
        return subprocess.Popen(
            self.inside("sh", "-c", 'cd "$0" && exec "$@"', cwd, sys.executable, "-m", "smspec", *words),
            env=environment(**{**self.variables, **variables}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def repositories(self) -> list[dict]:
        """Return what AWS knows of the repositories."""
        return self._aws("DescribeRepositories", {})["repositories"]

    def lifecycle(self, name: str) -> dict:
        answer = self._aws("GetLifecyclePolicy", {"registryId": ACCOUNT, "repositoryName": name})
        return json.loads(answer["lifecyclePolicyText"])

    def wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                self.repositories()
                return
            except (subprocess.CalledProcessError, ValueError):
                assert time.monotonic() < deadline
                time.sleep(0.2)

    def stop(self) -> None:
        for server in self._servers:
            server.send_signal(signal.SIGTERM)
        for server in self._servers:
            server.wait(30)

    def _aws(self, action: str, parameters: dict) -> dict:
        call = (
            "import sys, urllib.request as u; "
            "print(u.urlopen(u.Request(sys.argv[1], sys.argv[2].encode(), {'X-Amz-Target': sys.argv[3], "
            "'Content-Type': 'application/x-amz-json-1.1', 'Authorization': sys.argv[4]})).read().decode())"
        )
        scope = (
            "AWS4-HMAC-SHA256 Credential=testing/20260101/us-west-2/ecr/aws4_request, SignedHeaders=host, Signature=0"
        )
        target = f"AmazonEC2ContainerRegistry_V20150921.{action}"
        words = self.inside(sys.executable, "-c", call, _MOTO, json.dumps(parameters), target, scope)
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    def _started(self, *words: object) -> subprocess.Popen[bytes]:
        log = open(self.root / "log", "ab")
        with log:
            return subprocess.Popen(
                self.inside("setpriv", "--pdeathsig", "KILL", *words),
                env={**os.environ, **self.variables},
                stdout=log,
                stderr=log,
            )


@contextmanager
def ecr_site(engine: Engine, root: Path) -> Iterator[EcrSite]:
    """Run the servers, or skip with the reason."""
    missing = next((name for name in ("docker-registry", "nsenter", "ip") if shutil.which(name) is None), None)
    if missing:
        pytest.skip(f"no registry: `{missing}` is not installed")
    engine.docker("import", small_archive(), BASE)
    site = EcrSite(engine, root)
    try:
        site.wait_until_it_answers()
        yield site
    finally:
        site.stop()
