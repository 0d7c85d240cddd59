"""Random small shell scripts, in which each training command is in a line without another one."""

import itertools
import random
import re

# `@T` is a training command, `@F` a function that exists, `@B` a block.
_LINES = (
    *(
        "@T",
        "@T",
        "@T",
        "@T | cat",
        "@T && true",
        "@T || true",
        "@T || exit 1",
        "x=$(@T)",
        "export x=$(@T)",
        'echo "$(@T)"',
    ),
    *("true", "echo hi", "@T &", "wait", "set -e", "set -e", "set +e", "set -eu", "set -o pipefail", "@T\ny=$?"),
    *("@T\nexit $?", "! @T", "true && @T", "true | @T", "false", "false || true", '[ "$A" = 1 ]', '[ "$A" = 1 ] && @T'),
    *('[ "$B" = 1 ] || @T', "( @T )", "{ @T; }", "exit 0", "exit", "cat <<END\n$A python3\nEND", "@T &\nwait $!"),
    *("trap 'exit 0' EXIT", "trap 'true' EXIT", "trap 'exit 3' EXIT", "trap - EXIT", "exec @T", "x=`@T`"),
    *("@T &\na=$!", "@T &\nb=$!", "wait $a $b", "wait $a", "wait $b $a", "wait $a || exit 1", 'p="$p $!"', "wait $p"),
    *("@T # comment || exit", "( @T ) | cat", 'export x=1 y="$(@T)"', "@T && echo ok && true", "nohup @T"),
)
_BLOCKS = (
    *('if [ "$A" = 1 ]; then\n@B\nfi', 'if [ "$B" = 1 ]; then\n@B\nelse\n@B\nfi', "if @T; then\n@B\nfi"),
    *("for i in 1 2; do\n@B\ndone", "for i in $L; do\n@B\ndone", "for i in 1 2 3; do\n@B\nbreak\ndone"),
    *("(\n@B\n)", "{\n@B\n}", "case $A in\n1)\n@B\n;;\n*)\n@B\n;;\nesac", "case $A in\n1)\n@B\n;;\nesac"),
    *("{\n@B\n} | cat", "{\n@B\n} || true", "{\n@B\n} && true", "(\n@B\n) &\nwait", "(\n@B\n) && true", "! {\n@B\n}"),
    *(
        "until @T; do\ntrue\ndone",
        "n=0\nuntil @T; do\nn=$((n+1))\n[ $n -ge 3 ] && break\ndone",
        "for i in 1 2; do\nif @T; then\nbreak\nfi\n@B\ndone",
        "for i in 1 2; do\n@T && break\n@B\ndone",
        "for i in 1 2; do\n@T\n[ $? -eq 0 ] && break\n@B\ndone",
        "for i in 1 2; do\n@T && exit 0\ntrue\ndone",
        "for j in $a $b; do\nwait $j\ndone",
        "x=$(\n@B\n)",
        "for i in 1 2; do\n@B\ncontinue\ndone",
        "while true; do\n@B\nbreak\ndone",
    ),
)
_CALLS = ("@F", "@F || exit 1", "@F && true", "if @F; then\n@B\nfi", "@F | cat")


def random_script(choices: random.Random, *, is_bash: bool) -> str:
    """Return a script that reads the variables A, B, and L; its commands are `python3 t_1_.py` and so on."""
    numbers = itertools.count(1)
    functions: list[str] = []

    def filled(form: str, depth: int) -> str:
        made = {
            "@T": lambda: f"python3 t_{next(numbers)}_.py",
            "@F": lambda: choices.choice(functions),
            "@B": lambda: block(depth - 1),
        }
        return re.sub("@[TFB]", lambda match: made[match[0]](), form)

    def statement(depth: int) -> str:
        if depth <= 0 or choices.random() < 0.55:
            return filled(choices.choice(_LINES), depth)
        return filled(choices.choice((*_BLOCKS, *(_CALLS * 4 if functions else ()))), depth)

    def block(depth: int) -> str:
        return "\n".join(statement(depth) for _ in range(choices.randint(1, 3)))

    parts = []
    for index in range(choices.randint(0, 2)):
        parts.append(f"f{index}() {{\n{block(2)}\n}}")
        functions.append(f"f{index}")
    parts += [statement(2) for _ in range(choices.randint(1, 5))]
    text = "\n".join(["a= b= p=", *parts]) + "\n"
    return text if is_bash else text.replace("set -o pipefail", "true")
