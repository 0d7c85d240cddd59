"""See more files than the tree of a process has, or get rights in a namespace."""

import ctypes
import os
import signal
import socket
import struct

from .trying import WORLD, call, checked, inside, kernel, machine, unnamed_file, way


@machine
def mount():
    os.makedirs(inside("mounted"), exist_ok=True)
    call("mount", b"tmpfs", os.fsencode(inside("mounted")), b"tmpfs", 0, None)


@machine
def remount():
    checked(kernel.mount(None, b"/usr", None, ctypes.c_ulong(32 | 4096), None))
    unnamed_file("/usr")


@machine
def writable_mount():
    attributes = struct.pack("QQQQ", 0, 1, 0, 0)
    call("mount_setattr", -100, b"/", 0x8000, attributes, ctypes.c_size_t(32))


@machine
def unmount():
    call("umount2", b"/usr", 2)


@machine
def bind_mount():
    os.makedirs(inside("bound"), exist_ok=True)
    checked(kernel.mount(b"/", os.fsencode(inside("bound")), None, ctypes.c_ulong(4096 | 16384), None))


@machine
def new_mount_api():
    call("fsopen", b"tmpfs", 0)


@machine
def detached_tree():
    call("open_tree", -100, b"/", 1 | 0x8000)


@machine
def change_root():
    os.chroot(WORLD["inside"])


@machine
def pivot_root():
    call("pivot_root", b".", b".")


@machine
def user_namespace():
    call("unshare", 0x10000000)


@machine
def user_namespace_by_clone():
    flags = 0x10000000 | 0x00020000 | signal.SIGCHLD
    number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    child = kernel.syscall(ctypes.c_long(number), ctypes.c_ulong(flags), None, None, None, None)
    if child == 0:
        os._exit(0)
    checked(child)


@machine
def user_namespace_by_clone3():
    arguments = struct.pack("11Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
    child = kernel.syscall(ctypes.c_long(435), arguments, ctypes.c_size_t(88))
    if child == 0:
        os._exit(0)
    checked(child)


@machine
def rights_in_a_user_namespace():
    call("unshare", 0x10000000 | 0x00020000)
    checked(kernel.mount(None, b"/", None, ctypes.c_ulong(32 | 4096), None))


@way
def namespace_of_another_process():
    for kind in ("mnt", "net", "pid", "user"):
        try:
            call("setns", os.open(f"/proc/{WORLD['victim']}/ns/{kind}", os.O_RDONLY), 0)
            return
        except OSError:
            continue
    raise OSError("refused")


@machine
def namespace_of_the_first_process():
    call("setns", os.open("/proc/1/ns/mnt", os.O_RDONLY), 0x00020000)


@machine
def host_name():
    socket.sethostname(socket.gethostname())
