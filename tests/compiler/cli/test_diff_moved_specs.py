"""A spec that moved: relative paths that no comparison opens lead to other files than before."""

import pytest

from support.git_repository import commit, git, repository
from support.small_job import BUILT, write_job
from support.smspec_command import smspec


@pytest.fixture
def home(tmp_path):
    return repository(tmp_path / "home")


def moved(home, text, kinds="security,data,code"):
    """Return how a comparison ends after the directory of a job has moved."""
    write_job(home / "jobs/ctr", text)
    commit(home)
    (home / "teams/ads").mkdir(parents=True)
    git(home, "mv", "jobs/ctr", "teams/ads/ctr")
    return smspec("diff", "--base", "HEAD", "--fail-on", kinds, cwd=home)


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


OTHER_SOURCES = {
    "a directory that the base has": ("lib", "", True),
    "one that git ignores": ("private", "private/\n", True),
    "one below an ignored directory": ("private/src", "private/\n", True),
    "a new directory": ("code", "private/\n", False),
}


@pytest.mark.parametrize(("place", "ignored", "is_code"), OTHER_SOURCES.values(), ids=OTHER_SOURCES)
def test_source_in_another_directory_is_code(home, place, ignored, is_code):
    """What git tracks there is equal, but a checkout may have more, and sends it."""
    write_job(home, lib__notes="")
    (home / ".gitignore").write_text(ignored)
    commit(home)
    (home / "lib/notes").unlink()
    (home / place).parent.mkdir(exist_ok=True)
    (home / "src").rename(home / place)
    (home / "job.yaml").write_text(BUILT.replace("src/", f"{place}/"))
    git(home, "add", "--force", "--all")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert done.status == is_code, done.err
    assert (f"smspec: job.yaml: fails `code`: the source is `{place}`, not `src`: " in done.err) == is_code


def test_link_that_leads_a_source_elsewhere_is_code(home):
    """No line of a spec changes, and no file."""
    write_job(home)
    for name in ("one", "two"):
        write_job(home / name)
        (home / name / "job.yaml").unlink()
    (home / "src/train.py").unlink()
    (home / "src").rmdir()
    (home / "src").symlink_to("one/src")
    commit(home)
    (home / "src").unlink()
    (home / "src").symlink_to("two/src")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert "smspec: job.yaml: fails `code`: the source is `two/src`, not `one/src`: " in done.err


def test_spec_that_moved_to_an_ignored_directory_is_code(home):
    (home / ".gitignore").write_text("ads/\n")
    done = moved(home, BUILT, "code")
    assert "smspec: teams/ads/ctr/job.yaml: fails `code`: the source is `teams/ads/ctr/src`, " in done.err
