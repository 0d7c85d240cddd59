"""A command that replaces `tini` and `dumb-init` and runs its arguments under the supervisor.

It speaks what the test suites of the two expect of a command line: the words are the program, errors carry a prefix,
its own directory is `/`. Not a test, and not part of the runtime: tests write it somewhere with a ``#!`` line.
"""

import ctypes
import os
import sys

RUNTIME = os.environ["RUNTIME_UNDER_TEST"]
sys.path.insert(0, RUNTIME)

from smspec_runtime import supervisor  # noqa: E402

NAME = os.path.basename(sys.argv[0])
OPTIONS = ("--", "-c", "--single-child")
PR_GET_CHILD_SUBREAPER = 37


def is_subreaper():
    answer = ctypes.c_int()
    ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


words = sys.argv[1:]
while words[:1] and words[0] in OPTIONS:
    del words[0]
directory = os.getcwd()
os.chdir("/")
if NAME == "tini" and "TINI_SUBREAPER" not in os.environ and not is_subreaper():
    # The negative control: without orphans to write_spec, the same test must find zombies.
    print("zombie reaping won't work", file=sys.stderr, flush=True)
    supervisor.adopt_orphans = lambda: None
ours = supervisor.Supervisor()
ours.start()
outcome = ours.run(words, dict(os.environ), directory)
if outcome.error:
    print(f"[{NAME}] {outcome.error}", file=sys.stderr)
sys.exit(outcome.status)
