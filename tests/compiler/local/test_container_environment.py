"""Which variables of the author containers get, and which of them name servers of this machine."""

from __future__ import annotations

import pytest

from smspec.local.engines.containers.host_environment import author_variables, loopback_servers


def test_containers_get_keys_and_endpoints_but_no_files():
    given = {
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SESSION_TOKEN": "",
        "AWS_ENDPOINT_URL_S3": "http://minio:9000",
        "AWS_PROFILE": "dev",
        "AWS_SHARED_CREDENTIALS_FILE": "/home/me/.aws/credentials",
        "PATH": "/bin",
    }
    assert author_variables(given) == {"AWS_ACCESS_KEY_ID": "a", "AWS_ENDPOINT_URL_S3": "http://minio:9000"}


@pytest.mark.parametrize(
    ("value", "server"),
    [
        ("http://127.0.0.1:9000/path", ("127.0.0.1", 9000)),
        ("http://localhost", ("localhost", 80)),
        ("https://[::1]", ("::1", 443)),
        ("http://127.1.2.3:5000", ("127.1.2.3", 5000)),
        ("http://localhost.example.com:9000", None),
        ("http://10.0.0.1/127.0.0.1", None),
        ("http://127.0.0.1:many", None),
        ("", None),
    ],
)
def test_servers_of_this_machine_are_found(value, server):
    assert loopback_servers({"AWS_ENDPOINT_URL": value}) == ({} if server is None else {"AWS_ENDPOINT_URL": server})
