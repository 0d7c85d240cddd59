"""Failing Python programs with one process."""

from support.endings.ending import ending

PYTHON = [
    ending("one-line", "ValueError: boom é", "raise ValueError('boom é')"),
    ending(
        "several-lines",
        """
        ValueError: 3 faults:
          - no column `label`
          - 17 rows without a date

        see the manual
        """,
        r"""
        raise ValueError("3 faults:\n  - no column `label`\n  - 17 rows without a date\n\nsee the manual")
        """,
    ),
    ending(
        "cause",
        "RuntimeError: cannot read the config; caused by KeyError: 'lr'",
        """
        def read():
            return {}["lr"]
        try:
            read()
        except KeyError as error:
            raise RuntimeError("cannot read the config") from error
        """,
        by="3.8",
    ),
    ending(
        "context",
        "RuntimeError: cannot clean up; while handling OSError: [Errno 28] No space left on device",
        """
        try:
            raise OSError(28, "No space left on device")
        except OSError:
            raise RuntimeError("cannot clean up")
        """,
    ),
    ending(
        "long-chain",
        """
        RuntimeError: outer
        of two lines; while handling ValueError: middle
        of two lines; caused by KeyError: 'inner'
        """,
        r"""
        try:
            try:
                raise KeyError("inner")
            except KeyError as error:
                raise ValueError("middle\nof two lines") from error
        except ValueError:
            raise RuntimeError("outer\nof two lines")
        """,
        by="3.13",
    ),
    ending(
        "from-none",
        "RuntimeError: the only one",
        """
        try:
            raise KeyError("hidden")
        except KeyError:
            raise RuntimeError("the only one") from None
        """,
    ),
    ending(
        "group",
        "ExceptionGroup: loading (3 sub-exceptions); ValueError: bad row; TypeError: bad type of two lines; OSError: c",
        r"""
        def fail():
            raise TypeError("bad type\nof two lines")
        try:
            fail()
        except TypeError as error:
            caught = error
        raise ExceptionGroup("loading", [ValueError("bad row"), caught, OSError("c")])
        """,
    ),
    ending(
        "nested-group",
        "ExceptionGroup: outer (2 sub-exceptions); ExceptionGroup: inner (1 sub-exception); ValueError: deep; KeyError: 'x'",
        """
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [ValueError("deep")]), KeyError("x")])
        """,
        by="3.13",
    ),
    ending("syntax", "SyntaxError: '(' was never closed", "import sys\nprint((1, 2)\n"),
    ending("syntax-3.8", "SyntaxError: invalid syntax", "import sys\nx = = 1\n", by="3.8"),
    ending(
        "syntax-of-a-module",
        "SyntaxError: expected ':'",
        "import net\n",
        beside="net.py:class Net\n    pass\n",
    ),
    ending("indentation", "IndentationError: unexpected indent", "x = 1\n    y = 2\n"),
    ending(
        "notes",
        """
        ValueError: bad row
        in file part-17.csv
        of channel train
        """,
        """
        error = ValueError("bad row")
        error.add_note("in file part-17.csv")
        error.add_note("of channel train")
        raise error
        """,
    ),
    ending(
        "colors",
        "RuntimeError: no GPU; caused by KeyError: 'cuda'",
        """
        try:
            {}["cuda"]
        except KeyError as error:
            raise RuntimeError("no GPU") from error
        """,
        by="3.13",
        words="env FORCE_COLOR=1 {python} {file}",
    ),
    ending("no-message", "AssertionError", "assert 1 == 2"),
    ending(
        "class-of-a-module",
        "net.errors.DataError: 7 rows\n\tare empty",
        "from net.errors import DataError\nraise DataError('7 rows\\n\\tare empty')\n",
        beside="net/errors.py:class DataError(Exception): pass\n",
    ),
    ending(
        "recursion",
        "RecursionError: maximum recursion depth exceeded",
        "import sys\nsys.setrecursionlimit(100)\ndef f(n):\n    return f(n + 1)\nf(0)\n",
    ),
    ending(
        "warning-behind",
        "ValueError: boom\nin two lines",
        r"""
        import atexit, warnings
        def at_end():
            warnings.warn("3 leaked semaphores")
        atexit.register(at_end)
        raise ValueError("boom\nin two lines")
        """,
    ),
    ending(
        "semaphores-leaked",
        "ValueError: boom",
        """
        import multiprocessing.shared_memory
        kept = multiprocessing.shared_memory.SharedMemory(create=True, size=10)
        raise ValueError("boom")
        """,
    ),
    ending(
        "log-behind",
        "ValueError: boom",
        """
        import atexit, logging
        logging.basicConfig(level=20, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
        atexit.register(lambda: logging.getLogger("tracker").info("run finished, 3 files failed to upload"))
        logging.warning("epoch 1")
        raise ValueError("boom")
        """,
    ),
    ending(
        "handled-then-fatal",
        "FATAL: no checkpoint and no data; after KeyError: 'early'",
        """
        import logging, sys
        try:
            raise KeyError("early")
        except KeyError:
            logging.exception("goes on")
        sys.exit("FATAL: no checkpoint and no data")
        """,
    ),
    ending(
        "printed-then-fatal",
        "fatal: giving up after 3 attempts; after OSError: [Errno 5] Input/output error",
        """
        import sys, traceback
        try:
            raise OSError(5, "Input/output error")
        except OSError:
            traceback.print_exc()
        print("fatal: giving up after 3 attempts", file=sys.stderr)
        sys.exit(1)
        """,
    ),
    ending(
        "printed-then-another-status",
        "no data left; after KeyError: 'early'",
        """
        import logging, sys
        logging.basicConfig(level=20)
        try:
            raise KeyError("early")
        except KeyError:
            logging.exception("goes on")
        logging.info("epoch 2")
        print("no data left", file=sys.stderr)
        sys.exit(3)
        """,
    ),
    ending(
        "logged-then-last-words",
        "saving the model: no space; after KeyError: 'early'",
        """
        import logging, sys
        logging.basicConfig(level=20)
        try:
            raise KeyError("early")
        except KeyError:
            logging.exception("goes on")
        logging.info("epoch 2")
        sys.exit("saving the model: no space")
        """,
    ),
    ending(
        "deep",
        "ValueError: at the bottom\nof it",
        r"""
        import sys
        sys.setrecursionlimit(5000)
        def even(n):
            odd(n - 1)  # ............................................................................
        def odd(n):
            even(n - 1) if n > 0 else fail()  # ......................................................
        def fail():
            raise ValueError("at the bottom\nof it")
        even(451)
        """,
    ),
    ending(
        "handled-long-before",
        "RuntimeError: last",
        """
        import logging, sys
        try:
            raise KeyError("early")
        except KeyError:
            logging.exception("goes on")
        for step in range(50):
            print("step", step, file=sys.stderr)
        raise RuntimeError("last")
        """,
    ),
    ending("exit-message", "no data in /x", "import sys; print('loading', file=sys.stderr); sys.exit('no data in /x')"),
    ending(
        "exit-message-of-several-lines",
        "cannot train:\n - no column `label`\n - no rows",
        r"import sys; print('loading', file=sys.stderr); sys.exit('cannot train:\n - no column `label`\n - no rows')",
    ),
    ending(
        "argparse",
        "train.py: error: the following arguments are required: --lr",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr', required=True)\np.parse_args()\n",
    ),
    ending("silent", "no message", "import sys; sys.exit(9)"),
]
