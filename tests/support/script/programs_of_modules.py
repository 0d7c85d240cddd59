"""Programs of several modules that succeed because one adds an argument, exits, or sets a variable.

Each is a small directory: the content of its files by their names. `train.py` is the script.
"""

CLI = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--mode')\n"
TRAIN = "from cli import parser\nimport options\nparser.parse_args()\n"
ADD = "parser.add_argument('--epochs', type=int)\n"
PLUGINS = "import importlib, pkgutil\nfor found in pkgutil.iter_modules(__path__):\n"


def options(text, **others):
    return {"train.py": TRAIN, "cli.py": CLI, "options.py": text, **{f"{name}.py": one for name, one in others.items()}}


def before(text, read="parser.parse_args()", **others):
    """A script that imports its parser, does something, and reads its command line or a variable."""
    modules = {f"{name}.py": one for name, one in others.items()}
    return {"train.py": f"import os\nfrom cli import parser\n{text}\n{read}\n", "cli.py": CLI, **modules}


READ_CHANNEL = "x = os.environ['SM_CHANNEL_EVAL']"
FILL = "import os\nos.environ['SM_CHANNEL_EVAL'] = '/x'\n"
LEAVE = "import os, sys\nif os.environ.get('SM_HOSTS'):\n    sys.exit(0)\n"

# Programs that end well.
RIGHT = {
    "from": options("from cli import parser\n" + ADD),
    "module": options("import cli\ncli." + ADD),
    "alias": options("import cli as c\nadd = c.parser.add_argument\nadd('--epochs')\n"),
    "star": options("from cli import *\n" + ADD),
    "in a try": options("try:\n    from cli import parser\nexcept ImportError:\n    parser = None\n" + ADD),
    "in a function": options("def add():\n    from cli import parser\n    " + ADD + "add()\n"),
    "in a function that is called later": before(
        "options.setup()", options="def setup():\n    from cli import parser\n    " + ADD
    ).__or__({"train.py": "from cli import parser\nimport options\noptions.setup()\nparser.parse_args()\n"}),
    "in a function that is handed on": {
        "train.py": "from cli import parser\nimport options\nlist(map(options.setup, [1]))\nparser.parse_args()\n",
        "cli.py": CLI,
        "options.py": "def setup(_):\n    from cli import parser\n    " + ADD,
    },
    "in a method": {
        "train.py": "from cli import parser\nimport options\noptions.Setup().go()\nparser.parse_args()\n",
        "cli.py": CLI,
        "options.py": "class Setup:\n    def go(self):\n        import cli\n        cli." + ADD,
    },
    "in a function of the script that is handed on": before(
        "def setup(_):\n    import options\nlist(map(setup, [1]))", options="import cli\ncli." + ADD
    ),
    "in a lambda": options("add = lambda: __import__('cli').parser.add_argument('--epochs')\nadd()\n"),
    "import_module": options("import importlib\nimportlib.import_module('cli')." + ADD),
    "import_module by another name": options("from importlib import import_module as load\nload('cli')." + ADD),
    "__import__": options("__import__('cli')." + ADD),
    "sys.modules": options("import sys\nsys.modules['cli']." + ADD),
    "sys.modules with get": options("import sys\nsys.modules.get('cli')." + ADD),
    "all of sys.modules": options(
        "import sys\nfor m in list(sys.modules.values()):\n"
        "    if getattr(m, '__name__', '') == 'cli':\n        m." + ADD
    ),
    "modules of sys": options("from sys import modules\nmodules.get('cli')." + ADD),
    "exec": options("exec('from cli import parser\\nparser.add_argument(\"--epochs\")')\n"),
    "exec of a file": before("exec(open(os.path.join(os.path.dirname(__file__), 'options.py')).read())", options=ADD),
    "runpy": before(
        "import runpy\nrunpy.run_path(os.path.join(os.path.dirname(__file__), 'options.py'))",
        options="from cli import parser\n" + ADD,
    ),
    "eval": options("import cli\neval('cli.parser').add_argument('--epochs')\n"),
    "globals": options("from cli import parser\nglobals()['parser'].add_argument('--epochs')\n"),
    "vars of a module": options("import cli\nvars(cli)['parser'].add_argument('--epochs')\n"),
    "__dict__ of a module": options("import cli\ncli.__dict__['parser'].add_argument('--epochs')\n"),
    "getattr of a module": options("import cli\ngetattr(cli, 'par' + 'ser').add_argument('--epochs')\n"),
    "a module under another name": options("import cli\nheld = [cli]\nheld[0]." + ADD),
    "gc": options(
        "import argparse, gc\nfor o in gc.get_objects():\n    if isinstance(o, argparse.ArgumentParser):\n"
        "        o.add_argument('--epochs')\n"
    ),
    "the frames above": options(
        "import inspect\nfor f in inspect.stack():\n    p = f.frame.f_globals.get('parser')\n    if p is not None:\n"
        "        p.add_argument('--epochs')\n        break\n"
    ),
    "a frame above": options(
        "import sys\nf = sys._getframe()\nwhile f.f_back:\n    f = f.f_back\n"
        "f.f_globals['parser'].add_argument('--epochs')\n"
    ),
    "a loader": before(
        "import importlib.util as u\ns = u.spec_from_file_location('x', os.path.join(os.path.dirname(__file__), "
        "'options.py'))\nm = u.module_from_spec(s)\ns.loader.exec_module(m)",
        options="from cli import parser\n" + ADD,
    ),
    "the main module": before("import options", options="import __main__\n__main__." + ADD),
    "the main module by from": before("import options", options="from __main__ import parser\n" + ADD),
    "the script by its own name": {
        "train.py": CLI + "if __name__ == '__main__':\n    import options\n    parser.parse_args()\n",
        "options.py": "import train\ntrain.parser.add_argument('--mode2')\nimport __main__\n__main__." + ADD,
    },
    "the script imports itself": {
        "train.py": CLI
        + "import os\nif __name__ == 'train':\n    import __main__\n    __main__."
        + ADD
        + "else:\n    import train\n    parser.parse_args()\n",
    },
    "a third module": options("import more\n", more="import cli\ncli." + ADD),
    "a third module in a function": {
        "train.py": "from cli import parser\nfrom options import go\ngo()\nparser.parse_args()\n",
        "cli.py": CLI,
        "options.py": "def go():\n    import more\n",
        "more.py": "import cli\ncli." + ADD,
    },
    "the tenth module": options(
        "import m1\n",
        **{f"m{n}": f"import m{n + 1}\n" for n in range(1, 10)},
        m10="import cli\ncli." + ADD,
    ),
    "a very long chain": options(
        "import m1\n",
        **{f"m{n}": f"import m{n + 1}\n" for n in range(1, 40)},
        m40="import cli\ncli." + ADD,
    ),
    "many modules": options(
        "".join(f"import m{n}\n" for n in range(90)) + "import cli\ncli." + ADD,
        **{f"m{n}": "import os\nos.environ.get('X')\n" for n in range(90)},
    ),
    "circular": {
        "train.py": "from cli import parser\nparser.parse_args()\n",
        "cli.py": CLI + "import options\n",
        "options.py": "from cli import parser\n" + ADD,
    },
    "circular, before the parser is there": {
        "train.py": "from cli import parser\nimport options\noptions.go()\nparser.parse_args()\n",
        "cli.py": "import options\n" + CLI,
        "options.py": "import cli\ndef go():\n    cli." + ADD,
    },
    "a hook": {
        "train.py": "import cli, options\nfor h in cli.HOOKS:\n    h()\ncli.parser.parse_args()\n",
        "cli.py": CLI + "HOOKS = []\ndef register(f):\n    HOOKS.append(f)\n    return f\n",
        "options.py": "import cli\n@cli.register\ndef add():\n    cli." + ADD,
    },
    "a hook that is given the parser": {
        "train.py": "import cli, options\nfor h in cli.HOOKS:\n    h(cli.parser)\ncli.parser.parse_args()\n",
        "cli.py": CLI + "HOOKS = []\n",
        "options.py": "import cli\ncli.HOOKS.append(lambda p: p.add_argument('--epochs'))\n",
    },
    "a function of the parser's module that is replaced": {
        "train.py": "import cli, options\ncli.build().parse_args()\n",
        "cli.py": "import argparse\ndef build():\n    return argparse.ArgumentParser()\n",
        "options.py": "import cli\nold = cli.build\ndef build():\n    p = old()\n    p.add_argument('--epochs')\n"
        "    return p\ncli.build = build\n",
    },
    "a parser that is replaced": {
        "train.py": "import cli, options\ncli.parser.parse_args()\n",
        "cli.py": CLI,
        "options.py": "import argparse, cli\ncli.parser = argparse.ArgumentParser()\ncli." + ADD,
    },
    "a patched class": options(
        "import argparse\nold = argparse.ArgumentParser.parse_args\n"
        "argparse.ArgumentParser.parse_args = lambda self: self.parse_known_args()\n"
    ),
    "a class that is extended": {
        "train.py": "import cli, options\ncli.Options().parse()\n",
        "cli.py": "import argparse\nclass Options:\n    def __init__(self):\n"
        "        self.p = argparse.ArgumentParser()\n"
        "        self.more()\n    def more(self):\n        pass\n    def parse(self):\n        self.p.parse_args()\n",
        "options.py": "import cli\ndef more(self):\n    self.p.add_argument('--epochs')\ncli.Options.more = more\n",
    },
    "choices that are added to": {
        "train.py": "import cli, options\ncli.parser.parse_args()\n",
        "cli.py": "import argparse\nCHOICES = [1]\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--epochs', type=int, choices=CHOICES)\n",
        "options.py": "from cli import CHOICES\nCHOICES.append(3)\n",
    },
    "a default of a flag": {
        "train.py": "from cli import build\nimport options\nbuild().parse_args()\n",
        "cli.py": "import argparse\nNEEDS = []\ndef build():\n    p = argparse.ArgumentParser()\n"
        "    p.add_argument('--epochs')\n    p.add_argument('--mode', required=not NEEDS)\n    return p\n",
        "options.py": "import cli\ncli.NEEDS.append(1)\n",
    },
    "a module that has any name": {
        "train.py": "import cli\ncli.anything\ncli.parser.parse_args()\n",
        "cli.py": CLI + "def __getattr__(name):\n    " + ADD + "    return 1\n",
    },
    "a module that has any name, by from": {
        "train.py": "from cli import anything, parser\nparser.parse_args()\n",
        "cli.py": CLI
        + "def __getattr__(name):\n    if name != 'anything':\n        raise AttributeError(name)\n    "
        + ADD
        + "    return 1\n",
    },
    "in a condition": before("if os.environ.get('SM_HOSTS'):\n    import options", options="import cli\ncli." + ADD),
    "in a loop": before("for _ in range(1):\n    import options", options="import cli\ncli." + ADD),
    "in a finally": before("try:\n    pass\nfinally:\n    import options", options="import cli\ncli." + ADD),
    "in a class": before("class Options:\n    import options", options="import cli\ncli." + ADD),
    "in a decorated function": before(
        "import functools\n@functools.lru_cache\ndef load():\n    import options\nload()",
        options="import cli\ncli." + ADD,
    ),
    "in a coroutine": before(
        "import asyncio\nasync def load():\n    import options\nasyncio.run(load())", options="import cli\ncli." + ADD
    ),
    "in a generator": before(
        "def load():\n    import options\n    yield\nlist(load())", options="import cli\ncli." + ADD
    ),
    "one of two parsers": {
        "train.py": "import os\nif os.environ.get('SM_HOSTS'):\n    import one as cli\nelse:\n    import two as cli\n"
        "cli.parser.add_argument('--epochs')\nfrom one import parser\nparser.parse_args()\n",
        "one.py": CLI,
        "two.py": CLI,
    },
    "another encoding": {
        "train.py": TRAIN,
        "cli.py": CLI,
        "options.py": b"# -*- coding: latin-1 -*-\n# \xe9\nfrom cli import parser\n" + ADD.encode(),
    },
    "carriage returns": {
        "train.py": TRAIN,
        "cli.py": CLI,
        "options.py": ("import cli\ncli." + ADD).replace("\n", "\r").encode(),
    },
    "a large module": options("import cli\ncli." + ADD + "#" * (1 << 20)),
    "a large module that another one imports": options("import more", more="import cli\ncli." + ADD + "#" * (1 << 20)),
    "a deep module": options("import cli\ncli." + ADD + "x = " + "(" * 70 + "1" + ")" * 70 + "\n"),
    "another directory": {
        "train.py": "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))\n" + TRAIN,
        "cli.py": CLI,
        "lib/options.py": "import cli\ncli." + ADD,
    },
    "another directory by another module": {
        "train.py": "import paths\n" + TRAIN,
        "paths.py": "import os, sys\nsys.path += [os.path.join(os.path.dirname(__file__), 'lib')]\n",
        "cli.py": CLI,
        "lib/options.py": "import more\n",
        "lib/more.py": "import cli\ncli." + ADD,
    },
    "another directory for a package": {
        "train.py": "import pkg\nfrom cli import parser\nimport pkg.options\nparser.parse_args()\n",
        "pkg/__init__.py": "import os\n__path__.append(os.path.join(os.path.dirname(__file__), 'more'))\n",
        "pkg/more/options.py": "import cli\ncli." + ADD,
        "cli.py": CLI,
    },
    "a package": {
        "train.py": "from pkg.cli import parser\nparser.parse_args()\n",
        "pkg/__init__.py": "from . import options\n",
        "pkg/cli.py": CLI,
        "pkg/options.py": "from .cli import parser\n" + ADD,
    },
    "a package that names itself": {
        "train.py": "from pkg.cli import parser\nparser.parse_args()\n",
        "pkg/__init__.py": "import pkg.options\n",
        "pkg/cli.py": CLI,
        "pkg/options.py": "import pkg.cli\npkg.cli." + ADD,
    },
    "a package within another": {
        "train.py": "from pkg.cli import parser\nimport pkg.sub.options\nparser.parse_args()\n",
        "pkg/__init__.py": "",
        "pkg/cli.py": CLI,
        "pkg/sub/__init__.py": "",
        "pkg/sub/options.py": "from ..cli import parser as p\np.add_argument('--epochs')\n",
    },
    "a package around the module": {
        "train.py": "from cli import parser\nimport pkg.sub.data\nparser.parse_args()\n",
        "cli.py": CLI,
        "pkg/__init__.py": "",
        "pkg/sub/__init__.py": "import cli\ncli." + ADD,
        "pkg/sub/data.py": "x = 1\n",
    },
    "a package without a file of its own": {
        "train.py": "from cli import parser\nfrom pkg import options\nparser.parse_args()\n",
        "cli.py": CLI,
        "pkg/options.py": "from cli import parser\n" + ADD,
    },
    "the package itself": {
        "train.py": "from pkg import parser\nfrom pkg import options\nparser.parse_args()\n",
        "pkg/__init__.py": CLI,
        "pkg/options.py": "from . import parser\n" + ADD,
    },
    "from a package, over more lines": {
        "train.py": "from pkg import (\n    parser,\n    data,\n    options,\n)\nparser.parse_args()\n",
        "pkg/__init__.py": CLI,
        "pkg/data.py": "x = 1\n",
        "pkg/options.py": "from . import (\n    data,\n    parser,\n)\n" + ADD,
    },
    "plugins": {
        "train.py": "from cli import parser\nimport plugins\nparser.parse_args()\n",
        "cli.py": CLI,
        "plugins/__init__.py": PLUGINS + "    importlib.import_module(f'{__name__}.{found.name}')\n",
        "plugins/one.py": "from cli import parser\n" + ADD,
    },
    "plugins by their loaders": {
        "train.py": "from cli import parser\nimport plugins\nparser.parse_args()\n",
        "cli.py": CLI,
        "plugins/__init__.py": "import pkgutil\nfor f, name, _ in pkgutil.walk_packages(__path__, 'plugins.'):\n"
        "    f.find_spec(name).loader.load_module(name)\n",
        "plugins/one.py": "from cli import parser\n" + ADD,
    },
    "plugins by their files": {
        "train.py": "from cli import parser\nimport plugins\nparser.parse_args()\n",
        "cli.py": CLI,
        "plugins/__init__.py": "import os\nfor f in os.listdir(os.path.dirname(__file__)):\n    if f[0] != '_':\n"
        "        __import__('plugins.' + f[:-3])\n",
        "plugins/one.py": "from cli import parser\n" + ADD,
    },
    "entry points": {
        "train.py": "from cli import parser\nfrom importlib.metadata import entry_points\n"
        "for e in entry_points().select(group='mine') if hasattr(entry_points(), 'select') else []:\n    e.load()\n"
        "parser.parse_args()\n",
        "cli.py": CLI,
        "options.py": "from cli import parser\n" + ADD,
        "plug-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n",
        "plug-1.0.dist-info/entry_points.txt": "[mine]\none = options\n",
    },
    "a module that ends the program": before("import options", options=LEAVE),
    "a module without other words that ends it": before("import options", options="raise SystemExit\n"),
    "a function that ends the program": before(
        "import options\noptions.go()", options="import sys\ndef go():\n    sys.exit(0)\n"
    ),
    "a function that ends it for another": before(
        "from options import go\ngo()",
        options="from more import leave\ndef go():\n    leave()\n",
        more="def leave():\n    raise SystemExit(0)\n",
    ),
    "an object that ends the program": before(
        "import options\noptions.Run().go()", options="import os\nclass Run:\n    def go(self):\n        os._exit(0)\n"
    ),
    "a class that ends the program": before(
        "import options\noptions.Run()", options="import sys\nclass Run:\n    def __init__(self):\n        sys.exit()\n"
    ),
    "a property that ends the program": before(
        "import options\noptions.Run().x",
        options="import sys\nclass Run:\n    @property\n    def x(self):\n        sys.exit()\n",
    ),
    "a module that sets a variable": before("import options", READ_CHANNEL, options=FILL),
    "a package that sets a variable": {
        "train.py": "import pkg.data\nimport os\n" + READ_CHANNEL,
        "pkg/__init__.py": FILL,
        "pkg/data.py": "",
    },
    "a function that sets a variable": before(
        "import options\noptions.go()",
        READ_CHANNEL,
        options="import os\ndef go():\n    os.environ['SM_CHANNEL_EVAL'] = '/x'\n",
    ),
    "a function that sets any variable": before(
        "import options\noptions.go('SM_CHANNEL_EVAL')",
        READ_CHANNEL,
        options="import os\ndef go(n):\n    os.environ[n] = '/x'\n",
    ),
    "a function that sets a variable by another name": before(
        "import options\noptions.go()",
        READ_CHANNEL,
        options="from os import environ as env\ndef go():\n    env.update(SM_CHANNEL_EVAL='/x')\n",
    ),
    "a module that sets arguments": before("import options", options="import sys\nsys.argv[1:] = []\n"),
    "a function that sets arguments": before(
        "import options\noptions.go()", options="import sys\ndef go():\n    del sys.argv[1:]\n"
    ),
    "a function that sets arguments by another name": before(
        "import options\noptions.go()", options="from sys import argv\ndef go():\n    argv[1:] = []\n"
    ),
    "a module of every start": {
        "train.py": "import argparse\nargparse.ArgumentParser().parse_args()\n",
        "sitecustomize.py": "import sys\nsys.argv = ['x']\n",
    },
    "a module with a name of Python's": {
        "train.py": "from cli import parser\nimport random\nparser.parse_args()\n",
        "cli.py": CLI,
        "random.py": "from cli import parser\n" + ADD,
    },
}
