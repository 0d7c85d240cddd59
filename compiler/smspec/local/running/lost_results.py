"""Find files that a job wrote where SageMaker does not look: they are lost with the instance.

SageMaker uploads /opt/ml/model, /opt/ml/output/data, and the directories that the request names (developer guide, "How
Amazon SageMaker Provides Training Information"). A path without its leading slash ends up below the working directory.
"""

from __future__ import annotations

import filecmp
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from smspec.local.record.units import size as size_text
from smspec.local.running.request import JobStatus
from smspec.local.running.run_directory import HostDirectory
from smspec.local.running.training_request import TrainingRequest
from smspec.source.real_file import walked

_UPLOADED = ("model", "output/data", "output/intermediate", "output/metrics", "output/tensors", "output/tensorboard")
_OF_THE_PLATFORM = ("input", "output/profiler", "output/success", "output/failure")
_LEFT_BY_TOOLS = re.compile(r"\.|__pycache__$|wandb$|build$|.*\.(?:egg-info|pyc|pyo|lock|pid|sock)$|core(?:\.\d+)?$")
"""Names of caches, of what pip leaves, and of Weights & Biases, which has sent its files."""
_CHECKPOINT = re.compile(r"(?:checkpoint|ckpt|global_step|epoch)[-_=]?\d|.*\.ckpt$")
_OF_CHECKPOINTS = re.compile(r"(?:checkpoint|ckpt)s?$")
_OF_A_STEP = re.compile(r"(?:.*[-_.])?(?:last|latest|best|prev|previous)(?![a-z])|(?:epoch|step|iter)[-_=]?\d")
"""A directory of this name has checkpoints if it has several such files: one may be the model."""
_MANY_CHECKPOINTS = 1 << 20
_MOST_NAMES = 3
_MOST_COMPARED = 16
"""How many uploaded files of the same size a new file is compared with."""


class LostResults:
    """Compares the directories of hosts with what they were; create it before the hosts start.

    ``delivered``: paths of the source, which may be unpacked later.
    """

    def __init__(
        self, training: TrainingRequest, places: Mapping[str, HostDirectory], delivered: Collection[str]
    ) -> None:
        self._places = places
        self._delivered = frozenset(f"code/{path}" for path in delivered)
        named = [str(config["LocalPath"]) for config in training.directory_configs.values()]
        kept = [os.path.relpath(path, "/opt/ml") for path in (*named, "/opt/ml/checkpoints") if path]
        self._kept = frozenset((*_UPLOADED, *_OF_THE_PLATFORM, *kept))
        self._before = {name: frozenset(self._files(place.base)) for name, place in places.items()}

    def warnings(self, added: Mapping[str, Collection[str]], status: JobStatus) -> Iterator[str]:
        """``added``: host → files in directories that are not on this machine, such as those of a container.

        A job that did not complete may have left checkpoints in its model that it removes at its end.
        """
        lost: dict[str, int | None] = {}
        for name, place in self._places.items():
            new = [path for path in self._files(place.base) if path not in self._before[name] | self._delivered]
            uploaded = self._uploaded(place.base) if new else {}
            for path in new:
                whole = os.path.join(place.base, path)
                size = _size(whole)
                if not any(_is_copy(whole, other) for other in uploaded.get(size, [])[:_MOST_COMPARED]):
                    lost.setdefault(f"/opt/ml/{path}", size)
            for path in added.get(name, ()):
                relative = os.path.relpath(path, "/opt/ml")
                if not relative.startswith("..") and not self._is_kept(relative) and relative not in self._delivered:
                    lost.setdefault(path, None)
        if lost:
            yield _lost(lost)
        if status == "Completed" and (share := _checkpoints_in_model(self._places.values())) is not None:
            yield share

    def _uploaded(self, base: str) -> Mapping[int, list[str]]:
        """Return the files that are uploaded, by size: a job may copy its results there at its end."""
        found = defaultdict(list)
        for kept in self._kept.difference(_OF_THE_PLATFORM):
            for directory, _, files in walked(os.path.join(base, kept), lambda *_: None):
                for file in files:
                    path = os.path.join(directory, file)
                    found[_size(path)].append(path)
        return found

    def _files(self, base: str) -> Iterator[str]:
        """Yield the regular files that are not uploaded, relative to /opt/ml."""
        for directory, directories, files in walked(base, lambda *_: None):
            relative = os.path.relpath(directory, base)
            prefix = "" if relative == "." else f"{relative}/"
            # What is above was looked at: a job may leave a million files, such as an unpacked archive.
            directories[:] = [name for name in directories if not self._is_end_kept(prefix, name)]
            for name in files:
                path = os.path.join(directory, name)
                if not self._is_end_kept(prefix, name) and os.path.isfile(path) and not os.path.islink(path):
                    yield prefix + name

    def _is_end_kept(self, prefix: str, name: str) -> bool:
        return prefix + name in self._kept or _LEFT_BY_TOOLS.match(name) is not None

    def _is_kept(self, path: str) -> bool:
        if any(path == kept or path.startswith(f"{kept}/") for kept in self._kept):
            return True
        return any(_LEFT_BY_TOOLS.match(name) for name in path.split("/"))


def _is_copy(one: str, other: str) -> bool:
    try:
        return os.path.isfile(other) and not os.path.islink(other) and filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _size(path: str) -> int:
    """Return the size of a file; 0 if the job has removed its rights, which another warning names."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _lost(files: Mapping[str, int | None]) -> str:
    names = sorted(files)
    shown = ", ".join(
        f"`{name}`" + ("" if (size := files[name]) is None else f" ({size_text(size)})") for name in names[:_MOST_NAMES]
    )
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    slash = "; a path in the script lacks its leading `/`" if any("/opt/ml/" in name[1:] for name in names) else ""
    return (
        f"SageMaker would lose {shown}{more}: it uploads only /opt/ml/model, /opt/ml/output/data, and checkpoints"
        f"{slash}; write to `SM_MODEL_DIR` or `SM_OUTPUT_DATA_DIR`"
    )


def _checkpoints_in_model(places: Iterable[HostDirectory]) -> str | None:
    """Return a warning if checkpoints are most of the model, which is uploaded as one archive."""
    for place in places:
        total, of_checkpoints, names = 0, 0, set[str]()
        for directory, _, files in walked(place.model, lambda *_: None):
            parts = os.path.relpath(directory, place.model).split("/")
            inner = next((part for part in parts if _CHECKPOINT.match(part)), None)
            of_steps = [file for file in files if _OF_A_STEP.match(file)] if _OF_CHECKPOINTS.match(parts[-1]) else []
            for file in files:
                size = _size(os.path.join(directory, file))
                total += size
                is_one = _CHECKPOINT.match(file) or (file in of_steps and len(of_steps) > 1)
                name = inner or (file if is_one else None)
                if name is not None:
                    of_checkpoints += size
                    names.add(name)
        if (
            of_checkpoints > _MANY_CHECKPOINTS
            and of_checkpoints * 2 > total
            and (len(names) > 1 or of_checkpoints < total)
        ):
            shown = ", ".join(f"`{name}`" for name in sorted(names)[:_MOST_NAMES])
            return (
                f"{size_text(of_checkpoints)} of the {size_text(total)} in /opt/ml/model are checkpoints ({shown}), "
                "and become part of model.tar.gz; save them to /opt/ml/checkpoints, with `checkpoints` in the spec"
            )
    return None
