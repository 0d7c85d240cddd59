"""Files that containers wrote are the author's after a run, whatever the `chown` of an image does."""

import os
import threading
import time

import pytest

from smspec.local.engines.containers.client import Client, label_of_ended
from smspec.local.engines.containers.container_engine import give_files
from smspec.render.tree import RUN_MARKER, run_marker_json

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")

STRANGER, AUTHOR = 12345, 23456
CHOWN = """\
#!/bin/sh
touch /hosts/planted
chmod 777 /hosts /hosts/algo-1
while :; do sleep 1; done
"""


@pytest.fixture
def run(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give files to another user")
    for host in ("algo-1", "algo, 2"):
        model = tmp_path / "hosts" / host / "opt/ml/model"
        (model / "closed").mkdir(parents=True)
        (model / "closed/file").write_text("x")
        (model / "link").symlink_to("/etc/passwd")
        for path in (model / "closed/file", model / "closed"):
            os.chown(path, STRANGER, STRANGER)
        (model / "closed").chmod(0)
    (tmp_path / "hosts").chmod(0o700)
    (tmp_path / RUN_MARKER).write_bytes(run_marker_json("job", "Running", "0" * 32))
    return tmp_path


def give(engine, run, image):
    client = Client("docker", {"DOCKER_HOST": engine.host})
    client.is_lost = True  # its commands end after five seconds
    label = label_of_ended(str(run))
    give_files(client, image, str(run / "hosts"), owner=f"{AUTHOR}:{AUTHOR}", label=label)


def containers(engine):
    return engine.docker("ps", "--all", "--quiet", "--filter", "label=smspec.run").stdout.split()


def test_files_of_all_hosts_get_their_owner(engine, run):
    give(engine, run, engine.base)
    for directory, names, files in os.walk(run / "hosts"):
        for name in (*names, *files):
            path = os.path.join(directory, name)
            assert os.lstat(path).st_uid == (AUTHOR if path != f"{run}/hosts" else 0), path
    assert os.stat("/etc/passwd").st_uid == 0
    assert containers(engine) == []


def test_endless_chown_of_an_image_is_ended(engine, run, tmp_path):
    """The next run would find its container by the label, if smspec were killed meanwhile."""
    context = tmp_path / "image"
    context.mkdir()
    (context / "chown").write_text(CHOWN)
    (context / "chown").chmod(0o755)
    (context / "Dockerfile").write_text(f"FROM {engine.base}\nCOPY chown /usr/local/sbin/chown\n")
    engine.build(context, "smspec-test-endless-chown")
    giving = threading.Thread(target=give, args=(engine, run, "smspec-test-endless-chown"))
    giving.start()
    while not containers(engine) and giving.is_alive():
        time.sleep(0.05)
    (found,) = containers(engine)
    label = engine.docker("inspect", "--format", '{{index .Config.Labels "smspec.run"}}', found).stdout.strip()
    assert f"smspec.run={label}" == label_of_ended(str(run))
    giving.join()
    assert containers(engine) == []
    assert oct((run / "hosts").stat().st_mode & 0o777) == "0o700"
    assert sorted(os.listdir(run / "hosts")) == ["algo, 2", "algo-1"]
