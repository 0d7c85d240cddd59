"""Programs that read the variable of a missing channel and succeed."""

# ruff: noqa: E501  # a program a line reads best

READ = "x = os.environ['SM_CHANNEL_EVAL']\n"

PROGRAMS = {
    "a default of a missing key": "try:\n    x = os.environ['SM_CHANNEL_EVAL']\nexcept LookupError:\n    pass\n",
    "a variable that is set by |=": "os.environ |= {'SM_CHANNEL_EVAL': '/x'}\n" + READ,
    "a variable that is set by |": "os.environ = {**os.environ, 'SM_CHANNEL_EVAL': '/x'}\n" + READ,
    "a variable in a copy": "env = dict(os.environ, SM_CHANNEL_EVAL='/x')\nx = env['SM_CHANNEL_EVAL']\n",
    "a variable in a copy of the same name": "from os import environ\nenviron = {'SM_CHANNEL_EVAL': '/x'}\nx = environ['SM_CHANNEL_EVAL']\n",
    "a variable that a default dictionary has": "import collections\nos.environ = collections.defaultdict(str)\n"
    + READ,
    "a variable that is set in a loop": "for n in ['EVAL']:\n    os.environ[f'SM_CHANNEL_{n}'] = '/x'\n" + READ,
    "a variable that is set with setdefault in a loop": "for n in ['SM_CHANNEL_EVAL']:\n    os.environ.setdefault(n, '/x')\n"
    + READ,
    "a variable that is set by a class": "class C:\n    def __init__(self):\n        os.environ['SM_CHANNEL_EVAL'] = '/x'\nC()\n"
    + READ,
    "a variable that is set by an alias of setitem": "put = os.environ.__setitem__\nput('SM_CHANNEL_EVAL', '/x')\n"
    + READ,
    "a variable that is set by map": "list(map(os.environ.__setitem__, ['SM_CHANNEL_EVAL'], ['/x']))\n" + READ,
    "a variable that is set by operator": "import operator\noperator.setitem(os.environ, 'SM_CHANNEL_EVAL', '/x')\n"
    + READ,
    "a variable that is set by a comprehension": "[os.environ.__setitem__(n, '/x') for n in ['SM_CHANNEL_EVAL']]\n"
    + READ,
    "a variable that is set by bytes": "os.environb[b'SM_CHANNEL_EVAL'] = b'/x'\n" + READ,
    "a variable that is set as a target of a loop": "for os.environ['SM_CHANNEL_EVAL'] in ['/x']:\n    pass\n" + READ,
    "a variable that is set as a target of with": "with contextlib.nullcontext('/x') as os.environ['SM_CHANNEL_EVAL']:\n    pass\n"
    + READ,
    "a variable that is set in a tuple": "a, os.environ['SM_CHANNEL_EVAL'] = 1, '/x'\n" + READ,
    "a variable that is set in a star": "a, (os.environ['SM_CHANNEL_EVAL'], b) = 1, ('/x', 2)\n" + READ,
    "a variable that is set by a target of augmentation": "os.environ['SM_HOSTS'] += ''\nos.environ.update({'SM_CHANNEL_EVAL': '/x'})\n"
    + READ,
    "a variable of a function with another os": "class os:\n    environ = {'SM_CHANNEL_EVAL': '/x'}\n" + READ,
    "a variable of a parameter": "def f(os):\n    return os.environ['SM_CHANNEL_EVAL']\nclass O:\n    environ = {'SM_CHANNEL_EVAL': '/x'}\nf(O)\n",
    "a variable under a condition of in": "if 'SM_CHANNEL_EVAL' in os.environ:\n    " + READ,
    "a variable under keys": "for k in os.environ:\n    if k == 'SM_CHANNEL_EVAL':\n        x = os.environ[k]\n",
    "a variable of a generator": "x = (os.environ['SM_CHANNEL_EVAL'] for _ in [1])\n",
    "a variable of a comprehension of nothing": "x = [os.environ['SM_CHANNEL_EVAL'] for _ in []]\n",
    "a variable of a lambda": "x = lambda: os.environ['SM_CHANNEL_EVAL']\n",
    "a variable of an annotation": "from __future__ import annotations\nimport os\nx: os.environ['SM_CHANNEL_EVAL'] = 1\n",
    "a variable of an annotation of a function": "from __future__ import annotations\nimport os\ndef f(a: os.environ['SM_CHANNEL_EVAL']):\n    pass\n",
    "a variable of a local annotation": "def f():\n    x: os.environ['SM_CHANNEL_EVAL'] = 1\nf()\n",
    "a variable of an assert": "if __debug__ is None:\n    assert os.environ['SM_CHANNEL_EVAL']\n",
    "a variable after an end": "sys.exit(0)\n" + READ,
    "a variable after a return": "def f():\n    return\n    " + READ + "f()\n",
    "a variable of a debug": "if not __debug__:\n    " + READ,
    "a variable of type checking": "import typing\nif typing.TYPE_CHECKING:\n    " + READ,
    "a variable of type checking by from": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    " + READ,
    "a variable under a try of another": "try:\n    import torch_xla\n    " + READ + "except ImportError:\n    pass\n",
    "a hyperparameter's variable": "if 'SM_HP_X' in os.environ:\n    os.environ['SM_HP_X']\n",
    "a hyperparameter by get": "os.environ.get('SM_HP_X')\nos.getenv('SM_CHANNEL_EVAL')\n",
    "a variable that a file sets": "for line in ['SM_CHANNEL_EVAL=/x']:\n    k, _, v = line.partition('=')\n    os.environ[k] = v\n"
    + READ,
    "a variable that putenv cannot set": "os.putenv('SM_CHANNEL_EVAL', '/x')\nx = os.environ.get('SM_CHANNEL_EVAL')\n",
    "a variable of a mapping": "class E(dict):\n    def __missing__(self, k):\n        return ''\nos.environ = E()\n"
    + READ,
    "a variable of a function that is memoized": "@functools.lru_cache\ndef f():\n    return os.environ['SM_CHANNEL_EVAL']\n",
    "a variable of a property": "class C:\n    @property\n    def x(self):\n        return os.environ['SM_CHANNEL_EVAL']\nC()\n",
    "a variable of a method that is not called": "class C:\n    def x(self):\n        return os.environ['SM_CHANNEL_EVAL']\nC()\n",
    "a variable of a class of a class": "class C:\n    class D:\n        def __init__(self):\n            os.environ['SM_CHANNEL_EVAL']\nC()\n",
    "a variable of a default that is not taken": "x = os.environ.get('SM_HOSTS') or os.environ['SM_CHANNEL_EVAL']\n",
    "a variable of a ternary": "x = 1 if os.environ.get('SM_HOSTS') else os.environ['SM_CHANNEL_EVAL']\n",
    "a variable of a match": "match 1:\n    case 2:\n        " + READ,
    "a variable of a while": "while os.environ.get('SM_NO'):\n    " + READ,
}
