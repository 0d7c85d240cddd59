"""Failing Python programs with threads, workers, signals, and libraries."""

from support.endings.ending import ending

WORKERS = [
    ending(
        "progress",
        "ValueError: bad batch",
        """
        import sys, time
        from tqdm import tqdm
        bar = tqdm(range(100))
        for step in bar:
            if step == 60:
                raise ValueError("bad batch")
            bar.refresh()
        """,
        by="torch",
    ),
    ending(
        "progress-without-a-line-end",
        "ValueError: bad batch",
        r"""
        import sys
        for step in range(60):
            sys.stderr.write("\r%3d%%|#####     | %d/100 [00:01<00:01, 33.1it/s]" % (step, step))
        raise ValueError("bad batch")
        """,
    ),
    ending(
        "thread",
        "ValueError: in a thread; then 1 thread failed",
        """
        import sys, threading
        def work():
            raise ValueError("in a thread")
        one = threading.Thread(target=work)
        one.start()
        one.join()
        sys.exit("1 thread failed")
        """,
    ),
    ending(
        "thread-and-main",
        "RuntimeError: of the main thread",
        """
        import threading, time
        def work():
            time.sleep(0.5)
            raise ValueError("in a thread, later")
        threading.Thread(target=work).start()
        raise RuntimeError("of the main thread")
        """,
    ),
    ending(
        "ignored",
        "RuntimeError: the real one",
        """
        class Reader:
            def __del__(self):
                raise ValueError("in __del__")
        reader = Reader()
        raise RuntimeError("the real one")
        """,
    ),
    ending(
        "ignored-alone",
        "no data left; after ValueError: in __del__",
        """
        import sys
        class Reader:
            def __del__(self):
                raise ValueError("in __del__")
        reader = Reader()
        del reader
        sys.exit("no data left")
        """,
        by="3.8",
    ),
    ending(
        "asyncio",
        "ValueError: of a task",
        """
        import asyncio
        async def work():
            raise ValueError("of a task")
        async def main():
            await asyncio.gather(work(), asyncio.sleep(1))
        asyncio.run(main())
        """,
        by="3.8",
    ),
    ending(
        "pool-fork",
        "ValueError: bad row 17\nof part 3",
        r"""
        import multiprocessing
        def work(row):
            raise ValueError("bad row %d\nof part 3" % row)
        multiprocessing.set_start_method("fork")
        if __name__ == "__main__":
            multiprocessing.Pool(2).map(work, [17])
        """,
    ),
    ending(
        "pool-spawn",
        "ValueError: bad row 17",
        """
        import multiprocessing
        def work(row):
            raise ValueError("bad row %d" % row)
        if __name__ == "__main__":
            multiprocessing.get_context("spawn").Pool(2).map(work, [17])
        """,
        by="3.8",
    ),
    ending(
        "executor",
        "ValueError: bad row 17; caused by KeyError: 'label'",
        """
        from concurrent.futures import ProcessPoolExecutor
        def work(row):
            try:
                {}["label"]
            except KeyError as error:
                raise ValueError("bad row %d" % row) from error
        if __name__ == "__main__":
            with ProcessPoolExecutor(1) as executor:
                list(executor.map(work, [17]))
        """,
    ),
    ending(
        "executor-broken",
        "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the "
        "future was running or pending.",
        """
        import os
        from concurrent.futures import ProcessPoolExecutor
        def work(row):
            os.kill(os.getpid(), 9)
        if __name__ == "__main__":
            with ProcessPoolExecutor(1) as executor:
                list(executor.map(work, [17]))
        """,
    ),
    ending(
        "worker-then-main",
        "RuntimeError: a worker ended with 1; after ValueError: bad row",
        """
        import multiprocessing
        def work():
            raise ValueError("bad row")
        if __name__ == "__main__":
            worker = multiprocessing.Process(target=work)
            worker.start()
            worker.join()
            raise RuntimeError("a worker ended with %d" % worker.exitcode)
        """,
    ),
    ending(
        "worker-alone",
        "ValueError: bad row",
        """
        import multiprocessing, sys
        def work():
            raise ValueError("bad row")
        if __name__ == "__main__":
            worker = multiprocessing.Process(target=work)
            worker.start()
            worker.join()
            sys.exit(worker.exitcode)
        """,
        by="3.13",
    ),
    ending(
        "child-checked",
        "ValueError: of the child",
        """
        import subprocess, sys
        if len(sys.argv) > 1:
            raise ValueError("of the child")
        subprocess.run([sys.executable, __file__, "child"], check=True)
        """,
    ),
    ending(
        "child-of-another-kind",
        "subprocess.CalledProcessError: Command '['ls', '/missing']' returned non-zero exit status 2.; after "
        "ls: cannot access '/missing': No such file or directory",
        """
        import subprocess
        subprocess.run(["ls", "/missing"], check=True)
        """,
    ),
    ending(
        "accelerate",
        "ValueError: bad row\nof two lines",
        "raise ValueError('bad row\\nof two lines')\n",
        by="torch",
        words="{bin}/accelerate launch --cpu --num_processes 1 --num_machines 1 {file}",
        command="accelerate",
    ),
    ending(
        "child-killed",
        "exit status -9: a child process was ended by SIGKILL: probably out of memory",
        """
        import os, subprocess, sys
        done = subprocess.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
        sys.exit(done.returncode)
        """,
    ),
    ending(
        "status-137", "giving up on row 17", "import sys; print('giving up on row 17', file=sys.stderr); sys.exit(137)"
    ),
    ending(
        "fault-handler",
        "Fatal Python error: Segmentation fault (SIGSEGV: segmentation fault)",
        "import ctypes, faulthandler\nfaulthandler.enable()\ndef read():\n    ctypes.string_at(0)\nread()\n",
    ),
    ending("segmentation-fault", "SIGSEGV: segmentation fault", "import ctypes\nctypes.string_at(0)\n"),
    ending(
        "abort-behind-an-exception",
        "ValueError: boom; then SIGABRT: aborted",
        "import atexit, os\natexit.register(os.abort)\nraise ValueError('boom')\n",
    ),
    ending(
        "bytes",
        "ValueError: latin \ufffd",
        r"""
        import os, sys
        os.write(2, b"caf\xe9 \xff\xfe\n")
        sys.stderr.reconfigure(encoding="latin-1")
        raise ValueError("latin \xe9")
        """,
    ),
    ending("long-message", "ValueError: " + "x" * 5000, "raise ValueError('x' * 5000)"),
    ending(
        "traceback-as-message",
        "ValueError: bad row; reported as RuntimeError: a worker failed",
        r"""
        import traceback
        try:
            raise ValueError("bad row")
        except ValueError:
            text = traceback.format_exc()
        raise RuntimeError("a worker failed:\n" + text) from None
        """,
    ),
    ending(
        "code-without-a-file",
        "ZeroDivisionError: division by zero",
        "exec(compile('def f():\\n    1 / 0\\nf()', '<string>', 'exec'))",
    ),
]


LIBRARIES = [
    ending(
        "size-mismatch",
        """
        RuntimeError: Error(s) in loading state_dict for Linear:
        \tsize mismatch for weight: copying a param with shape torch.Size([2, 3]) from checkpoint, the shape in current model is torch.Size([4, 3]).
        \tsize mismatch for bias: copying a param with shape torch.Size([2]) from checkpoint, the shape in current model is torch.Size([4]).
        """,
        "import torch\ntorch.nn.Linear(3, 4).load_state_dict(torch.nn.Linear(3, 2).state_dict())\n",
        by="torch",
    ),
    ending(
        "pydantic",
        """
        pydantic_core._pydantic_core.ValidationError: 2 validation errors for Config
        lr
          Input should be a valid number, unable to parse string as a number [type=float_parsing, input_value='fast', input_type=str]
            For further information visit https://errors.pydantic.dev/2.14/v/float_parsing
        epochs
          Field required [type=missing, input_value={'lr': 'fast'}, input_type=dict]
            For further information visit https://errors.pydantic.dev/2.14/v/missing
        """,
        """
        from pydantic import BaseModel
        class Config(BaseModel):
            lr: float
            epochs: int
        Config(lr="fast")
        """,
        by="torch",
    ),
    ending(
        "data-loader",
        "ValueError: bad row 3; reported as ValueError: Caught ValueError in DataLoader worker process 0.",
        """
        from torch.utils.data import DataLoader, Dataset
        class Rows(Dataset):
            def __len__(self):
                return 8
            def __getitem__(self, row):
                if row == 3:
                    raise ValueError("bad row 3")
                return row
        if __name__ == "__main__":
            list(DataLoader(Rows(), num_workers=2, batch_size=4))
        """,
        by="torch",
    ),
    ending(
        "torch-spawn",
        "ValueError: bad rank 1; reported as torch.multiprocessing.spawn.ProcessRaisedException: "
        "-- Process 1 terminated with the following error",
        """
        import time
        import torch.multiprocessing as mp
        def work(rank):
            if rank == 1:
                raise ValueError("bad rank 1")
            time.sleep(20)
        if __name__ == "__main__":
            mp.spawn(work, nprocs=2)
        """,
        by="torch",
    ),
    ending(
        "rich",
        "ValueError: bad row 17",
        """
        from rich.traceback import install
        install()
        def read(row):
            raise ValueError("bad row %d" % row)
        read(17)
        """,
        by="torch",
    ),
    ending(
        "typer-usage",
        "Invalid value for '--epochs': Input should be a valid integer, unable to\nparse string as an integer",
        """
        import sys, typer
        sys.argv = ["train.py", "--epochs", "many"]
        def main(epochs: int = 1):
            pass
        typer.run(main)
        """,
        by="torch",
    ),
    ending(
        "hydra",
        "KeyError: 'lr'",
        """
        import hydra
        @hydra.main(version_base=None)
        def main(config):
            {}["lr"]
        main()
        """,
        by="torch",
    ),
]
