"""The named tuple of the runtime, compared with the standard library on every Python."""

import json
import subprocess

from support.runtime.container import RUNTIME

SCRIPT = """
import json, pickle, sys
sys.path.insert(0, sys.argv[1])
import smspec_runtime.lean_typing
from smspec_runtime.lean_typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

Alias = Callable[[Dict[str, Any], Optional[Tuple[int, ...]]], Union[List[str], Mapping[str, Type[Any]], Sequence[str]]]
assert ("typing" in sys.modules) is False
import typing

def observed(NamedTuple):
    class Pair(NamedTuple):
        first: Any
        second: List[int] = []

        @property
        def both(self):
            return [self.first, *self.second]

    globals()["Pair"] = Pair
    Pair.__qualname__ = "Pair"
    pair = Pair(1)
    found = [pair._fields, pair, pair._asdict(), pair._replace(first=2), Pair(second=[3], first=4).both]
    found += [pickle.loads(pickle.dumps(pair)) == pair == (1, []), hash(Pair(1, 2)) == hash((1, 2))]
    found.append(Pair._field_defaults)
    for wrong in (Pair, lambda: Pair(1, 2, 3), lambda: Pair(1, third=3), lambda: setattr(pair, "first", 5)):
        try:
            found.append(repr(wrong()))
        except (TypeError, AttributeError) as error:
            found.append(type(error).__name__)
    return found

print(json.dumps([observed(smspec_runtime.lean_typing.NamedTuple), observed(typing.NamedTuple)]))
"""


def test_named_tuple_equals_that_of_the_standard_library(any_python):
    done = subprocess.run(
        [any_python, "-I", "-S", "-c", SCRIPT, str(RUNTIME)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    ours, theirs = json.loads(done.stdout)
    assert ours == theirs
    assert ours[-4:] == ["TypeError", "TypeError", "TypeError", "AttributeError"]
