"""The bill of materials of a locked image, against the schema of CycloneDX."""

import json

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from smspec.render.tree_rendering import bill_of_materials, render_tree
from support.render.plan_samples import build_inputs, image_plan, locked_environment, plan

FILE = b"""--index-url https://user@index.example.com/simple
numpy==2.1.0 \\
    --hash=sha256:%(a)s \\
    --hash=sha256:%(b)s
Typing_Extensions==4.12.2 ; python_version < "3.13" --hash=sha256:%(a)s
torch==2.4.1+cpu --hash=sha512:%(c)s
pytz==1!2024.1 --hash=sha256:%(a)s
""" % {b"a": b"a" * 64, b"b": b"b" * 64, b"c": b"c" * 128}


def test_bill_lists_the_base_and_the_packages():
    text = bill_of_materials(image_plan(base="python:3.12@sha256:" + "d" * 64), FILE)
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(text) is None
    base, *packages = json.loads(text)["components"]
    assert (base["name"], base["version"]) == ("python:3.12", "sha256:" + "d" * 64)
    assert [package["purl"] for package in packages] == [
        "pkg:pypi/numpy@2.1.0",
        "pkg:pypi/typing-extensions@4.12.2",
        "pkg:pypi/torch@2.4.1%2Bcpu",
        "pkg:pypi/pytz@1%212024.1",
    ]
    assert [entry["alg"] for package in packages for entry in package["hashes"]] == [
        *("SHA-256", "SHA-256", "SHA-256", "SHA-512", "SHA-256")
    ]


def test_bill_contains_no_address_of_an_index():
    assert "index.example.com" not in bill_of_materials(image_plan(), FILE)


def test_only_a_locked_image_has_a_bill(tmp_path):
    locked = render_tree(
        plan(image=image_plan(environment=locked_environment(FILE))), build_inputs(tmp_path, locked=FILE), "0" * 64
    )
    plain = render_tree(plan(), build_inputs(tmp_path, requirements=FILE), "0" * 64)
    names = [{file.path for file in tree.files} for tree in (locked, plain)]
    assert ["sbom.cdx.json" in group for group in names] == [True, False]
