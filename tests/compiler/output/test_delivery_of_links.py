"""Links in a source arrive as their targets with every delivery."""

import gzip
import io
import os
import tarfile
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from smspec.output.contents import chunks
from smspec.output.writing import write_tree
from smspec.render.tree import ArchiveFile, CopiedFile, FileTree
from smspec.workspace.source_listing import scan_source
from smspec_runtime.extraction import digest, extract

NAMES = st.text(st.sampled_from("abc.-_ é\n\t日'\"$*?[]{}!#~:"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..") and not name.startswith(".#")
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
TREES = st.lists(st.tuples(PATHS, st.binary(max_size=40), st.booleans()), min_size=1, max_size=6)
LINKS = st.lists(st.tuples(PATHS, PATHS, st.booleans()), max_size=6)


def make(root: Path, files, links) -> None:
    """Make what can be made of them: a name may be taken, or below a file."""
    for path, content, executable in files:
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
            (root / path).chmod(0o755 if executable else 0o644)
        except OSError:
            continue
    for path, target, is_absolute in links:
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            start = root if is_absolute else (root / path).parent
            (root / path).symlink_to(str(root / target) if is_absolute else os.path.relpath(root / target, start))
        except OSError:
            continue


def contents(root: Path) -> dict[str, tuple[bytes, bool]]:
    """Return every file below a directory as a program sees it: links followed."""
    found = {}
    for directory, _, names in os.walk(root, followlinks=True):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                found[os.path.relpath(path, root)] = (Path(path).read_bytes(), os.access(path, os.X_OK))
    return found


@given(TREES, LINKS)
def test_links_arrive_as_the_script_expects(files, links):
    """In the tree of an image or channel, and in an archive after the runtime unpacked it: regular files only."""
    with tempfile.TemporaryDirectory() as directory:
        root, out = Path(directory, "src"), Path(directory, "out")
        root.mkdir()
        make(root, files, links)
        scanned = scan_source(str(root))
        listing = scanned.listing
        expected = {
            file.path: (Path(file.origin).read_bytes(), os.access(file.origin, os.X_OK)) for file in listing.files
        }
        if not scanned.faults and not scanned.left_out:
            assert expected == contents(root)

        members = tuple(CopiedFile(path=file.path, file=file) for file in listing.files)
        write_tree(FileTree(members), str(out))
        assert contents(out) == expected
        assert not [path for path in out.rglob("*") if path.is_symlink()]

        packed = b"".join(chunks(ArchiveFile(path="a", members=members), {}))
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(packed))) as tar:
            assert all(member.isreg() for member in tar)
        (Path(directory) / "sourcedir.tar.gz").write_bytes(packed)
        unpacked = Path(directory) / "code"
        unpacked.mkdir()
        found = extract(str(Path(directory) / "sourcedir.tar.gz"), str(unpacked))
        assert contents(unpacked) == expected
        assert digest(found) == listing.digest
