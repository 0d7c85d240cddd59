"""`[registry]` of smspec.toml."""

import json

import pytest

from smspec.organization.policy_file import read_registry
from smspec.service.policy import RegistrySettings
from support.small_job import write_job
from support.smspec_command import smspec


def test_missing_table_has_the_defaults():
    assert read_registry({}) == ({}, [])
    assert RegistrySettings().immutable_tags
    settings = {"create": False, "scan_on_push": False, "immutable_tags": False, "keep_images": 3}
    assert read_registry(settings) == (settings, [])


@pytest.mark.parametrize(
    ("line", "message", "help"),
    [
        ("registry = 1", "`registry` is not a table", "write `[registry]` and below it its keys"),
        (
            "registry.scan = true",
            "unknown key `registry.scan`",
            "use create, scan_on_push, immutable_tags, keep_images",
        ),
        ("registry.scan_on_pusch = true", "unknown key `registry.scan_on_pusch`", "did you mean `scan_on_push`?"),
        ("registry.create = 'no'", "`registry.create` must be true or false", "use `true` or `false`"),
        (
            "registry.keep_images = 0",
            "`registry.keep_images` must be a number of images from 1 to 100,000",
            "write `keep_images = 100`",
        ),
        (
            "registry.keep_images = true",
            "`registry.keep_images` must be a number of images from 1 to 100,000",
            "write `keep_images = 100`",
        ),
    ],
)
def test_wrong_setting_is_reported_at_its_line(tmp_path, line, message, help):
    write_job(tmp_path)
    (tmp_path / "smspec.toml").write_text(f"require_vpc = false\n{line}\n")
    (found,) = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert (found["code"], found["message"], found["line"]) == ("SM747", message, 2)
    assert found["help"] == help
