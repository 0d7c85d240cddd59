"""Failing programs whose message resembles log lines."""

from support.endings.ending import ending

LAST_WORDS = [
    ending(
        "message-of-log-lines",
        """
        RuntimeError: the tool failed:
        ERROR: cannot open a.csv
        2024-01-01 12:00:00 INFO retry
        ERROR: gave up after 3 tries
        """,
        r"""
        said = "ERROR: cannot open a.csv\n2024-01-01 12:00:00 INFO retry\nERROR: gave up after 3 tries"
        raise RuntimeError("the tool failed:\n" + said)
        """,
    ),
    ending(
        "message-of-warnings",
        "ValueError: 2 problems\nWARNING: column a has nulls\nWARNING: column b has nulls",
        r'raise ValueError("2 problems\nWARNING: column a has nulls\nWARNING: column b has nulls")',
    ),
    ending(
        "log-with-names-behind",
        "ValueError: boom; then ERROR:root:cannot send metrics",
        """
        import atexit, logging
        atexit.register(logging.error, "cannot send metrics")
        raise ValueError("boom")
        """,
    ),
    ending(
        "argparse-of-several-lines",
        "train.py: error: --mode a needs --data\nsee the manual",
        r"""
        import argparse
        parser = argparse.ArgumentParser()
        parser.error("--mode a needs --data\nsee the manual")
        """,
    ),
    ending(
        "fault-handler-timeout",
        "Timeout (0:00:00.200000)!",
        """
        import faulthandler, threading, time
        faulthandler.dump_traceback_later(0.2, exit=True)
        threading.Thread(target=time.sleep, args=(5,)).start()
        time.sleep(5)
        """,
    ),
    ending(
        "fault-handler-dump-then-words",
        "no data after 0.2 s",
        """
        import faulthandler, sys, time
        faulthandler.dump_traceback_later(0.1)
        time.sleep(0.2)
        sys.exit("no data after 0.2 s")
        """,
    ),
    ending(
        "task-group",
        "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception); ConnectionError: feature store 1 is gone",
        """
        import asyncio
        async def fail():
            raise ConnectionError("feature store 1 is gone")
        async def main():
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
                group.create_task(asyncio.sleep(5))
        asyncio.run(main())
        """,
    ),
    ending(
        "error-at-exit",
        "ValueError: label 12 out of range",
        """
        import atexit
        def close():
            raise OSError("cannot flush the writer")
        atexit.register(close)
        raise ValueError("label 12 out of range")
        """,
    ),
    ending(
        "exit-behind-words",
        "could not reach the license server, stopping",
        """
        import os, sys
        print("could not reach the license server, stopping", file=sys.stderr, flush=True)
        os._exit(3)
        """,
    ),
    ending(
        "exit-behind-a-traceback",
        "FileNotFoundError: [Errno 2] No such file or directory: '/nope/x.csv'",
        """
        import os, traceback
        try:
            open("/nope/x.csv")
        except OSError:
            traceback.print_exc()
        os._exit(5)
        """,
    ),
    ending(
        "abort-behind-words",
        "SIGABRT: aborted; loss is NaN at step 9, abort",
        """
        import os, sys
        print("loss is NaN at step 9, abort", file=sys.stderr, flush=True)
        os.abort()
        """,
    ),
    ending(
        "shell-in-its-place", "SIGSEGV: segmentation fault", 'import os\nos.execvp("sh", ["sh", "-c", "kill -SEGV $$"])'
    ),
    ending("interrupt", "SIGINT: interrupt", "raise KeyboardInterrupt"),
    ending("memory", "MemoryError", "bytearray(1 << 60)"),
    ending(
        "exit-of-a-worker",
        "worker: no space on /dev/shm",
        """
        import multiprocessing, sys
        def work():
            sys.exit("worker: no space on /dev/shm")
        if __name__ == "__main__":
            process = multiprocessing.Process(target=work)
            process.start()
            process.join()
            sys.exit(process.exitcode)
        """,
    ),
    ending(
        "marked-with-a-rank",
        "RuntimeError: CUDA out of memory.\nIf reserved memory is large, try X",
        r"""
        import sys
        def hook(*raised):
            import traceback
            for line in "".join(traceback.format_exception(*raised)).splitlines():
                print("[rank3]: " + line, file=sys.stderr)
            print("[rank3]:[W1122 12:00:00.123 ProcessGroupNCCL.cpp:1250] Warning: WARNING: x", file=sys.stderr)
            print("[rank0]:[E1122 12:00:09.123 ProcessGroupNCCL.cpp:616] [Rank 0] timeout", file=sys.stderr)
        sys.excepthook = hook
        raise RuntimeError("CUDA out of memory.\nIf reserved memory is large, try X")
        """,
    ),
    ending(
        "steps-of-a-bar",
        "ValueError: NaN loss",
        r"""
        import sys
        for step in range(0, 101, 10):
            print(f"\rEpoch 1: {step:3d}%|{'#' * 9}| {step}/100 [00:01<00:01, 9.1it/s]", end="", file=sys.stderr)
        raise ValueError("NaN loss")
        """,
    ),
    ending(
        "strict-shell",
        "cp: cannot stat '/nope': No such file or directory",
        "set -e\ncp /nope /tmp\n",
        words="sh {file}",
        file="run.sh",
        command="./run.sh",
    ),
]
