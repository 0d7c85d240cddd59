"""Hold directories in a file system of limited size: ``room.py ROOM DIRECTORY…``.

Copies the content of each directory to ROOM/0, ROOM/1, …, and prints ``ready``. After the line ``keep`` on stdin, it
copies everything back, and prints ``kept``. It ends with stdin.
"""

import os
import shutil
import sys
from typing import List


def main(room: str, directories: List[str]) -> None:
    """Hold the directories until stdin ends."""
    os.umask(0)
    places = [os.path.join(room, str(number)) for number in range(len(directories))]
    for directory, place in zip(directories, places):
        _copy(directory, place)
        _give_same_owners(directory, place)
    _say("ready")
    if sys.stdin.readline() == "keep\n":
        for directory, place in zip(directories, places):
            _empty(directory)
            _copy(place, directory)
        _say("kept")
        sys.stdin.readline()


def _copy(source: str, target: str) -> None:
    """Copy a directory; its target may be a mount, which must stay."""
    os.makedirs(target, exist_ok=True)
    shutil.copystat(source, target)
    for entry in os.scandir(source):
        copy = os.path.join(target, entry.name)
        if entry.is_dir(follow_symlinks=False):
            _copy(entry.path, copy)
        elif entry.is_symlink() or entry.is_file():  # a FIFO that a script created has no content to keep
            shutil.copy2(entry.path, copy, follow_symlinks=False)


def _empty(directory: str) -> None:
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def _give_same_owners(source: str, target: str) -> None:
    for above, names, files in os.walk(source):
        for name in [".", *names, *files]:
            path = os.path.join(above, name)
            status = os.lstat(path)
            os.lchown(os.path.join(target, os.path.relpath(path, source)), status.st_uid, status.st_gid)


def _say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
