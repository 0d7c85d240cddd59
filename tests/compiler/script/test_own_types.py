"""Types of arguments that are functions of the script: a word that they certainly reject is reported."""

import pytest

from support.script.read_programs import codes, findings, runs

# A type, and whether it is followed to its end: then a word is reported exactly if Python rejects it.
TYPES = {
    "truth": (
        "def t(v):\n    if isinstance(v, bool):\n        return v\n    if v.lower() in ('yes', '1', 'true'):\n"
        "        return 1\n"
        "    elif v.lower() in {'no', 'true', '0'}:\n        return False\n    else:\n"
        "        raise argparse.ArgumentTypeError('Boolean value expected.')\n",
        True,
    ),
    "a last raise": ("def t(v):\n    if v == '1':\n        return 1\n    raise ValueError(f'{v} is wrong')\n", True),
    "a number": (
        "def t(v):\n    n = int(v) if v else 0\n    if n <= 0:\n        raise ValueError\n    return n\n",
        False,
    ),
    "a caught error": (
        "def t(v):\n    try:\n        raise ValueError\n    except ValueError:\n        return v\n",
        True,
    ),
    "an error that is raised again": (
        "def t(v):\n    try:\n        return int(v)\n    except ValueError:\n        raise TypeError\n",
        False,
    ),
    "another function": (
        "def u(v):\n    return v != 'x'\ndef t(v):\n    if not u(v):\n        raise TypeError\n",
        False,
    ),
    "a generator": ("def t(v):\n    if v == 'x':\n        raise ValueError\n    yield v\n", True),
    "an unknown function": ("def t(v):\n    if os.path.exists(v):\n        raise ValueError\n    return v\n", True),
    "a prefix": ("def t(v):\n    if not v.startswith(('x', 't')):\n        raise ValueError\n    return v\n", False),
    "a length": ("def t(v):\n    if len(v) > 2:\n        raise ValueError\n    return v\n", True),
    "an assertion": ("def t(v):\n    assert v != 'x'\n    return v\n", False),
    "a loop": (
        "def t(v):\n    for one in v:\n        if one == 'x':\n            raise ValueError\n    return v\n",
        False,
    ),
    "a name that is set later": (
        "W = ['x']\ndef t(v):\n    if v not in W:\n        raise ValueError\n    return v\nW += ['1', 'true']\n",
        False,
    ),
    "a conversion": ("def t(v):\n    return int(v)\n", True),
    "a conversion of parts": ("def t(v):\n    a, b = v.split('x')\n    return int(a), float(b)\n", True),
    "a mapping": ("NAMES = 1\ndef t(v):\n    return {'x': 1, '0': NAMES}[v]\n", True),
    "a name of a builtin": ("int = str\ndef t(v):\n    return int(v)\n", False),
    "a local name of a builtin": ("def t(v):\n    int = v.lower\n    return int()\n", False),
    "a comparison": (
        "def t(v):\n    n = int(v)\n    if not 0 < n <= 3:\n        raise ValueError\n    return n\n",
        False,
    ),
    "a lambda": ("", True, "lambda v: int(v)"),
    "a lambda with a name": ("t = lambda v: int(v)\n", True),
    "a lambda with a set": ("", False, "lambda v: int(list({'x', '1', v})[0])"),
    "a lambda with a list": ("", True, "lambda v: [float(one) for one in v.split(',') if one]"),
    "a lambda with a map": ("", True, "lambda v: tuple(map(int, v.split('-')))"),
    "a lambda with a condition": ("", True, "lambda v: int(v) if v.isdigit() else len(v[1:])"),
    "a lambda with a default": ("", True, "lambda v, n=3: float(v)"),
    "a lambda with a function": ("def u(v):\n    return v\n", False, "lambda v: u(v)"),
    "a lambda with an index": ("", True, "lambda v: v[0] + v[1]"),
    "a lambda with an option": ("", False, "lambda v: int(v, base=36)"),
    "a lambda that calls back": ("", True, "lambda v: v.lower() in ('yes', 'true')"),
    "a default": ("def t(v, least=1):\n    if least > 2:\n        raise ValueError\n    return v\n", True),
}
WORDS_OF_TYPES = ["x", "1", "true", "-3", "", "0", "YES"]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("word", WORDS_OF_TYPES)
def test_word_that_the_type_rejects_is_reported(name, word):
    text, is_exact, *written = TYPES[name]
    kind = written[0] if written else "t"
    text = f"import argparse, os\n{text}p = argparse.ArgumentParser()\np.add_argument('--name', type={kind})\n"
    entry = {"script": "train.py", "args": [f"--name={word}"]}
    found = codes(text + "p.parse_args()\n", entry_point=entry)
    is_rejected = runs(text + "p.parse_args()\n", [f"--name={word}"]) is not None
    assert bool(found) == is_rejected if is_exact else not found or is_rejected


def test_type_of_another_module_is_followed():
    text = "import argparse\nimport kinds\np = argparse.ArgumentParser()\n"
    text += "p.add_argument('--name', type=kinds.truth, nargs='+')\np.parse_args()\n"
    kinds = "def truth(v):\n    if v in ('yes', 'no'):\n        return v == 'yes'\n    raise ValueError\n"
    given = {"entry_point": {"script": "train.py", "args_style": "flags"}}
    assert codes(text, {"kinds": kinds}, hyperparameters={"name": ["yes", "no"]}, **given) == []
    (found,) = findings(text, {"kinds": kinds}, hyperparameters={"name": ["yes", "maybe"]}, **given)
    assert (found.code, "`maybe` raises an exception in `truth`" in found.message) == ("SM503", True)
