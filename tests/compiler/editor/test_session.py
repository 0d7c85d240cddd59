"""`smspec lsp` as a process, with a real client: what an editor sees while a spec is typed."""

import asyncio
import subprocess
import sys
from pathlib import Path

from lsprotocol import types

from smspec.editor.open_documents import path_of
from support.editor.client import Session
from support.small_job import BUILT, write_job
from support.smspec_command import environment

BASE = "smspec: v1\nstopping: {max_runtime: 1d}\n"
SCRIPT = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr')\np.parse_args()\n"


def session(root, steps, **options):
    """Run the steps of an editor in a session."""

    async def whole():
        editor = await Session(root).start(**options)
        try:
            return await steps(editor)
        finally:
            await editor.stop()

    return asyncio.run(whole())


def line_at(href):
    """Return the line of a file that a link leads to."""
    path, _, line = href.partition("#L")
    return Path(path_of(path)).read_text(encoding="utf-8").split("\n")[int(line) - 1]


def test_findings_follow_unsaved_texts(tmp_path):
    """A base, a script, and a job are changed without saving any; each time the job's findings follow."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "base.yaml").write_text(BASE)
    text = BUILT.replace("smspec: v1\n", "smspec: v1\nextends: [base.yaml]\n").replace("epochs: 2", "lr: 1")
    write_job(tmp_path, text)
    (tmp_path / "src/train.py").write_text(SCRIPT)

    async def steps(editor):
        job = editor.open("job.yaml", "# 🚀\n" + text)
        base = editor.open("base.yaml")
        script = editor.open("src/train.py")
        editor.change(job, text + 'environment: {"🚀模": x, lrs: 1, lrs: 2}\n')
        await editor.until(lambda: "SM106" in editor.codes(job))
        (found,) = [one for one in editor.published[job] if one.code == "SM106"]
        line = text.count("\n")
        assert (found.range.start.line, found.range.start.character) == (line, 32)  # two units for the rocket
        assert found.related_information[0].location.range.start.character == 24
        assert line_at(found.code_description.href) == "## SM106: duplicate key"
        editor.change(job, text)
        await editor.until(lambda: editor.codes(job) == [])
        editor.change(script, SCRIPT.replace("--lr", "--rate"))
        await editor.until(lambda: "SM501" in editor.codes(job))
        editor.change(script, SCRIPT)
        await editor.until(lambda: editor.codes(job) == [])
        editor.change(base, BASE + "retries: many\n")
        await editor.until(lambda: editor.codes(base) == ["SM203"])
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(base)))
        await editor.until(lambda: editor.codes(base) == [])

    session(tmp_path, steps)


def test_questions_are_answered_about_broken_texts(tmp_path):
    """Completion, hover, definition, fixes, and order, over the real protocol."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "base.yaml").write_text("smspec: v1\nvars: {size: {default: 7b}}\n")
    text = BUILT.replace("smspec: v1\n", "smspec: v1\nextends: [base.yaml]\n")
    write_job(tmp_path, text)

    async def steps(editor):
        job = editor.open("job.yaml")
        document = types.TextDocumentIdentifier(job)

        async def completed(added):
            whole = text + added
            editor.change(job, whole)
            lines = whole.split("\n")
            at = types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)
            params = types.CompletionParams(document, at)
            found = await editor.wait(editor.client.text_document_completion_async(params))
            return {item.label: item for item in found.items}

        keys = await completed("# 🚀\nspo")
        assert keys["spot"].text_edit.new_text == "spot:\n  $0"
        assert "hosts" not in keys
        assert list(await completed("description: [\nchannels: {train: {input_mode: "))[:3] == [
            "File",
            "FastFile",
            "Pipe",
        ]
        assert "8 GPUs" in (await completed("api: {a: b\nx: {instance_type: "))["ml.p5.48xlarge"].detail
        assert list(await completed('description: "🚀 ${{ vars.')) == ["${{ vars.size }}"]

        editor.change(job, text + 'description: "模 ${{ vars.size }}"\nretires: 1\n')
        here = types.Position(text.count("\n"), 20)
        hover = await editor.wait(editor.client.text_document_hover_async(types.HoverParams(document, here)))
        assert "`7b`" in hover.contents.value
        params = types.DefinitionParams(document, here)
        found = await editor.wait(editor.client.text_document_definition_async(params))
        assert (found.uri, found.range.start.line) == (editor.uri("base.yaml"), 1)

        editor.change(job, text + "checks: {ignore: [{rule: SM501}]}\n")
        params = types.DefinitionParams(document, types.Position(text.count("\n"), 27))
        found = await editor.wait(editor.client.text_document_definition_async(params))
        assert line_at(f"{found.uri}#L{found.range.start.line + 1}").startswith("## SM501: ")

        editor.change(job, text + 'description: "模 ${{ vars.size }}"\nretires: 1\n')
        await editor.until(lambda: "SM204" in editor.codes(job))
        line = types.Range(types.Position(here.line + 1, 0), types.Position(here.line + 1, 3))
        params = types.CodeActionParams(document, line, types.CodeActionContext([]))
        (fix,) = await editor.wait(editor.client.text_document_code_action_async(params))
        assert fix.edit.changes[job][0].new_text == "retries"

        options = types.FormattingOptions(tab_size=2, insert_spaces=True)
        params = types.DocumentFormattingParams(document, options)
        (edit,) = await editor.wait(editor.client.text_document_formatting_async(params))
        assert edit.new_text.startswith("smspec: v1\nextends: [base.yaml]\nname: small\nrole: ")
        assert edit.new_text.index("description:") < edit.new_text.index("image:")
        params = types.DocumentSymbolParams(document)
        names = [one.name for one in await editor.wait(editor.client.text_document_document_symbol_async(params))]
        assert names[:3] == ["smspec", "extends", "name"]

    session(tmp_path, steps)


def test_server_ends_with_its_input(tmp_path):
    """A session ends at the end of stdin, and nothing but the protocol is on stdout, also for invalid messages."""
    messages = b"".join(
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in (b"{", b"[]", b'{"jsonrpc": "2.0", "id": 1}')
    )
    words = [sys.executable, "-m", "smspec", "lsp"]
    done = subprocess.run(words, input=messages, capture_output=True, timeout=30, cwd=tmp_path, env=environment())
    assert done.returncode == 0
    assert done.stdout == b"" or done.stdout.startswith(b"Content-Length: ")
