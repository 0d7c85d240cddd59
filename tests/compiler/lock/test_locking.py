"""The content of the lock file, to the byte."""

from smspec.lock.locking import lock_text, locked
from smspec.spec.lock import Lock


def test_lock_has_one_entry_a_line_in_order():
    lock = Lock(smspec="1.2.3", api_model="2026-01-01")
    text = lock_text(locked(lock, {"b:1": "sha256:1", "a:1": "sha256:2"}, {"requirements.txt": "sha256:3"}))
    assert text.splitlines(keepends=True) == [
        "{\n",
        '  "lock": 1,\n',
        '  "smspec": "1.2.3",\n',
        '  "api_model": "2026-01-01",\n',
        '  "images": {\n',
        '    "a:1": "sha256:2",\n',
        '    "b:1": "sha256:1"\n',
        "  },\n",
        '  "requirements": {\n',
        '    "requirements.txt": "sha256:3"\n',
        "  }\n",
        "}\n",
    ]
