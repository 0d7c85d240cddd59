"""The defaults of options, as each library has them; unknown where the script may change them."""

import pytest

from support.script.read_programs import program

HEAD = "import argparse\np = argparse.ArgumentParser()\n"
UNKNOWN = ...


def default(script, label):
    (line,) = program(script).command_lines
    return next(option.default for option in line.options if option.label == label)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (HEAD + "p.add_argument('--lr', type=float, default=0.1)\np.parse_args()", 0.1),
        (HEAD + "p.add_argument('--lr')\np.parse_args()", None),
        (HEAD + "p.add_argument('--lr', action='store_true')\np.parse_args()", False),
        (HEAD + "p.add_argument('--lr', action='store_false')\np.parse_args()", UNKNOWN),
        (HEAD + "p.add_argument('--lr', default=compute())\np.parse_args()", UNKNOWN),
        (HEAD + "p.add_argument('--lr', default=1)\np.set_defaults(lr=2)\np.parse_args()", UNKNOWN),
        (HEAD + "a = p.add_argument('--lr', default=1)\na.default = 2\np.parse_args()", UNKNOWN),
        (
            "from dataclasses import dataclass\nfrom transformers import HfArgumentParser\n@dataclass\nclass A:\n"
            "    lr: int = 3\nHfArgumentParser(A).parse_args_into_dataclasses()",
            3,
        ),
    ],
)
def test_default_of_an_option(script, expected):
    found = default(script, "lr")
    assert found is expected if expected in (UNKNOWN, None, False) else found == expected
