"""The files of an archive, on disk. Links become copies."""

import hashlib
import os
import shutil

from .lean_typing import Callable, Dict, Iterator, List
from .refusal import Refused

DEPTH = 100


class UnpackedTree:
    """Paths begin with a slash; the empty one is ``root``, new and empty. ``files``: path → input of `digest`.
    ``most``: entries; ``spend`` counts the bytes of each copy."""

    def __init__(self, root: str, most: int, spend: Callable[[int], None]) -> None:
        self.files: Dict[str, str] = {}
        self._root, self._left, self._spend = root, most, spend
        self._directories: Dict[str, List[str]] = {"": []}  # with the names in them
        self._links: Dict[str, str] = {}
        self._hard_links: Dict[str, str] = {}
        self._ends: Dict[str, str] = {}  # where links lead, once followed

    def add_directory(self, path: str) -> None:
        if path not in self._directories:
            self._enter(path)
            os.makedirs(self._root + path)
            self._directories[path] = []

    def add_file(self, path: str, mode: int, chunks: Iterator[bytes]) -> None:
        """The later of a name counts, as with tar."""
        if path not in self.files or path in self._hard_links:
            self._enter(path)
        written = hashlib.sha256()
        with open(self._root + path, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
                written.update(chunk)
        # No write for others, no execution without the owner's.
        mode = mode & (0o755 if mode & 0o100 else 0o644) | 0o600
        os.chmod(self._root + path, mode)
        self.files[path] = f"{'x' if mode & 0o100 else '-'}\0{written.hexdigest()}"

    def add_link(self, path: str, target: str) -> None:
        """Its target may come later."""
        if self._links.get(path) != target:
            self._enter(path)
            self._links[path] = target

    def add_hard_link(self, path: str, target: str) -> None:
        """Copied at once: a later member may replace the target."""
        if target in self._links:
            self.add_link(path, self._links[target])
        elif target not in self.files:
            raise Refused(f"`{path[1:]}` in the archive is a hard link to `{target[1:]}`, which is no file before it")
        elif target not in (path, self._hard_links.get(path)):
            self._enter(path)
            self._hard_links[path] = target
            self._copy(target, path)

    def follow_links(self) -> None:
        for path in self._links:
            around = [path[:place] for place, character in enumerate(path) if character == "/"]
            self._place(path, self._end(path), around)

    def _place(self, path: str, origin: str, around: List[str]) -> None:
        """``around``: the directories that lead here."""
        if origin in around:
            raise Refused(f"`{path[1:]}` in the archive is a link to a directory around itself")
        if path not in self._links:
            self._count(path)
        if origin in self.files:
            self._copy(origin, path)
            return
        os.makedirs(self._root + path)
        for name in self._directories[origin]:
            self._place(f"{path}/{name}", self._end(f"{origin}/{name}"), [*around, origin])

    def _end(self, path: str) -> str:
        under_way = {path: None} if path in self._links else {}  # each on the way of the one before
        while under_way:
            link = next(reversed(under_way))
            found = self._followed(link)
            if found in under_way:
                raise self._refusal(link, "in a circle")
            if found in self._links:
                under_way[found] = None
            else:
                self._ends[link] = found
                under_way.popitem()
        return self._ends.get(path, path)

    def _followed(self, link: str) -> str:
        """The target of a link, or a link that must be followed first."""
        place = link.rpartition("/")[0]
        target = self._links[link].replace("\\", "/")
        for part in target.split("/"):
            if target[:1] == "/" or (part == ".." and not place):
                raise self._refusal(link, "out of it")
            if place not in self._directories:
                raise self._refusal(link, "nowhere")
            if part == "..":
                place = place.rpartition("/")[0]
            elif part not in ("", "."):
                place += "/" + part
                if place in self._links and place not in self._ends:
                    return place
                place = self._ends.get(place, place)
        if place not in self._directories and place not in self.files:
            raise self._refusal(link, "nowhere")
        return place

    def _refusal(self, link: str, where: str) -> Refused:
        return Refused(f"`{link[1:]}` in the archive is a link to `{self._links[link]}`, which leads {where}")

    def _enter(self, path: str) -> None:
        self._count(path)
        if path in self.files or path in self._directories or path in self._links:
            raise Refused(f"`{path[1:]}` in the archive takes the place of another member")
        parent, _, name = path.rpartition("/")
        self.add_directory(parent)
        self._directories[parent].append(name)

    def _count(self, path: str) -> None:
        if path.count("/") - 1 > DEPTH:
            raise Refused(f"the archive has directories more than {DEPTH} deep")
        self._left -= 1
        if self._left < 0:
            raise Refused("the archive unpacks to too many files and directories")

    def _copy(self, source: str, path: str) -> None:
        self._spend(os.path.getsize(self._root + source))
        shutil.copy(self._root + source, self._root + path)
        self.files[path] = self.files[source]
