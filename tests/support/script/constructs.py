"""Programs with one construct each, old and new, for which the versions of Python disagree, or all agree."""

PLAIN = {
    "with around a call": "with (f()):\n    pass\n",
    "with around a call, named": "with (f()) as g:\n    pass\n",
    "with around a tuple": "with (f(), g()):\n    pass\n",
    "with around a tuple, named": "with (f(), g()) as h:\n    pass\n",
    "with of a method in parentheses": "with (f)(open(x) if y else z):\n    pass\n",
    "with before a bracket": "with (f)[0] as g, h as i:\n    pass\n",
    "decorator call": "@a.b(1)\ndef f():\n    pass\n",
    "walrus in parentheses in a set": "{(n := 1), 2}\n",
    "walrus in parentheses in an index": "a[(n := 1)]\n",
    "walrus after a comment in a set": "{(\n# a,\n n := 1)}\n",
    "starred tuple in an index": "a[(*b,)]\n",
    "starred tuple in a loop": "for x in (*a, *b):\n    pass\n",
    "asynchronous comprehension": "async def f():\n    return [x async for x in y]\n",
    "asynchronous generator in a comprehension": "async def f():\n    return [(x async for x in y) for z in y]\n",
    "asynchronous first iterable": "async def f():\n    return [x for x in [y async for y in z]]\n",
    "f-string with the other quote": "f\"{d['k']}\"\n",
    "f-string with a nested one": "f\"{f'{x}'}\"\n",
    "f-string in triple quotes": 'f"""{d["k"]}"""\n',
    "f-string over lines": 'f"""{\nx\n}"""\n',
    "f-string with a backslash outside": 'f"a\\n{x}\\t{y!r:>{w}}"\n',
    "f-string with a format": 'f"{x:%H:%M}" f"{x!r}" "{"\n',
    "f-string next to a string": '("a\\n" f"{x}" \'b"\' rf"{y}\\d")\n',
    "f-string with a hash in quotes": "f\"{'#'}\"\n",
    "f-string with braces": 'f"{{}} {({1: 2})}"\n',
    "type as a name": "type = 1\ntype.x = 2\n",
    "match as a name": "match = 1\nmatch[0]\n",
    "return annotation": "def f(a, /, b: int = 1, *, c) -> 'x':\n    return a\n",
}
"""Accepted by every version from 3.8."""

NEWER = {
    "with and as in parentheses": "with (f() as g):\n    pass\n",
    "with and as for two": "with (\n    f() as g,\n    h() as i,\n):\n    pass\n",
    "async with and as": "async def f():\n    async with (g() as h):\n        pass\n",
    "decorator index": "@a[0]\ndef f():\n    pass\n",
    "decorator lambda": "@(lambda f: f)\nclass A:\n    pass\n",
    "decorator method of a call": "@a().b\ndef f():\n    pass\n",
    "walrus in a set": "{n := 1, 2}\n",
    "walrus in a set comprehension": "{n := x for x in y}\n",
    "walrus in an index": "a[n := 1]\n",
    "walrus in an index tuple": "a[0, n := 1]\n",
    "starred loop": "for x in *a, b:\n    pass\n",
    "match": "match x:\n    case 1:\n        pass\n",
    "except star": "try:\n    pass\nexcept* ValueError:\n    pass\n",
    "starred index": "a[*b]\n",
    "starred annotation": "def f(*args: *T):\n    pass\n",
    "asynchronous inner comprehension": "async def f():\n    return [[x async for x in y] for z in y]\n",
    "type statement": "type X = int\n",
    "type parameter of a function": "def f[T](x: T):\n    pass\n",
    "type parameter of a class": "class A[T]:\n    pass\n",
    "default of a type parameter": "class A[T = int]:\n    pass\n",
    "default of a type": "type X[T = int] = list[T]\n",
    "f-string with the same quote": 'f"{d["k"]}"\n',
    "f-string with a backslash": "f\"{'\\n'.join(x)}\"\n",
    "f-string with a nested backslash": "f\"{f'\\n'}\"\n",
    "f-string with a comment": 'f"""{\nx  # one\n}"""\n',
    "f-string with a line break": "f'{\nx}'\n",
    "f-string with a nested same quote": 'f"{f"{x}"}"\n',
    "f-string in a loop": 'for x in f"{d["k"]}":\n    pass\n',
    "f-string in a condition": 'if f"{d["k"]}":\n    pass\n',
    "f-string in a continued condition": 'if x and \\\n    f"{d["k"]}":\n    pass\n',
    "f-string in a class": 'class A(B[f"{d["k"]}"]):\n    pass\n',
    "f-string in a default": 'def f(a=f"{d["k"]}"):\n    pass\n',
    "template string in a loop": 'for x in t"{y}":\n    pass\n',
    "f-string with a continued expression": 'f"{x\\\n}"\n',
}
"""Rejected by some versions, accepted by later ones."""

BROKEN = {
    "print statement": "print 'x'\n",
    "exec statement": "exec 'x'\n",
    "bracket that is not closed": "x = (1,\n",
    "bracket that does not match": "x = [1)\n",
    "bracket too many": "x = 1)\n",
    "string that is not closed": "x = 'a\n",
    "indented line": "x = 1\n  y = 2\n",
    "missing block": "def f():\nx = 1\n",
    "lines that are not aligned": "if x:\n    y\n  z\n",
    "tabs and spaces": "if x:\n        y\n\tz\n",
    "return outside": "return 1\n",
    "break outside": "break\n",
    "continue outside": "continue\n",
    "await outside": "def f():\n    await x\n",
    "duplicate parameter": "def f(a, a):\n    pass\n",
    "nonlocal of nothing": "def f():\n    nonlocal x\n",
    "global after a use": "def f():\n    x = 1\n    global x\n",
    "late future": "x = 1\nfrom __future__ import annotations\n",
    "unknown future": "from __future__ import braces_everywhere\n",
    "star import in a function": "def f():\n    from os import *\n",
    "lone star": "*a = 1\n",
    "no expression": "x = \n",
    "assignment to a call": "f() = 1\n",
    "two names": "x = y z\n",
    "no colon after if": "x = f'{y}'\nif x\n    pass\n",
    "no colon after for": "for x in y\n    pass\n",
    "no colon after def": "def f(a, b)\n    pass\n",
    "no colon after class": "class A(B)\n    pass\n",
    "no colon after else": "if x:\n    pass\nelse\n    pass\n",
    "no colon after try": "try\n    pass\nfinally:\n    pass\n",
    "no block after a new string": "x = f'{y}'\nfor a in b:\nx = 1\n",
}
"""Rejected by every version."""

PROVEN = frozenset(
    {"print statement", "exec statement", "bracket that is not closed", "bracket that does not match"}
    | {"bracket too many", "string that is not closed", "indented line", "missing block", "tabs and spaces"}
    | {"lines that are not aligned", "return outside", "break outside", "continue outside", "duplicate parameter"}
    | {"nonlocal of nothing", "star import in a function"}
    | {f"no colon after {word}" for word in ("if", "for", "def", "class", "else", "try")}
    | {"no block after a new string"}
)
"""Of `BROKEN`, what is reported whatever the Python of the image is."""
