"""The path of a channel is followed from its variable to the file operation that uses it."""

import pytest

from support.script.read_programs import codes, runs

TRAIN = {"train": {"s3": "s3://example-data/ctr/train/"}}
PIPE = {"train": {"s3": "s3://example-data/ctr/train/", "input_mode": "Pipe"}}
HEAD = "import argparse, os\nfrom pathlib import Path\np = argparse.ArgumentParser()\n"


def found(text, **changes):
    return [code for code, _ in codes(text, **changes)]


FAILING = {
    "a variable": "os.path.join(os.environ.get('SM_CHANNEL_TEST'), 'x')",
    "getenv": "open(os.getenv('SM_CHANNEL_TEST'))",
    "None as the default": "Path(os.environ.get('SM_CHANNEL_TEST', None))",
    "a sum": "x = os.environ.get('SM_CHANNEL_TEST') + '/x'",
    "a default of an argument": "p.add_argument('--test', default=os.environ.get('SM_CHANNEL_TEST'))\n"
    "a = p.parse_args()\nos.path.join(a.test, 'x')",
    "known arguments": "p.add_argument('--test-dir', type=str, default=os.environ.get('SM_CHANNEL_TEST'))\n"
    "a, _ = p.parse_known_args()\nos.path.isdir(a.test_dir)",
    "a function": "p.add_argument('--test', default=os.environ.get('SM_CHANNEL_TEST'))\n"
    "def read(args):\n    return open(args.test)\ndef main():\n    args = p.parse_args()\n    read(args)\nmain()",
}
RUNNING = {
    "a check": "t = os.environ.get('SM_CHANNEL_TEST')\nif t:\n    os.path.join(t, 'x')",
    "a default": "os.path.join(os.environ.get('SM_CHANNEL_TEST', '/'), 'x')",
    "a list of the current directory": "os.listdir(os.environ.get('SM_CHANNEL_TEST'))",
    "or": "os.path.join(os.environ.get('SM_CHANNEL_TEST') or '/', 'x')",
    "caught": "try:\n    open(os.environ.get('SM_CHANNEL_TEST'))\nexcept TypeError:\n    pass",
    "set": "os.environ['SM_CHANNEL_TEST'] = '/'\nos.path.join(os.environ.get('SM_CHANNEL_TEST'), 'x')",
    "set_defaults": "p.add_argument('--test', default=os.environ.get('SM_CHANNEL_TEST'))\np.set_defaults(test='/')\n"
    "os.path.join(p.parse_args().test, 'x')",
    "a changed argument": "p.add_argument('--test', default=os.environ.get('SM_CHANNEL_TEST'))\n"
    "a = p.parse_args()\na.test = a.test or '/'\nos.path.join(a.test, 'x')",
    "a changed namespace": "p.add_argument('--test', default=os.environ.get('SM_CHANNEL_TEST'))\n"
    "a = p.parse_args()\nvars(a)['test'] = '/'\nos.path.join(a.test, 'x')",
    "text": "str(os.environ.get('SM_CHANNEL_TEST')) + '/x'",
    "an f-string": "os.path.join(f\"{os.environ.get('SM_CHANNEL_TEST')}/x\", 'y')",
    "a second option": "p.add_argument('--test', default=os.environ.get('SM_CHANNEL_TEST'))\n"
    "p.add_argument('--other', dest='test', default='/')\nprint(os.path.join(p.parse_args().test or '/', 'x'))",
}


@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING)
def test_missing_channel_that_is_used_fails(text):
    """The script really fails without the variable, and does not fail with it."""
    assert "TypeError" in runs(HEAD + text, [])
    assert found(HEAD + text, channels=TRAIN) == ["SM527"]
    assert found(HEAD + text, channels={**TRAIN, "test": TRAIN["train"]}) == []
    assert found(HEAD + text, channels=TRAIN, environment={"SM_CHANNEL_TEST": "/"}) == []


@pytest.mark.parametrize("text", RUNNING.values(), ids=RUNNING)
def test_missing_channel_that_is_optional_is_not_reported(text):
    assert runs(HEAD + text, []) is None
    assert found(HEAD + text, channels=TRAIN) == []


@pytest.mark.parametrize("name", ["test", "tes"])
def test_passed_argument_replaces_the_channel(name):
    text = HEAD + FAILING["a default of an argument"]
    assert runs(text, [f"--{name}", "/"]) is None
    assert found(text, channels=TRAIN, hyperparameters={name: "/"}) == []


DIRECTORIES = {
    "listdir": "os.listdir(os.environ['SM_CHANNEL_TRAIN'])",
    "a file": "open(os.path.join(os.environ['SM_CHANNEL_TRAIN'], 'a.csv'))",
    "an argument": "p.add_argument('--train', default=os.environ['SM_CHANNEL_TRAIN'])\n"
    "a = p.parse_args()\nopen(os.path.join(a.train, 'a.csv'))",
    "an f-string": "open(f\"{os.environ['SM_CHANNEL_TRAIN']}/a.csv\")",
    "an archive": "import lzma\nlzma.open(os.environ['SM_CHANNEL_TRAIN'] + '/a.xz')",
    "a path": "list(Path(os.environ['SM_CHANNEL_TRAIN']).iterdir())",
    "a slash": "(Path(os.environ['SM_CHANNEL_TRAIN']) / 'a.csv').open()",
}
FIFOS = {
    "an f-string": "open(f\"{os.environ['SM_CHANNEL_TRAIN']}_0\").read()",
    "a sum": "open(os.environ['SM_CHANNEL_TRAIN'] + '_0').read()",
    "a question": "os.path.isdir(os.environ['SM_CHANNEL_TRAIN'])",
    "a number": "open(os.environ['SM_CHANNEL_TRAIN'] + '_' + str(0)).read()",
    "another FIFO": "open(os.environ['SM_CHANNEL_TRAIN'] + '_0').read()\nopen(os.environ['SM_CHANNEL_TRAIN'] + '_1')",
}


@pytest.fixture
def fifo(tmp_path, monkeypatch):
    for name in ("train_0", "train_1"):
        (tmp_path / name).write_text("")  # an end at once, as of an empty stream
    monkeypatch.setenv("SM_CHANNEL_TRAIN", str(tmp_path / "train"))
    return {"SM_CHANNEL_TRAIN": str(tmp_path / "train")}


@pytest.mark.parametrize("text", DIRECTORIES.values(), ids=DIRECTORIES)
def test_directory_of_a_pipe_channel_is_reported(text, fifo):
    assert "FileNotFoundError" in runs(HEAD + text, [])
    assert found(HEAD + text, channels=PIPE) == ["SM534"]
    assert found(HEAD + text, channels=TRAIN) == []


@pytest.mark.parametrize("text", FIFOS.values(), ids=FIFOS)
def test_fifo_of_a_pipe_channel_is_not_reported(text, fifo):
    assert runs(HEAD + text, []) is None
    assert found(HEAD + text, channels=PIPE) == []


def test_literal_path_of_a_pipe_channel_is_reported():
    text = "import os\nos.listdir('/opt/ml/input/data/train')\n"
    assert found(text, channels=PIPE) == ["SM534"]
    assert found(text.replace("data/train", "data/train_0"), channels=PIPE) == []


@pytest.mark.parametrize("first", ["'/opt/ml/input/data/train_0'", "os.environ['SM_CHANNEL_TRAIN'] + '_0'"])
def test_fifo_that_is_opened_twice_is_reported(first):
    again = f"open({first})\n"
    assert found(f"import os\n{again}{again}", channels=PIPE) == ["SM535"]
    assert found(f"import os\n{again}if os.cpu_count() > 1:\n    {again}", channels=PIPE) == []


FIFO = "open(os.environ['SM_CHANNEL_TRAIN'] + '_0')"
ARGUMENTS = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\na = p.parse_args()\n"
LOOPS = {
    "a number": f"for e in range(2):\n    {FIFO}\n",
    "two numbers": f"for e in range(1, 4):\n    {FIFO}\n",
    "a hyperparameter": f"{ARGUMENTS}for e in range(a.epochs):\n    with {FIFO} as f:\n        f.read()\n",
    "a function": f"def read():\n    return {FIFO}\nfor e in range(9):\n    read()\n",
    "a literal path": "for e in range(2):\n    open('/opt/ml/input/data/train_0')\n",
}
OTHER_LOOPS = {
    "one FIFO per pass": "for e in range(5):\n    open(os.environ['SM_CHANNEL_TRAIN'] + f'_{e}')\n",
    "one pass": f"for e in range(1):\n    {FIFO}\n",
    "a break": f"for e in range(5):\n    {FIFO}\n    break\n",
    "a condition": f"for e in range(5):\n    if e == 0:\n        {FIFO}\n",
    "an unknown number": f"for e in range(int(os.environ['N'])):\n    {FIFO}\n",
    "another iterable": f"for e in [1]:\n    {FIFO}\n",
    "a return": f"def f():\n    for e in range(5):\n        return {FIFO}\nf()\n",
    "a path of each pass": "for e in range(5):\n    fifo = path(os.environ['SM_CHANNEL_TRAIN'], e)\n    open(fifo)\n",
}


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_fifo_that_is_opened_in_each_pass_is_reported(text):
    epochs = {"hyperparameters": {"epochs": 5}} if "argparse" in text else {}
    assert found("import os\n" + text, channels=PIPE, **epochs) == ["SM535"]
    assert found("import os\n" + text, channels=TRAIN, **epochs) == []


def test_loop_of_one_epoch_is_not_reported():
    text = "import os\n" + LOOPS["a hyperparameter"]
    assert found(text, channels=PIPE, hyperparameters={"epochs": 1}) == []


@pytest.mark.parametrize("text", OTHER_LOOPS.values(), ids=OTHER_LOOPS)
def test_other_loop_is_not_reported(text):
    assert found("import os\n" + text, channels=PIPE, environment={"N": "1"}) == []


SEARCHES = {
    "glob": "import glob\nglob.glob(os.path.join(os.environ['SM_CHANNEL_TRAIN'], '*.csv'))",
    "walk": "list(os.walk(os.environ['SM_CHANNEL_TRAIN']))",
    "a path": "list(Path(os.environ['SM_CHANNEL_TRAIN']).glob('*.csv'))",
    "all below a path": "list((Path(os.environ['SM_CHANNEL_TRAIN']) / 'a').rglob('*'))",
}
OTHER_SEARCHES = {
    "FIFOs": "import glob\nglob.glob(os.environ['SM_CHANNEL_TRAIN'] + '*')",
    "a question": "os.path.isdir(os.environ['SM_CHANNEL_TRAIN'])",
    "files or a FIFO": SEARCHES["glob"] + " or open(os.environ['SM_CHANNEL_TRAIN'] + '_0')",
    "a condition": "if os.cpu_count() > 1:\n    list(os.walk(os.environ['SM_CHANNEL_TRAIN']))",
}


@pytest.mark.parametrize("text", SEARCHES.values(), ids=SEARCHES)
def test_search_in_a_pipe_channel_is_reported(text, tmp_path, monkeypatch):
    monkeypatch.setenv("SM_CHANNEL_TRAIN", str(tmp_path / "absent"))
    assert runs(HEAD + text, []) is None
    assert found(HEAD + text, channels=PIPE) == ["SM540"]
    assert found(HEAD + text, channels=TRAIN) == []


@pytest.mark.parametrize("text", OTHER_SEARCHES.values(), ids=OTHER_SEARCHES)
def test_other_search_is_not_reported(text):
    assert found(HEAD + text, channels=PIPE) == []


def test_search_by_a_literal_path_is_reported():
    text = "import glob\nglob.glob('/opt/ml/input/data/train/*.csv')\n"
    assert found(text, channels=PIPE) == ["SM540"]
    assert found(text.replace("train/*", "train_*"), channels=PIPE) == []


OPTIONAL = "import os\nx = os.environ.get('{}', '1')\n"


@pytest.mark.parametrize("name", ["SM_NUM_GPU", "SM_HOST", "SM_CURENT_HOST", "SM_MODEL_DIRS"])
def test_misspelled_optional_variable_is_reported(name):
    assert found(OPTIONAL.format(name)) == ["SM525"]
    assert found(OPTIONAL.format(name), environment={name: "x"}) == []
    assert found(f"import os\nos.environ['{name}'] = 'x'\n" + OPTIONAL.format(name)) == []


@pytest.mark.parametrize("name", ["SM_HOST_COUNT", "SM_PIN_MEMORY", "SM_NUM_GPUS", "SM_MODEL_DIRECTORY", "NUM_GPU"])
def test_other_optional_variable_is_not_reported(name):
    assert found(OPTIONAL.format(name)) == []


REQUIRED = "import os\nx = os.environ['{}']\n"


def test_unset_environment_variable_is_reported():
    assert found(REQUIRED.format("WANDB_API_KEY")) == ["SM526"]
    assert found(REQUIRED.format("WANDB_API_KEY"), environment={"WANDB_API_KEY": "x"}) == []
    assert found(REQUIRED.format("WANDB_API_KEY"), image={"base": "python:3.12", "env": {"WANDB_API_KEY": "x"}}) == []
    assert found("import os\nos.environ['X'] = '1'\nos.environ['X']\n") == []


@pytest.mark.parametrize("image", [{"base": "pytorch/pytorch:2.4.0"}, {"base": "python:3.12", "run": ["true"]}])
def test_variable_of_an_unknown_image_is_not_reported(image):
    assert found(REQUIRED.format("WANDB_API_KEY"), image=image) == []


@pytest.mark.parametrize(
    "name",
    sorted(
        {"HOME", "PATH", "HOSTNAME", "AWS_REGION", "TRAINING_JOB_NAME", "RANK", "LOCAL_RANK", "CUDA_VISIBLE_DEVICES"}
    ),
)
def test_variable_of_the_platform_is_not_reported(name):
    assert found(REQUIRED.format(name)) == []


@pytest.mark.parametrize(
    ("mode", "code"), [("'r'", ["SM507"]), ("mode='rb'", ["SM507"]), ("'w'", []), ("mode='a'", [])]
)
def test_only_a_file_that_is_read_needs_its_channel(mode, code):
    assert found(f"open('/opt/ml/input/data/extra/x', {mode})\n") == code
