"""Failing programs in other languages, under launchers, and in pip."""

from support.endings.ending import ending

TORCHRUN = "{bin}/torchrun --nnodes 1 --nproc_per_node 2 --master_port 29711 {file}"
MPIRUN = (
    "mpirun --host localhost:2 -np 2 --allow-run-as-root --tag-output -mca btl ^openib -mca pml ob1 "
    "-mca orte_abort_on_non_zero_status 1 {python} {file}"
)
_RANK = "import os, sys, time\nrank = int(os.environ.get('RANK') or os.environ['OMPI_COMM_WORLD_RANK'])\n"
_GLOO = "import torch.distributed as dist\ndist.init_process_group('gloo')\n"

OTHERS = [
    ending(
        "cpp-exception",
        "terminate called after throwing an instance of 'std::runtime_error' what(): boom of C++ (SIGABRT: aborted)",
        '#include <stdexcept>\nint main() { throw std::runtime_error("boom of C++"); }\n',
        by="g++",
        words="sh -c 'g++ -o {dir}/train {file} && exec {dir}/train'",
        file="train.cc",
        command="./train",
    ),
    ending(
        "c-assertion",
        "train: {dir}/train.c:2: main: Assertion `1 == 2' failed. (SIGABRT: aborted)",
        "#include <assert.h>\nint main() { assert(1 == 2); }\n",
        by="gcc",
        words="sh -c 'gcc -o {dir}/train {file} && exec {dir}/train'",
        file="train.c",
        command="./train",
    ),
    ending(
        "double-free",
        "free(): double free detected in tcache 2 (SIGABRT: aborted)",
        "#include <stdlib.h>\nint main() { char *volatile p = malloc(8); free(p); free(p); }\n",
        by="gcc",
        words="sh -c 'gcc -w -o {dir}/train {file} && exec {dir}/train'",
        file="train.c",
        command="./train",
    ),
    ending(
        "java",
        "java.lang.IllegalStateException: no model; caused by java.io.IOException: disk",
        """
        public class Train {
            static void load() throws java.io.IOException { throw new java.io.IOException("disk"); }
            public static void main(String[] words) {
                try { load(); }
                catch (java.io.IOException error) { throw new IllegalStateException("no model", error); }
            }
        }
        """,
        by="java",
        words="java {file}",
        file="Train.java",
        command="java",
    ),
    ending(
        "node",
        "TypeError: bad row",
        'function read() { throw new TypeError("bad row"); }\nread();\n',
        by="node",
        words="node {file}",
        file="train.js",
        command="node",
    ),
    ending(
        "node-error",
        "Error: no model",
        'function load() { throw new Error("no model"); }\nload();\n',
        by="node",
        words="node {file}",
        file="train.js",
        command="node",
    ),
    ending(
        "rust",
        "thread 'main' panicked at {dir}/train.rs:1:13: bad row 17",
        'fn main() { panic!("bad row 17"); }\n',
        by="rustc",
        words="sh -c 'rustc -o {dir}/train {file} && exec {dir}/train'",
        file="train.rs",
        command="./train",
    ),
    ending(
        "perl",
        "bad row at {dir}/train.pl line 1.",
        'die "bad row";\n',
        by="perl",
        words="perl {file}",
        file="train.pl",
        command="perl",
    ),
    ending(
        "command-not-found",
        "{dir}/train.sh: line 3: fooo: command not found",
        "#!/bin/bash\nset -e\nfooo --epochs 1\n",
        by="bash",
        words="bash {file}",
        file="train.sh",
        command="./train.sh",
    ),
    ending(
        "shell-and-python",
        "ValueError: boom\ntraining failed",
        "python3 -c 'raise ValueError(\"boom\")' || { echo 'training failed' >&2; exit 4; }\n",
        by="sh",
        words="sh {file}",
        file="train.sh",
        command="./train.sh",
    ),
    ending(
        "shell-child-killed",
        "SIGKILL: probably out of memory",
        "python3 -c 'import os; os.kill(os.getpid(), 9)'\nexit $?\n",
        by="bash",
        words="bash {file}",
        file="train.sh",
        command="./train.sh",
    ),
]

LAUNCHED = [
    ending(
        "torchrun-one",
        "ValueError: bad row 17\nof rank 1",
        _RANK + "if rank == 1:\n    raise ValueError('bad row 17\\nof rank 1')\ntime.sleep(9)\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-cause",
        "RuntimeError: cannot start; caused by KeyError: 'lr'",
        _RANK + "try:\n    {}['lr']\nexcept KeyError as e:\n    raise RuntimeError('cannot start') from e\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-marked-one",
        "ValueError: bad row 17\nof rank 1",
        _RANK
        + _GLOO
        + "if rank == 1:\n    raise ValueError('bad row 17\\nof rank 1')\ndist.barrier()\ntime.sleep(9)\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-exit",
        "FATAL: no data on rank 1",
        _RANK + "if rank == 1:\n    sys.exit('FATAL: no data on rank 1')\ntime.sleep(9)\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-silent",
        "rank 1: ended with exit status 7",
        _RANK + "if rank == 1:\n    sys.exit(7)\ntime.sleep(9)\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-killed",
        "rank 1: SIGKILL: probably out of memory",
        _RANK + "if rank == 1:\n    os.kill(os.getpid(), 9)\ntime.sleep(9)\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-marked-killed",
        "rank 1: SIGKILL: probably out of memory",
        _RANK + _GLOO + "if rank == 1:\n    os.kill(os.getpid(), 9)\ndist.barrier()\ntime.sleep(9)\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-fault",
        "rank 1: SIGSEGV: segmentation fault",
        _RANK + "if rank == 1:\n    os.kill(os.getpid(), 11)\ntime.sleep(9)\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-recorded",
        "KeyError: 'learning_rate'",
        _RANK
        + "from torch.distributed.elastic.multiprocessing.errors import record\n@record\ndef main():\n"
        + "    if rank == 1:\n        raise KeyError('learning_rate')\n    time.sleep(9)\nmain()\n",
        by="torch",
        words=TORCHRUN,
        command="torchrun",
    ),
    ending(
        "torchrun-missing-script",
        "/usr/local/bin/python: can't open file '{dir}/missing.py': [Errno 2] No such file or directory",
        "",
        by="torch",
        words=TORCHRUN.replace("{file}", "{dir}/missing.py"),
        command="torchrun",
    ),
    ending(
        "mpirun-one",
        "ValueError: bad row 17\nof rank 1",
        _RANK + "if rank == 1:\n    raise ValueError('bad row 17\\nof rank 1')\ntime.sleep(9)\n",
        words=MPIRUN,
        command="mpirun",
    ),
    ending(
        "mpirun-all",
        "ValueError: labels out of range; caused by KeyError: 'label'",
        _RANK + "try:\n    {}['label']\nexcept KeyError as e:\n    raise ValueError('labels out of range') from e\n",
        by="3.8",
        words=MPIRUN,
        command="mpirun",
    ),
    ending(
        "mpirun-exit",
        "no data on rank 1",
        _RANK + "if rank == 1:\n    sys.exit('no data on rank 1')\ntime.sleep(9)\n",
        words=MPIRUN,
        command="mpirun",
    ),
    ending(
        "mpirun-killed",
        "rank 1: SIGKILL: probably out of memory",
        _RANK + "if rank == 1:\n    os.kill(os.getpid(), 9)\ntime.sleep(9)\n",
        words=MPIRUN,
        command="mpirun",
    ),
    ending(
        "mpirun-fault",
        "rank 1: SIGSEGV: segmentation fault",
        _RANK + "if rank == 1:\n    os.kill(os.getpid(), 11)\ntime.sleep(9)\n",
        words=MPIRUN,
        command="mpirun",
    ),
    ending(
        "mpirun-slots",
        "There are not enough slots available in the system to satisfy the 4\nslots that were requested by the "
        "application:",
        _RANK,
        words=MPIRUN.replace("-np 2", "-np 4"),
        command="mpirun",
    ),
]

PIP = "{python} -m pip install --no-index --disable-pip-version-check --target {dir}/site"
INSTALLED = [
    ending(
        "pip-nothing-found",
        "Could not find a version that satisfies the requirement no-such-package==9 (from versions: none); "
        "No matching distribution found for no-such-package==9",
        "no-such-package==9\n",
        words=PIP + " -r {file}",
        file="requirements.txt",
    ),
    ending(
        "pip-invalid",
        "Invalid requirement: 'numpy=1' (from line 1 of {dir}/requirements.txt)",
        "numpy=1\n",
        words=PIP + " -r {file}",
        file="requirements.txt",
    ),
    ending(
        "pip-build",
        "python setup.py egg_info did not run successfully: RuntimeError: no compiler for this package",
        "raise RuntimeError('no compiler for this package')\n",
        by="3.8",
        words=PIP + " {dir}",
        file="setup.py",
    ),
    ending(
        "pip-missing-file",
        "Could not open requirements file: [Errno 2] No such file or directory: 'missing.txt'",
        "",
        words=PIP + " -r missing.txt",
        file="requirements.txt",
    ),
]
