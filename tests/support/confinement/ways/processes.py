"""Reach other processes of the author, their terminal, or more rights."""

import contextlib
import ctypes
import fcntl
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

from .trying import WORLD, call, machine, opened, way


@way
def kill():
    os.kill(WORLD["victim"], signal.SIGCONT)


@way
def queue_signal():
    information = ctypes.create_string_buffer(struct.pack("iii", signal.SIGCONT, 0, -1), 128)
    call("rt_sigqueueinfo", WORLD["victim"], signal.SIGCONT, information)


@way
def signal_by_thread():
    call("tgkill", WORLD["victim"], WORLD["victim"], signal.SIGCONT)


@way
def signal_by_descriptor():
    process = call("pidfd_open", WORLD["victim"], 0)
    call("pidfd_send_signal", process, signal.SIGCONT, None, 0)


@way
def signal_by_file_owner():
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, WORLD["victim"])
    fcntl.fcntl(reader, 10, signal.SIGUSR2)
    fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(writer, b"x")
    end = time.monotonic() + 1
    while time.monotonic() < end:
        if os.path.exists(WORLD["signalled"]):
            return
        time.sleep(0.02)
    raise OSError("it got none")


@way
def trace():
    call("ptrace", 0x4206, WORLD["victim"], None, None)  # until this process ends


@way
def write_memory():
    opened(f"/proc/{WORLD['victim']}/mem")


@way
def copy_memory():
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("QQ", ctypes.addressof(buffer), 8)
    remote = struct.pack("QQ", WORLD["address"], 8)
    call("process_vm_readv", WORLD["victim"], local, 1, remote, 1, 0)


@way
def copy_descriptor():
    call("pidfd_getfd", call("pidfd_open", WORLD["victim"], 0), 0, 0)


@way
def read_environment():
    open(f"/proc/{WORLD['victim']}/environ", "rb").read()


@way
def see_processes():
    open(f"/proc/{WORLD['victim']}/cmdline", "rb").read()


@way
def compare_processes():
    call("kcmp", os.getpid(), WORLD["victim"], 1, 0, 0)


@way
def priority():
    now = os.getpriority(os.PRIO_PROCESS, WORLD["victim"])
    os.setpriority(os.PRIO_PROCESS, WORLD["victim"], now + 1)  # which needs no right, also where `nice` runs the tests


@machine
def priority_of_the_user():
    os.setpriority(os.PRIO_USER, 0, 0)
    if os.path.exists(f"/proc/{WORLD['victim']}"):
        return
    raise OSError("the victim is not among them")


@way
def priority_of_input():
    call("ioprio_set", 1, WORLD["victim"], (2 << 13) | 7)


@way
def processors():
    os.sched_setaffinity(WORLD["victim"], os.sched_getaffinity(0))


@way
def scheduler():
    os.sched_setscheduler(WORLD["victim"], os.SCHED_OTHER, os.sched_param(0))


@way
def limits():
    resource.prlimit(WORLD["victim"], resource.RLIMIT_NOFILE)


@way
def larger_file():
    _raised(resource.RLIMIT_FSIZE)
    os.truncate(os.open("large", os.O_RDWR | os.O_CREAT), (1 << 30) + 1)


@way
def more_processor_time():
    _raised(resource.RLIMIT_CPU)


@way
def core_files():
    _raised(resource.RLIMIT_CORE)


def _raised(kind):
    before = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (before[1], before[1]))
    if resource.getrlimit(kind) == before != (resource.RLIM_INFINITY, resource.RLIM_INFINITY):
        raise OSError("it is as before")


@way
def out_of_memory_score():
    with open(f"/proc/{WORLD['victim']}/oom_score_adj", "w") as file:
        file.write("0")


@way
def terminal_input():
    place = os.open(WORLD["terminal"], os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(place, 0x5412, b"x")


@way
def write_terminal():
    os.close(os.open(WORLD["terminal"], os.O_WRONLY | os.O_NOCTTY))


@way
def read_terminal():
    os.close(os.open(WORLD["terminal"], os.O_RDONLY | os.O_NOCTTY))


@machine
def set_user_id_program():
    for name in ("su", "mount", "passwd", "sudo"):
        path = shutil.which(name)
        if path and os.stat(path).st_mode & 0o4000 and os.getuid():
            shown = subprocess.run(
                [sys.executable, "-c", "print(open('/proc/self/status').read())"], stdout=subprocess.PIPE, check=False
            )
            if b"NoNewPrivs:\t1" not in shown.stdout:
                return
    raise OSError("none has more rights")


@machine
def become_another_user():
    os.setuid(65534 if os.getuid() == 0 else 0)


@machine
def capabilities():
    with open("/proc/self/status") as file:
        rights = [line.split()[1] for line in file if line.startswith(("CapEff", "CapPrm", "CapAmb"))]
    if not any(int(word, 16) for word in rights):
        raise OSError("it has none")


@machine
def capabilities_of_a_child():
    code = "print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapEff', 'CapPrm'))])"
    shown = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout
    if b"1" not in shown and b"f" not in shown:
        raise OSError("it has none")
