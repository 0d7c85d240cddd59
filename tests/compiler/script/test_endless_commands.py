"""What keeps a script on some host from ending well: each one is run on every host, up to the endless line."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

from smspec.script.endless_waits import endless_wait
from smspec.script.shell.endless_commands import endless_command, endless_server

WAYS = 'if [ "$SM_CURRENT_HOST" = "algo-1" ]; then\n  ray start --head\n  python3 train.py\nelse\n  {}\nfi\n'
RAY = "ray start --address=algo-1:6379 --block"
OF_HOSTS = "import json, os; print(json.loads(os.environ['SM_HOSTS'])[0])"
RANK = "import json, os; print(json.loads(os.environ['SM_HOSTS']).index(os.environ['SM_CURRENT_HOST']))"
# Each ends by the stub of a command that would not, on one of two hosts at least.
ENDLESS = {
    "ray of a worker": WAYS.format(RAY),
    "two variables": f'set -e\nA=$SM_CURRENT_HOST\nB=$(python3 -c "{OF_HOSTS}")\nif [[ "$A" != "$B" ]]; then\n'
    f'  {RAY}\nfi\nif [[ "$A" == "$B" ]]; then python3 train.py; fi\n',
    "sleep": WAYS.format("sleep infinity"),
    "tail": WAYS.format("tail -f /dev/null"),
    "exec": WAYS.format(f"exec {RAY}"),
    "after a pause": WAYS.format(f"sleep 20 && {RAY}"),
    "ray of the head": "ray start --head --block\npython3 train.py\n",
    "ray of the head after an installation": "pip install x && ray start --head --port=1 --block\n",
    "after the leader": 'if [ "$SM_CURRENT_HOST" = algo-1 ]; then\n python3 train.py\n exit 0\nfi\nsleep infinity\n',
    "a failing exit before": '[ -n "$SM_HOSTS" ] || exit 1\nray start --head --block\n',
    "a rank": f'RANK=$(python3 -c "{RANK}")\nif [ "$RANK" -eq 0 ]; then python3 train.py; else sleep inf; fi\n',
    "a rank in brackets": f'RANK=$(python3 -c "{RANK}")\nif (( RANK > 0 )); then true; fi\n'
    "if [[ $RANK -gt 0 ]]; then\n sleep infinity\nfi\n",
    "a function": f'w() {{\n {RAY}\n}}\nif [ "$HOSTNAME" != algo-1 ]; then w; else python3 train.py; fi\n',
    "case": f'case "$SM_CURRENT_HOST" in\n algo-1) ray start --head ;;\n *) {RAY} ;;\nesac\n',
    "a list": f"[ $SM_CURRENT_HOST = algo-1 ] && python3 train.py || {RAY}\n",
    "a list of the others": f'[[ "$SM_CURRENT_HOST" == algo-1 ]] || {RAY}\n',
    "a list of the leader": '[ "$SM_CURRENT_HOST" != algo-1 ] || ray start --head --block\necho done\n',
    "after a list": '[ "$SM_CURRENT_HOST" = algo-1 ] && exec python3 train.py\nsleep infinity\n',
    "a condition before": "if [ -f list.txt ]; then pip install x; fi\n" + WAYS.format("sleep infinity"),
}

SILENT = {
    "a handled failure": WAYS.format(f"{RAY} || true"),
    "an ignored failure": WAYS.format(RAY) + "echo done\n",
    "the background": WAYS.format(f"{RAY} &\n  wait"),
    "a limit": WAYS.format(f"timeout 3600 {RAY}"),
    "a loop that ends": WAYS.format("while ray health-check; do sleep 10; done"),
    "break": WAYS.format("while true; do sleep 1; nc -z algo-1 1 || break; done"),
    "a pause": WAYS.format("sleep 3600"),
    "a file": WAYS.format("tail -f /tmp/log"),
    "an unknown condition": 'if [ -n "$DEBUG" ]; then sleep infinity; fi\npython3 train.py\n',
    "a condition and a host": 'if [ "$SM_CURRENT_HOST" = algo-2 ] && [ -n "$DEBUG" ]; then sleep infinity; fi\n',
    "a flag and a host": '[ -n "$DEBUG" ] && [ "$SM_CURRENT_HOST" = algo-2 ] && sleep infinity\npython3 train.py\n',
    "a list of a flag": f'[ -n "$DEBUG" ] && python3 train.py || {RAY}\n',
    "a list and a flag": '[ "$SM_CURRENT_HOST" = algo-1 ] && [ -n "$DEBUG" ] && sleep infinity\n',
    "a list that is handled": f'[ "$SM_CURRENT_HOST" = algo-1 ] && python3 train.py || {RAY} || true\n',
    "a list that is lost": f'[ "$SM_CURRENT_HOST" = algo-1 ] && python3 train.py || {RAY}\necho done\n',
    "a list that ends": '[ "$SM_CURRENT_HOST" = algo-1 ] && python3 train.py || sleep 60\n',
    "a training in the background": "(sleep 20; python3 train.py; ray stop) &\nray start --head --block\n",
    "an exit before": "if [ -f done ]; then exit 0; fi\nsleep infinity\n",
    "an exit of a function before": "end() { exit; }\nif [ -f done ]; then end; fi\nsleep infinity\n",
    "a sourced file before": ". ./lib.sh\nsleep infinity\n",
    "a text": 'echo "ray start --head --block"\npython3 train.py\n',
    "a host that the job lacks": 'if [ "$SM_CURRENT_HOST" = algo-3 ]; then sleep infinity; fi\n',
    "the same host": 'A=$SM_CURRENT_HOST\nif [ "$A" = "$SM_CURRENT_HOST" ]; then true; else sleep infinity; fi\n',
    "a rank that the job lacks": f'R=$(python3 -c "{RANK}")\nif [ "$R" -eq 2 ]; then sleep infinity; fi\n',
    "a variable of two origins": 'H=$SM_CURRENT_HOST\nH=algo-1\nif [ "$H" != algo-1 ]; then sleep infinity; fi\n',
    "a function without a call": "w() { sleep infinity; }\npython3 train.py\n",
    "after exec": "exec python3 train.py\nsleep infinity\n",
    "after exit": "python3 train.py\nexit\nsleep infinity\n",
    "eval": 'eval "$X"\nsleep infinity\n',
}


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
@pytest.mark.parametrize("name", ENDLESS)
def test_endless_command_is_found_as_bash_reaches_it(name, tmp_path):
    text, mark = ENDLESS[name], tmp_path / "mark"
    found = endless_command(text, "bash", 2)
    assert found is not None
    stubs = tmp_path / "bin"
    stubs.mkdir()
    stub = (
        f'#!/bin/sh\ncase "$0 $*" in *--block* | *inf* | *"-f /dev/null") echo "${{0##*/}}" > {mark}; exit 1 ;; esac\n'
    )
    for command in ("ray", "sleep", "tail", "pip"):
        (stubs / command).write_text(stub)
        (stubs / command).chmod(0o755)
    (stubs / "python3").write_text(
        '#!/bin/sh\ncase "$*" in *index*) echo $(( ${SM_CURRENT_HOST#algo-} - 1 )) ;; -c*) echo algo-1 ;; esac\n'
    )
    (stubs / "python3").chmod(0o755)
    reached = []
    for host in ("algo-1", "algo-2"):
        env = {"SM_CURRENT_HOST": host, "HOSTNAME": host, "SM_HOSTS": '["algo-1", "algo-2"]'}
        path = f"{stubs}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(["bash", "-c", text], env={**env, "PATH": path}, cwd=tmp_path, timeout=60)
        if mark.exists():
            assert done.returncode or not found.fails
            assert mark.read_text().strip() == found.command.split()[0]
            mark.unlink()
            reached.append(host)
    assert len(reached) == (2 if found.everywhere else 1)


@pytest.mark.parametrize("name", SILENT)
@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_script_that_may_end_is_silent(name, shell):
    assert endless_command(SILENT[name], shell, 2) is None


@pytest.mark.parametrize("name", [name for name in ENDLESS if "SM_CURRENT_HOST" in ENDLESS[name]])
def test_way_of_other_hosts_is_none_of_a_single_one(name):
    assert endless_command(ENDLESS[name], "bash", 1) is None


def test_loop_that_only_waits_is_found():
    found = endless_command(WAYS.format("while true; do\n    sleep 60\n  done"), "sh", 2)
    assert found is not None
    assert (found.command, found.line) == ("while true", 5)


HEAD = "import json, os, subprocess, sys, time\nHOST = os.environ['SM_CURRENT_HOST']\n"
HEAD += "HOSTS = json.loads(os.environ['SM_HOSTS'])\n"
WAIT = "while True:\n        time.sleep(60)\n"
OTHERWISE = f"{HEAD}if HOST == HOSTS[0]:\n    print(1)\nelse:\n    {{}}\n"
ENDLESS_PROGRAMS = {
    "a loop": OTHERWISE.format(WAIT),
    "a loop that prints": OTHERWISE.format("while 1: print('waiting', flush=True); time.sleep(60)"),
    "a literal host": f"{HEAD}if os.environ['SM_CURRENT_HOST'] != 'algo-2':\n    print(1)\nelse:\n    {WAIT}",
    "a rank": f"{HEAD}def wait():\n    {WAIT}\ndef main():\n    rank = HOSTS.index(HOST)\n    if rank > 0:\n"
    "        wait()\n    print(1)\nif __name__ == '__main__':\n    main()\n",
    "after the leader": f"{HEAD}if HOST == HOSTS[0]:\n    sys.exit(0)\nwhile True:\n    time.sleep(1)\n",
    "arguments": f"{HEAD}import types\ndef main(args):\n    if args.current_host == args.hosts[0]:\n        return\n"
    f"    {WAIT}main(types.SimpleNamespace(current_host=HOST, hosts=HOSTS))\n",
    "ray of the head": f"{HEAD}subprocess.run(['ray', 'start', '--head', '--block'])\nprint(1)\n",
    "ray of a shell": f"{HEAD}os.system('ray start --head --port=6379 --block')\n",
    "ray of a worker": OTHERWISE.format("subprocess.check_call(f'ray start --address={HOSTS[0]} --block', shell=True)"),
    "a pause": OTHERWISE.format("import signal; signal.pause()"),
    "an event": OTHERWISE.format("import threading; threading.Event().wait()"),
    "a named event": f"{HEAD}import threading\ndone = threading.Event()\nif HOST != HOSTS[0]:\n    done.wait()\n",
    "ray that is checked": OTHERWISE.format(
        "subprocess.run(['ray', 'start', f'--address={HOST}', '--block'], check=True)"
    ),
}

SILENT_PROGRAMS = {
    "an ignored failure": OTHERWISE.format("subprocess.run(['ray', 'start', '--address=a', '--block'])"),
    "break": OTHERWISE.format("while True:\n        time.sleep(1)\n        if os.path.exists('x'): break"),
    "a check in the loop": OTHERWISE.format("while True:\n        time.sleep(1)\n        check()"),
    "a condition of the loop": OTHERWISE.format("while not os.path.exists('x'): time.sleep(1)"),
    "the background": f"{HEAD}os.system('ray start --head --block &')\n",
    "a limit": f"{HEAD}subprocess.run(['ray', 'start', '--head', '--block'], timeout=5)\n",
    "a thread": f"{HEAD}import threading\nthreading.Thread(target=print).start()\n{OTHERWISE.format(WAIT)}",
    "a caught error": f"{HEAD}try:\n    subprocess.run(['ray', 'start', '--head', '--block'])\n"
    "except OSError:\n    pass\n",
    "an unknown condition": f"{HEAD}if os.environ.get('DEBUG'):\n    {WAIT}",
    "a return before": f"{HEAD}def main():\n    if os.path.exists('x'):\n        return\n    {WAIT}main()\n",
    "an end of a function before": f"{HEAD}def end():\n    if HOST:\n        sys.exit()\n"
    "for x in HOST:\n    end()\nwhile True:\n    pass\n",
    "a function without a call": f"{HEAD}def wait():\n    {WAIT}",
    "a host that the job lacks": f"{HEAD}if HOST == 'algo-7':\n    {WAIT}",
    "the same host": f"{HEAD}if HOST != os.environ['SM_CURRENT_HOST']:\n    {WAIT}",
    "a variable of two origins": f"{HEAD}rank = 0\nif HOSTS:\n    rank = HOSTS.index(HOST)\nif rank == 1:\n    {WAIT}",
    "the name of a server": f"{HEAD}def main(args):\n    if args.hostname != args.default:\n        {WAIT}main(args)\n",
    "a group of hosts": f"{HEAD}if os.environ['SM_CURRENT_INSTANCE_GROUP'] == 'data':\n    {WAIT}",
    "a pause with a handler": f"{HEAD}import signal\nsignal.signal(15, print)\nsignal.pause()\n",
    "an event with a limit": f"{HEAD}import threading\nthreading.Event().wait(5)\nthreading.Event().wait(timeout=5)\n",
    "an event that is set": f"{HEAD}import threading\ndone = threading.Event()\ndone.set()\ndone.wait()\n",
    "an event of a callback": f"{HEAD}import threading\ndone = threading.Event()\nstart(done.set)\ndone.wait()\n",
    "a process": f"{HEAD}process = subprocess.Popen(['true'])\nprocess.wait()\n",
    "a pause of a function": f"{HEAD}import signal\ndef wait():\n    signal.pause()\n",
    "a child": f"{HEAD}if os.fork() == 0:\n    {WAIT}",
    "no Python": f"{HEAD}while True: time.sleep(",
}


class Reached(BaseException):
    """An endless line."""


@pytest.mark.parametrize("name", ENDLESS_PROGRAMS)
def test_endless_line_is_found_as_python_reaches_it(name, monkeypatch):
    found = endless_wait(ENDLESS_PROGRAMS[name], 2)
    assert found is not None

    def reach(*words, **_):
        if "--block" in str(words) or isinstance(words[0], int):
            raise Reached

    for owner, function in ((time, "sleep"), (os, "system"), (subprocess, "run"), (subprocess, "check_call")):
        monkeypatch.setattr(owner, function, reach)

    class Event(threading.Event):
        def wait(self, timeout=None):
            reach(0)

    monkeypatch.setattr(signal, "pause", lambda: reach(0))
    monkeypatch.setattr(threading, "Event", Event)
    monkeypatch.setenv("SM_HOSTS", json.dumps(["algo-1", "algo-2"]))
    reached = []
    for host in ("algo-1", "algo-2"):
        monkeypatch.setenv("SM_CURRENT_HOST", host)
        try:
            exec(compile(ENDLESS_PROGRAMS[name], "train.py", "exec"), {"__name__": "__main__"})
        except Reached:
            reached.append(host)
        except SystemExit:
            pass
    assert len(reached) == (2 if found.everywhere else 1)


@pytest.mark.parametrize("name", SILENT_PROGRAMS)
def test_program_that_may_end_is_silent(name):
    assert endless_wait(SILENT_PROGRAMS[name], 2) is None


@pytest.mark.parametrize("name", [name for name in ENDLESS_PROGRAMS if "head" not in name and name != "ray of a shell"])
def test_way_of_other_hosts_of_a_program_is_none_of_one(name):
    assert endless_wait(ENDLESS_PROGRAMS[name], 1) is None


SERVERS = (
    *("ray start --head --block", "dask-scheduler --port 8786", "/opt/venv/bin/dask scheduler", "redis-server"),
    *("redis-server --port 6379", "python3 -m http.server 8000", "tensorboard --logdir=/opt/ml/output/tensorboard"),
    *("mlflow server --host 0.0.0.0", "mlflow ui"),
)
OTHERS = (
    *("ray start --head", "dask-scheduler --help", "dask scheduler --idle-timeout 60", "dask worker algo-1:8786"),
    *("redis-server /etc/redis.conf", "redis-server --daemonize yes", "redis-server --version", "redis-cli ping"),
    *("python3 -m http.server --help", "python3 -m http.client", "tensorboard --inspect --logdir x", "mlflow run ."),
    *("tensorboard dev upload", "python3 train.py http.server", "", "python3"),
)


@pytest.mark.parametrize("command", SERVERS)
def test_server_in_the_foreground_never_ends(command):
    assert endless_server(command.split()) is not None
    script = f"pip install x\n{command}\npython3 train.py\n"
    for shell in ("bash", "sh"):
        found = endless_command(script, shell, 2)
        assert found is not None and (found.line, found.everywhere) == (2, True)
        for ended in (f"{command} &\npython3 train.py\n", f"timeout 60 {command}\n", f"if x; then {command}; fi\n"):
            assert endless_command(ended, shell, 2) is None
    program = f"import subprocess\nsubprocess.run({command.split()!r})\n"
    found = endless_wait(program, 2)
    assert found is not None and found.line == 2
    for started in ("Popen(", "run(timeout=60, args="):
        assert endless_wait(program.replace("run(", started), 2) is None


@pytest.mark.parametrize("command", OTHERS)
def test_command_that_may_end_is_accepted(command):
    assert endless_server(command.split()) is None
