"""Texts written to break readers: nesting, repetition, size, undecodable bytes, and near matches."""

from __future__ import annotations

SIZE = 1_000_000
"""Just less than a spec, a request, a policy or a script may have."""

HEAD = """\
smspec: v1
name: small
role: arn:aws:iam::111122223333:role/SageMakerTraining
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
output: s3://models/small/
"""


def much(piece: str, size: int = SIZE) -> str:
    """Return a text of ``size`` characters that repeats a piece."""
    return piece * (size // len(piece))


def lines(form: str, count: int) -> str:
    """Return numbered lines."""
    return "".join(form.format(number) + "\n" for number in range(count))


TOKENS = [
    *"[]{}(),:;?!&*#|>%@`'\"\\~-+=_.^$<a0 \t\n\r\0\x85\u2028\u2029\ufeff\x1b\x7f日🚀",
    *(
        "- ",
        ": ",
        "? ",
        "a: ",
        "&a ",
        "*a ",
        "!a ",
        "<<: ",
        "${{",
        "${{ ",
        "}}",
        "{a: ",
        "[{",
        "\\u",
        "\\\n",
        "\r\n",
        "a\r",
    ),
    *(
        "- - ",
        "- ? ",
        "a:\n",
        "# ",
        "---\n",
        "...\n",
        "%YAML 1.2\n---\n",
        "'' ",
        '"" ',
        "''",
        '""',
        '"\\"',
        "|\n ",
        "{}",
        "[],",
    ),
    *(
        '{"a":',
        "[1,",
        '"a",',
        "1e",
        "0.",
        "-0",
        "//",
        "/*",
        "nul",
        "\ufeff{",
        '"\\ud83d"',
        "\\ud83d\\ude00",
        '""" ',
        "'''",
        "[[",
        "[a]\n",
    ),
    *(
        "a.",
        "a=",
        "a = 1\n",
        "not ",
        "lambda:",
        "1+",
        "a(",
        "if a:",
        "x if y else ",
        "f'{",
        "await ",
        "@a\n",
        "*/",
        "**/",
        "[!a]",
    ),
]
"""Repeated up to the size of a file, each is a test."""

ENCODED = {
    f"{name} {'with' if mark else 'without'} a mark": mark + HEAD.encode(name)
    for name, mark in [
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("utf-32-le", b""),
        ("utf-32-be", b""),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-32-le", b"\xff\xfe\0\0"),
        ("utf-32-be", b"\0\0\xfe\xff"),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-8", b"\xef\xbb\xbf\xef\xbb\xbf"),
        ("utf-7", b"+/v8-"),
        ("cp037", b""),
    ]
}


def undecodable() -> dict[str, bytes]:
    """Return contents that are not text, or text in a different encoding."""
    return {
        "nothing": b"",
        "one NUL": b"\0",
        "every byte": bytes(range(256)),
        "every byte many times": bytes(range(256)) * 4000,
        "bytes above ASCII": b"\xff" * SIZE,
        "bytes that continue nothing": b"\x80" * SIZE,
        "half a character at the end": HEAD.encode() + b"# \xe6\x97",
        "overlong": HEAD.encode() + b"# \xc0\xaf\xe0\x80\xaf",
        "a surrogate": HEAD.encode() + b"# \xed\xa0\x80",
        "beyond Unicode": HEAD.encode() + b"# \xf4\x90\x80\x80",
        "more than a mebibyte": b"a: b\n" * 300_000,
        "much more than a mebibyte": b"[" * 20_000_000,
        **ENCODED,
    }


def nested() -> dict[str, str]:
    """Return texts that nest deeper than any spec."""
    return {
        f"{count:,} x {piece!r}": piece * count
        for count in (63, 64, 65, 1000, 20_000, 200_000)
        for piece in ("[", "{", "(", "{a: ", "- ", "? ", '{"a":', "[{", "-", "[[]", "&a [")
    } | {
        "block mappings": "".join(f"{' ' * depth}a:\n" for depth in range(1400)),
        "block lists": "".join(f"{' ' * depth}-\n" for depth in range(1400)),
        "closed lists": "[" * 300_000 + "]" * 300_000,
        "closed mappings": '{"a":' * 150_000 + "1" + "}" * 150_000,
    }


def bombs() -> dict[str, str]:
    """Return texts that grow when their aliases are followed."""
    return {
        "aliases of aliases": "a0: &a0 [x, x]\n"
        + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
        "merges of merges": "a0: &a0 {x: 1}\n"
        + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}], k{n}: 1}}\n" for n in range(1, 30)),
        "many merges of one": "a: &a {x: 1}\n" + "".join(f"k{n}: {{<<: *a}}\n" for n in range(5000)),
        "one merge of many": lines("m{0}: &m{0} {{k{0}: 1}}", 3000)
        + f"all: {{<<: [{', '.join(f'*m{n}' for n in range(3000))}]}}\n",
        "a merge of itself": "a: &a {<<: *a}\n",
        "many merge keys": "a: &a {x: 1}\nb:\n" + "  <<: *a\n" * 5000,
        "a list of itself": "a: &a [*a]\n",
        "many anchors": lines("k{0}: &a{0} x", 9000),
        "one anchor many times": lines("k{0}: &a x", 9000) + "z: *a\n",
        "many aliases without a value": lines("k{0}: *a{0}", 9000),
        "aliases that are nearly known": lines("k{0}: &anchor{0} x", 60) + lines("j{0}: *anchpr{0}", 9000),
        "a long anchor": f"a: &{much('a', 500_000)} x\nb: *{much('a', 400_000)}\n",
        "a large text repeated": f"a: &a {much('x', 900_000)}\n" + lines("k{0}: *a", 9000),
        "aliases as keys": "a: &a b\n" + "*a : c\n" * 5000,
    }


def shapes() -> dict[str, str]:
    """Return texts that are large, long, or in an unusual form."""
    return {
        "60,000 keys": lines("key{0}: 1", 60_000),
        "9,000 keys": lines("key{0}: 1", 9_000),
        "9,000 keys of a job": HEAD + lines("key{0}: 1", 9_000),
        "9,000 equal keys": "name: a\n" * 9_000,
        "9,000 long keys": lines("x" * 90 + "{0}: 1", 9_000),
        "a long key": f"{much('k')}: 1\n",
        "a long key in quotes": f'"{much("k")}": 1\n',
        "a long key after `?`": f"? {much('k')}\n: 1\n",
        "keys that are lists": "? [a, b]\n: c\n" * 4000,
        "keys that are mappings": "? {a: b}\n: c\n" * 4000,
        "one long line": HEAD + "tags: {" + ", ".join(f"k{n}: v" for n in range(9000)) + "}\n",
        "9,000 faults in one line": HEAD + "hosts: {" + ", ".join(f"k{n}: v" for n in range(9000)) + "}\n",
        "long comment": HEAD + f"# {much('c')}\n",
        "many comments": HEAD + much("# c\n"),
        "a number of 5,000 digits": HEAD + f"retries: {'9' * 5000}\n",
        "a number of 900,000 digits": HEAD + f"retries: {'9' * 900_000}\n",
        "a fraction of 900,000 digits": HEAD + f"hyperparameters: {{a: 0.{'9' * 900_000}}}\n",
        "an exponent of 900,000 digits": HEAD + f"hyperparameters: {{a: 1e{'9' * 900_000}}}\n",
        "9,000 numbers of 100 digits": HEAD + "hyperparameters:\n" + lines("  k{0}: " + "9" * 90, 9000),
        "tags of Python": HEAD + "a: !!python/object/apply:os.system ['true']\nb: !!python/name:os.system\n",
        "9,000 tags": "a: !!python/none\n" * 9000,
        "two specs": HEAD + "---\n" + HEAD,
        "9,000 specs": "---\nsmspec: v1\n" * 9000,
        "a directive": "%YAML 1.1\n%TAG ! tag:example.com,2000:\n---\n" + HEAD,
        "carriage returns alone": HEAD.replace("\n", "\r"),
        "carriage returns": HEAD.replace("\n", "\r\n"),
        "next lines": HEAD.replace("\n", "\x85"),
        "line separators": HEAD.replace("\n", "\u2028"),
        "paragraph separators": HEAD.replace("\n", "\u2029"),
        "tabs": HEAD.replace("{", "\t{").replace(": ", ":\t") + "\tx: 1\n",
        "a mark in the middle": HEAD + "\ufeffregion: us-west-2\n",
        "no break in words": HEAD + f"description: >\n  {much('word ')}\n",
        "many breaks in quotes": HEAD + f'description: "{much(chr(10) + " a")}"\n',
        "many escapes": HEAD + f'description: "{much(chr(92) + "u0041")}"\n',
        "many half characters": HEAD + f'description: "{much(chr(92) + "ud83d")}"\n',
        "many quotes": HEAD + f"description: '{much(chr(39) * 2)}'\n",
    }


def crowds() -> dict[str, str]:
    """Return very many of one thing, within every limit; see ``job_with``."""
    return {
        "hyperparameters": "hyperparameters:\n" + lines("  key{0}: {0}", 9000),
        "hyperparameters that are one variable": "hyperparameters:\n" + lines("  key-{0}: {0}\n  key_{0}: {0}", 4500),
        "long hyperparameters": "hyperparameters:\n" + lines("  key{0}: " + "x" * 90, 9000),
        "environment": "environment:\n" + lines("  KEY{0}: {0}", 9000),
        "secrets": "environment:\n" + lines("  PASSWORD{0}: hf_abcdefghijklmnopqrstuvwxyz{0}", 9000),
        "tags": "tags:\n" + lines("  key{0}: {0}", 9000),
        "channels": "channels:\n" + lines("  c{0}: s3://data/{0}/", 6000),
        "long channels": "channels:\n"
        + lines("  c{0}: {{s3: s3://data/{0}/, input_mode: Pipe, instance_groups: [a, b]}}", 1300),
        "file systems": "channels:\n"
        + lines("  c{0}: {{file_system: {{id: fs-01234567, type: EFS, path: /a, access: ro}}}}", 1300),
        "metrics": "metrics:\n" + lines("  - {{name: m{0}, regex: 'a=([0-9]+)'}}", 3900),
        "equal metrics": "metrics:\n" + "  - {name: m, regex: '('}\n" * 3900,
        "subnets": "network:\n  security_groups: [sg-0bb]\n  subnets:\n" + "    - subnet-0aa\n" * 9000,
        "groups": "hosts:\n  groups:\n" + lines("    - {{name: g{0}, instance_type: ml.m5.large, count: 1}}", 2400),
        "ignored checks": "checks:\n  ignore:\n"
        + lines("    - {{rule: SM3{0:02d}, at: channels.c{0}, because: it is so}}", 2400),
        "packages": "image:\n  base: python:3.12\n  python_packages:\n" + lines("    - package{0}", 9000),
        "apt packages": "image:\n  base: python:3.12\n  system_packages:\n" + lines("    - package{0}", 9000),
        "labels": "image:\n  base: python:3.12\n  labels:\n" + lines("    key{0}: v", 9000),
        "variables of the image": "image:\n  base: python:3.12\n  env:\n" + lines("    KEY{0}: $KEY{0}", 9000),
        "commands of the image": "image:\n  base: python:3.12\n  run:\n" + lines("    - 'echo $A{0} | cat'", 9000),
        "an argument of letters": f"entry_point: {{command: [{'é' * 250_000}]}}\n",
        "an argument of addresses": f"entry_point: {{command: ['{'é:// arn:é ' * 25_000}']}}\n",
        "bases": "extends:\n" + lines("  - base{0}.yaml", 9000),
        "vars": "vars:\n"
        + lines("  v{0}: {{default: a, enum: [a, b]}}", 2500)
        + "tags:\n"
        + lines("  k{0}: ${{{{ vars.v{0} }}}}", 2000),
        "uses of a variable": "vars: {a: {default: b}}\ndescription: " + much("${{ vars.a }}", 900_000) + "\n",
        "uses of a large variable": f"vars: {{a: {{default: {'b' * 100_000}}}}}\ndescription: "
        + "${{ vars.a }}" * 5000
        + "\n",
        "uses of unknown variables": "vars: {a: {default: b}}\ntags:\n" + lines("  k{0}: ${{{{ vars.b{0} }}}}", 5000),
        "overlays": "overlays:\n" + lines("  o{0}: {{retries: 1}}", 1000),
        "too many overlays": "overlays:\n" + lines("  o{0}: {{retries: 1}}", 4900),
        "overlays of a large job": "image:\n  base: python:3.12\n  run:\n"
        + lines("    - echo {0}", 4000)
        + "overlays:\n"
        + lines("  o{0}: {{retries: 1}}", 12),
        "too many overlays of a large job": "image:\n  base: python:3.12\n  run:\n"
        + lines("    - echo {0}", 9000)
        + "overlays:\n"
        + lines("  o{0}: {{retries: 1}}", 2000),
        "overlays of a long text": f"image: {{base: 'python:3.12', run: [echo {'a' * 800_000}]}}\noverlays:\n"
        + lines("  o{0}: {{retries: 1}}", 2000),
        "overlays of overlays": "overlays:\n" + lines("  o{0}: {{overlays: {{p: {{retries: 1}}}}}}", 4000),
        "arguments": "image: {base: python:3.12}\nsource: src/\nentry_point:\n  script: train.py\n  args:\n"
        + "    - --a\n" * 9000,
        "patterns to ignore": "image: {base: python:3.12}\nentry_point: train.py\nsource:\n  dir: src/\n  ignore:\n"
        + lines("    - '*a*b*{0}'", 9000),
        "members of the API": "api:\n" + lines("  Member{0}: 1", 9000),
        "channels of the API": "api:\n  InputDataConfig:\n"
        + lines("    - {{ChannelName: c{0}, DataSource: {{S3DataSource: {{S3Uri: s3://b/{0}}}}}}}", 1500),
        "attributes": "channels:\n  a:\n    s3: s3://b/k\n    s3_data_type: AugmentedManifestFile\n    attributes:\n"
        + lines("      - a{0}", 9000),
    }


def job_with(more: str) -> str:
    """Return the small job with more lines, which replace its lines with the same key."""
    keys = {line.partition(":")[0] for line in more.splitlines() if line[:1].isalpha()}
    return "".join(f"{line}\n" for line in HEAD.splitlines() if line.partition(":")[0] not in keys) + more


NEAR_MATCHES = [
    *("a", "A", "0", "-", ".", "/", ":", " ", "_", "=", "\\", "$", "(", "[", "*", "@", "%", ",", "\t", "日", "{"),
    *(
        "a-",
        "a.",
        "a/",
        "a:",
        "a ",
        "-a",
        "a_",
        "0.",
        "00:",
        "1h",
        "1h ",
        "1 ",
        "()",
        "(a",
        "(a*)*",
        "[a-",
        "(?",
        "\\d",
        "a|",
    ),
    *(
        "s3://",
        "s3://a/",
        "../",
        "./",
        "//",
        "arn:aws:",
        "arn:aws:iam::111122223333:role/",
        "a@sha256:",
        "a:b@",
        "${{ ",
        "$a",
        "${a",
    ),
    *(
        "--a=",
        "AKIA",
        "password=",
        "password: ",
        "hf_",
        "https://a:b@",
        "eyJ",
        "-----BEGIN ",
        "train:",
        "a.b:",
        "'a' ",
        '"',
        "=a;",
        "==1",
    ),
]
"""Repeated, they go far into a pattern before they fail; one with many ways to match never comes to an end."""


def near_matches(size: int) -> list[str]:
    """Return each repeated, with an end that does not fit."""
    return [much(piece, size) + "!" for piece in NEAR_MATCHES]


def scalars(value: object) -> int:
    """Return how many texts and numbers a document has."""
    if isinstance(value, dict | list):
        return sum(map(scalars, value.values() if isinstance(value, dict) else value))
    return 1


def filled(value: object, text: str) -> object:
    """Return a copy of a document with a text in place of all its texts and numbers."""
    if isinstance(value, dict):
        return {key: filled(inner, text) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, text) for inner in value]
    return text
