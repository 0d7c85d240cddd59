"""Change the machine, or use parts of the kernel that all processes share."""

import ctypes
import os
import struct
import time

from .trying import call, checked, kernel, machine, opened, unnamed_file


@machine
def core_pattern():
    opened("/proc/sys/kernel/core_pattern")


@machine
def module_loader():
    opened("/proc/sys/kernel/modprobe")


@machine
def kernel_settings():
    opened("/proc/sys/vm/swappiness")


@machine
def system_requests():
    opened("/proc/sysrq-trigger", "wb")


@machine
def binary_formats():
    opened("/proc/sys/fs/binfmt_misc/register", "wb")


@machine
def kernel_objects():
    paths = ("/sys/power/state", "/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled")
    for path in paths:
        if os.path.exists(path):
            opened(path)
            return
    raise OSError("none is here")


@machine
def control_groups():
    for directory, _, names in os.walk("/sys/fs/cgroup"):
        for name in names:
            if name in ("cgroup.procs", "release_agent"):
                opened(os.path.join(directory, name))
                return
        if directory.count("/") > 6:
            break
    raise OSError("none is here")


@machine
def kernel_log_device():
    opened("/dev/kmsg", "wb")


@machine
def physical_memory():
    opened("/dev/mem")


@machine
def disk():
    for name in ("vda", "sda", "nvme0n1", "xvda", "dm-0", "loop0", "loop-control"):
        if os.path.exists("/dev/" + name):
            opened("/dev/" + name, "rb")
            return
    raise OSError("none is here")


@machine
def fuse():
    opened("/dev/fuse")


@machine
def system_directory():
    unnamed_file("/usr")


@machine
def settings_of_the_system():
    unnamed_file("/etc")


@machine
def accounts():
    opened("/etc/passwd")


@machine
def passwords():
    with open("/etc/shadow", "rb") as file:
        if not file.read():
            raise OSError("hidden")


@machine
def private_files():
    """Those of root at any depth, such as keys of servers."""
    for above, _, names in (found for top in ("/etc", "/opt", "/usr/local") for found in os.walk(top)):
        for name in names:
            try:
                with open(os.open(os.path.join(above, name), os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                    mode = os.fstat(file.fileno()).st_mode
                    if mode & 0o100004 == 0o100000 and file.read(1):
                        return
            except OSError:
                pass
    raise OSError("none is here")


@machine
def schedule():
    for path in ("/etc/cron.d", "/var/spool/cron/crontabs", "/var/spool/cron/atjobs", "/var/spool/cron"):
        if os.path.isdir(path):
            unnamed_file(path)
            return
    raise OSError("none is here")


@machine
def log_directory():
    unnamed_file("/var/log")


@machine
def mode_of_a_device():
    os.chmod("/dev/null", os.stat("/dev/null").st_mode & 0o7777)


@machine
def programs_of_the_kernel():
    call("bpf", 0, ctypes.create_string_buffer(struct.pack("IIII", 2, 4, 4, 1), 128), 128)


@machine
def performance_counters():
    call("perf_event_open", ctypes.create_string_buffer(struct.pack("II", 1, 112), 112), 0, -1, -1, 0)


@machine
def page_faults():
    call("userfaultfd", 1)


@machine
def queue_of_calls():
    call("io_uring_setup", 4, ctypes.create_string_buffer(120))


@machine
def watch_file_system():
    call("fanotify_init", 0x200, 0)


@machine
def swap():
    call("swapon", b"/nonexistent", 0)


@machine
def new_kernel():
    call("kexec_load", 0, 0, None, 0)


@machine
def kernel_module():
    call("init_module", b"", 0, b"")


@machine
def clock():
    time.clock_settime(time.CLOCK_REALTIME, time.time())


@machine
def accounting():
    call("acct", None)


@machine
def clear_kernel_log():
    call("syslog", 5, None, 0)


@machine
def foreign_calls():
    """The numbers of 32-bit programs, which a filter might not know."""
    code = bytes.fromhex("b814000000cd80c3")  # mov eax, 20 (getpid); int 0x80; ret
    if os.uname().machine != "x86_64":
        raise OSError("not on this machine")
    import mmap

    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    if function() < 0:
        raise OSError("refused")


@machine
def calls_of_x32():
    checked(kernel.syscall(ctypes.c_long(0x40000000 + 39)))
