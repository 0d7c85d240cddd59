"""Tables of images and accounts on disk, and an SDK to refresh them from."""

import json

from maintenance.facts import main
from smspec.service.facts import parsed_table

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
