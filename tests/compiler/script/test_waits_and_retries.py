"""Statuses that `wait` and loops of tries lose: every verdict is compared with what shells do."""

import os
import shutil
import subprocess

import pytest

from smspec.script.shell.lost_statuses import lost_statuses

SHELLS = [name for name in ("bash", "dash") if shutil.which(name)]
TRAIN = '#!/bin/sh\ncase "$*" in *"$FAILS"*) exit 3 ;; esac\necho loss 1\n'
TWO = "python3 train.py a & a=$!\npython3 b.py & b=$!\n"
ARRAY = "pids=()\nfor gpu in 0 1; do python3 train.py a$gpu & pids+=($!); done\n"
TEXT = 'pids=""\nfor gpu in 0 1; do python3 train.py a$gpu & pids="$pids $!"; done\n'
NUMBERED = "for gpu in 0 1; do python3 train.py a$gpu & pids[$gpu]=$!; done\n"
KEPT_STATUS = "for i in 1 2; do\n python3 train.py a\n rc=$?\n "
COUNT = "n=$((n+1))"

# A script that loses the failure of each command with `train.py a` or `train.py a0`, and the cure.
LOST = {
    "two processes": (TWO + "wait $a $b\n", "each"),
    "two processes with errexit": ("set -e\n" + TWO + 'wait "$a" "${b}"\necho done\n', "each"),
    "a process before the last": (TWO + "wait $a $!\n", "each"),
    "two jobs": ("python3 train.py a &\npython3 b.py &\nwait %1 %2\n", "each"),
    "an array": (ARRAY + 'wait "${pids[@]}"\n', "each"),
    "an array without quotes": (ARRAY + "wait ${pids[*]}\necho done\n", "each"),
    "a text of processes": (TEXT + "wait $pids\n", "each"),
    "an appended text": ('python3 train.py a & p+=" $!"\npython3 b.py & p+=" $!"\nwait $p\n', "each"),
    "an array at once": (TWO + "all=($a $b)\nwait ${all[@]}\n", "each"),
    "a local process": ("main() {\n" + TWO.replace("a=", "local a=") + "wait $a $b\n}\nmain\n", "each"),
    "one wait before another": (TWO + "wait $a\nwait $b\n", "errexit"),
    "a wait before a line": ("python3 train.py a &\nwait $!\necho done\n", "errexit"),
    "a wait before a test": ("python3 train.py a & a=$!\nwait $a\npython3 b.py\n", "errexit"),
    "two processes before a test": ("set -e\n" + TWO + "wait $a $b\npython3 test.py\n", "each"),
    "a job before a line": ("python3 train.py a &\nwait %1\necho done\n", "errexit"),
    "a loop of waits": (ARRAY + 'for p in "${pids[@]}"; do wait $p; done\n', "errexit"),
    "a loop of waits for a text": (TEXT + "for p in $pids; do wait $p; done\n", "errexit"),
    "a loop of waits for two": (TWO + 'for p in "$a" "$b"; do\n  wait "$p"\ndone\necho done\n', "errexit"),
    "a pipe in the background": ("set -e\n(python3 train.py a | tee log) & a=$!\nwait $a\n", "pipefail"),
    "a group in the background": ("{ python3 train.py a; echo; } &\na=$!\nwait $a\n", "errexit"),
    "a wait before bare wait": (TWO + "wait $a\nwait\n", "errexit"),
    "tries": ("for i in 1 2 3; do python3 train.py a && break; sleep 0; done\n", "tries"),
    "tries with errexit": ("set -e\nfor i in 1 2; do python3 train.py a && break; echo $i; done\necho done\n", "tries"),
    "tries with OR": ("for i in 1 2; do python3 train.py a && break || sleep 0; done\n", "tries"),
    "tries with exit": ("for i in 1 2; do python3 train.py a && exit 0; echo again; done\n", "tries"),
    "tries with a group": ("for i in 1 2; do python3 train.py a && { echo; break; }; sleep 0; done\n", "tries"),
    "tries with continue": ("for i in 1 2; do\n python3 train.py a || { sleep 0; continue; }\n break\ndone\n", "tries"),
    "tries with if": ("for i in 1 2; do\n if python3 train.py a; then echo; break; fi\n sleep 0\ndone\n", "tries"),
    "tries with else": ("for i in 1 2; do if python3 train.py a; then break; else echo; fi; done\n", "tries"),
    "tries with not": ("for i in 1 2; do if ! python3 train.py a; then echo; else break; fi; done\n", "tries"),
    "tries with not and continue": (
        "for i in 1 2; do if ! python3 train.py a; then sleep 0; continue; fi; break; done\n",
        "tries",
    ),
    "a test of the status": ("for i in 1 2; do python3 train.py a; [ $? -eq 0 ] && break; sleep 0; done\n", "tries"),
    "an if of the status": ("for i in 1 2; do python3 train.py a; if [ $? = 0 ]; then break; fi; done\n", "tries"),
    "until": (f"n=0\nuntil python3 train.py a; do sleep 0; {COUNT}; [ $n -ge 3 ] && break; done\n", "tries"),
    "until with if": (
        f"n=0\nuntil python3 train.py a; do\n {COUNT}\n if [ $n -ge 3 ]; then echo; break; fi\ndone\necho\n",
        "tries",
    ),
    "while not": (f"n=0\nwhile ! python3 train.py a; do {COUNT}; [ $n -lt 3 ] || break; done\n", "tries"),
    "while with a counter": (
        f"n=0\nwhile [ $n -lt 3 ]; do python3 train.py a && break; {COUNT}; sleep 0; done\n",
        "tries",
    ),
    "while true": (
        f"n=0\nwhile true; do\n python3 train.py a && break\n {COUNT}\n [ $n -ge 3 ] && break\ndone\necho done\n",
        "tries",
    ),
    "tries of a function": (
        "train() { python3 train.py a; }\nfor i in 1 2; do train && break; sleep 0; done\n",
        "tries",
    ),
    "tries in a function": (
        f"main() {{\n n=0\n until python3 train.py a; do {COUNT}; [ $n -ge 3 ] && return 0; done\n}}\nmain\n",
        "tries",
    ),
    "one process in an array": ("python3 train.py a & a[0]=$!\nwait ${a[*]}\necho done\n", "errexit"),
    "a loop of waits for an array with numbers": (
        NUMBERED + 'for p in "${pids[@]}"; do wait $p; done\necho done\n',
        "errexit",
    ),
    "a kept status": (KEPT_STATUS + "[ $rc -eq 0 ] && break\ndone\necho done\n", "tries"),
    "an if of a kept status": (
        KEPT_STATUS + 'if [ "$rc" = "0" ]; then break; fi\n echo "try $i: $rc"\ndone\necho done\n',
        "tries",
    ),
    "a kept status of while": (
        f"n=0\nwhile true; do\n python3 train.py a\n rc=$?\n [ ${{rc}} -eq 0 ] && break\n {COUNT}\n"
        " [ $n -ge 3 ] && break\ndone\necho done\n",
        "tries",
    ),
    "a kept status of the opposite": (
        KEPT_STATUS + "if [ $rc -ne 0 ]; then sleep 0; continue; fi\n break\ndone\necho done\n",
        "tries",
    ),
    "tries after a pipe": (
        "set -o pipefail\nfor i in 1 2; do python3 train.py a | tee log && break; sleep 0; done\n",
        "tries",
    ),
}

RIGHT = {
    "each process": TWO + "wait $a || exit 1\nwait $b || exit 1\n",
    "each process with errexit": "set -e\n" + TWO + "wait $a\nwait $b\n",
    "both": TWO + "wait $a && wait $b\n",
    "the last process": "sleep 0 & b=$!\npython3 train.py a & a=$!\nwait $b $a\n",
    "the next": TWO + "wait -n || exit 1\nwait -n\n",
    "the statuses": TWO + "wait $a; ra=$?\nwait $b; rb=$?\nexit $((ra | rb))\n",
    "a flag": TWO + "fail=0\nwait $a || fail=1\nwait $b || fail=1\nexit $fail\n",
    "a loop with OR": ARRAY + 'for p in "${pids[@]}"; do wait "$p" || exit 1; done\n',
    "a loop with a flag": ARRAY + 'f=0\nfor p in "${pids[@]}"; do wait $p || f=1; done\nexit $f\n',
    "a loop with if": TEXT + "for p in $pids; do if ! wait $p; then exit 1; fi; done\n",
    "a loop with if and else": TEXT + "for p in $pids; do if wait $p; then echo; else exit 1; fi; done\n",
    "a loop with errexit": "set -e\n" + ARRAY + 'for p in "${pids[@]}"; do wait $p; done\necho\n',
    "a loop over indexes": ARRAY + "for i in 0 1; do wait ${pids[$i]} || exit 1; done\n",
    "a counter of failures": TEXT + 'for p in $pids; do wait $p || n=$((n+1)); done\n[ -z "$n" ] || exit 1\n',
    "a signal": "python3 train.py a & a=$!\ntrap 'kill -TERM $a' TERM\nwait $a\ntrap - TERM\nwait $a\nexit $?\n",
    "a service": "python3 train.py a & s=$!\npython3 b.py & b=$!\nwait $b\n",
    "a service that is ended": "python3 train.py a & s=$!\npython3 b.py || exit 1\nkill $s\nwait $s\nexit 0\n",
    "services": "python3 train.py a &\npython3 serve.py &\npython3 b.py\n",
    "a process of jobs": "python3 train.py a &\nfor p in $(jobs -p); do wait $p || exit 1; done\n",
    "exit after tries": "for i in 1 2; do python3 train.py a && exit 0; sleep 0; done\nexit 1\n",
    "the last status of tries": "for i in 1 2; do python3 train.py a && break; done\n",
    "a flag after tries": (
        "ok=0\nfor i in 1 2; do if python3 train.py a; then ok=1; break; fi; done\n[ $ok = 1 ] || exit 1\n"
    ),
    "a flag that is a command": (
        "ok=false\nfor i in 1 2; do python3 train.py a && ok=true && break; sleep 0; done\n$ok || exit 1\n"
    ),
    "a test of the counter": (
        f"n=0\nuntil python3 train.py a; do {COUNT}; [ $n -ge 3 ] && break; done\nif [ $n -ge 3 ]; then exit 1; fi\n"
    ),
    "exit in until": f"n=0\nuntil python3 train.py a; do {COUNT}; [ $n -ge 3 ] && exit 1; sleep 0; done\n",
    "exit in if in until": (
        f"n=0\nuntil python3 train.py a; do {COUNT}; if [ $n -ge 3 ]; then echo; exit 1; fi; done\necho\n"
    ),
    "return in a function": (
        f"try() {{ n=0; until python3 train.py a; do {COUNT}; [ $n -ge 3 ] && return 1; done; }}\ntry || exit 1\n"
    ),
    "a last try": "for i in 1 2; do python3 train.py a && exit 0; sleep 0; done\npython3 train.py a\n",
    "a check of the model": "for i in 1 2; do python3 train.py a && break; sleep 0; done\n[ -f m.bin ] || exit 1\n",
    "a copy of the model": "set -e\nfor i in 1 2; do python3 train.py a && break; sleep 0; done\ncp m.bin out\n",
    "another program after tries": "for i in 1 2; do python3 train.py a && break; sleep 0; done\npython3 test.py\n",
    "a failed try that ends": "for i in 1 2; do if python3 train.py a; then break; else exit 1; fi; done\necho\n",
    "tries of a package": "for i in 1 2; do pip install train.py && break; sleep 0; done\npython3 b.py\n",
    "folds that may fail": "for i in 1 2; do python3 train.py a || echo failed; done\n",
    "folds that may be skipped": "for i in 1 2; do python3 train.py a || continue; echo; done\necho\n",
    "a choice in a loop": "for i in 1 2; do if python3 train.py a; then echo good; else echo bad; fi; done\n",
    "a status that is kept": "for i in 1 2; do python3 train.py a && exit 0; rc=$?; sleep 0; done\nexit $rc\n",
    "until it is made": "while [ ! -f m.bin ]; do python3 train.py a; : > m.bin; done\n",
    "break when it is made": "for i in 1 2; do python3 train.py a; [ -f m.bin ] && break; sleep 0; done\necho\n",
    "without an end": "until python3 train.py a; do sleep 0; done\n",
    "a counter in the test": "for i in 1 2; do python3 train.py a && break; [ $i -eq 2 ] && exit 1; sleep 0; done\n",
    "a loop with OR over an array with numbers": NUMBERED + 'for p in "${pids[@]}"; do wait $p || exit 1; done\n',
    "an array that is filled from its end": (
        "python3 train.py a & pids[1]=$!\npython3 b.py & pids[0]=$!\nfor p in ${pids[@]}; do wait $p; done\n"
    ),
    "an array with names": (
        "declare -A pids\nfor gpu in 0 1; do python3 train.py a$gpu & pids[g$gpu]=$!; done\n"
        "rc=0\nfor p in ${pids[@]}; do wait $p || rc=1; done\nexit $rc\n"
    ),
    "a kept status at the end": KEPT_STATUS + "[ $rc -eq 0 ] && break\ndone\nexit $rc\n",
    "a kept status that is tested at the end": (
        KEPT_STATUS + "if [ $rc -eq 0 ]; then break; fi\ndone\nif [ $rc -ne 0 ]; then exit 1; fi\necho done\n"
    ),
    "a kept status in arithmetic": KEPT_STATUS + "[ $rc -eq 0 ] && break\ndone\n(( rc == 0 )) || exit 1\necho\n",
    "a kept status in a file": (KEPT_STATUS + "[ $rc -eq 0 ] && break\ndone\necho $rc > rc.txt\nexit $(cat rc.txt)\n"),
    "a kept status for a function": (
        "check() { [ $1 -eq 0 ] || exit $1; }\n" + KEPT_STATUS + "[ $rc -eq 0 ] && break\ndone\ncheck $rc\necho\n"
    ),
    "a copy of a kept status": ("all=0\n" + KEPT_STATUS + "[ $rc -eq 0 ] && continue\n all=$rc\ndone\nexit $all\n"),
    "a status kept for case": (
        KEPT_STATUS + "[ $rc -eq 0 ] && break\ndone\ncase $rc in 0) echo ;; *) exit 1 ;; esac\n"
    ),
    "arithmetic after tries": (
        f"n=0\nwhile [ $n -lt 3 ]; do python3 train.py a && break; {COUNT}; done\n(( n < 3 )) || exit 1\n"
    ),
    "case after tries": (
        "r=bad\nfor i in 1 2; do python3 train.py a && r=good && break; done\ncase $r in bad) exit 1 ;; esac\n"
    ),
}


@pytest.fixture
def run(tmp_path):
    """Return the status of a script in a shell where the commands whose words contain a text always fail."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text(TRAIN)
    (tmp_path / "bin/python3").chmod(0o755)
    (tmp_path / "code").mkdir()
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def status(shell, text, fails):
        done = subprocess.run(
            [shell, "/dev/stdin"],
            input=text.encode(),
            env={"PATH": path, "FAILS": fails},
            cwd=tmp_path / "code",
            capture_output=True,
            timeout=60,
        )
        return done.returncode

    return status


def lost_ones(text):
    """Return what is found of the commands that fail in the shells."""
    lines = text.split("\n")
    return [one for one in lost_statuses(text, "bash") if "train.py a" in lines[one.line - 1]]


@pytest.mark.parametrize("name", LOST)
def test_lost_status_is_found_as_shells_lose_it(name, run):
    text, cure = LOST[name]
    assert [one.cure for one in lost_ones(text)] == [cure]
    fails = "train.py a0" if "a$gpu" in text else "train.py a"
    for shell in SHELLS:
        if shell == "bash" or not any(
            part in text for part in ("pids+=", "pids[", "a[0]=", "p+=", "all=(", "pipefail")
        ):
            assert run(shell, text, fails) == 0, shell


@pytest.mark.parametrize("name", [name for name in LOST if LOST[name][1] in ("errexit", "pipefail")])
def test_cure_of_a_wait_keeps_the_failure(name, run):
    text, cure = LOST[name]
    text = ("set -e\n" if cure == "errexit" else "set -eo pipefail\n") + text
    assert lost_ones(text) == []
    assert run("bash", text, "train.py a0" if "a$gpu" in text else "train.py a") != 0


@pytest.mark.parametrize("name", RIGHT)
def test_kept_status_is_accepted(name):
    assert lost_statuses(RIGHT[name], "bash") == []


KEPT = sorted(
    {*RIGHT}
    - {
        "a service",
        "a service that is ended",
        "services",
        "without an end",
        "another program after tries",
        "tries of a package",
    }
)
DELIBERATE = {
    *("folds that may fail", "folds that may be skipped", "a choice in a loop", "until it is made"),
    *("break when it is made", "a signal"),
}


@pytest.mark.parametrize("name", [name for name in KEPT if name not in DELIBERATE])
def test_script_that_is_accepted_ends_with_the_failure(name, run):
    text = RIGHT[name]
    assert run("bash", text, "train.py a0" if "a$gpu" in text else "train.py a") != 0
