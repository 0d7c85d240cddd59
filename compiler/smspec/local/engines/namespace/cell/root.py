"""The root directory of a host: programs and libraries of this machine, read-only, and what its plan adds."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Mapping
from contextlib import suppress

from . import kernel
from .kernel import DEVICES, MASKED_OF_SYS, hide, protect_proc
from .plan import Bind, CellPlan, Data, HostPlan, Volume
from .users import SHIFT

_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "nix", "gnu")
"""What the image would contain. Homes, mounted disks, and data of this machine are not among it."""

_EMPTY = ("root", "home", "tmp", "run", "mnt", "media", "srv", "var/tmp", "var/log", "var/cache", "var/lib")
_OWN_FILES = ("hosts", "hostname", "resolv.conf", "passwd", "group", "shadow", "gshadow")
_OWN_OPT = ("ml", "smspec")
_ACCELERATORS = ("nvidia*", "dri", "kfd", "neuron*", "infiniband")
_SAFE = kernel.NO_SUID | kernel.NO_DEVICES
_FIRST_PERSON, _NOBODY = 1000, 65534
_PROGRAMS = "/usr/sbin"
_ORIGINALS = "/opt/smspec-sbin"
_OF_THE_RUNTIME = 1
"""Pages: the runtime reserves room for a failure file before it starts the script."""


def build_root(host: HostPlan, plan: CellPlan, users: int | None) -> None:
    """Assemble the root of a host in a mount namespace of its own, and move to it.

    ``users``: the namespace whose root owns what it shows of the author, if the author is root of this machine.
    """
    resolver = _resolver(plan)
    accounts = {name: _accounts(f"/etc/{name}") for name in ("passwd", "group")}
    root = plan.mount_point
    os.umask(0o022)
    kernel.mount("tmpfs", root, _SAFE, "mode=755")
    for name in _EMPTY:
        os.makedirs(f"{root}/{name}")
    for name in _SYSTEM:
        _mirror(f"/{name}", root, users)
    for name in ("tmp", "var/tmp"):
        os.chmod(f"{root}/{name}", 0o1777)
    os.symlink("../run", f"{root}/var/run")
    _add_directory("/opt", root, _OWN_OPT)
    _add_directory("/etc", root, _OWN_FILES)
    _add_devices(f"{root}/dev")
    os.makedirs(f"{root}/proc")
    kernel.mount("proc", f"{root}/proc", _SAFE | kernel.NO_PROGRAMS)
    shares_network = not plan.has_network and users is None
    protect_proc(f"{root}/proc", f"{root}/dev/null", with_processes=shares_network and _owns_network())
    _add_sys(f"{root}/sys")
    for bind in host.binds:
        _place(bind, root, users)
    for path in plan.hidden:
        if not path.startswith(tuple(f"/opt/{name}/" for name in _OWN_OPT)):  # those of this machine are not there
            hide(root + path)
    for data in host.data:
        _place_data(data, root, users)
    if plan.added_programs:
        _add_programs(root, plan.added_programs)
    for name, text in accounts.items():
        _write(f"{root}/etc/{name}", text)
    _write_files(f"{root}/etc", host, plan, resolver)
    for bind in host.resumed:  # after the last path that this process opens: in them, a link would lead it outside
        _place(bind, root, users)
    if users is not None:
        _give_to_job(root)
    kernel.change_root(root)


def _owns_network() -> bool:
    """Return whether the entries of a network in /proc belong to this user: their directory belongs to a process."""
    try:
        return os.stat("/proc/self/net/dev").st_uid == os.geteuid()
    except OSError:
        return True


def complete_root(*, has_network: bool) -> None:
    """Add what depends on the network of the host, which its user namespace owns."""
    if has_network:
        kernel.mount("sysfs", "/sys", _SAFE | kernel.NO_PROGRAMS | kernel.READ_ONLY)
    for name in MASKED_OF_SYS:
        hide(f"/sys/{name}")


def _mirror(path: str, root: str, users: int | None = None) -> None:
    """Show a file, a directory, or a link of this machine, read-only, with its owners where that is possible."""
    if os.path.islink(path):
        os.symlink(os.readlink(path), root + path)
    elif os.path.lexists(path):
        try:
            _place(Bind(path, path), root, users)
        except kernel.StepFailed:
            if users is None:
                raise
            _place(Bind(path, path), root)


def _place(bind: Bind, root: str, users: int | None = None, flags: int = _SAFE) -> None:
    target = root + bind.target
    try:
        is_there = os.path.exists(target) and os.path.samefile(bind.source, target)
        is_own = bind.target.startswith("/opt/ml/")  # each a mount with its own rights, within that of /opt/ml
        if is_there and not is_own and (users is None or not bind.target.startswith("/opt/")):
            return  # visible with what surrounds it, and with its owners
        is_directory = os.path.isdir(bind.source)
        if not os.path.realpath(target).startswith(f"{os.path.realpath(root)}/"):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))  # a link of this machine would lead outside
        os.chdir(root)
        try:
            _create(bind.target.lstrip("/"), is_directory=is_directory)
        except OSError as fault:
            if fault.errno != errno.EOVERFLOW:
                raise
            with kernel.creating_as(SHIFT):  # below a place whose files belong to the job
                _create(bind.target.lstrip("/"), is_directory=is_directory)
    except OSError as fault:
        raise kernel.StepFailed(f"create {bind.target}", fault.errno or 0) from None
    if users is None:
        kernel.bind(bind.source, target, writable=bind.is_writable, flags=flags)
    else:
        kernel.bind_shifted(bind.source, target, users, writable=bind.is_writable)


def _create(target: str, *, is_directory: bool) -> None:
    if is_directory:
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        if os.path.dirname(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _place_data(data: Data, root: str, users: int | None) -> None:
    """Show the objects of a channel: a whole directory, or files one by one."""
    if data.directory:
        _place(Bind(data.directory, data.target), root, users)
        return
    target = root + data.target
    kernel.mount("tmpfs", target, _SAFE, "mode=755")
    for name, source in data.files.items():
        _place(Bind(source, f"/{name}", is_writable=True), target, users)
    if users is not None:
        _give_to_job(target)
    kernel.protect(target, kernel.READ_ONLY)


def _give_to_job(directory: str) -> None:
    """Make root of the job the owner of what this process has created: not of what it has mounted."""
    device = os.lstat(directory).st_dev
    os.lchown(directory, SHIFT, SHIFT)
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_dev == device:
            _give_to_job(entry.path)
        elif entry.stat(follow_symlinks=False).st_dev == device:
            os.lchown(entry.path, SHIFT, SHIFT)


def _add_directory(path: str, root: str, own: tuple[str, ...]) -> None:
    """Mirror a directory entry by entry, so that a host can add its own."""
    os.makedirs(root + path)
    if not os.path.isdir(path):
        return
    for name in os.listdir(path):
        if name not in own:
            _mirror(f"{path}/{name}", root)


def _add_devices(directory: str) -> None:
    os.makedirs(directory)
    for name in DEVICES:
        _place(Bind(f"/dev/{name}", f"/{name}"), directory, flags=kernel.NO_SUID)
    for pattern in _ACCELERATORS:
        for path in glob.glob(f"/dev/{pattern}"):
            if not os.path.islink(path):
                _place(Bind(path, path[4:]), directory, flags=kernel.NO_SUID)
    for name, flags, options in (("shm", kernel.NO_PROGRAMS, "mode=1777"), ("pts", kernel.NO_PROGRAMS, "")):
        os.makedirs(f"{directory}/{name}")
        kind, options = ("tmpfs", options) if name == "shm" else ("devpts", "newinstance,ptmxmode=0666,mode=620")
        kernel.mount(kind, f"{directory}/{name}", kernel.NO_SUID | flags, options)
    for name, target in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0")):
        os.symlink(target, f"{directory}/{name}")
    for name, number in (("stdout", 1), ("stderr", 2)):
        os.symlink(f"/proc/self/fd/{number}", f"{directory}/{name}")


def _add_sys(directory: str) -> None:
    os.makedirs(directory)
    try:
        kernel.mount("sysfs", directory, _SAFE | kernel.NO_PROGRAMS | kernel.READ_ONLY)
    except kernel.StepFailed:
        kernel.bind("/sys", directory)  # the network is that of this machine, or parts of it are hidden here


def _add_programs(root: str, programs: Mapping[str, str]) -> None:
    """Replace /usr/sbin by links to its programs, and add others: the author cannot create a file there."""
    directory = os.path.realpath(root + _PROGRAMS)
    if not directory.startswith(root + "/"):
        directory = root + os.path.realpath(_PROGRAMS)
    originals = root + _ORIGINALS
    os.makedirs(originals)
    kernel.bind(directory, originals)
    kernel.mount("tmpfs", directory, _SAFE, "mode=755")
    for name in os.listdir(originals):
        if name not in programs:
            path = f"{originals}/{name}"
            target = os.readlink(path) if os.path.islink(path) else f"{_ORIGINALS}/{name}"
            os.symlink(target, f"{directory}/{name}")
    for name, text in programs.items():
        _write(f"{directory}/{name}", text)
        os.chmod(f"{directory}/{name}", 0o755)


def _resolver(plan: CellPlan) -> str:
    """Return the content of resolv.conf, which may be a link to what the host does not see."""
    if plan.has_network:
        return f"nameserver {plan.resolver}\n" if plan.resolver else ""
    try:
        with open("/etc/resolv.conf", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _write_files(directory: str, host: HostPlan, plan: CellPlan, resolver: str) -> None:
    names = [("127.0.0.1", "localhost"), ("::1", "localhost ip6-localhost ip6-loopback")]
    names += [(address, name) for name, address in plan.addresses.items()]
    _write(f"{directory}/hosts", "".join(f"{address}\t{name}\n" for address, name in names))
    _write(f"{directory}/hostname", f"{host.name}\n")
    _write(f"{directory}/resolv.conf", resolver)


def _accounts(path: str) -> str:
    """Return the accounts of the system; those of people are not in an image."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        entries = [(line, line.split(":")) for line in file]
    numbered = [(line, int(words[2])) for line, words in entries if len(words) > 2 and words[2].isdigit()]
    return "".join(line for line, number in numbered if number < _FIRST_PERSON or number == _NOBODY)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def mount_volume(volume: Volume) -> None:
    """Mount the file system, with the content that the directories have now, and room for ``volume.room`` bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    pages = volume.room // page + _OF_THE_RUNTIME + sum(_pages(directory, page) for directory in volume.directories)
    kernel.mount("tmpfs", volume.place, kernel.NO_SUID | kernel.NO_DEVICES, f"size={pages * page},mode=755")
    for number, directory in enumerate(volume.directories):
        _copy(directory, volume.path(number))


def keep_content(volume: Volume) -> None:
    """Copy what the host wrote to the directories, so that it outlives the file system."""
    import shutil  # imported late: few runs have volumes

    for number, directory in enumerate(volume.directories):
        with suppress(OSError):
            shutil.rmtree(directory)
        _copy(volume.path(number), directory)


def _copy(source: str, target: str) -> None:
    import shutil

    # An Error is about single files, such as a FIFO that a script created: it has no content to keep.
    with suppress(shutil.Error):
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def _pages(directory: str, page: int) -> int:
    sizes = (os.lstat(os.path.join(above, name)).st_size for above, _, names in os.walk(directory) for name in names)
    return sum(-(-size // page) for size in sizes)
