"""Archived trees are extracted with their links followed, or rejected."""

import os
import random
import subprocess
import tarfile

import pytest

from support.runtime.code_archives import extract_elsewhere, tree

NAMES = ("a", "b", "c", "d e", "é", "-f", "n" * 120)


def make_tree(root, seed):
    """Make files, directories, hard links and links of all kinds; some lead nowhere, out, or in circles."""
    draw = random.Random(seed)
    root.mkdir()
    places = [""]
    files = []
    for _ in range(draw.randrange(3, 16)):
        path = os.path.join(draw.choice(places), draw.choice(NAMES))
        real = root / path
        if os.path.lexists(real):
            continue
        kind = draw.choice("dffhllll")
        if kind == "d":
            real.mkdir()
            places.append(path)
        elif kind == "h" and files:
            other = draw.choice(files)
            if not os.path.islink(root / other) or os.path.dirname(other) == os.path.dirname(path) or seed % 4 == 0:
                os.link(root / other, real, follow_symlinks=False)
                files.append(path)
        elif kind == "l":
            beside = [place for place in places if not f"{path}/".startswith(f"{place}/") and place]
            ends = ["missing", "../" * 3 + "x", "/etc/passwd", *places] if seed % 4 == 0 else beside[:1]
            if not [*ends, *files]:
                continue
            target = draw.choice([*ends, *files, *files])
            if not target.startswith(("/", "../")):
                through = draw.choice(places)
                target = os.path.relpath(os.path.join(root, target), os.path.dirname(real))
                if through and draw.random() < 0.3:
                    away = os.path.relpath(root, root / through)
                    target = os.path.join(
                        os.path.relpath(root / through, os.path.dirname(real)),
                        away,
                        os.path.relpath(os.path.dirname(real), root),
                        target,
                    )
            os.symlink(target, real)
            files.append(path)
        else:
            real.write_bytes(b"%d" % draw.randrange(1000) * draw.randrange(300))
            real.chmod(draw.choice([0o644, 0o755]))
            files.append(path)


class Faulty(Exception):
    """A tree that cannot be followed to its end."""


def followed(root):
    """Return what a program sees of a tree: path → (content, executable), None for a directory."""
    found = {}
    top = os.path.realpath(root)

    def look(path, real, around):
        for name in os.listdir(real):
            entry = os.path.join(real, name)
            if os.path.islink(entry) and os.path.isabs(os.readlink(entry)):
                raise Faulty
            try:
                end = os.path.realpath(entry, strict=True)
            except OSError as error:
                raise Faulty from error
            if end != top and not end.startswith(top + os.sep):
                raise Faulty
            inner = os.path.join(path, name)
            if os.path.isdir(end):
                if end in around:
                    raise Faulty
                found[inner] = None
                look(inner, end, [*around, end])
            else:
                with open(end, "rb") as opened:
                    found[inner] = (opened.read(), os.access(end, os.X_OK))

    look("", top, [top])
    return found


def packed(root, path, how):
    """Pack a tree as people do. False: ustar has no room for a name."""
    if how.startswith("tar "):
        _, form, *names = how.split()
        names = names or ["--", *os.listdir(root)]
        done = subprocess.run(["tar", f"--format={form}", "-C", root, "-czf", path, *names], capture_output=True)
        assert done.returncode == 0 or form == "ustar", done.stderr
        return done.returncode == 0
    form = {"ustar": tarfile.USTAR_FORMAT, "pax": tarfile.PAX_FORMAT, "gnu": tarfile.GNU_FORMAT}[how]
    try:
        with tarfile.open(path, "w:gz", format=form) as tar:
            for name in sorted(os.listdir(root), reverse=True):
                tar.add(root / name, name)
    except ValueError:
        assert how == "ustar"
        return False
    return True


HOW = ("ustar", "pax", "gnu", "tar gnu", "tar gnu .", "tar posix", "tar ustar .")
TREES = 60


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Pack each tree in each way, once for all interpreters; return (archive, what is to be seen or None) for each."""
    place = tmp_path_factory.mktemp("trees")
    packages = []
    for seed in range(TREES):
        root = place / f"tree-{seed}"
        make_tree(root, seed)
        try:
            seen = followed(root)
        except Faulty:
            seen = None
        for how in HOW:
            archive = place / f"{seed}-{how}.tar.gz"
            if os.listdir(root) and packed(root, archive, how):
                packages.append((archive, seen))
    expected = [seen for _, seen in packages]
    assert 60 < expected.count(None) < len(expected) - 200
    return packages


def test_tree_is_extracted_with_its_links_followed(any_python, trees, tmp_path):
    places = {archive: tmp_path / archive.name for archive, _ in trees}
    for out in places.values():
        out.mkdir()
    said = extract_elsewhere(any_python, places)
    for (archive, seen), why in zip(trees, said, strict=True):
        out = places[archive]
        assert (why is not None) == (seen is None), (out, why)
        if seen is not None:
            kinds = tree(out)
            assert "link" not in kinds.values()
            found = {
                path: None if kind == "dir" else ((out / path).read_bytes(), os.access(out / path, os.X_OK))
                for path, kind in kinds.items()
            }
            assert found == seen, out
