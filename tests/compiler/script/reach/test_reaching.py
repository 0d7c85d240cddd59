"""Which modules every run of a script imports: those of its source, and those that others must provide."""

import textwrap

import pytest

from smspec.pipeline.script_source import ProgramSource
from smspec.script.reach.reaching import Reaching


def reach(directory, files, start="train.py", handler=None, *, base=(3, 12), searches=False):
    """Return what a script reaches; ``files``: the texts of the source, by their paths."""
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(textwrap.dedent(text))
    source = ProgramSource({path: str(directory / path) for path in files}, "src", ("",), searches=searches)
    places = tuple(dict.fromkeys((start.rpartition("/")[0], "")))
    return Reaching(source, places, base, searches=searches).from_script(start, handler)


def foreign(directory, script, **files):
    found = reach(directory, {"train.py": script, **{f"{name}.py": text for name, text in files.items()}})
    return {one.name for one in found.foreign if one.is_early}


CERTAIN = {
    "a module": "import numpy",
    "a name": "from numpy import array",
    "a submodule": "import numpy.linalg as la",
    "a class": "class A:\n    import numpy",
    "main": "if __name__ == '__main__':\n    import numpy",
    "a function": "def main():\n    import numpy\nmain()",
    "a function in main": "def main():\n    import numpy\nif '__main__' == __name__:\n    main()",
    "a nested call": "import sys\ndef main():\n    import numpy\nsys.exit(main())",
    "a function of a function": "def load():\n    import numpy\ndef main():\n    load()\nmain()",
    "with": "import torch\nwith torch.no_grad():\n    import numpy",
    "a handler of another error": "try:\n    import numpy\nexcept KeyError:\n    pass",
    "finally": "try:\n    pass\nfinally:\n    import numpy",
    "importlib": "import importlib\nimportlib.import_module('numpy')",
    "import_module": "from importlib import import_module\nnp = import_module('numpy')",
    "before an exit": "import sys\nimport numpy\nsys.exit()",
    "a call in an assignment": "def main():\n    import numpy\nx = main()",
    "before pip": "import numpy\nimport subprocess\nsubprocess.run(['pip', 'install', 'torch'])",
    "before a function with pip": "def add():\n    os.system('pip install torch')\nimport numpy\nadd()",
    "before a copy": "import numpy, shutil\nshutil.copy('a.py', 'b.py')",
    "a method that copies": "class Data:\n    def get(self):\n        copyfile('a', 'b')\nimport numpy\nData().get()",
    "a copy at the end": "import shutil\ndef save():\n    shutil.copy('a', 'b')\nimport numpy\nsave()",
    "before another directory": "import numpy, sys\nsys.path.append('/opt/ml/input/data/code')",
    "a call before pip": "def main():\n    import numpy\nmain()\nimport os\nos.system('pip install torch')",
    "a warning about pip": "import logging\nlogging.warning(f'pip install {1}' + ' first')\nimport numpy",
    "a required version": "from transformers.utils.versions import require_version\n"
    "require_version('torch', 'To fix: pip install torch')\nimport numpy",
    "a help about pip": "field(metadata={'help': 'uv pip install x'}, help='see {}'.format('pip'))\nimport numpy",
    "an error about pip": "def f():\n    raise ImportError('run `pip install %s`' % x)\nimport numpy",
    "a path": "data = 'camera-pip/video.mp4'\nimport numpy",
    "harmless programs": "os.system('nvidia-smi')\nsubprocess.run(['git', 'rev-parse', 'HEAD'])\nimport numpy",
    "a harmless program by another name": "from subprocess import (\n    run as r)\nr(['ls'])\nimport numpy",
    "before a program": "import numpy, subprocess\nsubprocess.run(['make'])",
    "a function that starts a program": "def f():\n    subprocess.run(['make'])\nimport numpy\nf()",
    "a variable": "uv = (0.5, 0.5)\nimport numpy",
    "a docstring about pip": '"""pip install numpy"""\nimport numpy  # pip install numpy',
}


@pytest.mark.parametrize("name", CERTAIN)
def test_import_of_every_run_is_found(name, tmp_path):
    assert any(one.partition(".")[0] == "numpy" for one in foreign(tmp_path, CERTAIN[name]))


DOUBTFUL = {
    "a function of pip": "from pip._internal import main as pip_main\npip_main(['install', 'numpy'])\nimport numpy",
    "a file that is run": "import runpy\nrunpy.run_path('boot.py')\nimport numpy",
    "a module that is executed": "spec.loader.exec_module(module)\nimport numpy",
    "a different import": "import builtins\nbuiltins.__import__ = f\nimport numpy",
    "a link": "import os\nos.symlink('/opt/ml/input/data/code', 'numpy')\nimport numpy",
    "try": "try:\n    import numpy\nexcept ImportError:\n    numpy = None",
    "try with a tuple": "try:\n    import numpy\nexcept (KeyError, ModuleNotFoundError):\n    pass",
    "try with any error": "try:\n    import numpy\nexcept:\n    pass",
    "try with an unknown error": "try:\n    import numpy\nexcept errors.Missing:\n    pass",
    "if": "import sys\nif sys.argv:\n    import numpy",
    "type checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy",
    "a loop": "for x in y:\n    import numpy",
    "a function that is not called": "def main():\n    import numpy",
    "a function that returns before": "def main(x):\n    if x:\n        return\n    import numpy\nmain(1)",
    "a function that is replaced": "def main():\n    import numpy\nmain = print\nmain()",
    "a decorated function": "@wrap\ndef main():\n    import numpy\nmain()",
    "a generator": "def main():\n    yield\n    import numpy\nmain()",
    "a coroutine": "async def main():\n    import numpy\nmain()",
    "a call under a condition": "def main():\n    import numpy\nx and main()\ny = main() if x else 1",
    "a lambda": "def main():\n    import numpy\nf = lambda: main()",
    "a manager that suppresses": "import contextlib\nwith contextlib.suppress(ImportError):\n    import numpy",
    "an unknown manager": "with try_import():\n    import numpy",
    "after an exit": "import sys\nsys.exit()\nimport numpy",
    "after raise": "raise SystemExit\nimport numpy",
    "after an endless loop": "while True:\n    pass\nimport numpy",
    "an unknown name": "import importlib\nimportlib.import_module(name)",
    "pip": "import subprocess\nsubprocess.run(['pip', 'install', 'numpy'])\nimport numpy",
    "a copy": "import shutil\nshutil.copy('/app/numpy.py', '.')\nimport numpy",
    "a copy in a class": "class Data:\n    shutil.copy('a', 'b')\nimport numpy",
    "a decorated method that copies": "class Data:\n    @now\n    def get():\n        copyfile('a', 'b')\nimport numpy",
    "a subclass of what copies": "class A:\n    def __init_subclass__(cls):\n        shutil.copy('a', 'b')\n"
    "class B(A):\n    pass\nimport numpy",
    "a copy by a function": "def main():\n    shutil.copytree(a, b)\n    import numpy\nmain()",
    "an archive": "import tarfile\ntarfile.open(x).extractall('.')\nimport numpy",
    "a module that is written": "open('numpy.py', 'w').write(text)\nimport numpy",
    "a program": "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'grpc_tools.protoc'])\nimport numpy",
    "a program by its name": "from subprocess import check_call\ncheck_call(['make'])\nimport numpy",
    "a program by another name": "from subprocess import PIPE, run as r\nr(cmd)\nimport numpy",
    "a program of a short name": "import subprocess as sp\nsp.call('make')\nimport numpy",
    "a program of os by its name": "from os import system\nsystem('make')\nimport numpy",
    "a program of a shell": "import os\nos.system('make')\nimport numpy",
    "a program after a harmless one": "import os\nos.system('ls; make')\nimport numpy",
    "protoc in this process": "from grpc_tools import protoc\nprotoc.main(['a'])\nimport numpy",
    "a named file": "NAME = 'numpy.py'\ndef add():\n    open(NAME, 'w').write('')\nadd()\nimport numpy",
    "a clone": "os.system('git clone https://example.com/numpy')\nimport numpy",
    "pip in what is printed": "print(os.popen('pip install numpy').read())\nimport numpy",
    "pip of a function": "def add():\n    os.system('pip install numpy')\nadd()\nimport numpy",
    "pip of a function's function": "def main():\n    add()\ndef add():\n    os.system('pip install numpy')\nmain()\n"
    "import numpy",
    "pip of a class": "class Setup:\n    def add(self):\n        os.system('pip install numpy')\nSetup().add()\n"
    "import numpy",
    "pip of a default": "def add():\n    os.system('pip install numpy')\ndef main(x=add()):\n    pass\nimport numpy",
    "pip of a decorator": "@now\ndef add():\n    os.system('pip install numpy')\nimport numpy",
    "pip by its name": "def add():\n    os.system('pip install numpy')\nglobals()['add']()\nimport numpy",
    "pip of a path": "subprocess.run(['/usr/bin/pip', 'install', 'numpy'])\nimport numpy",
    "pip of a package": "from sh import pip\npip.install('numpy')\nimport numpy",
    "another directory": "import sys\nsys.path.append('/opt/ml/input/data/code')\nimport numpy",
    "an unknown directory": "import sys\nsys.path.insert(0, where())\nimport numpy",
    "an import hook": "import sys\nsys.meta_path.append(Finder())\nimport numpy",
    "a module that is set": "import sys\nsys.modules['numpy'] = object()\nimport numpy",
    "another name of sys": "import os, sys as s\ns.path.append(os.environ['LIB'])\nimport numpy",
    "sys of another module": "import os\nos.sys.path.append('/data/lib')\nimport numpy",
    "a variable": "import sys\nplace = sys\nplace.path.append('/data/lib')\nimport numpy",
    "an attribute by its name": "import sys\ngetattr(sys, 'path').append('/data/lib')\nimport numpy",
    "the names of sys": "import sys\nvars(sys)['path'].append('/data/lib')\nimport numpy",
    "the dictionary of sys": "import sys\nsys.__dict__['path'].append('/data/lib')\nimport numpy",
    "an import by a call": "__import__('sys').path.append('/data/lib')\nimport numpy",
    "a module of another name": "import sys as s\ns.modules['numpy'] = object()\nimport numpy",
}


@pytest.mark.parametrize("use", ["s.argv", "getattr(s, 'frozen', False)", "hasattr(s, 'ps1')", "s.version"])
def test_other_uses_of_sys_change_no_path(use, tmp_path):
    text = f"import os.path, sys as s\nprint({use}, os.path.sep)\nimport numpy"
    assert foreign(tmp_path, text) == {"numpy"}
    assert foreign(
        tmp_path, text.replace(" as s", "").replace(use, use.replace("s.", "sys.").replace("(s,", "(sys,"))
    ) == {"numpy"}


def test_import_after_a_module_that_may_install_is_doubtful(tmp_path):
    setup = "import os\ndef add():\n    os.system('pip install torch')"
    assert foreign(tmp_path, "import numpy\nimport setup\nimport torch", setup=setup) == {"numpy"}


def test_module_that_copies_files_when_it_is_called_is_harmless(tmp_path):
    setup = "import shutil\ndef save():\n    shutil.copy('a', 'b')"
    assert foreign(tmp_path, "import setup\nimport numpy\nsetup.save()", setup=setup) == {"numpy"}


MAKERS = {
    "an attribute": "import gen\ngen.make()\nimport numpy",
    "a name": "from gen import make\nmake()\nimport numpy",
    "another name": "from gen import make as build\nbuild()\nimport numpy",
    "all names": "from gen import *\nmake()\nimport numpy",
    "a condition": "import gen, os\nif not os.path.exists('numpy.py'):\n    gen.make()\nimport numpy",
    "a function": "import gen\ndef main():\n    gen.make()\n    import numpy\nmain()",
    "a function of another module": "import between\nbetween.start()\nimport numpy",
}


@pytest.mark.parametrize("write", ["open('numpy.py', 'w')", "Path('numpy.py').write_text('')", "os.system('make')"])
@pytest.mark.parametrize("name", MAKERS)
def test_import_of_what_another_module_makes_is_doubtful(name, write, tmp_path):
    modules = {"gen": f"import os\ndef make():\n    {write}", "between": "import gen\ndef start():\n    gen.make()"}
    assert foreign(tmp_path, MAKERS[name], **modules) == set()
    assert foreign(tmp_path, f"import torch\n{MAKERS[name]}", **modules) <= {"torch"}
    assert foreign(tmp_path, "import gen, between\nimport numpy\ngen.make()", **modules) == {"numpy"}
    assert foreign(tmp_path, MAKERS[name], **(modules | {"gen": "def make(): pass"})) == {"numpy"}


def test_own_module_that_may_be_written_is_not_missing(tmp_path):
    files = {"train.py": "open('package/made.py', 'w').write('')\nimport package.made", "package/__init__.py": ""}
    assert not reach(tmp_path, files).missing


DOUBTFUL_SETUP = {
    "try": "import torch\ntry:\n    import setup\nexcept OSError:\n    pass\nimport numpy",
    "if": "import torch, os\nif os.name == 'x':\n    from setup import add\nimport numpy",
    "a function": "import torch\ndef main():\n\tfrom setup import (add,\n\t\tother)\nmain()\nimport numpy",
    "another module": "import torch\nif x:\n  import between\nimport numpy",
    "a relative import": "import torch\nimport package\nimport numpy",
}


@pytest.mark.parametrize("name", DOUBTFUL_SETUP)
def test_import_after_a_doubtful_installer_is_doubtful(name, tmp_path):
    setup = "import os\nos.system('pip install numpy')\ndef add(): pass"
    files = {"setup.py": setup, "package/setup.py": setup, "between.py": "from setup import *"}
    files["package/__init__.py"] = "try:\n    from . import setup\nexcept ImportError:\n    pass"
    found = reach(tmp_path, {"train.py": DOUBTFUL_SETUP[name], **files})
    assert found.is_open
    assert {one.name for one in found.foreign if one.is_early} == {"torch"}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_import_that_may_not_happen_is_not_found(name, tmp_path):
    assert not any(one.partition(".")[0] == "numpy" for one in foreign(tmp_path, DOUBTFUL[name]))


def test_modules_of_the_source_are_followed(tmp_path):
    files = {
        "train.py": "import a, pack.b\nfrom pack import c\nfrom space.d import x\na.start()",
        "a.py": "def start():\n    import pandas\n",
        "pack/__init__.py": "",
        "pack/b.py": "from . import e\nfrom .f.g import y",
        "pack/c.py": "import scipy",
        "pack/e.py": "",
        "pack/f/g.py": "y = 1\nimport sklearn.metrics",
        "space/d.py": "x = 1",
        "unused.py": "import unused_package",
    }
    found = reach(tmp_path, files)
    assert not found.missing
    assert {one.top for one in found.foreign} == {"pandas", "scipy", "sklearn"}
    assert {text.name for text in found.texts} == {f"src/{path}" for path in files if path != "unused.py"}


MISSING = {
    "a module of a package": ({"train.py": "import pack.gone", "pack/__init__.py": ""}, "pack.gone"),
    "a module of a module": ({"train.py": "import one.gone", "one.py": ""}, "one.gone"),
    "a relative module": ({"train.py": "import pack", "pack/__init__.py": "from .gone import x"}, "pack.gone"),
    "a name of a package": ({"train.py": "from pack import gone", "pack/__init__.py": ""}, "pack.gone"),
    "a name of a module": ({"train.py": "from one import gone", "one.py": "x = 1"}, "one.gone"),
    "a name that is set later": (
        {"train.py": "import one\nfrom one import gone\none.gone = 1", "one.py": ""},
        "one.gone",
    ),
    "a name that is only compared": (
        {"train.py": "import one\none.gone == 1\nfrom one import gone", "one.py": ""},
        "one.gone",
    ),
    "a name of another object": (
        {"train.py": "import one\nargs.gone = 1\nfrom one import gone", "one.py": ""},
        "one.gone",
    ),
    "another name by setattr": (
        {"train.py": "import one\nsetattr(one, 'x', 1)\nfrom one import gone", "one.py": ""},
        "one.gone",
    ),
    "a relative import in a script": ({"train.py": "from . import one", "one.py": ""}, "."),
    "a relative import beyond the top": (
        {"train.py": "import pack.a", "pack/__init__.py": "", "pack/a.py": "from ..one import x", "one.py": ""},
        "..one",
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_module_is_found(name, tmp_path):
    files, missing = MISSING[name]
    assert [one.name for one in reach(tmp_path, files).missing] == [missing]


PRESENT = {
    "a name that is set elsewhere": {"train.py": "from pack import x", "pack/__init__.py": "globals()['x'] = 1"},
    "a name of a star import": {"train.py": "from pack import x", "pack/__init__.py": "from numpy import *"},
    "a name by __getattr__": {"train.py": "from one import x", "one.py": "def __getattr__(name):\n    return 1"},
    "a compiled module": {"train.py": "import pack.fast", "pack/__init__.py": "", "pack/fast.cpython-312.so": ""},
    "a directory": {"train.py": "from pack import data", "pack/__init__.py": "", "pack/data/a.py": ""},
    "a cycle": {
        "train.py": "import a",
        "a.py": "import b\nfrom b import y",
        "b.py": "import a\nfrom a import y\ny = 1",
    },
    "an added directory": {
        "train.py": "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'lib'))\nimport one",
        "lib/one.py": "",
    },
    "an added directory of pathlib": {
        "train.py": "import sys\nfrom pathlib import Path\nROOT = Path(__file__).resolve().parents[0]\n"
        "if str(ROOT / 'lib') not in sys.path:\n    sys.path.insert(0, str(ROOT / 'lib'))\nfrom one import x",
        "lib/one.py": "x = 1",
    },
    "another name of sys": {
        "train.py": "import os, sys as s\ns.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))\nimport one",
        "lib/one.py": "",
    },
    "a written directory": {"train.py": "import sys\nsys.path.append('./lib')\nimport one", "lib/one.py": ""},
    "a script that names its package": {
        "train.py": "import pack\nif not __package__:\n    __package__ = 'pack'\nfrom .one import x",
        "pack/__init__.py": "",
        "pack/one.py": "x = 1",
    },
    "a name that the script sets": {"train.py": "import one\none.x = 1\nfrom one import x", "one.py": ""},
    "a name that it sets by another": {"train.py": "import one as o\no.x: int = 1\nfrom one import x", "one.py": ""},
    "a name by setattr": {"train.py": "import one\nsetattr(one, 'x', 1)\nfrom one import x", "one.py": ""},
    "names by setattr": {
        "train.py": "import one\nfor n in y:\n    setattr(one, n, 1)\nfrom one import x",
        "one.py": "",
    },
    "a name that a function sets": {
        "train.py": "import one\ndef f():\n    from one import x\none.x = 1\nf()",
        "one.py": "",
    },
    "a name that another module sets": {
        "train.py": "import a\nfrom one import x",
        "a.py": "import one\none.x = 1",
        "one.py": "",
    },
    "a package that sets its path": {"train.py": "import pack.x", "pack/__init__.py": "__path__ = ['other']"},
}


@pytest.mark.parametrize("name", PRESENT)
def test_present_module_is_not_missing(name, tmp_path):
    found = reach(tmp_path, PRESENT[name])
    assert not found.missing
    assert not {one.top for one in found.foreign} & {"one", "pack", "a", "b"}


def test_script_in_a_directory_finds_its_neighbors_first(tmp_path):
    files = {
        "steps/train.py": "import one, two",
        "steps/one.py": "import inner",
        "one.py": "import outer",
        "two.py": "",
    }
    assert [one.name for one in reach(tmp_path, files, "steps/train.py").foreign] == ["inner"]


def test_handler_is_a_module_of_its_package(tmp_path):
    files = {"pack/__init__.py": "import outer", "pack/reader.py": "from .one import x", "pack/one.py": "x = 1"}
    found = reach(tmp_path, files, "pack/reader.py", "pack.reader")
    assert not found.missing
    assert [one.name for one in found.foreign] == ["outer"]


def test_long_chain_of_modules_is_cut(tmp_path):
    files = {f"m{number}.py": f"import m{number + 1}" for number in range(200)}
    found = reach(tmp_path, {"train.py": "import m0", **files})
    assert 2 < len(found.texts) < 100
    assert not found.missing


def test_broken_module_is_found_where_every_run_imports_it(tmp_path):
    files = {
        "train.py": "import good\ntry:\n    import bad\nexcept Exception:\n    pass",
        "good.py": "x = (",
        "bad.py": "y =",
    }
    assert [fault.place.file for fault in reach(tmp_path, files).faults] == ["src/good.py"]


ITSELF = {
    "a name": ("from six import PY3\nprint(PY3)", "six.PY3"),
    "an attribute": ("import six\nprint(six.PY3)", "six.PY3"),
    "an attribute of another name": ("import six as compat\nprint(compat.PY3)", "six.PY3"),
    "a submodule": ("from six.moves import range", "six.moves"),
    "a name of its own": ("PY3 = True\nfrom six import PY3", ""),
    "a function of its own": ("def main():\n    pass\nif __name__ == '__main__':\n    import six\n    six.main()", ""),
    "an attribute that it sets": ("import six\nsix.step = 1\nprint(six.step)", ""),
    "an attribute that it may set": ("import six\nsetattr(six, name, 1)\nprint(six.step)", ""),
    "an attribute of every module": ("import six\nprint(six.__name__)", ""),
    "all names of another module": ("from os.path import *\nimport six\nsix.join('a')", ""),
    "its own name in a comment": ("# six.py\nimport six", ""),
    "an import in a try": ("try:\n    from six import PY3\nexcept ImportError:\n    PY3 = True", ""),
}


@pytest.mark.parametrize("case", ITSELF)
def test_script_that_hides_the_module_that_it_imports(case, tmp_path):
    text, missing = ITSELF[case]
    assert "".join(one.name for one in reach(tmp_path, {"six.py": text}, "six.py").missing) == missing
