"""Scripts written to exhaust the reader are skipped quickly."""

import resource
import time

import pytest

from support.script.read_programs import program

pytestmark = pytest.mark.slow

MADE = "import argparse, os\np = argparse.ArgumentParser()\n"
READ = "p.add_argument('--x', default=a, choices=a, help=a)\np.parse_args()\n"
A = "a = 'xxxxxxxxxxxxxxxx'\n"

PROGRAMS = {
    "a text that doubles": MADE + A + "a = a + a\n" * 60 + READ,
    "a formatted text that doubles": MADE + A + "a = f'{a}{a}'\n" * 60 + READ,
    "a path that doubles": MADE + A + "a = a / a\n" * 60 + READ,
    "a joined path that doubles": MADE + A + "a = os.path.join(a, a)\n" * 60 + READ,
    "a list that holds another twice": MADE + "a = ('x', 'y')\n" + "a = (a, a)\n" * 90 + READ,
    "a list that holds another twice and is passed on": MADE
    + "a = [p]\n"
    + "a = [a, a]\n" * 90
    + "os.others(a)\n"
    + READ,
    "a list that is added to itself": MADE + "a = ['x']\n" + "a = a + a\n" * 60 + READ,
    "a list that grows": MADE + "a = ['x']\n" + "a = a + ['y']\n" * 9000 + READ,
    "a long list that is gone through again and again": MADE
    + f"a = [{'p, ' * 9000}]\n"
    + "for b in a: ''.join(a)\n" * 4000,
    "objects that hold one another": MADE
    + "class C:\n    pass\na = C()\n"
    + "b = C()\nb.x = a\nb.y = a\na = b\n" * 3000
    + "os.others(a)\n"
    + READ,
    "a long line of classes": MADE
    + "class C0:\n    pass\n"
    + "".join(f"class C{n}(C{n - 1}):\n    pass\n" for n in range(1, 3000))
    + "C2999().method()\n" * 100
    + READ,
    "a union that holds another twice": MADE
    + "a = int | str\n"
    + "a = a | a\n" * 90
    + "p.add_argument('--x', type=a)\np.parse_args()\n",
    "a long list that is passed on again and again": MADE + f"a = [{'p, ' * 9000}]\n" + "os.others(a)\n" * 5000,
    "a long list that is asked for again and again": MADE
    + f"a = [{'1, ' * 9000}]\n"
    + "p.add_argument('--x', choices=a)\n" * 3000
    + "p.parse_args()\n",
    "very many words": MADE
    + f"p.add_argument('--lr', nargs={'9' * 4000})\np.add_argument('--y', nargs=999999999)\np.parse_args()\n",
    "a number that nobody can write": MADE
    + f"p.add_argument('--lr', type=int, choices=[0x{'f' * 9000}])\np.parse_args()\n",
    "carriage returns": (MADE + "p.parse_args()\n").replace("\n", "\r"),
    "one carriage return": MADE + "x = 1\rp.parse_args()\n",
    "calls that double": MADE
    + "def f0():\n    pass\n"
    + "".join(f"def f{n}():\n    f{n - 1}()\n    f{n - 1}()\n" for n in range(1, 60))
    + "f59()\np.parse_args()\n",
    "a string of backslashes": MADE + '"""' + '\\"' * 500_000,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_hostile_script_is_read_quickly(name):
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = program(PROGRAMS[name])
    assert time.process_time() - start < 30  # an idle machine takes less than 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024
    for line in found.command_lines if found else ():
        assert all(option.words in (1, "unknown") for option in line.options if option.label in ("lr", "y"))


IMPORTS = "import argparse\n" + "".join(f"import m{n}\n" for n in range(100)) + MADE + "p.parse_args()\n"
MODULES = {
    "dense ones": "import os\nos.environ\nx = [" + "a, " * 9_000 + "]\n",
    "loops": "import os\nos.environ\n" + "for i in x:\n    y = i\n" * 1_500,
    "large ones that say nothing": "# " + "a " * 100_000,
    "imports of one another": "".join(f"import m{n}\n" for n in range(100)),
    "very many imports": "import b\n" * 20_000,
    "a word of two": "sys " * 50_000,
    "open brackets": "from x import (" * 10_000,
    "continued lines": "import " + "\\\n" * 50_000,
    "very many names": "import " + ",".join(f"a{n}" for n in range(20_000)),
    "a name with very many dots": "import " + ".".join("a" * 50_000),
}


@pytest.mark.parametrize("name", MODULES)
def test_hundred_hostile_modules_are_skipped_quickly(name):
    texts = {f"m{n}": MODULES[name] for n in range(100)}
    start = time.process_time()
    read = program(IMPORTS, **texts)
    assert time.process_time() - start < 30  # an idle machine takes less than 2
    assert read is None or len(read.texts) <= 61
