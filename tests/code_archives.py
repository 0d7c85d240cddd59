"""Archives of source code, for tests."""

import io
import tarfile


def archive(files, mode="w:gz"):
    """Return the bytes of a source archive: name → content, or a ready TarInfo → content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in files.items():
            member = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
