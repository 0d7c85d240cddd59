"""Generated repositories of specs with changes: conflicts, base specs, sources, locks, policies, links."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from support.git_repository import commit, git, repository

NAMES = ["ctr", "ads", "rank", "embed", "train", "bert", "dev", "exp-1", "exp-10", "team-a", "ctr-0123456789"]
PREFIXES = [
    *(
        "s3://models/out/",
        "s3://models/out",
        "s3://models/",
        "s3://models/exp-1",
        "s3://models/exp-10",
        "s3://models/out/ctr/",
        "s3://models/a,b/",
    ),
    *(
        "s3://keep/x/",
        "s3://keep/x/y/",
        "s3://keep/x/y",
        "s3://keep/data/train.csv",
        "s3://keep/data/train.csv.gz",
        "s3://keep/data",
    ),
]
BASES = ["org/base.yaml", "teams/a.yaml", "teams/b.yaml", "spare.yaml"]
SOURCES = ["src/one", "src/two", "shared"]
IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/{}@sha256:" + "0" * 64
POLICIES = [
    '[policy]\nallowed_instance_families = ["m5"]\n',
    '[rules]\nSM705 = "error"\n',
    '[defaults]\ntags = {team = "x"}\n',
    '[defaults]\noutput = "s3://models/out/"\n',
    '[defaults]\nsource = "shared"\n',
    "[[[",
]


class Writer:
    """Writes one repository. ``draw`` decides everything.

    ``is_plain``: no link and no setting decides about all specs, but more of them are written in an unusual way.
    """

    def __init__(self, directory: Path, seed: int, *, is_plain: bool = False) -> None:
        self.draw = random.Random(seed)
        self.is_plain = is_plain
        self.home = repository(directory)
        self.specs: list[str] = []

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def write(self, place: str, text: str) -> None:
        path = self.home / place
        is_in_the_way = any(above.is_symlink() or above.is_file() for above in path.parents)
        if is_in_the_way or path.is_symlink() or path.is_dir():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def prefix(self) -> str:
        text = self.draw.choice(PREFIXES)
        if self.chance(0.1):
            return self.draw.choice(
                ['"${{ vars.where }}"', "${{ vars.where }}", text + "${{ vars.part }}/", f"'{text}'"]
            )
        return f'"{text}"' if self.chance(0.15) else text

    def base(self, place: str) -> str:
        lines = ["smspec: v1"]
        up = "../" * place.count("/")
        others = [other for other in BASES if other < place or self.chance(0.02)]
        if others and self.chance(0.4):
            lines.append(f"extends: [{up}{self.draw.choice(others)}]")
        lines.append("role: arn:aws:iam::111122223333:role/Training")
        lines += ["region: us-west-2"] if self.chance(0.4) else []
        lines += [f"output: {self.prefix()}"] if self.chance(0.4) else []
        lines += [f"checkpoints: {self.prefix()}"] if self.chance(0.1) else []
        lines += [f"channels: {{shared: {self.draw.choice(PREFIXES[:3])}}}"] if self.chance(0.1) else []
        lines += ["vars: {where: {default: s3://models/out/}, part: {default: x}}"] if self.chance(0.3) else []
        lines += ["overlays: {dev: {output: s3://keep/x/}}"] if self.chance(0.1) else []
        lines += [f"source: {up}shared"] if self.chance(0.1) else []
        lines += ["tags: {cost: null}"] if self.chance(0.1) else []
        lines += [f"name: {self.draw.choice(NAMES)}"] if self.chance(0.1) else []
        lines += ["checks: {ignore: [{rule: SM705, because: known}]}"] if self.chance(0.05) else []
        lines += ["stoping: {}"] if self.chance(0.05) else []
        if self.is_plain and self.chance(0.6):
            lines = [line for line in lines if line.partition(":")[0] not in ("source", "overlays", "name", "stoping")]
        return "\n".join(lines) + "\n"

    def unusual(self, text: str, up: str) -> str:
        """Return a spec that is written in another way, or names other files."""
        others = ["spare.yaml", ".hidden/base.yaml", "odd", *self.specs[-2:]]
        for share, old, new in (
            (0.2, "extends: [", f"extends: [{up}{self.draw.choice(others)}, "),
            (0.05, "{base: python:3.12-slim}", f"{{base: python:3.12-slim, secrets: {{key: {{file: {up}secret}}}}}}"),
            (0.05, "source: ", "source:\n  "),
            (0.05, "source: ", '"source": '),
            (0.03, f"source: {up}", "source: ${{ vars.where }}"),
            (0.05, "smspec: v1", "---\nsmspec: v1"),
            (0.04, "\nname: ", "\nNAME: "),
            (0.03, "\n", "\r\n"),
        ):
            text = text.replace(old, new) if self.chance(share) else text
        return text

    def job(self, place: str) -> str:
        up = "../" * place.count("/")
        name = self.draw.choice(NAMES)
        built = self.chance(0.5)
        lines = ["# a job", "smspec: v1"] if self.chance(0.5) else ["smspec: v1"]
        lines.append(self.draw.choice([f"name: {name}", f'name: "{name}"', f"name: {name} # its name"]))
        if self.chance(0.7):
            bases = self.draw.sample(BASES[:3], self.draw.choice([1, 1, 2]))
            paths = [f"{up}{base}" for base in bases]
            lines += (
                [f"extends: [{', '.join(paths)}]"] if self.chance(0.7) else ["extends:", *(f"  - {p}" for p in paths)]
            )
        lines += ["role: arn:aws:iam::111122223333:role/Training"] if self.chance(0.9) else []
        lines.append("image: {base: python:3.12-slim}" if built else f"image: {IMAGE.format(name)}")
        if built and self.chance(0.2):
            lines[-1] = "image:\n  base: python:3.12-slim\n  python_requirements: " + up + "requirements.txt"
        if built or self.chance(0.2):
            lines += [f"source: {up}{self.draw.choice(SOURCES)}", "entry_point: train.py"]
        lines.append("hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}")
        lines += [f"region: {'eu-west-1' if built and self.chance(0.2) else 'us-west-2'}"] if self.chance(0.8) else []
        lines += [f"output: {self.prefix()}"] if self.chance(0.9) else []
        lines += [f"checkpoints: {self.prefix()}"] if self.chance(0.3) else []
        lines += [f"tensorboard: {self.prefix()}"] if self.chance(0.1) else []
        if self.chance(0.5):
            lines += ["channels:", f"  train: {self.prefix()}"]
            lines += ["  other:", f"    s3: {self.draw.choice(PREFIXES)}"] if self.chance(0.5) else []
        lines += [f"job_name: {self.draw.choice(NAMES)}"] if self.chance(0.1) else []
        lines += ["vars: {where: {default: s3://keep/x/}, part: {default: y}}"] if "${{" in str(lines) else []
        if self.chance(0.3):
            lines += ["overlays:", "  dev:", f"    output: {self.prefix()}"]
            lines += [f"    name: {self.draw.choice(NAMES)}"] if self.chance(0.3) else []
            lines += [f"    source: {up}shared"] if self.chance(0.2) else []
            lines += ["    checkpoints: null"] if self.chance(0.3) else []
        lines += [self.ignored()] if self.chance(0.2) else []
        lines += ["metrics: [{name: loss, regex: 'loss=([0-9.]+)'}]"] if self.chance(0.2) else []
        lines += ["  broken: [" if self.chance(0.5) else "stoping: {}"] if self.chance(0.04) else []
        lines += ['environment: {NOTE: "a\\tb"}'] if self.chance(0.1) else []
        text = "\n".join(lines) + "\n"
        return self.unusual(text, up) if self.is_plain else text

    def ignored(self) -> str:
        rule = self.draw.choice(["SM701", "SM702", "SM703", "SM705", "SM709"])
        return f"checks: {{ignore: [{{rule: {rule}, because: known}}]}}"

    def spec(self) -> str:
        number = len(self.specs)
        place = self.draw.choice([f"jobs/j{number}/job.yaml", f"jobs/j{number}.yaml", f"jobs/deep/er/j{number}.yml"])
        self.specs.append(place)
        self.write(place, self.job(place))
        return place

    def link(self) -> None:
        if self.is_plain:
            return
        target = self.draw.choice([*self.specs, *SOURCES, "teams"])
        path = self.home / self.draw.choice(
            [f"jobs/l{self.draw.randrange(9)}.yaml", f"l{self.draw.randrange(9)}", "jobs/j1"]
        )
        if not path.exists() and not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to("../" * str(path.relative_to(self.home)).count("/") + target)

    def whole(self) -> None:
        for place in BASES:
            if self.chance(0.9):
                self.write(place, self.base(place))
        for place in SOURCES:
            self.write(f"{place}/train.py", f"print('{place}', '/opt/ml/checkpoints')\n")
        self.write("requirements.txt", "numpy==2.1.0\n")
        self.write(".gitignore", "*.log\nbuild/\n")
        for _ in range(self.draw.randrange(2, 14)):
            self.spec()
        for _ in range(self.draw.choice([0, 0, 1, 2])):
            self.link()
        if self.is_plain:
            for place, text in (("secret", "x\n"), (".hidden/base.yaml", self.base("a")), ("odd", self.base("a"))):
                self.write(place, text)
            self.write(".gitattributes", self.draw.choice(["*.bin filter=lfs\n", "*.py ident\n", "* text=auto\n"]))
        elif self.chance(0.3):
            self.write(self.draw.choice(["smspec.toml", "jobs/smspec.toml"]), self.draw.choice(POLICIES))
        if self.chance(0.2):
            self.write("smspec.lock", '{"environments": {}, "images": {}}\n')
        if self.chance(0.1):
            self.write(".hidden/job.yaml", self.job(".hidden/job.yaml"))

    def changes(self) -> list[Callable[[], object]]:
        def spec() -> str:
            return self.draw.choice(self.specs)

        def any_file() -> str:
            tracked = git(self.home, "ls-files").splitlines()
            return self.draw.choice([*tracked, *self.specs])

        def append() -> None:
            path = self.home / any_file()
            if path.is_file() and not path.is_symlink():
                path.write_text(path.read_text() + "# more\n")

        def remove() -> None:
            path = self.home / any_file()
            if path.is_symlink() or path.is_file():
                path.unlink()

        def move() -> None:
            old, new = self.home / spec(), self.home / self.draw.choice(["jobs/moved.yaml", "other/moved/job.yaml"])
            if old.is_file() and not new.exists():
                new.parent.mkdir(parents=True, exist_ok=True)
                old.rename(new)

        def rewrite() -> None:
            place = spec()
            self.write(place, self.job(place))

        anywhere = [
            lambda: self.write("secret", "y\n"),
            lambda: self.write(".hidden/base.yaml", self.base("a")),
            lambda: self.write("odd", self.base("a")),
            lambda: self.write("src/one/__pycache__/a.pyc", "1\n"),
            lambda: self.write("SRC/one/x.py", "1\n"),
            lambda: self.write("src/one/x.txt", "1\n"),
            lambda: self.write(".git/info/exclude", "*.txt\n"),
            lambda: git(self.home, "update-index", "--chmod=+x", "shared/train.py"),
        ]
        return [
            *(anywhere if self.is_plain else ()),
            *(rewrite, rewrite, rewrite, append, append, append, self.spec, move, remove, self.link),
            lambda: self.write("src/one/train.py", "print(1)\n"),
            lambda: self.write("shared/new.py", "print(1)\n"),
            lambda: self.write("src/two/x.log", "ignored\n"),
            lambda: self.write("requirements.txt", "numpy==2.2.0\n"),
            lambda: self.write("README.md" if self.is_plain else "smspec.toml", self.draw.choice(POLICIES)),
            lambda: self.write("README.md", "text\n"),
            lambda: self.write(self.draw.choice(BASES), self.base("teams/a.yaml")),
            lambda: self.write("src/.gitignore", "*.txt\n"),
        ]


def write_changed_repository(directory: Path, seed: int, *, is_plain: bool = False) -> Path:
    """Write a repository, commit it, and change some of it: the same for a seed, and ``is_plain`` of a `Writer`."""
    writer = Writer(directory, seed, is_plain=is_plain)
    writer.whole()
    commit(writer.home)
    for change in writer.draw.choices(writer.changes(), k=writer.draw.choice([1, 1, 1, 2, 3])):
        change()
    return writer.home
