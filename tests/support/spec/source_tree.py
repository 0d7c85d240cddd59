"""Source files for tests of the scan, and its faults."""

from smspec.workspace.source_listing import scan_source


def write(root, *paths, content="x"):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)


def faults(root, *ignore):
    return [(fault.kind, fault.path, fault.detail) for fault in scan_source(str(root), ignore).faults]
