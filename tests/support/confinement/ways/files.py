"""Change or read files of the author."""

import fcntl
import os
import socket
import struct
import subprocess

from .trying import WORLD, call, checked, inside, kernel, machine, outside, way


@way
def write():
    with open(outside(), "r+") as file:
        file.write("changed")


@way
def append():
    os.close(os.open(outside(), os.O_WRONLY | os.O_APPEND))


@way
def create():
    open(outside("created"), "x").close()


@way
def truncate():
    os.truncate(outside("victim"), 1)


@way
def remove():
    os.remove(outside("removed"))


@way
def remove_directory():
    os.rmdir(outside("directory"))


@way
def rename_away():
    os.rename(outside("moved"), inside("moved"))


@way
def rename_within():
    os.rename(outside("renamed"), outside("other"))


@way
def hard_link_in():
    os.link(outside(), inside("linked"))
    open(inside("linked"), "a").close()


@way
def hard_link_out():
    open(inside("own"), "w").close()
    os.link(inside("own"), outside("linked"))


@way
def symbolic_link_out():
    os.symlink("/etc/passwd", outside("link"))


@way
def write_through_link():
    os.symlink(outside(), inside("through"))
    open(inside("through"), "a").close()


@way
def make_directory():
    os.mkdir(outside("made"))  # noqa: PTH102  # not its parents, which would be its own


@way
def make_fifo():
    os.mkfifo(outside("fifo"))


@way
def make_socket():
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(outside("bound"))


@machine
def make_device():
    os.mknod(inside("device"), 0o600 | 0o60000, os.makedev(8, 0))
    open(inside("device"), "rb").close()


@way
def mode():
    os.chmod(outside(), 0o777)


@way
def mode_by_descriptor():
    place = os.open(outside(), os.O_RDONLY)
    os.fchmod(place, 0o777)


@way
def owner():
    os.chown(outside(), os.getuid(), os.getgid())


@way
def times():
    os.utime(outside(), (1, 1))


@way
def times_by_descriptor():
    os.utime(os.open(outside(), os.O_RDONLY), (1, 1))


@way
def attribute():
    os.setxattr(outside(), "user.way", b"out")


@way
def flags():
    fcntl.ioctl(os.open(outside(), os.O_RDONLY), 0x40086602, struct.pack("l", 0x80))


@way
def file_handle():
    handle = bytes.fromhex(WORLD["handle"])
    if not handle:
        raise OSError("the file system has no handles")
    for mount in ("/", WORLD["inside"], "/usr", "/etc", WORLD["outside"]):
        try:
            place = os.open(mount, os.O_RDONLY)
            os.close(call("open_by_handle_at", place, handle, os.O_RDWR))
            return
        except OSError:
            continue
    raise OSError("refused")


@way
def root_of_another_process():
    os.listdir(f"/proc/{WORLD['victim']}/root")


@way
def root_of_the_first_process():
    open("/proc/1/root" + outside(), "r+").close()


@way
def descriptor_of_another_process():
    open(f"/proc/{WORLD['victim']}/fd/0", "rb").close()


@way
def working_directory_of_another_process():
    os.listdir(f"/proc/{WORLD['victim']}/cwd")


@way
def inherited_descriptor():
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and os.path.isdir("/proc/self/fd/" + name):
            target = os.readlink("/proc/self/fd/" + name)
            if not target.startswith(WORLD["inside"]) and not target.startswith("/proc/"):
                return
    raise OSError("none is inherited")


@way
def read_credentials():
    open(WORLD["secret"]).read()


@way
def read_project():
    os.listdir(WORLD["project"])


@way
def write_project():
    open(os.path.join(WORLD["project"], "job.yaml"), "a").close()


@way
def plant_git_hook():
    with open(os.path.join(WORLD["project"], ".git", "hooks", "post-checkout"), "w") as file:
        file.write("#!/bin/sh\n")


@way
def plant_package():
    with open(os.path.join(WORLD["cache"], "planted.pth"), "w") as file:
        file.write("import os\n")


@way
def plant_in_home():
    with open(os.path.join(WORLD["home"], ".profile"), "a") as file:
        file.write("true\n")


@way
def watch_files():
    watch = checked(kernel.inotify_init())
    checked(kernel.inotify_add_watch(watch, os.fsencode(outside()), 0x2))


@way
def lock_file():
    fcntl.flock(os.open(outside(), os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)


@way
def lease():
    """Others that open the file wait, so it does not matter whose file it is."""
    with open("leased", "w"):
        pass
    fcntl.fcntl(os.open("leased", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)


@way
def notify():
    fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)


@way
def by_a_child():
    subprocess.run(["sh", "-c", 'echo changed >> "$0"', outside()], check=False, stderr=subprocess.DEVNULL)
    if "changed" not in text():
        raise OSError("refused")


def text():
    with open(outside()) as file:
        return file.read()
