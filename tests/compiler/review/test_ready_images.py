"""Changes between an image that is ready and one that smspec builds, and what starts the script in either."""

import pytest

from smspec.review.job_review import compared, verdict
from smspec.service.job_costs import PriceBook
from support.review.job_reviews import version

READY = "111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr:v1"


def changes(old, new):
    return compared(version(**old), version(**new), PriceBook())


def of(found, kind):
    return [change for change in found if change.kind == kind]


@pytest.mark.parametrize(
    "ready",
    [
        {"source": None, "entry_point": None},
        {"source": {"dir": "src/", "delivery": "channel"}},
        {"source": {"dir": "src/", "delivery": "s3"}},
    ],
    ids=["plain", "channel", "s3"],
)
def test_content_of_an_image_that_replaces_one_is_reported(ready):
    image = {
        "base": "registry.example.org/other:1",
        "run": ["make install"],
        "env": {"LD_PRELOAD": "/x.so"},
        "python_packages": ["numpy==2.1.0"],
        "user": "1000",
    }
    command = ["bash", "-c", "make train"]
    found = changes({"image": READY, **ready}, {"image": image, "entry_point": {"command": command}})
    shown = {change.path[:2]: change.new for change in of(found, "image")}
    assert shown["image", "base"] == image["base"]
    assert shown["image", "run"] == "make install"
    assert shown["image", "env"] == "/x.so"
    assert shown["image", "python_packages"] == "numpy==2.1.0"
    assert shown["image", "user"] == "1000"
    assert command in [change.new for change in of(found, "code")]
    registry = [change for change in of(found, "security") if change.path == ("image", "base")]
    assert [(change.old, change.new) for change in registry] == [(READY.partition("/")[0], "registry.example.org")]
    assert verdict(found).startswith("runs in another image")


def test_base_from_the_same_registry_changes_no_access():
    found = changes(
        {"image": READY, "source": None, "entry_point": None},
        {"image": {"base": f"{READY}-base"}, "source": None, "entry_point": {"command": ["a"]}},
    )
    assert not of(found, "security")


@pytest.mark.parametrize("old", [{}, {"image": READY, "source": None, "entry_point": None}], ids=["built", "ready"])
@pytest.mark.parametrize(
    "entry_point",
    [{"command": ["bash", "-c", "make"]}, {"script": "train.py", "args": ["--url", "https://example.org"]}],
    ids=["command", "arguments"],
)
def test_new_start_in_a_channel_is_reported(old, entry_point):
    source = {"dir": "src/", "delivery": "channel"}
    found = changes(old, {"image": READY, "source": source, "entry_point": entry_point})
    words = entry_point.get("command") or entry_point["args"]
    assert words in [change.new for change in of(found, "code")]


def test_start_that_a_ready_image_replaces_is_reported():
    found = changes({}, {"image": READY, "source": None, "entry_point": None})
    start = [change for change in of(found, "code") if change.path == ("entry_point",) and change.old == "train.py"]
    assert [(change.new, change.what) for change in start] == [
        (None, "entry point (program); smspec starts nothing now")
    ]
    assert not of(found, "cosmetic")
