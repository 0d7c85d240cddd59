"""Image plans for hypothesis, including hostile ones."""

from __future__ import annotations

from hypothesis import strategies as st

from support.render.plan_samples import image_plan

printable = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029")
    | st.sampled_from("\\\"'$`{}[]<>#=&;|!*~ -"),
    max_size=30,
)
scripts = st.one_of(
    st.sampled_from(["make install", "git lfs install && echo done", "set -e\ncd /opt\nmake\n"]),
    printable.filter(str.strip),
)
bases = st.sampled_from(
    [
        "python:3.12-slim-bookworm",
        "python",
        "debian:latest",
        "registry.example.com:5000/team/base:1.2",
        "nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04",
        "python:3.12@sha256:" + "ab" * 32,
        "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training@sha256:" + "0f" * 32,
    ]
)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True) | st.sampled_from(
    ["HF_TOKEN", "DB_PASSWORD", "TOKENIZERS_PARALLELISM", "PYTHONUNBUFFERED", "PATH", "TRAVIS_SUDO", "DOCKER_EMAIL"]
)
label_keys = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._/-]{0,20}[A-Za-z0-9])?", fullmatch=True) | st.sampled_from(
    ["team", "Team", "com.docker.x", "a--b", "org.opencontainers.image.title"]
)
apt_words = st.sampled_from(["libgomp1", "g++", "git=1:2.39.5-0+deb12u2", "libc6:amd64", "openssh-server"])
pip_words = st.sampled_from(
    [
        "numpy==2.1.0",
        "torch",
        "scipy>=1,<2",
        'tomli; python_version < "3.11"',
        "a[b,c]==1",
        "x @ https://example.com/x.whl",
    ]
)
requirements = st.sampled_from(
    [None, b"", b"numpy==2.1.0\n", b"six==1.16.0 \\\n    --hash=sha256:" + b"ab" * 32 + b"\n"]
)

image_plans = st.builds(
    image_plan,
    base=bases,
    system_packages=st.lists(apt_words, max_size=3).map(tuple),
    python_packages=st.lists(pip_words, max_size=3).map(tuple),
    env=st.dictionaries(names, printable, max_size=4),
    run=st.lists(scripts, max_size=3).map(tuple),
    labels=st.dictionaries(label_keys, printable, max_size=4),
    secrets=st.dictionaries(names, st.sampled_from(["env", "file"]), max_size=3),
    user=st.sampled_from([None, "1000", "0:0", "trainer:trainer"]),
    build_args=st.dictionaries(names, printable, max_size=2),
    pre_install=st.lists(scripts, max_size=2).map(tuple),
    env_prepend=st.dictionaries(names, printable, max_size=2),
    holds_source=st.booleans(),
    needs_ssh=st.booleans(),
)
