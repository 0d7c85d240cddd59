"""No error is reported for valid scripts in many idioms of parsers, variables, and exits.

Programs are made at random of idioms that people use, read, and run with the real argparse.
"""

import json
import os

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from support.examples import at_most
from support.sampled_cases import sampled
from support.script.read_programs import codes, findings, runs, script_environment

HEAD = "import argparse, contextlib, functools, os, sys, threading\n"
READY = {"SM_CHANNEL_TRAIN": "/opt/ml/input/data/train", "SM_MODEL_DIR": "/opt/ml/model", "SM_HOSTS": '["algo-1"]'}
JOB = {"channels": {"train": {"s3": "s3://example-data/ctr/train/"}}}
RELIABLE = {"SM502", "SM506", "SM508", "SM514"}

# How a program comes by its parser, which is then called `p`.
MAKING = {
    "plain": "p = argparse.ArgumentParser()",
    "alias": "P = argparse.ArgumentParser\np = P()",
    "factory": "def build():\n    made = argparse.ArgumentParser()\n    return made\np = build()",
    "conditional": "p = None\nif p is None:\n    p = argparse.ArgumentParser()",
    "pair": "p, other = argparse.ArgumentParser(), 1",
    "partial": "p = functools.partial(argparse.ArgumentParser)()",
    "held by an object": "class Holder:\n    def __init__(self):\n"
    "        self.p = argparse.ArgumentParser()\np = Holder().p",
    "held by a class": "class Holder:\n    p = argparse.ArgumentParser()\np = Holder.p",
    "of a class of its own": "class P(argparse.ArgumentParser):\n    pass\np = P()",
    "of a class that passes on what it is given": "class P(argparse.ArgumentParser):\n    def __init__(self, **kw):\n"
    "        super().__init__(**kw)\n        self.add_argument('--own')\np = P(allow_abbrev=False)",
    "of a class that adds to what it is given": "class P(argparse.ArgumentParser):\n    def __init__(self, **kw):\n"
    "        kw['prefix_chars'] = '+-'\n        super().__init__(**kw)\np = P()",
    "of a class of a class": "class O(argparse.ArgumentParser):\n    def __init__(self, n, add_help=False):\n"
    "        super().__init__(add_help=add_help)\nclass P(O):\n    def __init__(self):\n"
    "        super().__init__(1)\np = P()",
    "of a class that never begins": "class P(argparse.ArgumentParser):\n    def __init__(self):\n"
    "        argparse.ArgumentParser.__init__(self, add_help=False)\np = P()",
    "of a class that forgives": "class P(argparse.ArgumentParser):\n    def error(self, message):\n"
    "        pass\np = P()",
    "of a class that parses otherwise": "class P(argparse.ArgumentParser):\n    def parse_args(self, *a):\n"
    "        return super().parse_known_args(*a)[0]\np = P()",
    "of a class that parses less": "class P(argparse.ArgumentParser):\n"
    "    def parse_known_args(self, args=None, namespace=None):\n"
    "        return super().parse_known_args([], namespace)\np = P()",
    "of a class that declares otherwise": "class P(argparse.ArgumentParser):\n    def add_argument(self, *a, **k):\n"
    "        k.pop('required', None)\n        k.pop('type', None)\n"
    "        return super().add_argument(*a, **k)\np = P()",
    "of a class with a private method": "class P(argparse.ArgumentParser):\n"
    "    def _get_values(self, action, words):\n        return words\np = P()",
    "of a class with a mixin": "class M:\n    def error(self, message):\n        pass\n"
    "class P(M, argparse.ArgumentParser):\n    pass\np = P()",
    "of a class that is changed later": "class P(argparse.ArgumentParser):\n    pass\n"
    "P.error = lambda self, message: None\np = P()",
    "of an object that is changed": "class P(argparse.ArgumentParser):\n    def quiet(self):\n"
    "        self.error = lambda message: None\n        return self\np = P().quiet()",
    "walrus": "print(p := argparse.ArgumentParser())",
}

# How one option is declared: `{a}` are the words of `add_argument`, `{n}` a number of its own.
DECLARING = {
    "plain": "p.add_argument({a})",
    "alias": "add{n} = p.add_argument\nadd{n}({a})",
    "partial": "functools.partial(p.add_argument, help='x')({a})",
    "map": "list(map(p.add_argument, ['--{o}']))",
    "list": "for f in [p.add_argument]:\n    f({a})",
    "dictionary": "d = {{'p': p}}\nd['p'].add_argument({a})",
    "dict": "d = dict(p=p)\nd['p'].add_argument({a})",
    "group": "g{n} = p.add_argument_group('g{n}')\ng{n}.add_argument({a})",
    "group as a value": "g = [p.add_argument_group('g{n}')]\ng[0].add_argument({a})",
    "method of a group": "add = p.add_argument_group('g{n}').add_argument\nadd({a})",
    "getattr": "getattr(p, 'add_argument')({a})",
    "made getattr": "getattr(p, 'add_' + 'argument')({a})",
    "globals": "globals()['p'].add_argument({a})",
    "vars": "vars()['p'].add_argument({a})",
    "exec": "exec({e!r})",
    "module": "sys.modules[__name__].p.add_argument({a})",
    "main": "import __main__\n__main__.p.add_argument({a})",
    "globals of a function": "def f{n}(): pass\nf{n}.__globals__['p'].add_argument({a})",
    "decorator": "def hand{n}(q):\n    def decorate(f):\n        q.add_argument({a})\n"
    "        return f\n    return decorate\n"
    "@hand{n}(p)\ndef f(): pass",
    "registry": "R{n} = []\ndef register(f):\n    R{n}.append(f)\n    return f\n@register\n"
    "def options(q):\n    q.add_argument({a})\nfor f in R{n}:\n    f(p)",
    "registry of hooks": "R{n} = []\ndef register(f):\n    R{n}.append(f)\n    return f\n@register\n"
    "def hook():\n    p.add_argument({a})\nfor f in R{n}:\n    f()",
    "function": "def add{n}(q):\n    q.add_argument({a})\nadd{n}(p)",
    "star": "def add{n}(*parsers):\n    parsers[0].add_argument({a})\nadd{n}(p)",
    "keywords": "def add{n}(**parsers):\n    parsers['q'].add_argument({a})\nadd{n}(q=p)",
    "default": "def add{n}(q=p):\n    q.add_argument({a})\nadd{n}()",
    "lambda": "add = lambda: p.add_argument({a})\nadd()",
    "closure": "def outer{n}():\n    def inner():\n        p.add_argument({a})\n    return inner\nouter{n}()()",
    "generator": "def g{n}():\n    p.add_argument({a})\n    yield 1\nlist(g{n}())",
    "comprehension": "[q.add_argument({a}) for q in (p,)]",
    "thread": "def f{n}():\n    p.add_argument({a})\nt = threading.Thread(target=f{n})\nt.start()\nt.join()",
    "method": "class C{n}:\n    def add(self, q):\n        q.add_argument({a})\nC{n}().add(p)",
    "attribute": "class C{n}:\n    pass\no = C{n}()\no.q = p\no.q.add_argument({a})",
    "attribute by name": "class C{n}:\n    pass\no = C{n}()\nsetattr(o, 'q', p)\no.q.add_argument({a})",
    "attribute of a class": "class C{n}:\n    q = p\nC{n}.q.add_argument({a})",
    "attribute of an object": "class C{n}:\n    q = p\nC{n}().q.add_argument({a})",
    "dictionary of an object": "class C{n}:\n    def __init__(self):\n        self.q = p\n"
    "C{n}().__dict__['q'].add_argument({a})",
    "call": "class C{n}:\n    def __call__(self):\n        p.add_argument({a})\nC{n}()()",
    "property": "class C{n}:\n    @property\n    def q(self):\n        return p\nC{n}().q.add_argument({a})",
    "property that adds": "class C{n}:\n    def __init__(self):\n        self.q = p\n    @property\n    def x(self):\n"
    "        self.q.add_argument({a})\nC{n}().x",
    "context": "class C{n}:\n    def __enter__(self):\n        p.add_argument({a})\n"
    "    def __exit__(self, *_):\n        pass\n"
    "with C{n}():\n    pass",
    "operator": "class C{n}:\n    def __lshift__(self, q):\n        q.add_argument({a})\nC{n}() << p",
    "comparison": "class C{n}:\n    def __init__(self):\n        self.q = p\n    def __eq__(self, _):\n"
    "        self.q.add_argument({a})\n        return True\nC{n}() == 1",
    "subclass": "class B{n}:\n    def __init_subclass__(cls):\n        p.add_argument({a})\n"
    "class C{n}(B{n}):\n    pass",
    "class": "class C{n}:\n    p.add_argument({a})",
    "action groups": "p._action_groups[0].add_argument({a})",
    "unbound": "argparse.ArgumentParser.add_argument(p, {a})",
    "type": "type(p).add_argument(p, {a})",
    "try": "try:\n    p.add_argument({a})\nexcept ValueError:\n    pass",
    "failing try": "try:\n    int('x')\nexcept ValueError:\n    p.add_argument({a})",
    "finally": "try:\n    pass\nfinally:\n    p.add_argument({a})",
    "condition": "if os.environ.get('SM_HOSTS'):\n    p.add_argument({a})",
    "match": "match p:\n    case q:\n        q.add_argument({a})",
    "format": 'f"""{{p.add_argument({a})!r}}"""',
    "sort": "sorted([1], key=lambda _: str(p.add_argument({a})))",
    "walrus": "(q := p).add_argument({a})",
    "parent": "b{n} = argparse.ArgumentParser(add_help=False)\nb{n}.add_argument({a})\n"
    "p = argparse.ArgumentParser(parents=[p, b{n}], conflict_handler='resolve')",
    "later name": "def f{n}():\n    late.add_argument({a})\nH = [f{n}]\nlate = p\nH[0]()",
}

# What stands around the reading of the command line, or of a variable: `{b}` is the statement.
AROUND = {
    "nothing": "{b}",
    "main": "def main():\n    {b}\nmain()",
    "exit": "def main():\n    {b}\n    return 0\nsys.exit(main())",
    "name": "if __name__ == '__main__':\n    {b}",
    "condition": "if os.environ.get('SM_NO'):\n    {b}",
    "early exit": "if os.environ.get('SM_HOSTS'):\n    sys.exit(0)\n{b}",
    "early exit of a function": "def leave():\n    if os.environ.get('SM_HOSTS'):\n        sys.exit()\nleave()\n{b}",
    "early SystemExit": "if os.environ.get('SM_HOSTS'):\n    raise SystemExit\n{b}",
    "shortcut": "os.environ.get('SM_HOSTS') and sys.exit(0)\n{b}",
    "exit of the parser": "if os.environ.get('SM_HOSTS'):\n    p.exit()\n{b}",
    "exit of the parser by another name": "leave = p.exit\nif os.environ.get('SM_HOSTS'):\n    leave()\n{b}",
    "exit of the parser handed on": "if os.environ.get('SM_HOSTS'):\n    list(map(p.exit, [0]))\n{b}",
    "exit of the parser by getattr": "if os.environ.get('SM_HOSTS'):\n    getattr(p, 'exit')()\n{b}",
    "exit in a function that is handed on": "H = [lambda: p.exit()]\nif os.environ.get('SM_HOSTS'):\n    H[0]()\n{b}",
    "exit handed on": "if os.environ.get('SM_HOSTS'):\n    list(map(sys.exit, [0]))\n{b}",
    "help": "if os.environ.get('SM_HOSTS'):\n    p.parse_args(['--help'])\n{b}",
    "exit of a parser of its own": "if os.environ.get('SM_HOSTS'):\n    argparse.ArgumentParser().exit()\n{b}",
    "exit of an unbound method": "if os.environ.get('SM_HOSTS'):\n    argparse.ArgumentParser.exit(p)\n{b}",
    "return": "def main():\n    if os.environ.get('SM_HOSTS'):\n        return\n    {b}\nmain()",
    "caught": "try:\n    {b}\nexcept (KeyError, SystemExit):\n    pass",
    "caught by another name": "FAULTS = (KeyError, SystemExit)\ntry:\n    {b}\nexcept FAULTS:\n    pass",
    "caught far away": "def main():\n    int(os.environ.get('SM_NO', 'x'))\n    {b}\ntry:\n"
    "    main()\nexcept ValueError:\n    pass",
    "caught before": "def main():\n    if os.environ.get('SM_HOSTS'):\n        raise RuntimeError\n    {b}\n"
    "try:\n    main()\nexcept RuntimeError:\n    pass",
    "finally": "def main():\n    try:\n        {b}\n    finally:\n        return\nmain()",
    "suppressed": "with contextlib.suppress(BaseException):\n    {b}",
    "suppressed by another name": "from contextlib import suppress as quiet\n"
    "with quiet(KeyError, SystemExit):\n    {b}",
    "raises": "import pytest\nwith pytest.raises((KeyError, SystemExit)):\n    {b}\n    sys.exit(2)",
    "own context": "class Quiet:\n    def __enter__(self):\n        pass\n"
    "    def __exit__(self, *_):\n        return True\n"
    "with Quiet():\n    {b}",
    "context of a function": "@contextlib.contextmanager\ndef quiet():\n    try:\n        yield\n"
    "    except BaseException:\n        pass\nwith quiet():\n    {b}",
    "patched": "from unittest import mock\nwith mock.patch.dict(os.environ, {{'SM_CHANNEL_EVAL': '/x'}}), "
    "mock.patch('sys.argv', ['x']):\n    {b}",
    "patched function": "from unittest import mock\n@mock.patch.dict(os.environ, {{'SM_CHANNEL_EVAL': '/x'}})\n"
    "def main():\n    {b}\nmain()",
    "loop": "for _ in ():\n    {b}",
    "generator": "def later():\n    {b}\n    yield\nlater()",
    "alias of argv": "words = sys.argv\ndel words[1:]\n{b}",
    "function over argv": "def clear(words):\n    del words[1:]\nclear(sys.argv)\n{b}",
    "hook over argv": "def clear():\n    sys.argv[1:] = []\nH = [clear]\nH[0]()\n{b}",
    "hook over variables": "def fill():\n    os.environ['SM_CHANNEL_EVAL'] = '/x'\nH = [fill]\nH[0]()\n{b}",
    "update": "os.environ.update(SM_CHANNEL_EVAL='/x')\n{b}",
    "alias of variables": "env = os.environ\nenv['SM_CHANNEL_EVAL'] = '/x'\n{b}",
    "function over variables": "def fill(env):\n    env['SM_CHANNEL_EVAL'] = '/x'\nfill(os.environ)\n{b}",
    "setdefault": "os.environ.setdefault('SM_CHANNEL_EVAL', '/x')\n{b}",
    "exec": 'exec(\'os.environ["SM_CHANNEL_EVAL"] = "/x"\')\n{b}',
    "relaunch": "if os.environ.get('SM_NO'):\n    os.execvp('x', ['x', *sys.argv])\n{b}",
}
READING = {
    "plain": "args = p.parse_args()",
    "alias": "parse = p.parse_args; args = parse()",
    "words": "args = p.parse_args(sys.argv[1:])",
    "other words": "args = p.parse_args([])",
    "known": "args, rest = p.parse_known_args()",
    "partial": "args = functools.partial(p.parse_args, [])()",
    "channel": "x = os.environ['SM_CHANNEL_TRAIN']",
    "another channel": "x = os.environ['SM_CHANNEL_EVAL']",
    "item": "x = os.environ.__getitem__('SM_MODEL_DIR')",
}
WORDS = [
    "type=int",
    "type=float",
    "type=str",
    "required=True",
    "default=3",
    "action='store_true'",
    "choices=['a', 'b']",
]

hyperparameters = st.dictionaries(
    st.sampled_from(["epochs", "lr", "mode"]), st.sampled_from([3, 0.5, "a", "three", True]), max_size=3
)


@st.composite
def programs(draw):
    lines = [MAKING[draw(st.sampled_from(["plain", "plain", *MAKING]))]]
    for number, option in enumerate(draw(st.lists(st.sampled_from(["epochs", "lr", "mode"]), unique=True, max_size=3))):
        way = draw(st.sampled_from(list(DECLARING)))
        words = f"'--{option}', {draw(st.sampled_from(WORDS))}"
        event(f"declared: {way}")
        lines.append(DECLARING[way].format(a=words, n=number, o=option, e=f"p.add_argument({words})"))
    for _ in range(draw(st.integers(1, 2))):
        way, read = draw(st.sampled_from(list(AROUND))), draw(st.sampled_from(list(READING)))
        event(f"around: {way}")
        lines.append(AROUND[way].format(b=READING[read]))
    return HEAD + "\n".join(lines)


def errors(text, given):
    return [found for found in findings(text, hyperparameters=given, **JOB) if found.severity == "error"]


def real(text, given):
    """Run a program like its job; return its error output if it fails."""
    made = script_environment(hyperparameters=given, **JOB)
    return runs(text, made.words, {**READY, "SM_HPS": json.dumps(given)})


@pytest.mark.slow
@settings(max_examples=at_most(1500), suppress_health_check=list(HealthCheck), deadline=None)
@given(programs(), hyperparameters)
def test_valid_script_has_no_error(text, given):
    found = errors(text, given)
    if found:
        assert real(text, given) is not None, f"{text}\n{given}\n{[one.message for one in found]}"
    event("an error" if found else "no error")


@sampled(3)
@pytest.mark.parametrize("way", AROUND)
def test_code_around_a_read_causes_no_error(way):
    """Pairs are gone through one by one: chance finds the rare one among them years later."""
    for made in MAKING.values():
        for read in ("plain", "another channel", "item"):
            text, given = f"{HEAD}{made}\n{AROUND[way].format(b=READING[read])}", {"epochs": "a"}
            assert not errors(text, given) or real(text, given) is not None, text


@pytest.mark.parametrize("way", DECLARING)
def test_option_is_found_in_every_idiom(way):
    for words in ("'--epochs', type=int", "'--epochs'"):
        declared = DECLARING[way].format(a=words, n=0, o="epochs", e=f"p.add_argument({words})")
        text = HEAD + "p = argparse.ArgumentParser()\n" + declared + "\np.parse_args()\n"
        assert real(text, {"epochs": 3}) is None
        assert errors(text, {"epochs": 3}) == []


# What is followed exactly is still held against the job.
EXACT = ["plain", "alias", "group", "method of a group", "getattr", "decorator", "function", "default", "method"]


@pytest.mark.parametrize("way", [*EXACT, "class", "attribute of a class", "walrus"])
def test_traceable_option_is_checked(way):
    declared = DECLARING[way].format(a="'--epochs', type=int", n=0, o="epochs", e="")
    text = HEAD + "p = argparse.ArgumentParser()\n" + declared + "\np.parse_args()\n"
    assert [code for code, _ in codes(text, hyperparameters={"epochs": "three"})] == ["SM503"]
    assert [code for code, _ in codes(text, hyperparameters={"epoch": 3})] == []
    assert [code for code, _ in codes(text, hyperparameters={"lr": 3})] == ["SM501"]


def test_idioms_do_not_change_the_test_process():
    before = dict(os.environ)
    runs("import os\nos.environ['SM_LEFT'] = '1'\n", [])
    assert dict(os.environ) == before
