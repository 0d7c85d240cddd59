"""Programs that succeed with `--epochs 3` because of their use of a parser or its arguments."""

# ruff: noqa: E501  # a program a line reads best

EPOCHS = "p.add_argument('--epochs', type=int)\n"
PARSE = "p.parse_args()\n"

PROGRAMS = {
    "a subcommand by default": "s = p.add_subparsers()\nt = s.add_parser('train')\nt.add_argument('--epochs')\n"
    "p.parse_args(['train', *sys.argv[1:]])\n",
    "a subcommand that is not required": "s = p.add_subparsers(dest='c')\ns.add_parser('train')\n" + EPOCHS + PARSE,
    "a parser of a subcommand": "s = p.add_subparsers()\nt = s.add_parser('x')\nt.add_argument('--epochs')\nt.parse_args()\n",
    "a subcommand that may be required": "s = p.add_subparsers(dest='c')\ns.add_parser('train')\n"
    "if len(sys.argv) > 9:\n    s.required = True\n" + EPOCHS + PARSE,
    "a subcommand that is no longer required": "s = p.add_subparsers(dest='c', required=True)\ns.add_parser('train')\ns.required = False\n"
    + EPOCHS
    + PARSE,
    "subcommands of a table": "s = p.add_subparsers(required=True, dest='c')\nfor n in ['train', '3']:\n    s.add_parser(n)\n"
    "p.parse_known_args()\n",
    "a subcommand that is inserted": "s = p.add_subparsers(required=True, dest='c')\nt = s.add_parser('train')\n"
    "t.add_argument('--epochs')\nsys.argv.insert(1, 'train')\np.parse_args()\n",
    "a subcommand of a function": "def add(s):\n    t = s.add_parser('train')\n    t.add_argument('--epochs')\n"
    "add(p.add_subparsers())\np.parse_args(['train', *sys.argv[1:]])\n",
    "a subcommand that another gets": "s = p.add_subparsers(dest='c', required=True)\ns.add_parser('train')\n"
    "map(lambda one: one.add_parser('3'), [s]).__next__()\np.parse_known_args()\n",
    "subparsers of two": "try:\n    p.add_subparsers()\n    p.add_subparsers()\nexcept (SystemExit, argparse.ArgumentError):\n    pass\n"
    "q = argparse.ArgumentParser()\n" + EPOCHS.replace("p.", "q.") + "q.parse_args()\n",
    "a class of subparsers": "class Q(argparse.ArgumentParser):\n    def parse_args(self, *a):\n        return self.parse_known_args(*a)[0]\n"
    "p.add_subparsers(parser_class=Q)\nQ().parse_args()\n",
    "a namespace": EPOCHS + "n = argparse.Namespace()\np.parse_args(namespace=n)\n",
    "a namespace by position": EPOCHS + "p.parse_args(None, argparse.Namespace())\n",
    "a namespace of its own": "class N:\n    pass\np.add_argument('--epochs', required=True)\np.parse_args(namespace=N)\n",
    "defaults that are set": "p.add_argument('--epochs')\np.add_argument('--mode', choices=['a'])\np.set_defaults(mode='b')\n"
    + PARSE,
    "a default for what is required": "p.add_argument('--epochs')\na = p.add_argument('--mode', required=True)\na.required = False\n"
    + PARSE,
    "an argument changed in a list": "p.add_argument('--epochs', type=float)\nm = p.add_argument('--mode', required=True)\n"
    "for a in [m]:\n    a.required = False\n" + PARSE,
    "an argument found by its name": EPOCHS + "p.add_argument('--mode', required=True)\n"
    "next(a for a in p._actions if a.dest == 'mode').required = False\n" + PARSE,
    "a file of arguments": "p = argparse.ArgumentParser(fromfile_prefix_chars='-')\n"
    + "p.add_argument('x', nargs='*')\np.parse_args([])\n",
    "another prefix": "p = argparse.ArgumentParser(prefix_chars='+')\np.add_argument('x', nargs='*')\n" + PARSE,
    "a prefix that is set": "p.prefix_chars = '+'\np.add_argument('x', nargs='*')\np.parse_args([])\n",
    "a conflict that is resolved": "p = argparse.ArgumentParser(conflict_handler='resolve')\np.add_argument('--epochs', choices=['a'])\n"
    "p.add_argument('--epochs', type=int)\n" + PARSE,
    "a conflict that is caught": EPOCHS
    + "try:\n    p.add_argument('--epochs')\nexcept argparse.ArgumentError:\n    pass\n"
    + PARSE,
    "a conflict that is resolved by a variable": "H = dict(conflict_handler='resolve')\np = argparse.ArgumentParser(**H)\n"
    + EPOCHS * 2
    + PARSE,
    "a conflict of parents that is resolved": EPOCHS
    + "q = argparse.ArgumentParser(parents=[p], conflict_handler='resolve')\n"
    "q.add_argument('--epochs')\nq.parse_args()\n",
    "a conflict in a group that is resolved": EPOCHS + "g = p.add_argument_group('g', conflict_handler='resolve')\n"
    "g.add_argument('--epochs')\n" + PARSE,
    "one option in two parsers": EPOCHS + "q = argparse.ArgumentParser()\nq.add_argument('--epochs')\n" + PARSE,
    "one name twice in a call": "p.add_argument('--epochs', '--epochs')\n" + PARSE,
    "an option that is removed first": "o = p.add_argument('--epochs')\np._handle_conflict_resolve(None, [('--epochs', o)])\n"
    + EPOCHS
    + PARSE,
    "an option in one of two branches": "if len(sys.argv) > 9:\n    p.add_argument('--epochs')\nelse:\n    p.add_argument('--epochs')\n"
    + PARSE,
    "a positional twice": EPOCHS + "p.add_argument('x', nargs='*')\np.add_argument('x', nargs='*')\n" + PARSE,
    "a registered type": "p.register('type', 'n', int)\np.add_argument('--epochs', type='n')\n" + PARSE,
    "a registered action": "class A(argparse.Action):\n    def __call__(self, *a):\n        pass\np.register('action', 'store', A)\n"
    + EPOCHS
    + PARSE,
    "a type that is a class": "class N(int):\n    pass\np.add_argument('--epochs', type=N)\n" + PARSE,
    "a type by partial": "import functools\np.add_argument('--epochs', type=functools.partial(int, base=0))\n" + PARSE,
    "a type that is shadowed": "int = str\np.add_argument('--epochs', type=int, choices=['3'])\n" + PARSE,
    "a type that is shadowed by a parameter": "def add(int):\n    p.add_argument('--epochs', type=int, choices=['3'])\nadd(str)\n"
    + PARSE,
    "a type that is shadowed by a loop": "for int in [str]:\n    p.add_argument('--epochs', type=int, choices=['3'])\n"
    + PARSE,
    "a type that is shadowed by an import": "from builtins import str as int\np.add_argument('--epochs', type=int, choices=['3'])\n"
    + PARSE,
    "choices that are a range": "p.add_argument('--epochs', type=int, choices=range(1, 9))\n" + PARSE,
    "choices that are a dictionary": "p.add_argument('--epochs', choices={'3': 1})\n" + PARSE,
    "choices that are keys": "D = {'3': 1}\np.add_argument('--epochs', choices=D.keys())\n" + PARSE,
    "choices that are a sum": "p.add_argument('--epochs', type=int, choices=[1] + [3])\n" + PARSE,
    "choices that are multiplied": "p.add_argument('--epochs', type=int, choices=[3] * 2)\n" + PARSE,
    "choices that are sliced": "C = [1, 2, 3]\np.add_argument('--epochs', type=int, choices=C[1:])\n" + PARSE,
    "choices that are starred": "C = [3]\np.add_argument('--epochs', type=int, choices=[1, *C])\n" + PARSE,
    "choices that a loop grows": "C = [1]\nfor n in (2, 3):\n    C += [n]\np.add_argument('--epochs', type=int, choices=C)\n"
    + PARSE,
    "choices that are replaced": "a = p.add_argument('--epochs', type=int, choices=[1])\na.choices = [3]\n" + PARSE,
    "choices that are set": "C = {1}\nC |= {3}\np.add_argument('--epochs', type=int, choices=C)\n" + PARSE,
    "choices that are added to behind": "C = [1]\np.add_argument('--epochs', type=int, choices=C)\nC[len(C):] = [3]\n"
    + PARSE,
    "choices of an enumeration": "import enum\nclass M(enum.Enum):\n    A = 3\n    def __str__(self):\n        return '3'\n"
    "p.add_argument('--epochs', type=lambda t: M(int(t)), choices=list(M))\n" + PARSE,
    "choices of floats": "p.add_argument('--epochs', type=float, choices=[3])\n" + PARSE,
    "a number of words": "p.add_argument('--epochs', nargs=argparse.REMAINDER)\n" + PARSE,
    "words of other options": "p.add_argument('words', nargs=argparse.REMAINDER)\np.parse_args(['x', *sys.argv[1:]])\n",
    "an optional that takes more": "p.add_argument('--epochs', nargs='+', type=int)\n" + PARSE,
    "a beginning": "p.add_argument('--epochs-number', type=int)\n" + PARSE,
    "a beginning that is shared": "p.add_argument('--epochs-a')\np.add_argument('--epochs')\n" + PARSE,
    "a word that is taken away": "sys.argv.remove('--epochs')\nsys.argv.remove('3')\n" + PARSE,
    "words that are replaced": "sys.argv = sys.argv[:1]\n" + PARSE,
    "words that are replaced by a slice": "sys.argv[1:] = []\n" + PARSE,
    "words that are cleared by another name": "from sys import argv as words\nwords.clear()\n" + PARSE,
    "words that are replaced by a function": "def clean():\n    sys.argv = sys.argv[:1]\nclean()\n" + PARSE,
    "words that are replaced by a lambda": "clean = lambda: sys.argv.__delitem__(slice(1, None))\nclean()\n" + PARSE,
    "words that are replaced by setattr": "setattr(sys, 'argv', ['x'])\n" + PARSE,
    "words that are replaced by a dictionary": "sys.__dict__['argv'] = ['x']\n" + PARSE,
    "words that are replaced by vars": "vars(sys)['argv'] = ['x']\n" + PARSE,
    "words that are changed by a method": "class C:\n    def clean(self):\n        del sys.argv[1:]\nC().clean()\n"
    + PARSE,
    "words that are changed at a call": "class C:\n    def __call__(self):\n        del sys.argv[1:]\nC()()\n" + PARSE,
    "words that a decorator changes": "def clean(f):\n    del sys.argv[1:]\n    return f\n@clean\ndef main():\n    p.parse_args()\nmain()\n",
    "words that are renamed": "sys.argv = [w.replace('--epochs', '--n') for w in sys.argv]\np.add_argument('--n')\n"
    + PARSE,
    "the rest of the words": "p.parse_args(sys.argv[3:])\n",
    "words of a variable": "p.parse_args(os.environ.get('W', '').split())\n",
    "no words": "p.parse_args(args=[])\n",
    "an empty tuple": "p.parse_args(())\n",
    "words by a name": "WORDS = None\nWORDS = []\np.parse_args(WORDS)\n",
    "words by a default": "def main(words=[]):\n    p.parse_args(words)\nmain()\n",
    "words by a keyword": "def main(words=None):\n    p.parse_args(words)\nmain(words=[])\n",
    "words by a keyword in a dictionary": "def main(words=None):\n    p.parse_args(words)\nmain(**{'words': []})\n",
    "words by star": "def main(words=None):\n    p.parse_args(words)\nmain(*[[]])\n",
    "words by a condition": "p.parse_args([] if os.environ.get('SM_HOSTS') else None)\n",
    "words by or": "p.parse_args(os.environ.get('X') or [])\n",
    "words by and": "p.parse_args(os.environ.get('SM_HOSTS') and [])\n",
    "words by a walrus": "p.parse_args(w := [])\n",
    "known arguments": "a, rest = p.parse_known_args()\n",
    "known arguments by another parser": "a, rest = p.parse_known_args()\nq = argparse.ArgumentParser()\nq.add_argument('--epochs')\nq.parse_args(rest)\n",
    "known arguments of the first word": "a = p.parse_known_args()[0]\n",
    "arguments between": "a = p.parse_known_intermixed_args()\n",
    "an error that is overridden": "p.error = lambda message: None\n"
    + "p.add_argument('--epochs', type=int)\n"
    + PARSE,
    "an error that is overridden and leaves": "def leave(message):\n    sys.exit(0)\np.error = leave\n" + PARSE,
    "an error of a class": "class Q(argparse.ArgumentParser):\n    def error(self, message):\n        sys.exit(0)\nQ().parse_args()\n",
    "an exit of a class": "class Q(argparse.ArgumentParser):\n    def exit(self, *a):\n        raise SystemExit(0)\nQ().parse_args()\n",
    "no exit on error": "p = argparse.ArgumentParser(exit_on_error=False)\ntry:\n    p.parse_args()\nexcept (argparse.ArgumentError, SystemExit):\n    pass\n",
    "a parser that is copied": "import copy\nq = copy.deepcopy(p)\nq.add_argument('--epochs')\nq.parse_args()\n",
    "a copy that shares": "import copy\nq = copy.copy(p)\nq.add_argument('--epochs')\n" + PARSE,
    "a parent that is added to": "q = argparse.ArgumentParser(parents=[p], add_help=False)\nq.add_argument('--epochs')\nq.parse_args()\n",
    "a parent with a group": "q = argparse.ArgumentParser(add_help=False)\ng = q.add_argument_group('g')\ng.add_argument('--epochs')\n"
    "p = argparse.ArgumentParser(parents=[q])\n" + PARSE,
    "parents that are a list of a function": "def parents():\n    q = argparse.ArgumentParser(add_help=False)\n    q.add_argument('--epochs')\n    yield q\n"
    "p = argparse.ArgumentParser(parents=list(parents()))\n" + PARSE,
    "a group of a group": "g = p.add_argument_group('g')\nh = g.add_mutually_exclusive_group()\nh.add_argument('--epochs')\n"
    + PARSE,
    "a required group": "g = p.add_mutually_exclusive_group(required=True)\ng.add_argument('--epochs')\ng.add_argument('--mode')\n"
    + PARSE,
    "a group that is no longer required": "p.add_argument('--epochs')\ng = p.add_mutually_exclusive_group(required=True)\ng.add_argument('--mode')\ng.required = False\n"
    + PARSE,
    "keywords of add_argument": "W = {'type': int}\np.add_argument('--epochs', **W)\n" + PARSE,
    "words of add_argument": "W = ['--epochs']\np.add_argument(*W)\n" + PARSE,
    "arguments of a table": "for n, t in {'epochs': int}.items():\n    p.add_argument('--' + n, type=t)\n" + PARSE,
    "arguments of a dataclass": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    epochs: int = 1\n"
    "for f in dataclasses.fields(A):\n    p.add_argument('--' + f.name, type=f.type)\n" + PARSE,
    "arguments of a signature": "import inspect\ndef train(epochs=1):\n    pass\nfor n in inspect.signature(train).parameters:\n    p.add_argument('--' + n)\n"
    + PARSE,
    "arguments of annotations": "class A:\n    epochs: int\nfor n in A.__annotations__:\n    p.add_argument('--' + n)\n"
    + PARSE,
    "arguments of a variable": "for n in os.environ.get('X', 'epochs').split():\n    p.add_argument('--' + n)\n"
    + PARSE,
    "an argument in an expression": "[] or p.add_argument('--epochs')\n" + PARSE,
    "an argument in a default": "def f(a=p.add_argument('--epochs')):\n    pass\n" + PARSE,
    "an argument in a decorator": "@(lambda f: (p.add_argument('--epochs'), f)[1])\ndef f():\n    pass\n" + PARSE,
    "an argument in an annotation": "def f(a: p.add_argument('--epochs')):\n    pass\n" + PARSE,
    "an argument in an annotation of a result": "def f() -> p.add_argument('--epochs'):\n    pass\n" + PARSE,
    "an argument in an annotation of a variable": "x: p.add_argument('--epochs') = 1\n" + PARSE,
    "an argument in a bare annotation": "x: p.add_argument('--epochs')\n" + PARSE,
    "an argument in a base": "class A(*[p.add_argument('--epochs')][:0]):\n    pass\n" + PARSE,
    "an argument in a keyword of a class": "class A(metaclass=[p.add_argument('--epochs'), type][1]):\n    pass\n"
    + PARSE,
    "an argument in an assert": "assert p.add_argument('--epochs')\n" + PARSE,
    "an argument in the message of an assert": "try:\n    assert 0, p.add_argument('--epochs')\nexcept AssertionError:\n    pass\n"
    + PARSE,
    "an argument in a raise": "try:\n    raise ValueError(p.add_argument('--epochs'))\nexcept ValueError:\n    pass\n"
    + PARSE,
    "an argument in the cause": "try:\n    raise ValueError from [p.add_argument('--epochs'), None][1]\nexcept ValueError:\n    pass\n"
    + PARSE,
    "an argument in a subscript": "x = {}\nx[str(p.add_argument('--epochs'))] = 1\n" + PARSE,
    "an argument in a slice": "x = [1][:[p.add_argument('--epochs'), 1][1]]\n" + PARSE,
    "an argument in a deletion": "x = {None: 1}\ndel x[[p.add_argument('--epochs'), None][1]]\n" + PARSE,
    "an argument in an f-string's width": "x = f'{1:{[p.add_argument(\"--epochs\"), 5][1]}}'\n" + PARSE,
    "an argument in a case": "match [p.add_argument('--epochs')]:\n    case _:\n        pass\n" + PARSE,
    "an argument in a guard": "match 1:\n    case 1 if p.add_argument('--epochs'):\n        pass\n" + PARSE,
    "an argument in a while": "n = 0\nwhile n < 1 and p.add_argument('--epochs'):\n    n += 1\n" + PARSE,
    "an argument in an iterable": "for x in [p.add_argument('--epochs')]:\n    pass\n" + PARSE,
    "an argument in the type of a handler": "try:\n    1 / 0\nexcept [p.add_argument('--epochs'), ZeroDivisionError][1]:\n    pass\n"
    + PARSE,
    "an argument by a with": "with contextlib.nullcontext(p.add_argument('--epochs')):\n    pass\n" + PARSE,
    "an argument by an exit stack": "with contextlib.ExitStack() as s:\n    s.callback(p.add_argument, '--epochs')\n"
    + PARSE,
    "an argument in an else of a loop": "for _ in ():\n    pass\nelse:\n    p.add_argument('--epochs')\n" + PARSE,
    "an argument in an else of a try": "try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    p.add_argument('--epochs')\n"
    + PARSE,
    "an argument by two names": "q = p if os.environ.get('SM_HOSTS') else None\nq.add_argument('--epochs')\n" + PARSE,
    "an argument by a name of a branch": "if os.environ.get('SM_HOSTS'):\n    q = p\nelse:\n    q = argparse.ArgumentParser()\nq.add_argument('--epochs')\n"
    + PARSE,
    "an argument by a name of a loop": "q = None\nfor q in [p]:\n    pass\nq.add_argument('--epochs')\n" + PARSE,
    "an argument by a name of a try": "q = argparse.ArgumentParser()\ntry:\n    int('x')\nexcept ValueError:\n    q = p\nq.add_argument('--epochs')\n"
    + PARSE,
    "an argument by a name of a handler": "try:\n    raise ValueError(p)\nexcept ValueError as e:\n    e.args[0].add_argument('--epochs')\n"
    + PARSE,
    "an argument by a function of a branch": "if os.environ.get('SM_HOSTS'):\n    def add():\n        p.add_argument('--epochs')\nelse:\n    def add():\n        pass\nadd()\n"
    + PARSE,
    "an argument by a function of a loop": "def add(q):\n    pass\nfor n in range(2):\n    add(p)\n    def add(q):\n        q.add_argument('--epochs')\n"
    + PARSE,
    "an argument by a name of a while": "q = p\nn = 0\nwhile n < 1:\n    q.add_argument('--epochs')\n    q = None\n    n += 1\n"
    + PARSE,
    "an argument by a name of a match": "match [p]:\n    case [q]:\n        pass\nq.add_argument('--epochs')\n" + PARSE,
    "an argument by a global": "q = None\ndef f():\n    global q\n    q = p\nf()\nq.add_argument('--epochs')\n" + PARSE,
    "an argument by a nonlocal": "def f():\n    q = None\n    def g():\n        nonlocal q\n        q = p\n    g()\n    q.add_argument('--epochs')\nf()\n"
    + PARSE,
    "an argument by a generator's method": "class C:\n    def __init__(self):\n        self.p = p\n    def go(self):\n        self.p.add_argument('--epochs')\n        yield\nlist(C().go())\n"
    + PARSE,
    "an argument by a coroutine's method": "import asyncio\nclass C:\n    def __init__(self):\n        self.p = p\n    async def go(self):\n        self.p.add_argument('--epochs')\nasyncio.run(C().go())\n"
    + PARSE,
    "an argument by recursion": "class C:\n    def __init__(self):\n        self.p = p\n    def go(self, n):\n        if n:\n            self.go(n - 1)\n        else:\n            self.p.add_argument('--epochs')\nC().go(2)\n"
    + PARSE,
    "an argument by a send": "def g():\n    q = yield\n    q.add_argument('--epochs')\n    yield\ni = g()\nnext(i)\ni.send(p)\n"
    + PARSE,
    "an argument by a static method": "class C:\n    @staticmethod\n    def go(q):\n        q.add_argument('--epochs')\nC.go(p)\n"
    + PARSE,
    "an argument by a class method": "class C:\n    @classmethod\n    def go(cls, q=p):\n        q.add_argument('--epochs')\nC.go()\n"
    + PARSE,
    "an argument by super": "class A:\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def go(self):\n        super().go()\nB().go()\n"
    + PARSE,
    "an argument by a second base": "class A:\n    pass\nclass M:\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A, M):\n    pass\nB().go()\n"
    + PARSE,
    "an argument by __new__": "class A:\n    def __new__(cls):\n        p.add_argument('--epochs')\nA()\n" + PARSE,
    "an argument by __getattr__": "class A:\n    def __getattr__(self, n):\n        p.add_argument('--epochs')\nA().x\n"
    + PARSE,
    "an argument by __del__": "class A:\n    def __del__(self):\n        p.add_argument('--epochs')\na = A()\ndel a\n"
    + PARSE,
    "an argument by __set_name__": "class D:\n    def __set_name__(self, o, n):\n        p.add_argument('--epochs')\nclass A:\n    x = D()\n"
    + PARSE,
    "an argument by __post_init__": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    def __post_init__(self):\n        p.add_argument('--epochs')\nA()\n"
    + PARSE,
    "an argument by a factory": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = dataclasses.field(default_factory=lambda: p.add_argument('--epochs'))\nA()\n"
    + PARSE,
    "an argument by an enumeration": "import enum\nclass A(enum.Enum):\n    X = 1\n    def __init__(self, v):\n        p.add_argument('--epochs')\n"
    + PARSE,
    "an argument by a metaclass": "class M(type):\n    def __init__(cls, *a):\n        p.add_argument('--epochs')\nclass A(metaclass=M):\n    pass\n"
    + PARSE,
    "an argument by __class_getitem__": "class A:\n    def __class_getitem__(cls, k):\n        p.add_argument('--epochs')\nA[1]\n"
    + PARSE,
    "an argument by subclasses": "class A:\n    pass\nclass B(A):\n    def go(self):\n        p.add_argument('--epochs')\nfor c in A.__subclasses__():\n    c().go()\n"
    + PARSE,
    "an argument by a singleton": "class A:\n    it = None\n    def __init__(self):\n        A.it = self\n        self.p = p\nA()\nA.it.p.add_argument('--epochs')\n"
    + PARSE,
    "an argument by type()": "A = type('A', (), {'go': lambda self: p.add_argument('--epochs')})\nA().go()\n" + PARSE,
    "an argument by operator": "import operator\noperator.methodcaller('add_argument', '--epochs')(p)\n" + PARSE,
    "an argument by reduce": "import functools\nfunctools.reduce(lambda q, n: (q.add_argument(n), q)[1], ['--epochs'], p)\n"
    + PARSE,
    "an argument by single dispatch": "import functools\n@functools.singledispatch\ndef add(q):\n    q.add_argument('--epochs')\nadd(p)\n"
    + PARSE,
    "an argument by a cache": "import functools\n@functools.cache\ndef get():\n    return p\nget().add_argument('--epochs')\n"
    + PARSE,
    "an argument by atexit": "p.add_argument('--epochs')\nimport atexit\natexit.register(print)\n" + PARSE,
    "an argument by a string's format": "x = '{0.epochs}'.format(type('A', (), {'epochs': property(lambda s: p.add_argument('--epochs'))})())\n"
    + PARSE,
    "an argument by a percent": "class A:\n    def __str__(self):\n        p.add_argument('--epochs')\n        return ''\nx = '%s' % A()\n"
    + PARSE,
    "an argument by a print": "class A:\n    def __repr__(self):\n        p.add_argument('--epochs')\n        return ''\nprint([A()])\n"
    + PARSE,
    "an argument by an iterator": "class A:\n    def __iter__(self):\n        p.add_argument('--epochs')\n        return iter(())\nfor _ in A():\n    pass\n"
    + PARSE,
    "an argument by unpacking": "class A:\n    def __iter__(self):\n        p.add_argument('--epochs')\n        return iter((1, 2))\na, b = A()\n"
    + PARSE,
    "an argument by a truth": "class A:\n    def __bool__(self):\n        p.add_argument('--epochs')\n        return True\nif A():\n    pass\n"
    + PARSE,
    "an argument by a length": "class A:\n    def __len__(self):\n        p.add_argument('--epochs')\n        return 1\nlen(A())\n"
    + PARSE,
    "an argument by a hash": "class A:\n    def __hash__(self):\n        p.add_argument('--epochs')\n        return 1\n{A(): 1}\n"
    + PARSE,
    "an argument by a thread pool": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as e:\n    e.submit(p.add_argument, '--epochs').result()\n"
    + PARSE,
    "an argument by a profile": "def f(frame, event, arg):\n    sys.setprofile(None)\n    p.add_argument('--epochs')\nsys.setprofile(f)\nlen([])\n"
    + PARSE,
    "an argument by a signal": "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: p.add_argument('--epochs'))\nos.kill(os.getpid(), signal.SIGUSR1)\n"
    + PARSE,
    "an argument by a warning": "import warnings\nwarnings.showwarning = lambda *a: p.add_argument('--epochs')\nwarnings.warn('x')\n"
    + PARSE,
    "an argument by a log": "import logging\nclass H(logging.Handler):\n    def emit(self, r):\n        p.add_argument('--epochs')\nlogging.getLogger().addHandler(H())\nlogging.error('x')\n"
    + PARSE,
    "an argument by a format of a date": "import json\njson.dumps(object(), default=lambda o: str(p.add_argument('--epochs')))\n"
    + PARSE,
}
