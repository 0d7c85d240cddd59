"""A spec that moved: relative paths that no comparison opens lead to other files than before."""

import pytest

from support.git_repository import commit, git, repository
from support.small_job import BUILT, write_job
from support.smspec_command import smspec


@pytest.fixture
def home(tmp_path):
    return repository(tmp_path / "home")


def moved(home, text):
    """Return how a comparison ends after the directory of a job has moved."""
    write_job(home / "jobs/ctr", text)
    commit(home)
    (home / "teams/ads").mkdir(parents=True)
    git(home, "mv", "jobs/ctr", "teams/ads/ctr")
    return smspec("diff", "--base", "HEAD", "--fail-on", "security,data", cwd=home)


@pytest.mark.parametrize("path", ["../../token", "token", "{home}/token", "~/token"])
def test_secret_of_the_build_at_another_place_fails(home, path):
    """The image would be built with a different secret, though no line of the spec changed."""
    image = f"image: {{base: python:3.12-slim, secrets: {{TOKEN: {{file: '{path.format(home=home)}'}}}}}}"
    lines = [image if line.startswith("image:") else line for line in BUILT.splitlines()]
    done = moved(home, "\n".join(lines) + "\n")
    is_relative = path[0] not in "{~"
    assert done.status == is_relative, done.out
    assert (
        "fails `security`: `image.secrets.TOKEN`: secret of the build `TOKEN` is another" in done.err
    ) == is_relative


def test_local_data_at_another_place_are_data(home):
    done = moved(home, BUILT + "channels: {extra: {s3: 's3://example-data/x/', local: ../../data}}\n")
    assert "smspec: small: fails `data`: `channels.extra.local`: local data" in done.err
    assert "`data` → `teams/data`" in done.err


def test_spec_that_moved_with_all_it_names_is_the_same(home):
    done = moved(home, BUILT)
    assert (done.status, "the file moved" in done.out) == (0, True)
