"""Details of a run: what a model contains about the run that made it, such as its duration, and not about itself.

They differ between runs of a right job, and rounded ones are equal in many pairs of runs by chance.
"""

from __future__ import annotations

import re

from smspec.rehearsal.values.leaf import Array, Leaf, Leaves, is_number

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OF_THE_RUN = re.compile(
    r"(?:wall|wall_?|run)?times?|timestamps?|date|datetime|sec|secs|seconds?|ms|minutes?|hours?|elapsed|durations?|"
    r"clock|eta|latency|throughput|speed|pid|uuid|hostname|session|"
    r"resum\w*|restart\w*|restor\w*|interrupt\w*|preempt\w*|attempts?|created|started|finished|ended|now|today",
    re.IGNORECASE,
)
"""Words in the name of a value."""
_START = re.compile(
    r"(?:^|[\W_])(?:(?:start|starting|initial|first)_(?:global_)?(?:epoch|step|iter|iteration|batch)"
    r"|(?:loaded|init|initialized|continued?|resumed?)_?from)(?:$|\W)",
    re.IGNORECASE,
)
"""Names of the step at which a run begins, and of the file that it begins with."""
_PHRASE = re.compile(r"this[_ ](?:run|session)|(?:/|per_?)s\b", re.IGNORECASE)
"""What a run does itself, without those before it, and rates such as `it/s`."""
_OF_THIS_START = re.compile(
    r"(?:^|[\W_])(?:epochs?|steps?|iter(?:ation)?s?|batches|updates)_(?:run|ran|executed)$", re.IGNORECASE
)
"""Names of what a start has done, which many programs do not add to what was done before."""
_LINE = re.compile(r"(?:^|:)line\[\d+\](?:\.number\[\d+\])?$")
_TRAIN_LOSS = re.compile(r"train_loss(?=\[\d+\]$|$)")
_CLOCK = re.compile(r"\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}")


def is_run_detail(path: str, leaves: Leaves) -> bool:
    """Return whether a value of a file is about the run; of a number in a text, the words are in its line."""
    value = leaves[path]
    if isinstance(value, Array):
        return False
    line = leaves.get(path.partition(".number[")[0]) if _LINE.search(path) else None
    words = f"{path} {line}" if isinstance(line, str) else path
    return (
        (isinstance(value, str) and _CLOCK.search(value) is not None)
        or any(_OF_THE_RUN.fullmatch(word) for word in _WORD.findall(words))
        or _START.search(path) is not None
        or _PHRASE.search(words) is not None
        # A Trainer of transformers sums it anew after a restart.
        or (_TRAIN_LOSS.search(path) is not None and _TRAIN_LOSS.sub("train_runtime", path) in leaves)
    )


def is_of_this_start(path: str, found: Leaf, expected: Leaf) -> bool:
    """Return whether a value that differs after a restart counts, by its name, only what the last start did."""
    if not is_number(found) or not is_number(expected) or _OF_THIS_START.search(path) is None:
        return False
    assert isinstance(found, int | float) and isinstance(expected, int | float)
    return found < expected
