"""`smspec lsp` under input that no editor should send, and without the editor."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lsprotocol import types

from support.editor.client import Session
from support.forked_command import start_command
from support.sampled_cases import sampled
from support.small_job import write_job
from support.smspec_command import environment

SERVER = [sys.executable, "-m", "smspec", "lsp"]
END = 2**31 - 1


def served(given, directory):
    """Return how a server ended whose whole input is given, and what it wrote."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start_command(["lsp"], cwd=directory, env=environment(), **streams) as server:
        try:
            out, err = server.communicate(given, timeout=60)
        finally:
            server.kill()
    return subprocess.CompletedProcess(["lsp"], server.returncode, out, err)


def message(body, length=None):
    return b"Content-Length: %s\r\n\r\n%s" % (str(len(body)).encode() if length is None else length, body)


def initialize(process):
    return message(
        b'{"jsonrpc": "2.0", "id": 7, "method": "initialize",'
        b' "params": {"processId": %s, "capabilities": {}, "rootUri": null}}' % process
    ) + message(b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}')


def test_prints_of_other_code_are_no_messages(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import atexit\n\natexit.register(print, 'noise', flush=True)\n")
    given = initialize(b"null") + message(b'{"jsonrpc": "2.0", "method": "exit"}')
    surroundings = {**environment(), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        SERVER, input=given, capture_output=True, cwd=tmp_path, env=surroundings, timeout=60, check=False
    )
    assert b'"id": 7' in done.stdout and b"noise" not in done.stdout
    assert done.stderr == b"noise\n"


def test_large_documents_and_far_places_are_answered(tmp_path):
    """3 MB of keys have no answer but the finding about them; a place behind the end has none."""
    write_job(tmp_path)
    (tmp_path / ".git").mkdir()
    text = (tmp_path / "job.yaml").read_text()
    places = [types.Position(*place) for place in ((END, 5), (0, END), (END, END))]

    async def answers(editor, uri, place):
        at = {"text_document": types.TextDocumentIdentifier(uri), "position": place}
        hover = await editor.wait(editor.client.text_document_hover_async(types.HoverParams(**at)))
        listed = await editor.wait(editor.client.text_document_completion_async(types.CompletionParams(**at)))
        target = await editor.wait(editor.client.text_document_definition_async(types.DefinitionParams(**at)))
        return hover, listed, target

    async def steps():
        editor = await Session(tmp_path).start()
        began = time.monotonic()
        uri = editor.open("job.yaml", text + "k: v\n" * 600_000)
        for place in [types.Position(3, 0), *places]:
            assert await answers(editor, uri, place) == (None, None, None)
        await editor.until(lambda: "SM104" in editor.codes(uri))
        assert time.monotonic() - began < 15
        editor.change(uri, text)
        for place, is_in_text in zip(places, (False, True, False), strict=True):
            hover, _, _ = await answers(editor, uri, place)
            assert (hover is not None) == is_in_text, "a column behind a line is the end of the line"
        hover, _, _ = await answers(editor, uri, types.Position(1, 1))
        assert "Name of the job" in hover.contents.value
        await editor.until(lambda: editor.codes(uri) == [])
        await editor.stop()

    asyncio.run(steps())


def test_files_that_are_not_open_are_not_read(tmp_path):
    """A pipe without a writer stands for all that has no end, such as /dev/zero."""
    write_job(tmp_path)
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")

    async def steps():
        editor = await Session(tmp_path).start()
        at = types.TextDocumentIdentifier(editor.uri("pipe.yaml"))
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(at))
        place = types.HoverParams(at, types.Position(0, 0))
        assert await editor.wait(editor.client.text_document_hover_async(place)) is None
        await editor.stop()

    asyncio.run(steps())


@pytest.mark.parametrize(
    "length",
    [b"1000", b"10", b"-5", b"many", b"0", b"", b"9" * 30],
    ids=["too long", "too short", "negative", "word", "zero", "empty", "huge"],
)
def test_server_survives_a_wrong_length(tmp_path, length):
    """It answers what came before, ends with its input, and writes nothing but the protocol."""
    wrong = message(b'{"jsonrpc": "2.0", "id": 8, "method": "shutdown"}', length)
    given = initialize(b"null") + wrong + initialize(b"null")
    done = served(given, tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(b"Content-Length: ")
    assert b'"id":7' in done.stdout.replace(b" ", b"")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_is_bounded_over_thousands_of_edits(tmp_path):
    write_job(tmp_path)
    text, uri = (tmp_path / "job.yaml").read_text(), (tmp_path / "job.yaml").as_uri()

    def sent(method, params, identity=None):
        named = {} if identity is None else {"id": identity}
        return message(json.dumps({"jsonrpc": "2.0", **named, "method": method, "params": params}).encode())

    def edited(version):
        changes = [{"text": f"{text}# {version}\n"}]
        params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}
        return sent("textDocument/didChange", params)

    def memory(process):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1])

    with subprocess.Popen(
        SERVER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env=environment(),
    ) as server:
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        server.stdin.write(initialize(b"null") + sent("textDocument/didOpen", {"textDocument": document}))
        used = []
        for batch in range(50):
            at = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 1}}
            edits = b"".join(edited(2 + batch * 100 + number) for number in range(100))
            server.stdin.write(edits + sent("textDocument/hover", at, f"hover {batch}"))
            server.stdin.flush()
            while f'"hover {batch}"'.encode() not in _message(server.stdout):
                pass
            used.append(memory(server))
        server.stdin.close()
    assert used[-1] - used[9] < 3_000, "4,000 edits kept more than 3 MB"


def _message(stream):
    length = 0
    while line := stream.readline().strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    assert length, "the server has ended"
    return stream.read(length)


SHUTDOWN = message(b'{"jsonrpc": "2.0", "id": 99, "method": "shutdown"}')
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
CALL = b'{"jsonrpc": "2.0", "id": 7, "method": "shutdown"}'
LENGTH = b"Content-Length: %d" % len(CALL)
MALFORMED = {
    "a list": (message(b"[]"), None, INVALID_REQUEST),
    "a number": (message(b"7"), None, INVALID_REQUEST),
    "null": (message(b"null"), None, INVALID_REQUEST),
    "an empty object": (message(b"{}"), None, INVALID_REQUEST),
    "a batch": (message(b'[{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]'), None, INVALID_REQUEST),
    "no version": (message(b'{"id": 5, "method": "shutdown"}'), 5, INVALID_REQUEST),
    "a number as method": (message(b'{"jsonrpc": "2.0", "id": "x", "method": 1}'), "x", INVALID_REQUEST),
    "an object as id": (message(b'{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}'), None, INVALID_REQUEST),
    "text as parameters": (
        message(b'{"jsonrpc": "2.0", "id": 5, "method": "shutdown", "params": "x"}'),
        5,
        INVALID_REQUEST,
    ),
    "other parameters": (
        message(b'{"jsonrpc": "2.0", "id": 5, "method": "textDocument/hover", "params": {"position": []}}'),
        5,
        INVALID_PARAMS,
    ),
    "no JSON": (message(b"{"), None, PARSE_ERROR),
    "no UTF-8": (message(b'"\xff"'), None, PARSE_ERROR),
    "deep": (message(b"[" * 100_000), None, PARSE_ERROR),
    "a header without a length": (b"Content-Type: text/plain\r\n\r\n", None, PARSE_ERROR),
    "a length that is no number": (message(b'{"a": 1}', b"many"), None, PARSE_ERROR),
    "a negative length": (message(b'{"a": 1}', b"-8"), None, PARSE_ERROR),
    **{
        f"two lengths, {name}": (b"%s\r\n\r\n" % b"\r\n".join(lengths) + CALL, None, PARSE_ERROR)
        for name, lengths in {
            "equal": (LENGTH, LENGTH),
            "the first shorter": (b"Content-Length: 2", LENGTH),
            "the second shorter": (LENGTH, b"Content-Length: 2"),
            "one of nothing": (b"Content-Length: 0", LENGTH),
            "in lower case": (LENGTH, b"content-length: 2"),
            "the first not a number": (b"Content-Length: x", LENGTH),
            "the second not a number": (LENGTH, b"Content-Length: -2"),
            "another header between": (LENGTH, b"Content-Type: text/plain", LENGTH),
            "three": (LENGTH, LENGTH, b"Content-Length: 7"),
        }.items()
    },
    "a request of another protocol": (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", None, PARSE_ERROR),
}


@sampled(4)  # each needs a server
@pytest.mark.parametrize("name", MALFORMED)
def test_request_after_a_malformed_message(tmp_path, name):
    given, identity, code = MALFORMED[name]
    done = served(initialize(b"null") + given + SHUTDOWN, tmp_path)
    answers = [json.loads(part) for part in re.split(rb"Content-Length: [0-9]+\r\n[^{]*", done.stdout) if part.strip()]
    errors = [(one["id"], one["error"]["code"]) for one in answers if "error" in one]
    assert errors == [(identity, code)] and done.returncode == 0
    assert any(one.get("id") == 99 and "result" in one for one in answers), "the next request has no answer"
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("said", [False, True], ids=["before it said who it is", "after it did"])
def test_server_ends_after_a_killed_editor(tmp_path, said):
    """The editor is killed, and its end of the server's stdin stays open in this process."""
    read, write = os.pipe()
    try:
        program = "import subprocess, sys; server = subprocess.Popen(sys.argv[2:], stdin=int(sys.argv[1]))\n"
        program += "print(server.pid, file=sys.stderr, flush=True); server.wait()"
        words = [sys.executable, "-c", program, str(read), *SERVER]
        outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(words, pass_fds=[read], cwd=tmp_path, env=environment(), **outputs) as editor:
            server = int(editor.stderr.readline())
            if said:
                os.write(write, initialize(b"%d" % editor.pid))
                assert editor.stdout.readline().startswith(b"Content-Length: ")
            # Until it watches its editor it cannot know that this one has ended.
            until(lambda: len(os.listdir(f"/proc/{server}/task")) > 1, "the server does not watch its editor")
            editor.kill()
            editor.wait()
            until(lambda: not is_running(server), "the server outlives its editor")
    finally:
        os.close(read)
        os.close(write)


def until(holds, complaint):
    """Wait for a fact; how long a loaded machine takes for it is its own affair."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.05)


def is_running(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
