"""Fixtures of the Pipe mode tests."""

import pytest

from support.pipe.pipe_host import Host


@pytest.fixture
def host(tmp_path):
    """Make hosts; whatever is still running is ended."""
    hosts = []

    def make(handler, **options):
        hosts.append(Host(tmp_path / f"ml{len(hosts)}", handler, **options))
        return hosts[-1]

    yield make
    for made in hosts:
        if hasattr(made, "process") and made.process.poll() is None:
            made.process.kill()
            made.process.communicate()
