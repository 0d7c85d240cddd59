"""Generated Dockerfiles, built by a real engine."""

import base64
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from smspec.local.engines.containers.client import Client
from smspec.local.engines.containers.image import build_image
from smspec.local.running.request import RunFailed
from smspec.output.writing import write_tree
from smspec.render.tree_rendering import render_tree
from support.docker_engine import built_steps
from support.render.plan_samples import build_inputs, image_plan, locked_environment, plan
from support.sampled_cases import only_with_all_engines

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")  # one engine, where xdist is told to keep groups together

VALUES = int(os.environ.get("SMSPEC_HOSTILE_VALUES", "600"))
ROOT = Path(__file__).parents[2]
FILES = (
    *("find", "/", "-xdev", "(", "-path", "/proc", "-o", "-path", "/sys", ")", "-prune"),
    "-o",
    "-printf",
    "%y %s %p\\n",
)
ALPHABETS = ("\\\"'$`{}[]()<>#=&;|!*~ -", 'abc \\"$', "äöü€字🙂 \u00a0\u202f", "$HOME${x:-y}$(id)`id`\\$\\\\")


@pytest.fixture
def tree(engine, tmp_path):
    """Write the tree of an image and return its directory."""

    def written(source=None, requirements=None, name="tree", locked=None, **changes):
        environment = None if locked is None else locked_environment(locked)
        image = image_plan(**{"base": engine.base, "environment": environment, **changes})
        parts = build_inputs(tmp_path / f"{name}-parts", source, requirements, locked)
        write_tree(render_tree(plan(image=image), parts, "5" * 64), str(tmp_path / name))
        return tmp_path / name

    return written


def hostile(count, seed=7):
    """Return texts of the characters that mean something to Dockerfiles, shells and YAML; the same on every run."""
    choice = random.Random(seed)
    return ["".join(choice.choices(choice.choice(ALPHABETS), k=choice.randrange(12))) for _ in range(count)]


@pytest.mark.parametrize("part", range(VALUES // 200))
def test_environment_values_are_unchanged(engine, tree, part):
    """What `docker inspect` reads back is what was written: nothing expanded, nothing lost.

    Each variable is a step of the build, which copies those before it: many small images take less time than one.
    """
    env = {f"V{number}": text for number, text in enumerate(hostile(100, seed=2 * part))}
    labels = {f"l{number}": text for number, text in enumerate(hostile(100, seed=2 * part + 1))}
    engine.build(tree(env=env, labels=labels), "values")
    config = engine.config("values")
    found = dict(variable.split("=", 1) for variable in config["Env"])
    assert {name: found[name] for name in env} == env
    assert found["PYTHONUNBUFFERED"] == "1"
    assert {key: config["Labels"][key] for key in labels} == labels


def test_user_commands_run_as_written(engine, tree):
    lines = [line for line in hostile(40) if line.strip()]
    script = "".join(f"cat >> /said <<'END'\n{line}\nEND\n" for line in lines)
    check = '[ "$GREETING" = \'a "b" $c\' ] # <<EOF \\'
    engine.build(tree(run=(script, check), env={"GREETING": 'a "b" $c'}), "run")
    assert engine.output("run", "cat", "/said") == "".join(f"{line}\n" for line in lines)


def test_image_has_its_files_and_configuration(engine, tree):
    source = {"train.py": b"print('hi')\n", "bin/go": b"#!/bin/sh\n", "pkg/data.bin": bytes(range(256))}
    engine.build(tree(source, labels={"team": "ads"}), "where")
    config = engine.config("where")
    assert config["Entrypoint"] == ["python3", "/opt/smspec/entrypoint.py"]
    assert config["Labels"] == {
        "org.opencontainers.image.title": "job",
        "org.opencontainers.image.base.name": engine.base,
        "smspec.image-digest": "0" * 64,
        "team": "ads",
    }
    listed = engine.output("where", "find", "/opt/smspec", "/opt/ml", "-type", "f", "-printf", "%p %m %U\n").split("\n")
    compiled = [re.sub(r"\.cpython-\d+", "", line) for line in listed if "__pycache__" in line]
    assert sorted(compiled) == [
        "/opt/smspec/smspec_runtime/__pycache__/__init__.pyc 644 0",
        "/opt/smspec/smspec_runtime/__pycache__/main.pyc 644 0",
    ]
    assert sorted(line for line in listed if line and "__pycache__" not in line) == [
        "/opt/ml/code/bin/go 755 0",
        "/opt/ml/code/pkg/data.bin 644 0",
        "/opt/ml/code/train.py 644 0",
        "/opt/smspec/entrypoint.py 644 0",
        "/opt/smspec/run_plan.json 644 0",
        "/opt/smspec/smspec_runtime/__init__.py 644 0",
        "/opt/smspec/smspec_runtime/main.py 644 0",
    ]
    assert engine.output("where", "sha256sum", "/opt/ml/code/pkg/data.bin").startswith(
        hashlib.sha256(source["pkg/data.bin"]).hexdigest()
    )


def test_changed_source_builds_only_its_own_layer(engine, tree):
    engine.build(tree({"train.py": b"1"}, run=("echo built > /marker",)), "cached", check=True)
    done = engine.build(tree({"train.py": b"2"}, name="changed", run=("echo built > /marker",)), "cached")
    assert built_steps(done) == {"COPY source/ /opt/ml/code/"}


def test_changed_source_of_equal_size_is_built(engine, tree):
    """BuildKit sends only files whose size or time differs from those of the last build of the directory."""
    directory = tree({"train.py": b"rate = 1e-3\n"})
    for text, other in ((b"rate = 1e-3\n", b"rate = 1e-4\n"), (b"rate = 1e-4\n", b"rate = 1e-5\n")):
        engine.build(directory, "same-size")
        assert engine.output("same-size", "cat", "/opt/ml/code/train.py").encode() == text
        changed = tree({"train.py": other}, name=f"changed-{other[-2:-1].decode()}")
        shutil.rmtree(directory)
        changed.rename(directory)


@pytest.mark.parametrize("old", [False, True], ids=["no Python", "Python 3.6"])
def test_base_without_python_fails_before_the_packages(engine, tree, tmp_path, old):
    base = tmp_path / "base"
    base.mkdir()
    replaced = "printf '#!/bin/sh\\nexec /usr/bin/python3.11 -c \"import sys; sys.version_info = (3, 6, 9); $2\"\\n'"
    then = f"&& {replaced} > /usr/bin/python3 && chmod +x /usr/bin/python3" if old else ""
    (base / "Dockerfile").write_text(f"FROM {engine.base}\nRUN rm /usr/bin/python3 {then}\n")
    engine.build(base, "lacking")
    done = engine.build(tree(base="lacking", python_packages=("six",), run=("echo not reached",)), "never", check=False)
    assert done.returncode != 0
    assert "smspec: the base image needs Python 3.8 or later" in done.stderr
    assert "not reached\n" not in done.stderr


@pytest.fixture(scope="module")
def shop(engine, tmp_path_factory):
    """A base that has a wheel index and an apt repository of its own: no network is needed to install from them."""
    context = tmp_path_factory.mktemp("shop")
    digests = {
        "greeting": _write_wheel(context, "greeting", "1.0", "WORD = 'hello'\n"),
        "shouting": _write_wheel(context, "shouting", "2.0", "WORD = 'HELLO'\n", "Requires-Dist: not-there\n"),
    }
    (context / "Dockerfile").write_text(
        f"""FROM {engine.base}
COPY *.whl /opt/wheels/
RUN rm -f /etc/apt/sources.list.d/* /etc/apt/sources.list \\
 && mkdir -p /opt/debs /tmp/greeter/DEBIAN /tmp/greeter/usr/share/greeter \\
 && echo hello > /tmp/greeter/usr/share/greeter/word \\
 && printf 'Package: greeter\\nVersion: 1.0-1\\nArchitecture: all\\nMaintainer: t <t@example.com>\\n' \\
    > /tmp/greeter/DEBIAN/control && echo 'Description: t' >> /tmp/greeter/DEBIAN/control \\
 && dpkg-deb --build /tmp/greeter /opt/debs/greeter_1.0-1_all.deb \\
 && cd /opt/debs && {{ cat /tmp/greeter/DEBIAN/control; \\
      echo "Filename: ./greeter_1.0-1_all.deb"; echo "Size: $(stat -c %s greeter_1.0-1_all.deb)"; \\
      echo "SHA256: $(sha256sum greeter_1.0-1_all.deb | cut -d' ' -f1)"; }} > Packages \\
 && echo 'deb [trusted=yes] file:/opt/debs ./' > /etc/apt/sources.list
"""
    )
    engine.build(context, "shop")
    return digests


def _write_wheel(directory, name, version, text, more=""):
    """Write a wheel with one module and more metadata; return its SHA-256."""
    wheel = directory / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        record = ""
        for path, content in files.items():
            archive.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(content)}\n"
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


OFFLINE = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/opt/wheels"}


def test_pip_installs_into_the_python_of_the_base(engine, tree, shop):
    """Debian marks its Python as externally managed (PEP 668)."""
    engine.build(tree(base="shop", env=OFFLINE, python_packages=("greeting==1.0",)), "pip")
    assert engine.output("pip", "python3", "-c", "import greeting; print(greeting.WORD)") == "hello\n"


@pytest.mark.parametrize("right", [True, False])
def test_hashes_are_checked(engine, tree, shop, right):
    digest = shop["greeting"] if right else "ab" * 32
    content = f"--no-index\n--find-links /opt/wheels\ngreeting==1.0 --hash=sha256:{digest}\n"
    directory = tree(base="shop", requirements=content.encode(), python_requirements="r.txt")
    done = engine.build(directory, "hashed", check=False)
    assert (done.returncode == 0) is right
    assert ("THESE PACKAGES DO NOT MATCH THE HASHES" in done.stderr) is not right


def test_locked_packages_are_installed_as_they_are(engine, tree, shop):
    """`smspec lock` has resolved everything, so pip adds nothing that a package requires."""
    content = f"--no-index\n--find-links /opt/wheels\nshouting==2.0 --hash=sha256:{shop['shouting']}\n".encode()
    engine.build(tree(base="shop", locked=content), "locked")
    assert engine.output("locked", "python3", "-c", "import shouting; print(shouting.WORD)") == "HELLO\n"
    assert engine.output("locked", "cat", "/opt/smspec/requirements.txt") == content.decode()


def test_changed_variable_of_a_program_reinstalls_nothing(engine, tree, shop):
    settings = {"base": "shop", "python_packages": ("greeting==1.0",), "build_args": OFFLINE}
    engine.build(tree(**settings, env={"OMP_NUM_THREADS": "1"}), "threads")
    done = engine.build(tree(**settings, env={"OMP_NUM_THREADS": "2"}, name="changed"), "threads")
    assert not [step for step in built_steps(done) if "pip" in step]
    assert "OMP_NUM_THREADS=2" in engine.config("threads")["Env"]


def test_prefixes_arguments_commands_and_user_of_an_image(engine, tree):
    """A prefix comes before the value of the base; an argument reaches the commands, and the image does not keep it."""
    changes = {
        "env": {"GREETING": "hello"},
        "env_prepend": {"PATH": "/opt/a b/$bin", "GREETING": "say", "LIBRARIES": "/opt/lib"},
        "build_args": {"JOBS": 'a "b" $c'},
        "pre_install": ('printf %s "$JOBS" > /jobs; id -un > /user',),
        "user": "1000:1000",
    }
    engine.build(tree(**changes), "keys")
    config = engine.config("keys")
    variables = dict(text.split("=", 1) for text in config["Env"])
    assert variables["PATH"].startswith("/opt/a b/$bin:")
    assert variables["GREETING"] == "say:hello"
    assert variables["LIBRARIES"] == "/opt/lib"
    assert "JOBS" not in variables
    assert config["User"] == "1000:1000"
    assert engine.output("keys", "cat", "/jobs", "/user") == 'a "b" $croot\n'
    assert engine.output("keys", "id", "-u") == "1000\n"


def test_apt_installs_and_leaves_no_downloads(engine, tree, shop):
    engine.build(tree(base="shop", system_packages=("greeter=1.0-1",)), "apt")
    assert engine.output("apt", "cat", "/usr/share/greeter/word") == "hello\n"
    left = engine.output("apt", "find", "/var/cache/apt", "/var/lib/apt/lists", "-type", "f", "-size", "+0")
    assert left == ""


@only_with_all_engines
def test_image_without_buildkit_has_the_same_files(engine, tree, shop, tmp_path, monkeypatch):
    """DOCKER_BUILDKIT=0, as SageMaker Studio needs it; the command is that of docs/images.md."""
    members = {
        "base": "shop",
        "system_packages": ("greeter=1.0-1",),
        "python_packages": ("greeting==1.0",),
        "build_args": OFFLINE,
        "run": ("echo '--mount=type=cache,target=/x' > /said",),
    }
    image, directory = image_plan(**members), tree(**members)
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("DOCKER_BUILDKIT", "0")
    monkeypatch.setenv("PATH", f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}")
    steps: list[str] = []
    assert build_image(Client("docker"), image, str(directory), secrets={}, labels={"a": "b c"}, show=steps.append)
    assert any(step.startswith("Step 2/") for step in steps), steps
    assert engine.config(image.uri)["Labels"]["a"] == "b c"
    engine.build(directory, "kit")
    command = re.search(r"(?m)^    (sed .*)$", (ROOT / "docs/images.md").read_text())[1].replace(
        "build/ctr-linear", "."
    )
    by_hand = command.replace("--tag ctr", "--network=none --tag by-hand")
    subprocess.run(["sh", "-c", by_hand], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    caches = re.compile(r"/root/\.cache|/var/cache/apt|/var/lib/apt/lists")
    kit, classic, hand = (engine.output(name, *FILES).splitlines() for name in ("kit", image.uri, "by-hand"))
    assert any(line.endswith(" /usr/share/greeter/word") for line in kit)
    assert not [
        line for line in classic if caches.search(line) and line.startswith("f") and not line.startswith("f 0 ")
    ]
    files = [{line for line in lines if not caches.search(line)} for lines in (kit, classic, hand)]
    assert (files[1] ^ files[0], files[2] ^ files[0]) == (set(), set())
    (directory / "Dockerfile").unlink()
    message = r"`image\.secrets` needs BuildKit, and DOCKER_BUILDKIT is 0"
    with pytest.raises(RunFailed, match=message):
        build_image(
            Client("docker"), image_plan(tag="1" * 64), str(directory), secrets={"A": "/a"}, labels={}, show=print
        )


def test_layers_contain_no_private_key(engine, tree, tmp_path):
    """The package of the SSH server makes host keys when it is installed; here from a repository in the base."""
    (tmp_path / "context").mkdir()
    (tmp_path / "context/Dockerfile").write_text(
        f"""FROM {engine.base}
RUN rm -f /etc/apt/sources.list.d/* && dpkg --purge openssh-server && cd /opt/debs \\
 && {{ dpkg-deb -f *.deb; echo "Filename: ./$(echo *.deb)"; echo "Size: $(stat -c %s *.deb)"; \\
      echo "SHA256: $(sha256sum *.deb | cut -d' ' -f1)"; }} > Packages \\
 && echo 'deb [trusted=yes] file:/opt/debs ./' > /etc/apt/sources.list
"""
    )
    engine.build(tmp_path / "context", "without-server")
    done = engine.build(tree(base="without-server", needs_ssh=True), "ssh")
    assert "Creating SSH2 ED25519 key" in done.stderr
    listing = "ls /usr/sbin/sshd; ls /etc/ssh /root/.ssh 2>/dev/null | grep host_ || true"
    assert engine.output("ssh", "sh", "-c", listing) == "/usr/sbin/sshd\n"
    engine.docker("save", "--output", tmp_path / "ssh.tar", "ssh")
    layers = 0
    with tarfile.open(tmp_path / "ssh.tar") as image:
        for layer in image:
            content = image.extractfile(layer)
            if content is not None and layer.name.endswith("layer.tar"):
                layers += 1
                with tarfile.open(fileobj=content) as files:
                    assert [file.name for file in files if file.isfile() and is_private_key(files, file)] == []
    assert layers > 5


def is_private_key(files, file):
    return re.search(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}", files.extractfile(file).read(4096))


def test_image_builds_without_source_and_packages(engine, tree):
    engine.build(tree(holds_source=False), "bare")
    assert engine.output("bare", "sh", "-c", "ls /opt/ml 2>/dev/null; ls /opt/smspec").split() == [
        *("entrypoint.py", "run_plan.json", "smspec_runtime")
    ]


def test_context_contains_only_copied_files(engine, tree):
    """Other files in the directory are not sent to the engine."""
    directory = tree({"train.py": b""})
    (directory / "upload").mkdir()
    (directory / "upload/large").write_bytes(bytes(30_000_000))
    done = engine.build(directory, "context")
    sizes = re.findall(r"transferring context: ([\d.]+)(k?B|MB)", done.stderr)
    assert sizes
    assert all(unit != "MB" for _, unit in sizes)
    assert json.loads((directory / "create-training-job.json").read_text())


def test_secrets_reach_the_commands_and_no_layer(engine, tree, tmp_path, monkeypatch):
    """Neither the image, nor its history, nor the log of the build has what a command did not write."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("PATH", f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}")
    value, content = "https://user:pa5s-w0rd@index.example.com/", "machine index.example.com password 7f3e9c21\n"
    place = tmp_path / 'of "me", src=x'
    place.mkdir()
    (place / "netrc").write_text(content)
    check = 'printf %s "$INDEX" | sha256sum > /index && sha256sum < "$NETRC" > /netrc'
    secrets = {"INDEX": "env", "NETRC": "file"}
    members = {"secrets": secrets, "run": (check,), "python_packages": ()}
    directory, image = tree(**members), image_plan(**members, tag="5" * 64)
    (place / "index").write_text(value + "\n")
    files = {name: str(place / name.lower()) for name in secrets}
    built: list[str] = []
    build_image(Client("docker"), image, str(directory), secrets=files, labels={}, show=built.append, is_verbose=True)
    engine.docker("tag", image.uri, "secrets")
    digests = [engine.output("secrets", "cat", name).split()[0] for name in ("/index", "/netrc")]
    assert digests == [hashlib.sha256(text.encode()).hexdigest() for text in (value, content)]
    kept = engine.docker("image", "inspect", "secrets").stdout
    kept += engine.docker("history", "--no-trunc", "secrets").stdout
    kept += engine.output(
        "secrets", "sh", "-c", "env; ls -A /run/secrets 2>&1; grep -rl 7f3e9c21 /etc /opt /root /run || true"
    )
    assert not [text for text in ("pa5s-w0rd", "7f3e9c21") if text in kept + "\n".join(built)]
    missing = engine.build(directory, "secrets", "--no-cache", check=False)
    assert missing.returncode != 0
    assert re.search("secret (INDEX|NETRC).*not found", missing.stderr)
