"""``python -m smspec.service.facts.refresh``: the tables of images and accounts follow the installed sagemaker-core."""

import json

import pytest

from smspec.service.facts.refresh import main
from smspec.service.facts.sdk_images import installed_sdk, sdk_images
from smspec.service.facts.table import parsed_table

OREGON, IRELAND = {"us-west-2": "111111111111"}, {"eu-west-1": "222222222222"}
EVERYWHERE = OREGON | IRELAND


def versions(*processors, aliases=None, scope="training", **configs):
    config = {"versions": configs} | ({"processors": list(processors)} if processors else {})
    return {scope: config | ({"version_aliases": aliases} if aliases else {})}


def part(repository, registries=None, **more):
    return {"registries": EVERYWHERE if registries is None else registries, "repository": repository} | more


CONFIGURATIONS = {
    "pytorch": versions(
        "cpu", "gpu", aliases={"2.5": "2.5.1"}, **{"2.5.1": part("pytorch-training", py_versions=["py311"])}
    ),
    "pytorch-new": versions(
        "gpu",
        **{
            "2.13": part(
                "pytorch",
                container_version={"gpu": "cu133-amzn2023"},
                processor_in_tag=False,
                tag_prefix="2.13",
            )
        },
    ),
    "neuron": versions(
        "trn",
        **{
            "2.9.0": part(
                "pytorch-training-neuronx",
                py_versions=["py312"],
                sdk_versions=["sdk2.9.1", "sdk2.30.0"],
                container_version={"trn": "ubuntu24.04"},
            )
        },
    ),
    "huggingface": versions(
        "gpu",
        **{
            "4.4.2": {
                "version_aliases": {"pytorch1.6": "pytorch1.6.0"},
                "pytorch1.6.0": part(
                    "huggingface-pytorch-training",
                    py_versions=["py36"],
                    container_version={"gpu": "cu110-ubuntu18.04"},
                ),
            }
        },
    ),
    "tensorflow": versions("gpu", **{"1.13.1": {"py2": part("scriptmode"), "py3": part("tensorflow-training")}}),
    "kmeans": {"scope": ["inference", "training"], "versions": {"1": part("kmeans")}},
    "serving": versions("cpu", scope="inference", **{"1": part("serving")}),
}
TAGS = {
    "huggingface-pytorch-training:1.6.0-transformers4.4.2-gpu-py36-cu110-ubuntu18.04",
    "kmeans:1",
    "pytorch:2.13-cu133-amzn2023",
    "pytorch-training:2.5.1-cpu-py311",
    "pytorch-training:2.5.1-gpu-py311",
    "pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04",
    "scriptmode:1.13.1-gpu-py2",
    "tensorflow-training:1.13.1-gpu-py3",
}
IMAGES = """\
# as of 2020-01-02: sagemaker-core 1.0.0 (Apache-2.0); a list (Apache-2.0)
repository,tag,full_tag,sdk_framework,version,aliases,base,python,interpreter,processor,accounts,end_of_patch
listed,7,,dlc-only,7,,,,,cpu,4,
pytorch-training,2.5.1-gpu-py311,2.5.1-gpu-py311-cu124,pytorch,2.5.1,,,py311,,gpu,4,2026-01-29
"""
ACCOUNTS = """\
# as of 2020-01-02: sagemaker-core 1.0.0 (Apache-2.0)
region,dns_suffix,4
eu-west-1,amazonaws.com,222222222222
us-west-2,amazonaws.com,111111111111
"""


class Tables:
    """Tables on disk, and a sagemaker-core to refresh them from."""

    def __init__(self, directory):
        self.site, self.directory = directory / "site", directory / "tables"
        self.directory.mkdir()
        (self.directory / "images.csv").write_text(IMAGES)
        (self.directory / "accounts.csv").write_text(ACCOUNTS)
        self.install(CONFIGURATIONS, "2.0.0")

    def install(self, configurations, version="2.0.0"):
        for info in self.site.glob("*.dist-info/*"):
            info.unlink()
            info.parent.rmdir()
        metadata = self.site / f"sagemaker_core-{version}.dist-info" / "METADATA"
        files = self.site / "sagemaker" / "core" / "image_uri_config"
        for path in (metadata.parent, files):
            path.mkdir(parents=True, exist_ok=True)
        metadata.write_text(f"Metadata-Version: 2.1\nName: sagemaker-core\nVersion: {version}\n")
        for name, content in configurations.items():
            (files / f"{name}.json").write_text(json.dumps(content))

    def refresh(self, *words, date="2026-02-03"):
        return main(["--site-packages", str(self.site), "--tables", str(self.directory), "--date", date, *words])

    def texts(self):
        return {path.stem: path.read_text() for path in self.directory.glob("*.csv")}

    def rows(self, name):
        return parsed_table(self.texts()[name]).rows()


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


def test_tags_are_those_of_the_sdk(tables):
    version, directory = installed_sdk(str(tables.site))
    found = list(sdk_images(directory))
    assert version == "2.0.0"
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


def test_missing_sdk_is_reported(tmp_path):
    with pytest.raises(SystemExit, match="sagemaker-core is not installed"):
        main(["--site-packages", str(tmp_path)])
