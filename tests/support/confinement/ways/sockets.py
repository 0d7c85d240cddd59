"""Speak to other programs, by sockets, shared memory, queues, and keys."""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import time

from .trying import WORLD, call, inside, kernel, machine, opened, way


def connect(kind, address, form=socket.SOCK_STREAM):
    with socket.socket(kind, form) as client:
        client.settimeout(5)
        client.connect(address)


@way
def unix_socket():
    connect(socket.AF_UNIX, WORLD["named"])


@way
def relatively_bound_socket():
    connect(socket.AF_UNIX, WORLD["relative"])


@way
def socket_with_a_newline():
    connect(socket.AF_UNIX, WORLD["newline"])


@way
def socket_by_relative_path():
    os.chdir(WORLD["outside"])
    connect(socket.AF_UNIX, "s")


@way
def socket_by_link():
    os.symlink(WORLD["named"], inside("socket"))
    connect(socket.AF_UNIX, inside("socket"))


@way
def socket_by_descriptor():
    place = os.open(WORLD["named"], os.O_PATH)
    connect(socket.AF_UNIX, f"/proc/self/fd/{place}")


@way
def datagram_socket():
    connect(socket.AF_UNIX, WORLD["datagram"], socket.SOCK_DGRAM)


@way
def datagram_socket_of_a_pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect(WORLD["datagram"])


@way
def sequence_socket():
    connect(socket.AF_UNIX, WORLD["sequence"], socket.SOCK_SEQPACKET)


@way
def abstract_socket():
    connect(socket.AF_UNIX, "\0" + WORLD["abstract"])


@way
def abstract_datagram_socket():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", "\0" + WORLD["abstract_datagram"])


@way
def docker_socket():
    connect(socket.AF_UNIX, WORLD["docker"])


@way
def tcp():
    connect(socket.AF_INET, ("127.0.0.1", WORLD["tcp"]))


@way
def tcp_version_6():
    connect(socket.AF_INET6, ("::1", WORLD["tcp6"]))


@way
def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"way out", ("127.0.0.1", WORLD["udp"]))
    answered("udp")


def answered(name):
    end = time.monotonic() + 1
    while time.monotonic() < end:
        if os.path.exists(os.path.join(WORLD["answers"], name)):
            return
        time.sleep(0.02)
    raise OSError("nothing arrived")


@way
def udp_of_a_child():
    code = "import socket, sys; socket.socket(2, 2).sendto(b'child', ('127.0.0.1', int(sys.argv[1])))"
    subprocess.run([sys.executable, "-c", code, str(WORLD["udp"])], check=False, stderr=subprocess.DEVNULL)
    answered("child")


@way
def tcp_of_a_child():
    code = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"
    words = [sys.executable, "-c", code, str(WORLD["tcp"])]
    if subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode:
        raise OSError("refused")


@machine
def internet():
    connect(socket.AF_INET, ("192.0.2.1", 9), socket.SOCK_DGRAM)


@machine
def raw_socket():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()


@machine
def packet_socket():
    socket.socket(17, socket.SOCK_RAW).close()


@machine
def host_of_the_virtual_machine():
    socket.socket(40, socket.SOCK_STREAM).close()


@machine
def kernel_ciphers():
    socket.socket(38, socket.SOCK_SEQPACKET).close()


@machine
def bluetooth():
    socket.socket(31, socket.SOCK_RAW, 1).close()


@machine
def change_network():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))


@machine
def listen_to_devices():
    with socket.socket(16, socket.SOCK_DGRAM, 15) as client:
        client.bind((0, 1))
        if os.readlink("/proc/self/ns/net") != WORLD["network"]:
            raise OSError("those of its own network")


@way
def shared_memory():
    address = kernel.shmat
    address.restype = ctypes.c_void_p
    if address(WORLD["memory"], None, 0) in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "refused")


@way
def semaphore():
    call("semctl", WORLD["semaphore"], 0, 16, 1)


@way
def message_queue():
    call("msgsnd", WORLD["messages"], struct.pack("l8s", 1, b"way out"), ctypes.c_size_t(8), 0)


@way
def posix_shared_memory():
    opened(WORLD["posix_memory"])


@way
def posix_message_queue():
    call("mq_open", os.fsencode(WORLD["queue"]), os.O_RDWR, 0, None)


@way
def read_key():
    buffer = ctypes.create_string_buffer(64)
    call("keyctl", 11, WORLD["key"], buffer, ctypes.c_size_t(64))


@way
def key_of_the_session():
    call("keyctl", 10, -3, b"user", b"smspec-way-out", 0)


@machine
def new_key():
    call("add_key", b"user", b"smspec-left", b"x", ctypes.c_size_t(1), -4)


@way
def open_fifo():
    os.close(os.open(WORLD["fifo"], os.O_WRONLY | os.O_NONBLOCK))
