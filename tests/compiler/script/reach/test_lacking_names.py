"""Names that every run takes from a module of the source, and that the module does not have."""

import pytest

from smspec.pipeline.script_source import ProgramSource
from smspec.script.reach.reaching import Reaching


def reach(directory, files):
    """Return what a script reaches; ``files``: the texts of the source, by their paths."""
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text)
    source = ProgramSource({path: str(directory / path) for path in files}, "src", ("",), searches=False)
    return Reaching(source, ("",), (3, 12), searches=False).from_script("train.py", None)


NET = {"models/__init__.py": "", "models/net.py": "class Net: pass\n"}
IMPORT = "from models.net import Lost\n"
LACKING = {
    "a listed name": {"train.py": "from one import *", "one.py": "__all__ = ['x', 'y']\nx = 1\n"},
    "a listed name of a package": {
        "train.py": "import two",
        "two.py": "from pack import *",
        "pack/__init__.py": "from .m import f\n__all__ = ('f', 'g')\n",
        "pack/m.py": "f = 1\n",
    },
    "a class": {"train.py": f"class T:\n    def __init__(self):\n        {IMPORT}T()\n", **NET},
    "a class of another module": {
        "train.py": "from one import T\nt = T(1)\n",
        "one.py": f"import torch.nn as nn\nclass T(nn.Module):\n    def __init__(self, n):\n        {IMPORT}",
        **NET,
    },
    "a class above": {"train.py": f"class B:\n    def __init__(self):\n        {IMPORT}class T(B): pass\nT()\n", **NET},
}
CLASS = f"class T:\n    def __init__(self, a=0):\n        {IMPORT}"
HAVING = {
    "a listed module": {"train.py": "from pack import *", "pack/__init__.py": "__all__ = ['m']", "pack/m.py": ""},
    "a name of any": {"train.py": "from one import *", "one.py": "__all__ = ['x']\nglobals()['x'] = 1\n"},
    "a name by a function": {"train.py": "from one import *", "one.py": "__all__ = ['x']\ndef __getattr__(n): pass\n"},
    "a handler": {
        "train.py": "try:\n    from one import *\nexcept AttributeError:\n    pass\n",
        "one.py": "__all__ = ['x']\n",
    },
    "names of another module": {
        "train.py": "from one import *",
        "one.py": "from two import *\n__all__ = ['x']\n",
        "two.py": "x = 1\n",
    },
    "no instance": {"train.py": f"{CLASS}print(T)\n", **NET},
    "another instance": {"train.py": f"{CLASS}    def __new__(cls): return 1\nT()\n", **NET},
    "a kind of classes": {"train.py": f"{CLASS.replace('T:', 'T(metaclass=M):')}T()\n", **NET},
    "a decorator": {"train.py": f"@other\n{CLASS}T()\n", **NET},
    "another definition": {"train.py": f"{CLASS}def T(): pass\nT()\n", **NET},
    "a condition": {"train.py": CLASS.replace("  from", "  if a: from") + "T()\n", **NET},
}


@pytest.mark.parametrize("name", LACKING)
def test_name_that_every_run_lacks_is_missing(name, tmp_path):
    assert len(reach(tmp_path, LACKING[name]).missing) == 1


@pytest.mark.parametrize("name", HAVING)
def test_name_that_some_runs_need_is_not_missing(name, tmp_path):
    assert not reach(tmp_path, HAVING[name]).missing
