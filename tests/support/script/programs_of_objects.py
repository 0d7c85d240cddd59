"""Programs that succeed with `--epochs 3` because of an object, a library, or a copy of the arguments."""

# ruff: noqa: E501  # a program a line reads best

PARSE = "p.parse_args()\n"

PROGRAMS = {
    "super with words": "class A:\n    def __init__(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def __init__(self):\n        super(B, self).__init__()\nB()\n"
    + PARSE,
    "super of two": "class A:\n    def go(self):\n        pass\nclass M(A):\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def go(self):\n        super().go()\nclass C(B, M):\n    pass\nC().go()\n"
    + PARSE,
    "super of a mixin": "class A:\n    def __init__(self):\n        self.p = p\n        self.more()\n    def more(self):\n        pass\nclass B(A):\n    def more(self):\n        super().more()\n        self.p.add_argument('--epochs')\nB().p.parse_args()\n",
    "super in a nested function": "class A:\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def go(self):\n        def f():\n            super(B, self).go()\n        f()\nB().go()\n"
    + PARSE,
    "super in a comprehension": "class A:\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def go(self):\n        [super(B, self).go() for _ in [1]]\nB().go()\n"
    + PARSE,
    "super kept": "class A:\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def go(self):\n        s = super()\n        s.go()\nB().go()\n"
    + PARSE,
    "super of a class method": "class A:\n    @classmethod\n    def go(cls):\n        p.add_argument('--epochs')\nclass B(A):\n    @classmethod\n    def go(cls):\n        super().go()\nB.go()\n"
    + PARSE,
    "super's attribute": "class A:\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def go(self):\n        f = super().go\n        f()\nB().go()\n"
    + PARSE,
    "super by getattr": "class A:\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def go(self):\n        getattr(super(), 'go')()\nB().go()\n"
    + PARSE,
    "a base's name": "class A:\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    def go(self):\n        A.go(self)\nB().go()\n"
    + PARSE,
    "a property set": "class A:\n    def __init__(self):\n        self._x = 0\n    @property\n    def x(self):\n        return 1\n    @x.setter\n    def x(self, v):\n        p.add_argument('--epochs')\nA().x = 1\n"
    + PARSE,
    "__setattr__": "class A:\n    def __setattr__(self, n, v):\n        p.add_argument('--epochs')\nA().x = 1\n"
    + PARSE,
    "__setitem__": "class A:\n    def __setitem__(self, n, v):\n        p.add_argument('--epochs')\nA()['x'] = 1\n"
    + PARSE,
    "__iadd__": "class A:\n    def __iadd__(self, n):\n        p.add_argument('--epochs')\n        return self\na = A()\na += 1\n"
    + PARSE,
    "__contains__": "class A:\n    def __contains__(self, n):\n        p.add_argument('--epochs')\n        return True\n1 in A()\n"
    + PARSE,
    "__missing__": "class A(dict):\n    def __missing__(self, n):\n        p.add_argument('--epochs')\nA()['x']\n"
    + PARSE,
    "__neg__": "class A:\n    def __neg__(self):\n        p.add_argument('--epochs')\n-A()\n" + PARSE,
    "__await__": "import asyncio\nclass A:\n    def __await__(self):\n        p.add_argument('--epochs')\n        return iter(())\nasync def f():\n    await A()\nasyncio.run(f())\n"
    + PARSE,
    "a descriptor": "class D:\n    def __get__(self, o, t):\n        p.add_argument('--epochs')\nclass A:\n    x = D()\nA().x\n"
    + PARSE,
    "a descriptor of a class": "class D:\n    def __get__(self, o, t):\n        p.add_argument('--epochs')\nclass A:\n    x = D()\nA.x\n"
    + PARSE,
    "a user list": "import collections\nclass A(collections.UserList):\n    def append(self, v):\n        v.add_argument('--epochs')\nA().append(p)\n"
    + PARSE,
    "an inner class": "class A:\n    class B:\n        def go(self):\n            p.add_argument('--epochs')\nA.B().go()\n"
    + PARSE,
    "a class in a function": "def f():\n    class A:\n        def go(self):\n            p.add_argument('--epochs')\n    return A\nf()().go()\n"
    + PARSE,
    "a class by a condition": "if os.environ.get('SM_HOSTS'):\n    class A:\n        def go(self):\n            p.add_argument('--epochs')\nelse:\n    class A:\n        def go(self):\n            pass\nA().go()\n"
    + PARSE,
    "a class that is replaced": "class A:\n    def go(self):\n        pass\nclass B:\n    def go(self):\n        p.add_argument('--epochs')\nA = B\nA().go()\n"
    + PARSE,
    "a method that is replaced": "class A:\n    def go(self):\n        pass\na = A()\na.go = lambda: p.add_argument('--epochs')\na.go()\n"
    + PARSE,
    "a method that a loop replaces": "class A:\n    def go(self):\n        pass\nfor n in ['go']:\n    setattr(A, n, lambda self: p.add_argument('--epochs'))\nA().go()\n"
    + PARSE,
    "an attribute of a class that is a function": "class A:\n    pass\nA.go = lambda self: p.add_argument('--epochs')\nA().go()\n"
    + PARSE,
    "an attribute that is set twice": "class A:\n    pass\na = A()\na.q = argparse.ArgumentParser()\na.q = p\na.q.add_argument('--epochs')\n"
    + PARSE,
    "an attribute that another method sets": "class A:\n    def set(self, q):\n        self.q = q\na = A()\na.set(argparse.ArgumentParser())\na.set(p)\na.q.add_argument('--epochs')\n"
    + PARSE,
    "an attribute that is deleted": "class A:\n    q = p\na = A()\na.q = argparse.ArgumentParser()\ndel a.q\na.q.add_argument('--epochs')\n"
    + PARSE,
    "an attribute of a class over one of an object": "class A:\n    q = argparse.ArgumentParser()\nA.q = p\nA().q.add_argument('--epochs')\n"
    + PARSE,
    "a parser in a closure that is replaced": "def f():\n    q = argparse.ArgumentParser()\n    def add():\n        q.add_argument('--epochs')\n    q = p\n    add()\nf()\n"
    + PARSE,
    "a default that is the parser of before": "q = p\ndef f(r=q):\n    r.add_argument('--epochs')\nq = None\nf()\n"
    + PARSE,
    "a global function that is replaced": "def add():\n    pass\ndef put():\n    global add\n    def add():\n        p.add_argument('--epochs')\nput()\nadd()\n"
    + PARSE,
    "a global import": "def put():\n    global js\n    import json as js\nput()\njs\np.add_argument('--epochs')\n"
    + PARSE,
    "a global class": "def put():\n    global A\n    class A:\n        def go(self):\n            p.add_argument('--epochs')\nput()\nA().go()\n"
    + PARSE,
    "a global of a loop": "q = None\ndef put():\n    global q\n    for q in [p]:\n        pass\nput()\nq.add_argument('--epochs')\n"
    + PARSE,
    "a global of a with": "q = argparse.ArgumentParser()\ndef put():\n    global q\n    with contextlib.nullcontext(p) as q:\n        pass\nput()\nq.add_argument('--epochs')\n"
    + PARSE,
    "a global of a walrus": "q = argparse.ArgumentParser()\ndef put():\n    global q\n    (q := p)\nput()\nq.add_argument('--epochs')\n"
    + PARSE,
    "a global of a branch": "q = argparse.ArgumentParser()\ndef put():\n    global q\n    if os.environ.get('SM_HOSTS'):\n        q = p\nput()\nq.add_argument('--epochs')\n"
    + PARSE,
    "a global of a branch that is called in a branch": "q = argparse.ArgumentParser()\ndef put():\n    global q\n    q = p\nif os.environ.get('SM_HOSTS'):\n    put()\nq.add_argument('--epochs')\n"
    + PARSE,
    "a global of a branch in a function of a function": "q = argparse.ArgumentParser()\ndef put():\n    global q\n    q = p\ndef main():\n    if os.environ.get('SM_HOSTS'):\n        put()\n    q.add_argument('--epochs')\n    p.parse_args()\nmain()\n",
    "an attribute of a branch": "class A:\n    pass\na = A()\nif os.environ.get('SM_HOSTS'):\n    a.q = p\nelse:\n    a.q = argparse.ArgumentParser()\na.q.add_argument('--epochs')\n"
    + PARSE,
    "a class attribute of a branch": "class A:\n    q = argparse.ArgumentParser()\nif os.environ.get('SM_HOSTS'):\n    A.q = p\nA.q.add_argument('--epochs')\n"
    + PARSE,
    "an item of a branch": "d = {}\nif os.environ.get('SM_HOSTS'):\n    d['q'] = p\nd['q'].add_argument('--epochs')\n"
    + PARSE,
    "a list of a branch": "d = []\nif os.environ.get('SM_HOSTS'):\n    d.append(p)\nd[0].add_argument('--epochs')\n"
    + PARSE,
    "a list that is added": "d = [argparse.ArgumentParser()] + [p]\nd[1].add_argument('--epochs')\n" + PARSE,
    "a list that is reversed": "d = [argparse.ArgumentParser(), p]\nd.reverse()\nd[0].add_argument('--epochs')\n"
    + PARSE,
    "a list by an index of a loop": "d = [argparse.ArgumentParser(), p]\nfor i in range(2):\n    d[i].add_argument('--epochs')\n"
    + PARSE,
    "a list by a negative index": "d = [argparse.ArgumentParser(), p]\nd[-1].add_argument('--epochs')\n" + PARSE,
    "a list by a slice": "d = [argparse.ArgumentParser(), p]\nd[1:][0].add_argument('--epochs')\n" + PARSE,
    "a list by unpacking": "d = [argparse.ArgumentParser(), p]\n_, q = d\nq.add_argument('--epochs')\n" + PARSE,
    "a list by unpacking a star": "d = [argparse.ArgumentParser(), p]\n*_, q = d\nq.add_argument('--epochs')\n" + PARSE,
    "a list by unpacking what is swapped": "q, r = p, argparse.ArgumentParser()\nq, r = r, q\nr.add_argument('--epochs')\n"
    + PARSE,
    "a tuple that is compared": "q = (p, 1)\nif q == (p, 1):\n    q[0].add_argument('--epochs')\n" + PARSE,
    "a set of parsers": "for q in {p}:\n    q.add_argument('--epochs')\n" + PARSE,
    "a set that is unpacked": "q, = {p}\nq.add_argument('--epochs')\n" + PARSE,
    "a dictionary that is unpacked": "d = {'q': p}\ne = {**d}\ne['q'].add_argument('--epochs')\n" + PARSE,
    "a dictionary by values": "d = {'q': p}\nfor q in d.values():\n    q.add_argument('--epochs')\n" + PARSE,
    "a dictionary by a comprehension": "d = {n: p for n in 'q'}\nd['q'].add_argument('--epochs')\n" + PARSE,
    "a named tuple": "import collections\nT = collections.namedtuple('T', 'q')\nT(p).q.add_argument('--epochs')\n"
    + PARSE,
    "a typed named tuple": "import typing\nclass T(typing.NamedTuple):\n    q: object\nT(p).q.add_argument('--epochs')\n"
    + PARSE,
    "a dataclass's field": "import dataclasses\n@dataclasses.dataclass\nclass T:\n    q: object\nT(p).q.add_argument('--epochs')\n"
    + PARSE,
    "a simple namespace": "import types\nn = types.SimpleNamespace(q=p)\nn.q.add_argument('--epochs')\n" + PARSE,
    "an argparse namespace": "n = argparse.Namespace(q=p)\nn.q.add_argument('--epochs')\n" + PARSE,
    "a weak reference": "import weakref\nweakref.ref(p)().add_argument('--epochs')\n" + PARSE,
    "a context variable": "import contextvars\nv = contextvars.ContextVar('v', default=p)\nv.get().add_argument('--epochs')\n"
    + PARSE,
    "a queue": "import queue\nq = queue.Queue()\nq.put(p)\nq.get().add_argument('--epochs')\n" + PARSE,
    "a yield from": "def a():\n    yield p\ndef b():\n    yield from a()\nfor q in b():\n    q.add_argument('--epochs')\n"
    + PARSE,
    "a return of a generator": "def a():\n    return p\n    yield\ndef b():\n    q = yield from a()\n    q.add_argument('--epochs')\nlist(b())\n"
    + PARSE,
    "zip": "for q, n in zip([p], ['--epochs']):\n    q.add_argument(n)\n" + PARSE,
    "enumerate": "for _, q in enumerate([p]):\n    q.add_argument('--epochs')\n" + PARSE,
    "max": "max([p], key=id).add_argument('--epochs')\n" + PARSE,
    "next of iter": "next(iter([p])).add_argument('--epochs')\n" + PARSE,
    "filter": "list(filter(lambda q: q.add_argument('--epochs'), [p]))\n" + PARSE,
    "any": "any(q.add_argument('--epochs') for q in [p])\n" + PARSE,
    "all of a list": "all([q.add_argument('--epochs') for q in [p]])\n" + PARSE,
    "sum": "sum([[p]], [])[0].add_argument('--epochs')\n" + PARSE,
    "starred call": "def f(*a):\n    a[0].add_argument('--epochs')\nf(*[p])\n" + PARSE,
    "starred list": "[*[p]][0].add_argument('--epochs')\n" + PARSE,
    "positional only": "def f(q, /):\n    q.add_argument('--epochs')\nf(p)\n" + PARSE,
    "keyword only": "def f(*, q):\n    q.add_argument('--epochs')\nf(q=p)\n" + PARSE,
    "keyword over a positional": "def f(q, r):\n    r.add_argument('--epochs')\nf(r=p, q=1)\n" + PARSE,
    "an argument that a parameter shadows": "def f(p):\n    p.add_argument('--epochs')\nf(argparse.ArgumentParser())\np.parse_args([])\n",
    "parse in a function with another parser": "def f(p):\n    p.parse_known_args()\nf(argparse.ArgumentParser())\n",
    "a parser with parents that a name hides": "q = argparse.ArgumentParser(add_help=False)\nq.add_argument('--epochs')\nW = dict(parents=[q])\np = argparse.ArgumentParser(**W)\n"
    + PARSE,
    "a subclass's add_argument": "class Q(argparse.ArgumentParser):\n    def __init__(self):\n        super().__init__()\n        self.add_argument('--epochs')\nQ().parse_args()\n",
    "a subclass by type": "Q = type('Q', (argparse.ArgumentParser,), {})\nQ().parse_known_args()\n",
    "a wrapped parser": "class W:\n    def __init__(self):\n        self.p = argparse.ArgumentParser()\n    def __getattr__(self, n):\n        return getattr(self.p, n)\nw = W()\nw.add_argument('--epochs')\nw.parse_args()\n",
    "a parser that delegates": "class W:\n    def __init__(self):\n        self.p = p\n    def option(self, *a, **k):\n        self.p.add_argument(*a, **k)\n        return self\nW().option('--epochs')\n"
    + PARSE,
    "a fluent class": "class W:\n    def __init__(self):\n        self.p = p\n    def option(self, n):\n        self.p.add_argument(n)\n        return self\nW().option('--epochs').option('--b')\n"
    + PARSE,
    "an optparse": "import optparse\no = optparse.OptionParser()\no.add_option('--epochs')\no.parse_args()\np.parse_args([])\n",
    "a getopt": "import getopt\ngetopt.getopt(sys.argv[1:], '', ['epochs='])\np.parse_args([])\n",
    "a reload": "import importlib, json\nimportlib.reload(json)\np.add_argument('--epochs')\n" + PARSE,
    "a code object": "eval(compile(\"p.add_argument('--epochs')\", 'x', 'eval'))\n" + PARSE,
    "an interactive console": "import code\ncode.InteractiveInterpreter(globals()).runsource(\"p.add_argument('--epochs')\")\n"
    + PARSE,
    "an interpreter of this module": "import code\ncode.InteractiveConsole(locals=vars()).push(\"p.add_argument('--epochs')\")\n"
    + PARSE,
    "timeit": "import timeit\ntimeit.timeit(lambda: p.add_argument('--epochs'), number=1)\n" + PARSE,
    "timeit of a text": "import timeit\ntimeit.timeit(\"p.add_argument('--epochs')\", number=1, globals=globals())\n"
    + PARSE,
    "doctest": "import doctest\ndoctest.run_docstring_examples(\">>> _ = p.add_argument('--epochs')\", globals())\n"
    + PARSE,
    "pickle": "import pickle\nclass A:\n    def __reduce__(self):\n        return (p.add_argument, ('--epochs',))\n    def __init__(self):\n        pass\nA().__reduce__()[0]('--epochs')\n"
    + PARSE,
    "cProfile": "import cProfile\ncProfile.run(\"p.add_argument('--epochs')\")\n" + PARSE,
    "cProfile of a context": "import cProfile\ncProfile.runctx(\"p.add_argument('--epochs')\", globals(), {})\n"
    + PARSE,
    "pdb": "import trace\ntrace.Trace(count=0, trace=0).runctx(\"p.add_argument('--epochs')\", globals())\n" + PARSE,
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        p.add_argument('--epochs')\nunittest.TextTestRunner(stream=open(os.devnull, 'w')).run(unittest.defaultTestLoader.loadTestsFromTestCase(T))\n"
    + PARSE,
    "unittest.main": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        p.add_argument('--epochs')\nunittest.main(argv=['x'], exit=False)\n"
    + PARSE,
    "a visitor": "import ast\nclass V(ast.NodeVisitor):\n    def visit_Module(self, n):\n        p.add_argument('--epochs')\nV().visit(ast.parse(''))\n"
    + PARSE,
    "an encoder": "import json\nclass J(json.JSONEncoder):\n    def default(self, o):\n        p.add_argument('--epochs')\n        return 1\njson.dumps(object(), cls=J)\n"
    + PARSE,
    "a thread's class": "import threading\nclass T(threading.Thread):\n    def run(self):\n        p.add_argument('--epochs')\nt = T()\nt.start()\nt.join()\n"
    + PARSE,
    "an abstract class": "import abc\nclass A(abc.ABC):\n    def run(self):\n        self.go()\n    @abc.abstractmethod\n    def go(self):\n        pass\nclass B(A):\n    def go(self):\n        p.add_argument('--epochs')\nB().run()\n"
    + PARSE,
    "a protocol": "import typing\nclass A(typing.Protocol):\n    def go(self):\n        p.add_argument('--epochs')\nclass B(A):\n    pass\nB().go()\n"
    + PARSE,
    "a generic": "import typing\nT = typing.TypeVar('T')\nclass A(typing.Generic[T]):\n    def go(self):\n        p.add_argument('--epochs')\nA[int]().go()\n"
    + PARSE,
    "a cached property": "class A:\n    @functools.cached_property\n    def x(self):\n        p.add_argument('--epochs')\nA().x\n"
    + PARSE,
    "a partial method": "class A:\n    def go(self, n):\n        p.add_argument(n)\n    run = functools.partialmethod(go, '--epochs')\nA().run()\n"
    + PARSE,
    "a total ordering": "@functools.total_ordering\nclass A:\n    def __eq__(self, o):\n        return True\n    def __lt__(self, o):\n        p.add_argument('--epochs')\n        return True\nA() >= A()\n"
    + PARSE,
    "wraps": "def deco(f):\n    @functools.wraps(f)\n    def g(*a):\n        p.add_argument('--epochs')\n        return f(*a)\n    return g\n@deco\ndef main():\n    p.parse_args()\nmain()\n",
    "a decorator's class": "class D:\n    def __init__(self, f):\n        self.f = f\n    def __call__(self):\n        p.add_argument('--epochs')\n        self.f()\n@D\ndef main():\n    p.parse_args()\nmain()\n",
    "a decorator with words": "def deco(n):\n    def d(f):\n        def g():\n            p.add_argument(n)\n            f()\n        return g\n    return d\n@deco('--epochs')\ndef main():\n    p.parse_args()\nmain()\n",
    "a decorator of a class": "def deco(c):\n    p.add_argument('--epochs')\n    return c\n@deco\nclass A:\n    pass\n"
    + PARSE,
    "a decorator that is a method": "class R:\n    def __init__(self):\n        self.fs = []\n    def add(self, f):\n        self.fs.append(f)\n        return f\nr = R()\n@r.add\ndef more():\n    p.add_argument('--epochs')\nfor f in r.fs:\n    f()\n"
    + PARSE,
    "a decorator that is a property's setter": "class A:\n    @property\n    def x(self):\n        return p\n    @x.setter\n    def x(self, v):\n        pass\nA().x.add_argument('--epochs')\n"
    + PARSE,
    "a decorated method": "def deco(f):\n    return f\nclass A:\n    @deco\n    def go(self):\n        p.add_argument('--epochs')\nA().go()\n"
    + PARSE,
    "a nested context": "@contextlib.contextmanager\ndef c():\n    p.add_argument('--epochs')\n    yield p\nwith c() as q:\n    q.parse_args()\n",
    "a context decorator": "class C(contextlib.ContextDecorator):\n    def __enter__(self):\n        p.add_argument('--epochs')\n    def __exit__(self, *a):\n        pass\n@C()\ndef main():\n    p.parse_args()\nmain()\n",
    "an async context": "import asyncio\nclass C:\n    async def __aenter__(self):\n        p.add_argument('--epochs')\n    async def __aexit__(self, *a):\n        pass\nasync def main():\n    async with C():\n        p.parse_args()\nasyncio.run(main())\n",
    "an async for": "import asyncio\nasync def g():\n    p.add_argument('--epochs')\n    yield 1\nasync def main():\n    async for _ in g():\n        p.parse_args()\nasyncio.run(main())\n",
    "a task": "import asyncio\nasync def g():\n    p.add_argument('--epochs')\nasync def main():\n    await asyncio.create_task(g())\n    p.parse_args()\nasyncio.run(main())\n",
    "a callback of a loop": "import asyncio\nl = asyncio.new_event_loop()\nl.call_soon(p.add_argument, '--epochs')\nl.call_soon(l.stop)\nl.run_forever()\n"
    + PARSE,
    "an old-style main": "class Main:\n    def __init__(self, argv=None):\n        self.argv = argv\n    def run(self):\n        p.parse_args(self.argv)\nMain([]).run()\n",
    "a main of sys.argv": "def main(argv):\n    p.parse_args(argv[3:])\nmain(sys.argv)\n",
    "a main of words": "def main(*words):\n    p.parse_args(words)\nmain()\n",
    "a main by a name": "def main(argv=sys.argv[1:]):\n    p.parse_args(argv[:0])\nmain()\n",
    "words that are filtered": "p.parse_args([w for w in sys.argv[1:] if not w.startswith('--') and w != '3'])\n",
    "words that shlex splits": "import shlex\np.parse_args(shlex.split(''))\n",
    "words of a list that grows": "w = []\nw += []\np.parse_args(w)\n",
    "words that are None by name of another": "w = sys.argv[1:]\nw = w[:0]\np.parse_args(w)\n",
    "words in a copy": "w = sys.argv[1:]\nw.clear()\np.parse_args(w)\n",
    "words in a copy that a function clears": "def clean(w):\n    w.clear()\nw = sys.argv[1:]\nclean(w)\np.parse_args(w)\n",
    "words in a copy that is deleted": "w = sys.argv[1:]\ndel w[:]\np.parse_args(w)\n",
    "words in a copy that is set": "w = sys.argv[1:]\nw[:] = []\np.parse_args(w)\n",
    "words in a copy that pops": "w = sys.argv[1:]\nwhile w:\n    w.pop()\np.parse_args(w)\n",
    "words in a copy of a loop": "w = sys.argv[1:]\nfor x in ['--epochs', '3']:\n    w.remove(x)\np.parse_args(w)\n",
}
