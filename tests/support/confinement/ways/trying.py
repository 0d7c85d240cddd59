"""Ways by name, the world of a test, and the trial of a way in a process of its own."""

import ctypes
import json
import os
import signal

WORLD = json.loads(os.environ.get("WORLD", "{}"))
WAYS = {}
OF_THE_MACHINE = set()
"""Ways that would change more than the world of a test; they are never tried without confinement."""

kernel = ctypes.CDLL(None, use_errno=True)
COLUMN = {"x86_64": 0, "aarch64": 1}.get(os.uname().machine, 0)
NUMBERS = {
    "open_by_handle_at": (304, 265),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "shmat": (30, 196),
    "shmget": (29, 194),
    "semop": (65, 193),
    "semctl": (66, 191),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "mq_open": (240, 180),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "setns": (308, 268),
    "unshare": (272, 97),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "fanotify_init": (300, 262),
    "fsopen": (430, 430),
    "swapon": (167, 224),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "settimeofday": (164, 170),
    "ioprio_set": (251, 30),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "memfd_create": (319, 279),
    "clone3": (435, 435),
    "kcmp": (312, 272),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
}


def way(function):
    WAYS[function.__name__] = function
    return function


def machine(function):
    OF_THE_MACHINE.add(function.__name__)
    return way(function)


def call(name, *words):
    # An int has 32 bits: the upper half of an argument on the stack would be whatever is there.
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    result = kernel.syscall(ctypes.c_long(NUMBERS[name][COLUMN]), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def outside(name="file"):
    return os.path.join(WORLD["outside"], name)


def inside(name):
    return os.path.join(WORLD["inside"], name)


def opened(path, mode="r+b"):
    with open(path, mode, buffering=0):
        pass


def unnamed_file(directory):
    """Create a file without a name, which leaves no trace."""
    os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600))


def tried(name):
    """Try a way in a process of its own; return whether it succeeds."""
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 2)
            WAYS[name]()
        except OSError:
            os._exit(1)
        except BaseException as fault:
            os.write(1, (f"{name}: {fault!r}\n").encode())
            os._exit(2)
        os._exit(0)
    while True:
        process, status = os.wait()
        if process == child:
            return status == 0
