"""The Dockerfile, parsed with the grammar of BuildKit and checked by hadolint."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import dockerfile as buildkit
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smspec.render.dockerfile import dockerfile, dockerignore
from smspec.render.image_settings import _variables_after_packages
from support.render.docker_quoting import meaning
from support.render.image_plan_strategies import image_plans, requirements
from support.render.plan_samples import image_plan, locked_environment
from support.smspec_command import smspec

SPECS = Path(__file__).parents[3] / "specs"
HADOLINT = shutil.which("hadolint", path=os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])))
HASHED = b"six==1.16.0 \\\n    --hash=sha256:" + b"ab" * 32 + b"\n"


def commands(text):
    return buildkit.parse_string(text)


def instructions(image, content=None):
    return [(command.cmd, command.value) for command in commands(dockerfile(image, content))]


def shell_lines(image, content=None):
    return [value[0] for name, value in instructions(image, content) if name == "RUN" and len(value) == 1]


def variables(image, kind):
    return {value[0]: meaning(value[1]) for name, value in instructions(image) if name == kind}


def test_minimal_image_has_a_minimal_dockerfile():
    assert [name for name, _ in instructions(image_plan())] == [
        *("FROM", "ENV", "RUN", "COPY", "RUN", "COPY", "COPY", "LABEL", "LABEL", "LABEL", "ENTRYPOINT")
    ]


@given(image_plans, requirements)
def test_dockerfile_contains_only_intended_instructions(image, content):
    """No value of the author becomes an instruction, a flag or a second word."""
    found = instructions(image, content)
    assert found[0] == ("FROM", (image.base,))
    prefixes = [
        value for name, value in found if name == "ENV" and value[1].endswith(f'"${{{value[0]}:+:${value[0]}}}"')
    ]
    assert {value[0]: meaning(value[1].rpartition('"$')[0]) for value in prefixes} == image.env_prepend
    ours = {value[0]: meaning(value[1]) for name, value in found if name == "ENV" and value not in prefixes}
    assert ours == {"PYTHONUNBUFFERED": "1", **image.env}
    arguments = (value[0].partition("=") for name, value in found if name == "ARG")
    assert {name: meaning(text) for name, _, text in arguments} == image.build_args
    ours = variables(image, "LABEL")
    assert {key: ours[key] for key in image.labels} == image.labels
    assert ours["smspec.image-digest"] == image.tag
    scripts = [value[2] for name, value in found if name == "RUN" and len(value) == 3]
    assert [script.split("\n", len(image.secrets))[-1] for script in scripts] == [*image.pre_install, *image.run]
    packages = bool(image.system_packages) or image.needs_ssh
    pip = bool(image.python_packages) or content is not None
    late = len(_variables_after_packages(image, content))
    assert [name for name, _ in found] == [
        "FROM",
        *["USER"] * (image.user is not None),
        *["ARG"] * len(image.build_args),
        *["ENV"] * (len({"PYTHONUNBUFFERED", *image.env}) - late + len(image.env_prepend)),
        *["RUN"] * len(image.pre_install),
        *["RUN"] * packages,
        *["RUN"] * (pip or not image.run),  # the check for Python
        *["COPY"] * (content is not None),
        *["RUN"] * pip,
        *["ENV"] * late,
        *["RUN"] * len(image.run),
        *["RUN"] * (not pip and bool(image.run)),
        *("COPY", "RUN", "COPY"),
        *["COPY"] * image.holds_source,
        *["LABEL"] * len(ours),
        *["USER"] * (image.user is not None),
        "ENTRYPOINT",
    ]
    flags = {flag.partition("=")[0] for command in commands(dockerfile(image, content)) for flag in command.flags}
    assert flags <= {"--platform", "--mount"}


@pytest.mark.slow
@given(st.lists(st.tuples(image_plans, requirements), min_size=25, max_size=25))
@settings(max_examples=2 if settings.default.derandomize else 8, suppress_health_check=list(HealthCheck))
def test_hadolint_passes_except_in_user_commands(tmp_path_factory, images):
    directory = tmp_path_factory.mktemp("hadolint")
    files = []
    for number, (image, content) in enumerate(images):
        file = directory / f"Dockerfile.{number}"
        file.write_text(dockerfile(image, content))
        files.append(file)
    done = subprocess.run([HADOLINT, "--no-color", *files], capture_output=True, text=True)
    findings = []
    for line in done.stdout.splitlines():
        place, _, message = line.partition(" ")
        name, _, number = place.partition(":")
        written = open(name).read().splitlines()[int(number.partition(":")[0]) - 1]
        if not re.match(r'RUN (--mount=\S+ )*\["/bin/sh", "-c", ', written):
            findings.append(f"{message}: {written}")
    assert findings == []
    assert done.stderr == ""


def test_frequent_changes_come_last():
    """Dependency layers before source: a changed script builds one small layer."""
    image = image_plan(system_packages=("git",), python_packages=("numpy==2.1.0",), run=("make",))
    order = [value[-1] for _, value in instructions(image)]
    steps = ["apt-get", "python3 -c", "pip install", "make", "/opt/smspec/smspec_runtime/", "/opt/ml/code/"]
    places = [next(index for index, text in enumerate(order) if step in text) for step in steps]
    assert places == sorted(places)
    files = [value[-1] for name, value in instructions(image) if name in ("RUN", "COPY")]
    assert [text.split()[-1] for text in files[-4:]] == [
        *("/opt/smspec/smspec_runtime/", "true", "/opt/smspec/", "/opt/ml/code/")
    ]


def test_changed_arguments_compile_no_runtime():
    """The plan of a run is copied after the runtime has been compiled, and labels come after all files."""
    names = [name for name, _ in instructions(image_plan(labels={"team": "ads"}))]
    assert names[names.index("LABEL") :] == ["LABEL"] * 4 + ["ENTRYPOINT"]


LOCKED = {"environment": locked_environment(HASHED), "python_packages": ()}


@pytest.mark.parametrize(
    ("name", "image", "is_late"),
    [
        ("OMP_NUM_THREADS", {}, True),
        ("MY_SETTING", {}, False),
        ("MY_SETTING", LOCKED, True),
        ("PIP_INDEX_URL", LOCKED, False),
        ("https_proxy", LOCKED, False),
        ("LD_LIBRARY_PATH", LOCKED, False),
    ],
)
def test_variables_of_programs_reinstall_nothing(name, image, is_late):
    """A package that is built from source may read any variable, so only a lock of wheels lets all others come late."""
    text = dockerfile(image_plan(**{"python_packages": ("six",), **image}, env={name: "1"}), HASHED)
    assert (text.index(f"ENV {name}=") > text.index("pip install")) is is_late


def test_variable_in_the_requirements_comes_first():
    content = b"six @ https://example.com/${VERSION_OF_SIX}/six.whl\n"
    text = dockerfile(image_plan(env={"VERSION_OF_SIX": "1"}, **LOCKED), content)
    assert text.index("ENV VERSION_OF_SIX=") < text.index("pip install")


def test_entrypoint_is_in_exec_form():
    """With a shell in between, SIGTERM would not reach the runtime."""
    command = next(command for command in commands(dockerfile(image_plan())) if command.cmd == "ENTRYPOINT")
    assert (command.json, command.value) == (True, ("python3", "/opt/smspec/entrypoint.py"))


def test_dockerfile_fetches_no_frontend():
    """A `# syntax=` line would; the one directive there is tells BuildKit's own check about the platform."""
    first, second = dockerfile(image_plan()).splitlines()[:2]
    assert first == "# check=skip=FromPlatformFlagConstDisallowed"
    assert second.startswith("# ")
    assert "=" not in second


@given(image_plans)
def test_platform_is_that_of_the_instances(image):
    base = commands(dockerfile(image))[0]
    assert base.flags == (f"--platform={image.platform}",)


def test_apt_installs_through_cache_mounts():
    line, check, _ = shell_lines(image_plan(system_packages=("libgomp1", "git=1:2.39.5-0+deb12u2")))
    assert "3, 8" in check
    assert "apt-get install --yes --no-install-recommends" in line
    assert "--no-install-recommends libgomp1 git=1:2.39.5-0+deb12u2 && rm -rf /var/log/apt" in " ".join(line.split())
    command = next(c for c in commands(dockerfile(image_plan(system_packages=("git",)))) if "apt-get" in c.original)
    assert command.flags == (
        "--mount=type=cache,target=/var/cache/apt,sharing=locked",
        "--mount=type=cache,target=/var/lib/apt/lists,sharing=locked",
    )


def test_hadolint_is_silenced_only_for_unpinned_packages():
    assert "DL3008" in dockerfile(image_plan(system_packages=("git",)))
    assert "DL3008" not in dockerfile(image_plan(system_packages=("git=1:2.39.5-0+deb12u2",)))
    assert "DL3013" in dockerfile(image_plan(python_packages=("numpy>=2",)))
    assert "DL3013" not in dockerfile(image_plan(python_packages=("numpy==2.1.0",)))


def test_apt_trusts_the_certificates_of_the_build():
    image = image_plan(system_packages=("git",), secrets={"SSL_CERT_FILE": "file"})
    line = next(line for line in shell_lines(image) if "apt-get" in line)
    assert line.count('apt-get -o Acquire::https::CAInfo="$SSL_CERT_FILE" ') == 2
    assert "CAInfo" not in dockerfile(image_plan(system_packages=("git",), secrets={"SSL_CERT_FILE": "env"}))


def test_mpi_installs_ssh():
    lines = shell_lines(image_plan(needs_ssh=True, system_packages=("openssh-client=1:9.2p1-2+deb12u7",)))
    install, *cleanup, _ = re.split(r"\s+&& ", lines[0])[2:]
    assert install.split()[-2:] == ["openssh-client=1:9.2p1-2+deb12u7", "openssh-server"]
    assert cleanup == ["install -d -m 0755 /run/sshd", "rm -f /etc/ssh/ssh_host_*"]
    assert "ssh-keygen" not in "".join(lines)
    assert "ssh" not in dockerfile(image_plan())


@pytest.mark.parametrize(
    ("packages", "content", "installs"),
    [
        ((), None, []),
        (("numpy==2.1.0", "a>=1"), None, ["numpy==2.1.0 'a>=1'"]),
        ((), b"six\n", ["--requirement /opt/smspec/requirements.txt"]),
        (("numpy",), b"six\n", ["--requirement /opt/smspec/requirements.txt numpy"]),
        ((), HASHED, ["--require-hashes --requirement /opt/smspec/requirements.txt"]),
        (("numpy",), HASHED, ["--require-hashes --requirement /opt/smspec/requirements.txt", "numpy"]),
        ((), b"# --hash=sha256:none\nsix\n", ["--requirement /opt/smspec/requirements.txt"]),
    ],
    ids=["nothing", "packages", "file", "file with packages", "hashes", "hashes with packages", "hash in a comment"],
)
def test_pip_installs_packages_and_requirements(packages, content, installs):
    image = image_plan(python_packages=packages, python_requirements="requirements.txt")
    lines = [line for line in shell_lines(image, content) if "pip install" in line]
    found = [step.strip().removeprefix("python3 -m pip install ") for line in lines for step in line.split("&&")[1:]]
    assert found == installs
    assert (("COPY", ("requirements.txt", "/opt/smspec/requirements.txt")) in instructions(image, content)) == (
        content is not None
    )


def test_labels_name_base_and_digest():
    labels = variables(
        image_plan(base="python:3.12@sha256:" + "ab" * 32, tag="1" * 64, labels={"team": "ads"}), "LABEL"
    )
    assert labels == {
        "org.opencontainers.image.title": "job",
        "org.opencontainers.image.base.name": "python:3.12",
        "org.opencontainers.image.base.digest": "sha256:" + "ab" * 32,
        "smspec.image-digest": "1" * 64,
        "team": "ads",
    }
    assert "org.opencontainers.image.base.digest" not in variables(image_plan(), "LABEL")


def test_author_may_override_generated_variables():
    image = image_plan(env={"PYTHONUNBUFFERED": ""}, labels={"org.opencontainers.image.title": "mine"})
    assert variables(image, "ENV") == {"PYTHONUNBUFFERED": ""}
    assert variables(image, "LABEL")["org.opencontainers.image.title"] == "mine"


@given(image_plans, requirements)
def test_context_contains_only_copied_files(image, content):
    """Nothing but what the Dockerfile copies is in the context."""
    copied = {path.rstrip("/") for name, value in instructions(image, content) if name == "COPY" for path in value[:-1]}
    lines = dockerignore(image, content).splitlines()
    assert lines[0] == "*"
    assert {line.removeprefix("!") for line in lines[1:]} == copied


@pytest.mark.parametrize("spec", sorted(SPECS.glob("*/job.yaml")), ids=lambda spec: spec.parent.name)
def test_examples_have_no_hadolint_findings(spec, tmp_path):
    done = smspec("render", str(spec), "--dockerfile")
    assert done.status == 0, done.err
    (tmp_path / "Dockerfile").write_text(done.out)
    found = subprocess.run([HADOLINT, "--no-color", tmp_path / "Dockerfile"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")


SECRETS = {"NETRC": "file", "PIP_EXTRA_INDEX_URL": "env"}


def with_secrets(**changes):
    return image_plan(
        **{"secrets": SECRETS, "system_packages": ("git",), "python_packages": ("x",), "run": ("make",), **changes}
    )


def test_commands_of_the_build_get_its_secrets():
    """Those of packages and of the author: not the check for Python, nor what compiles the runtime."""
    mounts = [
        [flag for flag in command.flags if "type=secret" in flag]
        for command in commands(dockerfile(with_secrets()))
        if command.cmd == "RUN"
    ]
    every = [f"--mount=type=secret,id={name},required=true,mode=0444" for name in SECRETS]
    assert mounts == [every, [], every, every, []]


def test_secrets_are_variables_of_the_commands(tmp_path):
    """The commands run in a shell, with files where BuildKit mounts the secrets."""
    for name in SECRETS:
        (tmp_path / name).write_text("https://us er:pa$s'@index/\n")
    (script,) = [
        value[2] for name, value in instructions(with_secrets(run=("env",))) if name == "RUN" and len(value) == 3
    ]
    script = script.replace("/run/secrets", str(tmp_path))
    printed = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert "PIP_EXTRA_INDEX_URL=https://us er:pa$s'@index/" in printed
    assert f"NETRC={tmp_path}/NETRC" in printed
    (tmp_path / "PIP_EXTRA_INDEX_URL").unlink()
    failed = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert (failed.returncode != 0, failed.stdout) == (True, "")


def test_dockerfile_names_the_options_of_its_secrets():
    text = dockerfile(with_secrets())
    assert "docker build --secret id=NETRC,src=… --secret id=PIP_EXTRA_INDEX_URL,env=…\n" in text
    assert "--secret" not in dockerfile(with_secrets(secrets={}))
