"""The Python of a base, from the names in its layers."""

import hashlib
import io
import tarfile

import pytest

from smspec.publishing.packages.base_listing import LayerEntry, layer_entries, listing_of
from smspec.publishing.packages.installed_files import base_python, installed_packages, is_same_version
from smspec.publishing.publication import PublishFailed
from smspec.registry.manifest import Blob, ImageLayer

PATH = "/usr/local/bin:/usr/bin:/bin"


class Content:
    """A registry with one layer."""

    def __init__(self, content):
        self.content = content

    def chunks(self, blob):
        yield self.content


def listing(*layers):
    """Return the files of layers: names, and ``name -> target`` for links."""
    return listing_of(
        [LayerEntry(name, "link", target) if target else LayerEntry(name, "file")]
        for layer in layers
        for name, _, target in (each.partition(" -> ") for each in layer)
    )


OFFICIAL = ("/usr/local/bin/python3 -> python3.12", "/usr/local/bin/python3.12", "/usr/local/lib/python3.12/os.py")
DEBIAN = (
    "/usr/bin/python3 -> python3.11",
    "/usr/bin/python3.11",
    "/bin -> usr/bin",
    "/usr/lib/python3.11/os.py",
    "/usr/lib/python3/dist-packages/numpy-1.24.2.egg-info",
)


@pytest.mark.parametrize(
    ("files", "path", "program", "prefix", "packages"),
    [
        (OFFICIAL, PATH, "/usr/local/bin/python3", "/usr/local", "/usr/local/lib/python3.12/site-packages"),
        (DEBIAN, PATH, "/usr/bin/python3", "/usr/local", "/usr/local/lib/python3.11/dist-packages"),
        (DEBIAN, "/bin", "/bin/python3", "/usr/local", "/usr/local/lib/python3.11/dist-packages"),
        (
            (*OFFICIAL, "/venv/bin/python3 -> /usr/local/bin/python3", "/venv/pyvenv.cfg"),
            f"/venv/bin:{PATH}",
            "/venv/bin/python3",
            "/venv",
            "/venv/lib/python3.12/site-packages",
        ),
    ],
    ids=["official", "Debian", "merged /usr", "environment"],
)
def test_place_of_packages_is_found(files, path, program, prefix, packages):
    found = base_python("base", listing(files), path)
    assert (found.program, found.prefix, found.packages) == (program, prefix, packages)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ((), "leads to no `python3`"),
        (("/usr/bin/python3",), "not a CPython of a known place"),
        (("/usr/bin/python3 -> python3.13t", "/usr/bin/python3.13t"), "not a CPython of a known place"),
        (("/usr/bin/python3 -> python3.12", "/usr/bin/python3.12"), "is not in `/usr/lib/python3.12`"),
        (("/usr/bin/python3 -> python3",), "a loop of symbolic links"),
    ],
)
def test_unusual_python_is_refused(files, message):
    with pytest.raises(PublishFailed, match=message):
        base_python("base", listing(files), PATH)


def test_upper_layer_removes_what_is_below():
    removed = listing(DEBIAN, ("/usr/bin/.wh.python3", "/usr/lib/python3/.wh..wh..opq", "/usr/lib/python3/new"))
    assert not removed.has("/usr/bin/python3") and removed.has("/bin/python3.11")
    assert removed.names("/usr/lib/python3") == ("new",)


def test_opaque_root_removes_all_below():
    assert listing(DEBIAN, ("/.wh..wh..opq", "/new")).names("/") == ("new",)


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_layer_with_hard_links_and_long_names_is_read(tmp_path, format):
    """Tools that install packages by hard links leave such layers."""
    directory = "usr/lib/python3/dist-packages/ctr_model-1.0.dist-info"
    content, long = b"ctr_model.py,,\n", f"usr/{'d' * 90}/{'f' * 90}"
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=format) as archive:
        first = tarfile.TarInfo("root/cache/ctr_model-1.0.dist-info/RECORD")
        first.size, first.mtime = len(content), 1.5
        archive.addfile(first, io.BytesIO(content))
        linked = tarfile.TarInfo(f"./{directory}/RECORD")
        linked.type, linked.linkname = tarfile.LNKTYPE, f"./{first.name}"
        archive.addfile(linked)
        archive.addfile(tarfile.TarInfo(long))
    read = stream.getvalue()
    layer = ImageLayer(Blob(f"sha256:{hashlib.sha256(read).hexdigest()}", len(read)), "tar")
    for _ in range(2):  # from the layer, and from the cache
        found = listing_of([layer_entries(layer, Content(read))])
        assert found.has(f"/{long}")
        (installed,) = installed_packages(found, "/usr/lib/python3/dist-packages").values()
        assert installed.files == ("/usr/lib/python3/dist-packages/ctr_model.py",)


def test_installed_packages_are_found():
    found = installed_packages(listing(DEBIAN), "/usr/lib/python3/dist-packages")
    assert {name: (one.version, one.files) for name, one in found.items()} == {"numpy": ("1.24.2", None)}


@pytest.mark.parametrize(
    ("one", "other", "same"), [("1.0", "1.0.0", True), ("1.0", "1.0.post1", False), ("2.0+cpu", "2.0", False)]
)
def test_versions_are_compared_as_pip_does(one, other, same):
    assert is_same_version(one, other) == same
