"""Archives of source code, for tests."""

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

RUNTIME = str(Path(__file__).parents[3] / "runtime")


def archive(files, mode="w:gz", **options):
    """Return the bytes of a source archive: name → content, or a ready TarInfo → content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode, **options) as tar:
        for name, content in files.items():
            member = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def member(name, kind=tarfile.REGTYPE, link="", mode=0o644, content=b"", pax=None):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    info.mode = mode
    info.size = len(content)
    info.pax_headers = pax or {}
    return info, content


def link(name, target):
    return member(name, tarfile.SYMTYPE, target)


def write_archive(path, members, mode="w:gz", form=tarfile.PAX_FORMAT, pax_headers=None):
    with tarfile.open(path, mode, format=form, pax_headers=pax_headers) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return str(path)


def tree(directory):
    """Return every path below a directory with its kind; links are not followed."""
    found = {}
    for parent, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(parent, name)
            kind = "link" if os.path.islink(path) else "dir" if os.path.isdir(path) else "file"
            kind = kind if os.path.isfile(path) or kind != "file" else "special"
            found[os.path.relpath(path, directory)] = kind
    return found


def extract_elsewhere(python, archives):
    """Extract archives (path → directory) with another Python. Return why they were refused; None: they were not."""
    script = """if True:
        import json, sys
        from smspec_runtime.extraction import extract
        from smspec_runtime.refusal import Refused
        said = []
        for archive, directory in json.load(sys.stdin).items():
            try:
                extract(archive, directory)
                said.append(None)
            except Refused as refusal:
                said.append(str(refusal))
        print(json.dumps(said))
    """
    done = subprocess.run(
        [python, "-c", script],
        input=json.dumps({str(path): str(directory) for path, directory in archives.items()}),
        env={**os.environ, "PYTHONPATH": RUNTIME},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
