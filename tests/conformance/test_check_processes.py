"""The processes of `smspec check`: what they see and change, and what is left of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time

import pytest

from support.local.checked_jobs import PARSER, Checked, codes, wheel
from support.local.local_jobs import DEADLINE


@pytest.fixture
def checked(tmp_path):
    return Checked(tmp_path)


def test_script_changes_nothing_outside(checked):
    """What it writes before its parser stays in its copy; everything else is refused and left as it was."""
    checked.spec()
    checked.job.write(
        "src/train.py",
        f"""
        import multiprocessing, os, socket, subprocess, sys
        open("in-the-copy", "w").close()
        open("/dev/null", "w").write("nothing")
        try:
            open("/dev/shm/of-smspec-check", "w").close()
            multiprocessing.Lock()
        except OSError:
            pass  # this system has no mounts of its own
        open(os.path.expanduser("~/in-its-home"), "w").close()
        for path in {[str(checked.outside / "file"), str(checked.job.directory / "src" / "file")]!r}:
            try:
                open(path, "w").close()
            except OSError:
                continue
            print("wrote", path)
        try:
            socket.create_connection(("192.0.2.1", 80), 5)
        except OSError:
            pass
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        {PARSER.replace(chr(10), chr(10) + " " * 8)}
        parser.parse_args()
        """,
    )
    status, records, err = checked.check()
    assert (status, records) == (0, []), err
    assert sorted(path.name for path in (checked.job.directory / "src").iterdir()) == ["train.py"]
    assert not os.path.exists("/dev/shm/of-smspec-check")


def test_slow_script_ends_at_the_time_limit(checked):
    checked.spec()
    checked.job.write(
        "src/train.py", "import time\ntime.sleep(600)\nimport argparse\nargparse.ArgumentParser().parse_args()\n"
    )
    started = time.monotonic()
    status, records, _ = checked.check("--timeout", "2")
    assert (status, codes(records)) == (0, [("note", "SM550")])
    assert "did not reach its parser in 2 s" in records[0]["message"]
    assert time.monotonic() - started < 30


def test_variables_of_the_author_prove_nothing(checked):
    """The container has none of them; those of the image, the launcher, and AWS are unknown."""
    checked.environment |= {"TRACKING_USER": "of-the-author", "GPG_KEY": "of-the-author"}
    checked.spec()
    for name, found in {"GPG_KEY": ("note", "SM550"), "TRACKING_USER": ("error", "SM549")}.items():
        read = f"import os\nfor name in ['{name}']:\n    os.environ[name]\n"
        checked.job.write("src/train.py", f"{read}{PARSER}parser.parse_args()\n")
        records = checked.check()[1]
        assert codes(records) == [found]
        assert f"KeyError: '{name}'" in records[0]["note"]


def test_interrupt_leaves_nothing(checked):
    checked.spec()
    checked.job.write(
        "src/train.py",
        "import signal, time, subprocess, sys\n"
        "for number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{checked.temporary}'], "
        "start_new_session=True)\n"
        "print('waiting', flush=True)\ntime.sleep(600)\nimport argparse\nargparse.ArgumentParser().parse_args()\n",
    )
    process = checked.start()
    end = time.monotonic() + DEADLINE
    while not any("sleep(600)" in words for words in checked.processes()):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    checked.assert_nothing_left()


def test_two_checks_at_once_share_one_installation(checked):
    wheel(checked.wheels, "greeting", "")
    checked.spec("hyperparameters: {lr: 1}", more=", python_packages: [greeting==1.0]")
    checked.job.write("src/train.py", f"import greeting\n{PARSER}parser.parse_args()\n")
    both = [checked.start(), checked.start()]
    ended = [process.communicate(timeout=DEADLINE) for process in both]
    assert [process.returncode for process in both] == [0, 0], ended
    assert sum("installing `greeting" in err for _, err in ended) == 1
    checked.assert_nothing_left()


def test_secrets_have_other_values(checked):
    """Neither the author's variable nor AWS is needed, and the script does not get what the author has."""
    checked.environment["WANDB_API_KEY"] = "of-the-author"
    secrets = "arn:aws:secretsmanager:us-west-2:111122223333:secret"
    checked.spec(f"secrets: {{WANDB_API_KEY: '{secrets}:wandb-AbCdEf', OTHER: '{secrets}:other-AbCdEf'}}\n")
    checked.job.write(
        "src/train.py",
        "import os\nassert os.environ['WANDB_API_KEY'] == os.environ['OTHER'] != 'of-the-author'\n"
        + PARSER
        + "parser.parse_args()\n",
    )
    status, records, err = checked.check()
    assert (status, records) == (0, []), err
    assert "arguments parsed by train.py" in err


@pytest.mark.parametrize(
    "planted",
    [
        "os.symlink(SECRET, RESULT)",
        "os.mkfifo(RESULT)",
        "os.makedirs(RESULT)",
        "open(RESULT, 'w').write('[' * 100000)",
        'open(RESULT, \'w\').write(\'{"kind": "raised", "modules": [1], "libraries": {}, "frames": 3}\')',
        "open(RESULT, 'w').write('{\"kind\": 7}')",
        "open(RESULT, 'wb').write(bytes(1 << 25))",
    ],
    ids=["link", "fifo", "directory", "nested", "other forms", "other kind", "long"],
)
def test_result_of_a_hostile_script_is_a_note(checked, planted):
    """It is what the driver would have written; smspec follows no link there and waits for no writer."""
    checked.spec()
    secret = checked.job.directory / "src" / "secret.json"
    secret.write_text('{"kind": "rejected", "modules": [], "libraries": [], "message": "of the author"}')
    program = "import os\nRESULT = os.path.join(os.path.dirname(os.environ['HOME']), 'parsed.json')\n"
    program += f"SECRET = {str(secret)!r}\n{planted}\nos._exit(0)\n"
    checked.job.write("src/train.py", f"{program}{PARSER}parser.parse_args()\n")
    status, records, err = checked.check()
    assert (status, codes(records)) == (0, [("note", "SM550")]), err
    assert "of the author" not in str(records)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_variables_of_the_spec_load_nothing_before_the_limits(checked):
    """The loader of libraries obeys LD_PRELOAD in every process that has it, so in that which confines, too."""
    reached = checked.outside / "reached"
    source = f'#include <stdio.h>\n__attribute__((constructor)) void run(void) {{ fopen("{reached}", "w"); }}\n'
    library = checked.job.directory / "src" / "library.so"
    library.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"], input=source, text=True, check=True)
    checked.spec("environment: {LD_PRELOAD: ./library.so}\n")
    checked.job.write("src/train.py", f"import os\nassert os.environ['LD_PRELOAD']\n{PARSER}parser.parse_args()\n")
    status, records, err = checked.check()
    assert (status, records) == (0, []), err
    assert not reached.exists()


LEAVING = {
    "nested": "os.chdir(os.environ['HOME'])\nfor _ in range(6000):\n    os.mkdir('d')\n    os.chdir('d')\n",
    "file": "os.rmdir(os.environ['HOME'])\nopen(os.environ['HOME'], 'w').close()\n",
    "link": "os.rmdir(os.environ['HOME'])\nos.symlink('/', os.environ['HOME'])\n",
    "pipe": "os.rmdir(os.environ['HOME'])\nos.mkfifo(os.environ['HOME'])\n",
}


@pytest.mark.parametrize("left", LEAVING)
def test_home_that_a_script_leaves_is_removed(checked, left):
    """However deep it is; the process that imports a module after that has a home again."""
    checked.spec()
    checked.job.write("src/later.py", "import os\nassert os.path.isdir(os.environ['HOME'])\n")
    more = f"import os\n{LEAVING[left]}os.chdir('/')\n{PARSER}parser.parse_args()\nimport later\n"
    checked.job.write("src/train.py", more)
    status, records, err = checked.check()
    assert (status, records) == (0, []), err
    assert "2 modules compiled" in err


@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="there is no /proc")
def test_check_shows_nothing_of_the_kernel(checked):
    """As root, too: addresses, names of keys, and what other processes do."""
    checked.spec()
    names = ["kallsyms", "kcore", "keys", "key-users", "kpageflags", "modules", "slabinfo", "timer_list", "vmallocinfo"]
    names += ["interrupts", "kpagecount", "kpagecgroup", "sched_debug", "latency_stats"]
    reading = f"found = []\nfor name in {names!r}:\n    try:\n        with open(f'/proc/{{name}}', 'rb') as file:\n"
    reading += "            found += [name] if file.read(64) else []\n    except OSError:\n        pass\n"
    checked.job.write("src/train.py", f"{reading}if found:\n    raise TypeError(found)\n{PARSER}parser.parse_args()\n")
    status, records, err = checked.check()
    if "not confined" in err:
        pytest.skip("the system refuses namespaces")
    assert (status, records) == (0, []), err
