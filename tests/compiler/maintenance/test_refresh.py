"""``python -m maintenance.facts``: the tables of images and accounts follow the installed sagemaker-core."""

import json
import shutil

import pytest

from maintenance.surroundings import Surroundings
from smspec.service.facts import table_path
from smspec.service.facts.installed_packages import CONFIGURATIONS as FILES
from smspec.service.facts.installed_packages import DISTRIBUTION, sdk_images
from support.fact_tables import ACCOUNTS, CONFIGURATIONS, IMAGES, OREGON, TAGS, Tables, part


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


def test_tags_are_those_of_the_sdk(tables):
    sdk = Surroundings(site_packages=str(tables.site)).installed(DISTRIBUTION, FILES)
    found = list(sdk_images(sdk.directory))
    assert sdk.version == "2.0.0"
    assert {f"{image.repository}:{image.tag}" for image in found} == TAGS
    assert {image.aliases for image in found if image.version == "2.5.1"} == {("2.5",)}
    assert {image.processor for image in found if "neuron" in image.repository} == {"neuronx"}


def test_refresh_keeps_what_the_sdk_lacks(tables):
    assert tables.refresh() == 0
    images = {f"{row['repository']}:{row['tag']}": row for row in tables.rows("images")}
    assert set(images) == TAGS | {"listed:7"}
    known = images["pytorch-training:2.5.1-gpu-py311"]
    assert (known["full_tag"], known["end_of_patch"]) == ("2.5.1-gpu-py311-cu124", "2026-01-29")
    assert (known["aliases"], known["accounts"]) == ("2.5", "4")
    assert images["kmeans:1"]["processor"] == "cpu gpu"


def test_second_refresh_changes_nothing(tables, capsys):
    assert tables.refresh() == 0
    first = tables.texts()
    assert first["images"].startswith("# as of 2026-02-03: sagemaker-core 2.0.0 (Apache-2.0); a list (Apache-2.0)\n")
    assert first["accounts"] == ACCOUNTS
    capsys.readouterr()
    tables.install(CONFIGURATIONS, "3.0.0")
    assert tables.refresh(date="2027-01-01") == 0
    assert tables.refresh("--check", date="2027-01-01") == 0
    assert tables.texts() == first
    assert capsys.readouterr().out == ""


def test_check_writes_nothing(tables, capsys):
    assert tables.refresh("--check") == 1
    assert tables.texts() == {"images": IMAGES, "accounts": ACCOUNTS}
    printed = capsys.readouterr()
    assert "images: added kmeans:1\n" in printed.out and "images: changed pytorch-training:2.5.1-gpu" in printed.out
    assert "run make facts" in printed.err


def test_missing_region_needs_acceptance(tables, capsys):
    assert tables.refresh() == 0
    before = tables.texts()
    text = json.dumps(CONFIGURATIONS).replace('"eu-west-1": "222222222222"', "").replace(", }", "}")
    tables.install(json.loads(text))
    capsys.readouterr()
    assert tables.refresh() == 1
    assert tables.texts()["accounts"] == before["accounts"]
    assert "accounts: removed eu-west-1\n" in capsys.readouterr().out
    assert tables.refresh("--accept-removals") == 0
    assert [row["region"] for row in tables.rows("accounts")] == ["us-west-2"]


def test_new_region_changes_one_row(tables):
    assert tables.refresh() == 0
    before = tables.texts()
    text = json.dumps(CONFIGURATIONS).replace('"eu-west-1"', '"cn-north-1": "333333333333", "eu-west-1"')
    tables.install(json.loads(text))
    assert tables.refresh(date="2026-05-06") == 0
    assert tables.texts()["images"] == before["images"]
    head = before["accounts"].splitlines()
    row = "cn-north-1,amazonaws.com.cn,333333333333"
    assert tables.texts()["accounts"].splitlines()[1:] == [head[1], row, *head[2:]]
    assert tables.texts()["accounts"].startswith("# as of 2026-05-06: ")


def test_image_with_other_accounts_gets_a_column(tables):
    assert tables.refresh() == 0
    tables.install({"kmeans": {"scope": ["training"], "versions": {"1": part("kmeans", OREGON)}}})
    assert tables.refresh() == 0
    accounts = {row["region"]: row for row in tables.rows("accounts")}
    column = next(row["accounts"] for row in tables.rows("images") if row["repository"] == "kmeans")
    assert column == "5" and accounts["us-west-2"]["5"] == "111111111111" and accounts["eu-west-1"]["5"] == ""


def test_tables_of_unreadable_sources_are_reported(tmp_path, capsys):
    tables = Tables(tmp_path)
    shutil.rmtree(tables.site)
    for name in ("image_packages", "instances", "instance_bandwidth", "ec2_not_offered"):
        shutil.copy(table_path(name), tables.directory)
    before = tables.texts()
    assert tables.refresh("--sources", str(tables.directory / "images.csv" / "no")) == 0
    assert tables.texts() == before
    notes = capsys.readouterr().err
    assert "unchanged: accounts, images: sagemaker-core is not installed\n" in notes
    assert "unchanged: image_packages: deep-learning-containers cannot be cloned: " in notes
    assert "unchanged: instances, instance_bandwidth, ec2_not_offered: botocore is not installed\n" in notes
    assert "unchanged: algorithms, algorithm_hyperparameters, algorithm_modes, launchers: edited by hand" in notes
