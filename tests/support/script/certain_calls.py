"""Sources whose script imports `absent` in every run, or in none, by calls of all kinds."""

CLASS = "class T:\n    def __init__(self):\n        self.rate = 1\n    def run(self):\n        import absent\n"
TWO = "class B:\n    def run(self):\n        import absent\nclass U:\n    def run(self):\n        pass\n"
MAIN = "def main():\n    import absent\n"
ROWS = "def rows():\n    import absent\n    yield 1\n"
CONTEXT = "import contextlib\n@contextlib.contextmanager\ndef one():\n"
WITH_CLASS = "class C:\n    def __enter__(self):\n        {enter}\n    def __exit__(self, *a):\n        {exit}\n"
WRAPS = (
    "import functools\ndef timed(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        {}\n    return inner\n"
)

CERTAIN = {
    "a method of a new instance": {"train.py": f"{CLASS}T().run()\n"},
    "a method of an instance with a name": {"train.py": f"{CLASS}main = T()\nmain.run()\n"},
    "a method that another one calls": {"train.py": f"{CLASS}    def go(self):\n        self.run()\nT().go()\n"},
    "a method that a class inherits": {"train.py": f"{TWO}class C(B):\n    pass\nC().run()\n"},
    "super": {"train.py": f"{TWO}class C(B):\n    def run(self):\n        super().run()\nC().run()\n"},
    "super of super": {
        "train.py": f"{TWO}class C(B):\n    def run(self):\n        super().run()\nclass D(C):\n    pass\nD().run()\n"
    },
    "a class method": {"train.py": "class T:\n    @classmethod\n    def load(cls):\n        import absent\nT.load()\n"},
    "a class method of a class method": {
        "train.py": "class T:\n    @classmethod\n    def a(cls):\n        cls.b()\n"
        "    @staticmethod\n    def b():\n        import absent\nT.a()\n"
    },
    "a static method of an instance": {
        "train.py": "class T:\n    @staticmethod\n    def load():\n        import absent\nT().load()\n"
    },
    "a class of a module": {"train.py": "from app import T\nT().run()\n", "app.py": CLASS},
    "a class of a package": {
        "train.py": "import lib.app as app\nt = app.T()\nt.run()\n",
        "lib/__init__.py": "",
        "lib/app.py": CLASS,
    },
    "a base of another module": {
        "train.py": "import app\nclass C(app.T):\n    pass\nC().run()\n",
        "app.py": CLASS,
    },
    "a decorator that wraps": {"train.py": f"{WRAPS.format('return f(*a, **k)')}@timed\n{MAIN}main()\n"},
    "a decorator of a module": {
        "train.py": f"from tools import timed\n@timed\n{MAIN}main()\n",
        "tools.py": WRAPS.format("f()"),
    },
    "a decorator that calls": {"train.py": f"def now(f):\n    f()\n    return f\n@now\n{MAIN}"},
    "a decorator of a library": {"train.py": f"import functools\n@functools.lru_cache(maxsize=None)\n{MAIN}main()\n"},
    "a function that is handed on": {"train.py": f"def call(f):\n    f()\n{MAIN}call(main)\n"},
    "a context": {"train.py": f"{CONTEXT}    import absent\n    yield 1\nwith one() as x:\n    pass\n"},
    "the body of a context": {"train.py": f"{CONTEXT}    yield 1\nwith one() as x:\n    import absent\n"},
    "the start of a context": {
        "train.py": WITH_CLASS.format(enter="import absent", exit="pass") + "with C():\n    pass\n"
    },
    "the body of a context of a class": {
        "train.py": WITH_CLASS.format(enter="return self", exit="return False") + "with C() as c:\n    import absent\n"
    },
    "a loop over a generator": {"train.py": f"{ROWS}for row in rows():\n    pass\n"},
    "a list of a generator": {"train.py": f"{ROWS}print(list(rows()))\n"},
    "a comprehension over a generator": {"train.py": f"{ROWS}print([row for row in rows()])\n"},
    "a generator with a name": {"train.py": f"{ROWS}found = rows()\nprint(next(found))\n"},
    "a generator of a generator": {"train.py": f"{ROWS}def all_of():\n    yield from rows()\nprint(list(all_of()))\n"},
    "a handler that raises again": {
        "train.py": f"{MAIN}try:\n    print(1)\n    main()\nexcept OSError:\n    print(2)\n    raise\n"
    },
    "a handler of an interruption": {
        "train.py": f"{MAIN}try:\n    print(1)\n    main()\nexcept KeyboardInterrupt:\n    pass\n"
    },
    "a context that closes": {
        "train.py": f"{CONTEXT}    with open('train.py') as file:\n        yield file\nwith one():\n    import absent\n"
    },
    "a handler that raises another error": {
        "train.py": "def main():\n    try:\n        import absent\n    except ImportError as error:\n"
        "        print(error)\n        raise RuntimeError('install it') from error\nmain()\n"
    },
    "a function that a package imports": {
        "train.py": "from app import main\nmain()\n",
        "app/__init__.py": "from .core import main\n",
        "app/core.py": MAIN,
    },
    "a base that a package imports by another name": {
        "train.py": "import app\nclass C(app.Base):\n    pass\nC().run()\n",
        "app/__init__.py": "from app.core import T as Base\n",
        "app/core.py": CLASS,
    },
    "code after an exit with a failure": {
        "train.py": f"import sys\nif len(sys.argv) > 9:\n    sys.exit(f'{{sys.argv}}')\n{MAIN}main()\n"
    },
    "a module that is a program, too": {
        "train.py": f"import other\n{MAIN}main()\n",
        "other.py": "import sys\nif __name__ == '__main__':\n    sys.exit(0)\n",
    },
    "attributes of arguments that a loop sets": {
        "train.py": f"import argparse\n{CLASS}args = argparse.Namespace()\nfor name in ('a', 'b'):\n"
        "    setattr(args, name, 1)\nT().run()\n"
    },
}
DOUBTFUL = {
    "another instance": {"train.py": f"{TWO}t = B()\nt = U()\nt.run()\n"},
    "an instance of some runs": {
        "train.py": f"import os\n{TWO}t = U()\nif os.environ.get('NO'):\n    t = B()\nt.run()\n"
    },
    "an overridden method": {
        "train.py": f"{CLASS}    def go(self):\n        self.run()\n"
        f"class C(T):\n    def run(self):\n        pass\nC().go()\n"
    },
    "an overridden class method": {
        "train.py": "class A:\n    @classmethod\n    def a(cls):\n        cls.b()\n    @classmethod\n    def b(cls):\n"
        "        import absent\nclass B(A):\n    @classmethod\n    def b(cls):\n        pass\nB.a()\n"
    },
    "two bases": {"train.py": f"{TWO}class C(U, B):\n    pass\nC().run()\n"},
    "super with two bases": {
        "train.py": f"{TWO}class A(B):\n    def run(self):\n        super().run()\nclass M(B):\n"
        f"    def run(self):\n        pass\nclass C(A, M):\n    pass\nC().run()\n"
    },
    "an attribute of the instance": {"train.py": CLASS.replace("self.rate = 1", "self.run = print") + "T().run()\n"},
    "an attribute that is set later": {"train.py": f"{CLASS}T.run = print\nT.run()\n"},
    "an attribute that setattr sets": {"train.py": f"{CLASS}setattr(T, 'run', lambda self: 1)\nT().run()\n"},
    "a function that its importer sets": {"train.py": "import a\na.main = print\na.main()\n", "a.py": MAIN},
    "a class with another maker": {
        "train.py": CLASS.replace("__init__(self)", "__new__(cls)").replace("self.rate = 1", "return U()")
        + "class U:\n    def run(self):\n        pass\nT().run()\n"
    },
    "a metaclass": {
        "train.py": f"class M(type):\n    def __call__(cls):\n        return U()\n"
        f"{TWO}class C(B, metaclass=M):\n    pass\nC().run()\n"
    },
    "a function that is only named": {"train.py": f"def keep(f):\n    return f\n{MAIN}keep(main)\n"},
    "a parameter of the same name": {"train.py": f"{MAIN}def call(main):\n    main()\ncall(print)\n"},
    "a definition in a function": {
        "train.py": f"{TWO}def main():\n    class B:\n        def run(self):\n            pass\n    B().run()\nmain()\n"
    },
    "a decorator that calls nothing": {"train.py": f"{WRAPS.format('pass')}@timed\n{MAIN}main()\n"},
    "a decorator with a condition": {"train.py": f"{WRAPS.format('return a and f(*a)')}@timed\n{MAIN}main()\n"},
    "a decorator with another parameter": {
        "train.py": WRAPS.format("f()").replace("    @functools", "    f = print\n    @functools")
        + f"@timed\n{MAIN}main()\n"
    },
    "a context that suppresses": {
        "train.py": f"{CONTEXT}    try:\n        yield\n    except ImportError:\n"
        f"        pass\nwith one():\n    import absent\n"
    },
    "a context of a class that suppresses": {
        "train.py": WITH_CLASS.format(enter="pass", exit="return True") + "with C():\n    import absent\n"
    },
    "a context with a name that suppresses": {
        "train.py": "import contextlib\nno = contextlib.suppress(ImportError)\nwith no:\n    import absent\n"
    },
    "a generator that nothing takes from": {"train.py": f"{ROWS}found = rows()\n"},
    "a generator expression": {"train.py": f"{ROWS}found = (row for row in rows())\n"},
    "what a generator does later": {"train.py": "def rows():\n    yield 1\n    import absent\nprint(next(rows()))\n"},
    "a function that ends the script": {
        "train.py": f"import sys\ndef stop():\n    sys.exit(0)\n{CLASS}stop()\nT().run()\n"
    },
    "a constructor that ends the script": {
        "train.py": CLASS.replace("self.rate = 1", "raise SystemExit(0)") + "T().run()\n"
    },
    "a context around a yield that suppresses": {
        "train.py": f"{CONTEXT}    with contextlib.suppress(ImportError):\n        yield\n"
        "with one():\n    import absent\n"
    },
    "a context that returns at the end": {
        "train.py": f"{CONTEXT}    try:\n        yield\n    finally:\n        return\nwith one():\n    import absent\n"
    },
    "a context of a class that exits": {
        "train.py": WITH_CLASS.format(enter="pass", exit="raise SystemExit(0)") + "with C():\n    import absent\n"
    },
    "another error before": {
        "train.py": "import os\ntry:\n    os.environ['NO_SUCH']\n    import absent\nexcept KeyError:\n    pass\n"
    },
    "what a call of an instance returns": {
        "train.py": CLASS.replace("__init__(self)", "__call__(self)").replace("self.rate = 1", "return U()")
        + "class U:\n    def run(self):\n        pass\nt = T()\nt().run()\n"
    },
    "two attributes that are set": {
        "train.py": CLASS.replace("self.rate = 1", "self.run, self.rate = print, 1") + "T().run()\n"
    },
    "an attribute with a type": {
        "train.py": CLASS.replace("self.rate = 1", "self.run: object = print") + "T().run()\n"
    },
    "a method that a class imports": {
        "train.py": f"{CLASS}    from tools import run\nT().run()\n",
        "tools.py": "def run(self):\n    pass\n",
    },
    "another definition in a branch": {
        "train.py": "from a import main\nmain()\n",
        "a.py": f"import sys\n{MAIN}if sys.version_info > (3,):\n    def main():\n        pass\n",
    },
    "another definition that is imported": {
        "train.py": "from a import main\nmain()\n",
        "a.py": f"{MAIN}try:\n    from b import main\nexcept OSError:\n    pass\n",
        "b.py": "def main():\n    pass\n",
    },
    "another definition of all that is imported": {
        "train.py": "import a\na.main()\n",
        "a.py": f"{MAIN}from b import *\n",
        "b.py": "def main():\n    pass\n",
    },
    "an attribute of a name that is set": {
        "train.py": f"{CLASS}for name in ['run']:\n    setattr(T, name, lambda self: 1)\nT().run()\n"
    },
    "a base that changes its classes": {
        "train.py": f"{CLASS}    def __init_subclass__(cls):\n        cls.run = print\n"
        "class C(T):\n    pass\nC().run()\n"
    },
    "code after an exit of some runs": {
        "train.py": f"import sys\nif len(sys.argv) < 9:\n    sys.exit()\n{MAIN}main()\n"
    },
    "a function after an exit of some runs": {
        "train.py": "import sys\ndef main():\n    for one in sys.argv:\n        raise SystemExit(0)\n"
        "    import absent\nmain()\n"
    },
    "code after a call that may end the script": {
        "train.py": f"import sys\ndef stop():\n    if sys.argv:\n        sys.exit(0)\n{CLASS}stop()\nT().run()\n"
    },
    "code after another program": {
        "train.py": "import os\nimport sys\nif 'STARTED' not in os.environ:\n    os.environ['STARTED'] = '1'\n"
        f"    os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])\n{MAIN}main()\n"
    },
    "a function that may call one that ends the script": {
        "train.py": "import sys\ndef stop():\n    sys.exit(0)\ndef check():\n    if sys.argv:\n        stop()\n"
        f"{MAIN}check()\nmain()\n"
    },
    "a method that may end the script": {
        "train.py": "import sys\nclass T:\n    def stop(self):\n        sys.exit(0)\n    def run(self):\n"
        "        if sys.argv:\n            self.stop()\n        import absent\nT().run()\n"
    },
    "an exit behind an operator": {"train.py": f"import sys\n{MAIN}sys.argv and sys.exit(0)\nmain()\n"},
    "an exit of a parser": {
        "train.py": f"import argparse\n{MAIN}parser = argparse.ArgumentParser()\nparser.exit()\nmain()\n"
    },
    "an exit of a module": {
        "train.py": f"import guard\n{MAIN}main()\n",
        "guard.py": "import sys\nif sys.argv:\n    sys.exit(0)\n",
    },
    "a handler that starts another program": {
        "train.py": "import os\nimport sys\ndef main():\n    try:\n        import absent\n    except ImportError:\n"
        "        os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])\n        raise\nmain()\n"
    },
    "a function that a package takes where it can": {
        "train.py": "from app import main\nmain()\n",
        "app/__init__.py": "from .core import main\nfrom .safe import main\n",
        "app/core.py": MAIN,
        "app/safe.py": "def main():\n    pass\n",
    },
    "a function that returns at the end": {
        "train.py": "def main():\n    try:\n        import absent\n    finally:\n        return\nmain()\n"
    },
    "a loop that ends at the end": {
        "train.py": f"{MAIN}while True:\n    try:\n        main()\n    finally:\n        break\n"
    },
    "a function of a class body": {
        "train.py": f"{MAIN}class T:\n    def main():\n        return 1\n    found = main()\n"
    },
    "attributes that a constructor takes": {
        "train.py": CLASS.replace(
            "(self):\n        self.rate = 1", "(self, **more):\n        self.__dict__.update(more)"
        )
        + "T(run=print).run()\n"
    },
    "attributes that a loop sets": {
        "train.py": CLASS.replace("self.rate = 1", "[setattr(self, name, print) for name in ('run', 'a')]")
        + "T().run()\n"
    },
    "an entry of the attributes": {"train.py": f"{CLASS}t = T()\nt.__dict__['run'] = print\nt.run()\n"},
    "an entry of vars": {"train.py": f"{CLASS}t = T()\nvars(t)['run'] = print\nt.run()\n"},
    "an attribute past the class": {
        "train.py": CLASS.replace("self.rate = 1", "object.__setattr__(self, 'run', print)") + "T().run()\n"
    },
    "a descriptor that changes its class": {
        "train.py": "class D:\n    def __set_name__(self, owner, name):\n        owner.run = lambda self: 1\n"
        + CLASS.replace("class T:\n", "class T:\n    made = D()\n")
        + "T().run()\n"
    },
    "a base that wraps the methods of its classes": {
        "train.py": "class B:\n    def __init_subclass__(cls):\n        for name in list(vars(cls)):\n"
        "            setattr(cls, name, lambda self: 1)\n" + CLASS.replace("T:", "T(B):", 1) + "T.run(1)\n"
    },
}
