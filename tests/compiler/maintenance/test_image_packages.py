"""What the images of AWS are built from: locks and Dockerfiles."""

from __future__ import annotations

from maintenance.image_packages import ADDED, Environment, added_packages, locked_packages, package_rows

LOCK = """
[[package]]
name = "project"
version = "1"
source = { virtual = "." }
dependencies = [
    { name = "torch", extra = ["fast"] },
    { name = "colorama", marker = "sys_platform == 'win32'" },
    { name = "numpy", version = "1.0", marker = "sys_platform == 'darwin'" },
    { name = "numpy", version = "2.0", marker = "sys_platform == 'linux'" },
]

[package.optional-dependencies]
sagemaker = [{ name = "mlflow" }]

[package.dev-dependencies]
dev = [{ name = "pytest" }]

[[package]]
name = "torch"
version = "2.13.0+cpu"
source = { registry = "https://example.com" }

[package.optional-dependencies]
fast = [{ name = "opt" }]

[[package]]
name = "opt"
version = "3"
source = { registry = "https://example.com" }
dependencies = [{ name = "torch" }]

[[package]]
name = "numpy"
version = "1.0"
source = { registry = "https://example.com" }

[[package]]
name = "numpy"
version = "2.0"
source = { registry = "https://example.com" }

[[package]]
name = "mlflow"
version = "4"
source = { registry = "https://example.com" }

[[package]]
name = "colorama"
version = "5"
source = { registry = "https://example.com" }

[[package]]
name = "pytest"
version = "6"
source = { registry = "https://example.com" }
"""


def test_lock_is_followed_from_the_project_on_linux():
    base = {"numpy": "2.0", "opt": "3", "torch": "2.13.0+cpu"}
    assert locked_packages(LOCK, extras=(), python="3.12") == base
    assert locked_packages(LOCK, extras=("sagemaker",), python="3.12") == {"mlflow": "4", **base}


def test_unknown_line_of_a_dockerfile_leaves_the_image_out():
    known = "RUN pip install --no-cache-dir \\\n  git+https://github.com/awslabs/sagemaker-debugger.git@v1\n"
    assert added_packages(known) == (("smdebug",), "")
    assert added_packages(known + "RUN pip install pandas && true\n") == ((), "pip install pandas")
    assert added_packages("RUN uv sync --frozen && dnf install -y python3-pip\n") == ((), "")


def image(repository, tag, **packages):
    return Environment(repository=repository, tag=tag, processor="cpu", python="3.12", packages=packages)


def test_modules_are_asked_for_only_where_versions_change():
    asked = []

    def modules_of(name, version):
        asked.append((name, version))
        return frozenset({f"{name}_module"}) if name != "unknown" else None

    first = package_rows([], [image("a", "1", torch="2+cpu", smdebug=ADDED, unknown="1")], modules_of)
    assert [(row["package"], row["modules"]) for row in first] == [
        ("smdebug", "smdebug"),
        ("torch", "torch_module"),
        ("unknown", ""),
    ]
    asked.clear()
    second = package_rows(
        first, [image("a", "1", torch="2+cpu", added="1"), image("a", "2", torch="2+cpu")], modules_of
    )
    assert asked == [("added", "1")]
    assert [row["package"] for row in second] == ["added", "torch"]


def test_images_without_known_packages_have_no_column():
    unknown = Environment(repository="a", tag="2", processor="cpu", python="", packages=None, reason="no lock")
    (row,) = package_rows([], [unknown, image("a", "1", torch="2")], lambda *_: frozenset())
    assert row == {"package": "torch", "modules": "-", "a:1": "2"}
