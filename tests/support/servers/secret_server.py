"""Secrets Manager, Parameter Store, and a container's credentials: moto behind a check of each signature."""

from __future__ import annotations

import contextlib
import json
import logging
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from support.servers.serving import serving

REGION = "us-west-2"
ACCOUNT = "123456789012"
TOKEN = "a session/token+with=marks"
KEYS = {"AccessKeyId": "ASIAEXAMPLE", "SecretAccessKey": "wJalr/K7MDENG+bPxRfiCY", "Token": TOKEN}


@dataclass(frozen=True)
class Asked:
    """One accepted or rejected request."""

    target: str
    members: dict[str, object]
    host: str
    time: str


@contextlib.contextmanager
def secret_server() -> Iterator[SecretServer]:
    """Run both on free ports."""
    from moto.server import ThreadedMotoServer  # takes a second, and is needed where a test of it runs alone

    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    server = SecretServer("http://{}:{}".format(*moto.get_host_and_port()))
    try:
        with serving(server):
            yield server
    finally:
        moto.stop()


class SecretServer(ThreadingHTTPServer):
    """``faults``: answers (status, members) for the next requests. ``asked``: every request to a service."""

    def __init__(self, moto: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.moto = moto
        self.faults: list[tuple[int, dict[str, str]]] = []
        self.asked: list[Asked] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.environ = {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{self.url}/credentials",
            "AWS_ENDPOINT_URL_SECRETS_MANAGER": self.url,
            "AWS_ENDPOINT_URL_SSM": self.url,
        }

    def reset(self) -> None:
        self.faults, self.asked = [], []
        urllib.request.urlopen(urllib.request.Request(f"{self.moto}/moto-api/reset", method="POST")).close()

    def client(self, service: str) -> object:
        import boto3

        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        return boto3.client(service, region_name=REGION, endpoint_url=self.moto, **keys)

    def secret(self, name: str, value: str | bytes) -> str:
        """Store a secret; return its ARN."""
        kind = "SecretString" if isinstance(value, str) else "SecretBinary"
        return self.client("secretsmanager").create_secret(Name=name, **{kind: value})["ARN"]

    def parameter(self, name: str, value: str) -> str:
        self.client("ssm").put_parameter(Name=name, Value=value, Type="SecureString")
        return f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter/{name.lstrip('/')}"


class Handler(BaseHTTPRequestHandler):
    server: SecretServer

    def do_GET(self) -> None:
        found = self.path == "/credentials" and self.headers["Authorization"] in (None, "Bearer agent")
        self._send(200 if found else 404, json.dumps(KEYS if found else {}).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        target = self.headers["X-Amz-Target"]
        self.server.asked.append(Asked(target, json.loads(body), self.headers["Host"], self.headers["X-Amz-Date"]))
        service = "ssm" if target.startswith("AmazonSSM.") else "secretsmanager"
        if self.headers["Authorization"] != self._signature(service, body):
            self._send(403, json.dumps({"__type": "InvalidSignatureException", "message": "it differs"}).encode())
        elif self.server.faults:
            status, members = self.server.faults.pop(0)
            self._send(status, json.dumps(members).encode())
        else:
            self._forward(body)

    def _signature(self, service: str, body: bytes) -> str:
        """Return what botocore makes of the signed headers of this request."""
        _, _, names = self.headers["Authorization"].partition("SignedHeaders=")
        headers = {name: self.headers[name] for name in names.partition(",")[0].split(";")}
        request = AWSRequest("POST", f"http://{self.headers['Host']}{self.path}", headers=headers, data=body)
        request.context["timestamp"] = headers["x-amz-date"]
        scope = self.headers["Authorization"].partition("Credential=")[2].split("/")
        assert scope[3:4] == [service]
        auth = SigV4Auth(Credentials(KEYS["AccessKeyId"], KEYS["SecretAccessKey"], TOKEN), service, scope[2])
        canonical = auth.canonical_request(request)
        signature = auth.signature(auth.string_to_sign(request, canonical), request)
        named = f"SignedHeaders={auth.signed_headers(auth.headers_to_sign(request))}"
        return f"AWS4-HMAC-SHA256 Credential={auth.scope(request)}, {named}, Signature={signature}"

    def _forward(self, body: bytes) -> None:
        headers = {name: value for name, value in self.headers.items() if name not in ("Host", "Content-Length")}
        request = urllib.request.Request(self.server.moto, body, {**headers, "Host": f"secretsmanager.{REGION}.x"})
        try:
            with urllib.request.urlopen(request) as answer:
                self._send(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            self._send(error.code, error.read())

    def _send(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: object) -> None:
        """Keep quiet."""
