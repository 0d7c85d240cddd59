"""Handlers that the runtime cannot call: what is reported fails in the runtime, and what it accepts is not reported."""

import sys
import types

import pytest

from smspec.script.handlers import handler_faults
from smspec.source import SourceText
from smspec_runtime.pipe import loop

UNCALLABLE = {
    "a class without methods": "class H:\n    def train(self):\n        pass\n",
    "an empty class": "class H:\n    pass\n",
    "a constructor with a parameter": (
        "class H:\n    def __init__(self, rate):\n        pass\n    def epoch(self, *_):\n        pass\n"
    ),
    "a constructor with a keyword": (
        "class H:\n    def __init__(self, *, rate):\n        pass\n    def begin(self, job):\n        pass\n"
    ),
    "a function of two": "def H(job, streams):\n    pass\n",
    "a function of four": "def H(job, epoch, streams, rate):\n    pass\n",
    "a function of none": "def H():\n    pass\n",
    "a function with a keyword": "def H(job, epoch, streams, *, rate):\n    pass\n",
    "an epoch of two": "class H:\n    def epoch(self, job, streams):\n        pass\n",
    "a method without self": "class H:\n    def epoch(job, epoch, streams):\n        pass\n",
    "a begin of none": "class H:\n    def begin(self):\n        pass\n",
    "an end of two": "class H:\n    def end(self, job, model):\n        pass\n",
    "a resume of one": "class H:\n    def resume(self, job):\n        return 0\n",
}
CALLABLE = {
    "a function": "def H(job, epoch, streams):\n    pass\n",
    "a function with defaults": "def H(job, epoch=0, streams=None, rate=1, *, more=2):\n    pass\n",
    "a function of any": "def H(*given, **named):\n    pass\n",
    "a function of positional ones": "def H(job, epoch, streams, /):\n    pass\n",
    "a class": (
        "class H:\n    def begin(self, job):\n        pass\n    def epoch(self, job, epoch, streams):\n        pass\n"
    ),
    "a constructor with defaults": (
        "class H(object):\n    def __init__(self, rate=1):\n        pass\n    def end(self, job):\n        pass\n"
    ),
    "a class that is called": "class H:\n    def __call__(self, job, epoch, streams):\n        pass\n",
    "a static method": "class H:\n    @staticmethod\n    def epoch(job, epoch, streams):\n        pass\n",
    "a method that is assigned": "def f(self, job, epoch, streams):\n    pass\nclass H:\n    epoch = f\n",
    "a method of the object": (
        "class H:\n    def __init__(self):\n        self.epoch = lambda job, epoch, streams: 0\n"
    ),
    "a method of a base class": "class B:\n    def epoch(self, *given):\n        pass\nclass H(B):\n    pass\n",
    "a method that is set later": "class H:\n    pass\nH.epoch = lambda self, job, epoch, streams: 0\n",
    "a method that is defined twice": (
        "class H:\n    def epoch(self):\n        pass\n    epoch = lambda self, *given: 0\n"
    ),
    "a decorated function": "def d(f):\n    return lambda *given: 0\n@d\ndef H():\n    pass\n",
    "a function that is replaced": "def H():\n    pass\nH = lambda job, epoch, streams: 0\n",
    "a function under a condition": "if True:\n    def H(*given):\n        pass\n",
}


def calls(text):
    """Load and call a handler as the runtime does."""
    module = types.ModuleType("handler_under_test")
    exec(text, module.__dict__)
    sys.modules[module.__name__] = module
    try:
        handler = loop.load_handler(f"{module.__name__}:H")
        handler.begin(None)
        handler.resume(None, 0)
        handler.epoch(None, 0, {})
        handler.end(None)
    finally:
        del sys.modules[module.__name__]


def faults(text, *, is_loop=True):
    return [*handler_faults(SourceText("src/reader.py", text), "H", is_loop=is_loop)]


@pytest.mark.parametrize("name", UNCALLABLE)
def test_uncallable_handler_is_reported(name):
    with pytest.raises(TypeError):
        calls(UNCALLABLE[name])
    assert faults(UNCALLABLE[name])


@pytest.mark.parametrize("name", CALLABLE)
def test_callable_handler_is_not_reported(name):
    calls(CALLABLE[name])
    assert faults(CALLABLE[name]) == []


def test_function_of_a_module_gets_the_job():
    assert faults("def H(job):\n    pass\n", is_loop=False) == []
    (fault,) = faults("def H():\n    pass\n", is_loop=False)
    assert fault.reason == "`H` takes 0 arguments, but the runtime passes 1"
    assert fault.place.line == 1
