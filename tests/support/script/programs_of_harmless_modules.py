"""Programs of several modules that do not change the parser: all reject `--epochs`.

Each is a small directory: the content of its files by their names. `train.py` is the script.
"""

from support.script.programs_of_modules import CLI

MODULE_FOUND = "from cli import get_parser\nimport {name}\nget_parser().parse_args()\n"
GET_PARSER = (
    "import argparse\nLR = 0.1\ndef get_parser():\n    p = argparse.ArgumentParser()\n"
    "    p.add_argument('--mode')\n    return p\n"
)


def followed(text, **others):
    """A program with a module that does nothing to its parser."""
    modules = {f"{name}.py": one for name, one in others.items()}
    return {"train.py": MODULE_FOUND.format(name="model"), "cli.py": GET_PARSER, "model.py": text, **modules}


# Programs whose argument `--epochs` is still found to be unknown.
FOUND = {
    "nothing": followed(""),
    "a package elsewhere that looks like one of an image": {
        **followed(
            "import os, sys\nsys.path.append(os.getcwd())\ntry:\n    import a.ops\nexcept ImportError:\n    pass\n"
        ),
        "lib/ops/__init__.py": "import argparse\nfrom .ops import Ops\n",
        "lib/ops/ops.py": "import argparse\nclass Ops: pass\n",
    },
    "a constant of the parser's module": followed("from cli import LR\nrate = LR\n"),
    "an attribute of the parser's module": followed("import cli\nrate = cli.LR\n"),
    "the function that makes the parser": followed("from cli import get_parser\n"),
    "a parser of its own": followed("from cli import get_parser\nget_parser().add_argument('--epochs')\n"),
    "a main of its own": followed(
        "import sys\nfrom cli import get_parser\ndef main():\n    get_parser().parse_args([])\n"
        "if __name__ == '__main__':\n    sys.exit(main())\n"
    ),
    "an end that is a failure": followed("import sys\ndef check(x):\n    if not x:\n        sys.exit(1)\n"),
    "an end that nothing calls": followed("import sys\ndef leave():\n    sys.exit(0)\n"),
    "variables that are read": followed(
        "import os\nRANK = int(os.environ.get('RANK', 0))\ndef rank():\n    return os.environ['RANK']\n"
    ),
    "a variable that is set": followed("import os\nos.environ['TOKENIZERS_PARALLELISM'] = 'false'\n"),
    "its own names": followed("def small():\n    pass\ndef get(name):\n    return globals()[name]\nget('small')()\n"),
    "names that are looked for": followed("import sys\nhas_torch = 'torch' in sys.modules\n"),
    "where it is": followed("import inspect\nhere = inspect.stack()[0].filename\n"),
    "another module": followed("from more import f\nf()\n", more="import json\ndef f():\n    return json.dumps({})\n"),
    "a circle": followed("import more\n", more="import model\nx = 1\n"),
    "twenty modules": followed(
        "".join(f"import m{n}\n" for n in range(20)), **{f"m{n}": "import os\n" for n in range(20)}
    ),
    "a chain": followed("import m0\n", **{f"m{n}": f"import m{n + 1}\n" for n in range(15)}, m15=""),
    "options that are added elsewhere": {
        "train.py": "from cli import get_parser\nget_parser().parse_args()\n",
        "cli.py": "import argparse\nfrom common import add\ndef get_parser():\n    p = argparse.ArgumentParser()\n"
        "    add(p)\n    return p\n",
        "common.py": "# for argparse\ndef add(p):\n    p.add_argument('--mode')\n",
    },
    "a package": {
        "train.py": "from pkg import get_parser\nget_parser().parse_args()\n",
        "pkg/__init__.py": "from .cli import get_parser\nfrom . import model\n",
        "pkg/cli.py": "from .defaults import MODE\n" + GET_PARSER,
        "pkg/defaults.py": "MODE = 'a'\n",
        "pkg/model.py": "from . import defaults\nfrom .cli import LR\n",
    },
    "star": {"train.py": "from cli import *\nget_parser().parse_args()\n", "cli.py": GET_PARSER},
    "the main module": {
        "train.py": CLI + "import model\nparser.parse_args()\n",
        "model.py": "import __main__\nx = __main__.parser\n",
    },
    "a module in a function": {
        "train.py": GET_PARSER + "def main():\n    import model\n    get_parser().parse_args()\nmain()\n",
        "model.py": "from train import LR\n",
    },
    "options of the parser by its module": {
        "train.py": "import cli, options\ncli.parser.parse_args()\n",
        "cli.py": CLI,
        "options.py": "# argparse\nimport cli\ncli.parser.add_argument('--lr')\n",
    },
    "a directory that is searched for another module": {
        "train.py": "import sys\nsys.path.append('lib')\n" + MODULE_FOUND.format(name="json"),
        "cli.py": GET_PARSER,
        "lib/data.py": "import cli\ncli.x = 1\n",
    },
}
