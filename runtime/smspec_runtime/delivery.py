"""Copies the author's code to the code directory."""

import os

from .input_config import InputConfig
from .layout import Layout
from .lean_typing import Environ
from .log import log
from .refusal import Refused
from .run_plan import CODE_CHANNEL

ARCHIVE = "sourcedir.tar.gz"


def submit_directory(config: InputConfig, environ: Environ) -> str:
    """The job's hyperparameter wins over a variable of the image."""
    submitted = config.hyperparameters.sagemaker.get("sagemaker_submit_directory")
    return str(submitted or environ.get("SAGEMAKER_SUBMIT_DIRECTORY") or "")


def deliver(delivery: str, layout: Layout, config: InputConfig, environ: Environ) -> Layout:
    """The job's code wins over the image's."""
    code, source = layout.code, ""
    if delivery == "channel":
        source = layout.channel(CODE_CHANNEL)
        try:
            if os.listdir(source) == [ARCHIVE]:
                source += "/" + ARCHIVE
        except OSError as error:
            raise Refused(f"channel `{CODE_CHANNEL}`: {error.strerror}") from error
    elif delivery == "s3":
        source = submit_directory(config, environ)
        source = source[len("file://") :] if source.startswith("file://") else source
    if not source or os.path.realpath(source) == os.path.realpath(code):
        return Layout(layout.root, code if os.path.isdir(code) else _writable(code))
    above = os.path.join(os.path.realpath(source), "")
    if os.path.abspath(code).startswith(above) or os.path.realpath(code).startswith(above):
        raise Refused(f"cannot take the code from {source}: the code directory itself, {code}, lies in it")
    code = _writable(code)
    _bring(source, code, config, environ)
    return Layout(layout.root, code)


def _bring(source: str, code: str, config: InputConfig, environ: Environ) -> None:
    import shutil

    place = code if os.access(os.path.dirname(code), os.W_OK) else "/tmp/smspec-code"
    staging = f"{place}.{os.getpid()}"
    staged = staging + "/code"
    shutil.rmtree(staging, ignore_errors=True)  # Left by a stopped container.
    try:
        os.makedirs(staged)
        _stage(source, staged, config, environ)
        _replace(code, staged, source)
    except OSError as error:
        raise Refused(f"cannot put the code from {source} into {code}: {error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _stage(source: str, staged: str, config: InputConfig, environ: Environ) -> None:
    archive = source
    if source.startswith("s3://"):
        from .aws import fetch, s3_options

        archive = staged + ".tar.gz"
        fetch(source, archive, s3_options(config.hyperparameters.sagemaker, environ))
    elif not _is_archive(source):
        import shutil

        if os.path.isdir(source):
            shutil.copytree(source, staged, dirs_exist_ok=True)
        else:
            shutil.copy(source, staged)
        return
    from .extraction import digest, extract

    found = digest(extract(archive, staged))
    if config.settings.source not in (None, found):
        raise Refused(f"{source} does not hold the code that the job was made with: its digest is {found}")


def _is_archive(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return path.endswith((".gz", ".tgz", ".tar")) or file.read(2) == b"\x1f\x8b"


def _replace(code: str, staged: str, source: str) -> None:
    is_held = os.path.isdir(code) and bool(os.listdir(code))
    log(f"code: {source}{', in the place of what the image holds' if is_held else ''}")
    try:
        if is_held:
            os.rename(code, staged + ".replaced")
        os.rename(staged, code)
        return
    except OSError:
        pass  # A mount point: only its content can be replaced.
    import shutil

    os.makedirs(code, exist_ok=True)
    for entry in list(os.scandir(code)):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
    for name in os.listdir(staged):
        shutil.move(f"{staged}/{name}", f"{code}/{name}")


def _writable(code: str) -> str:
    try:
        os.makedirs(code, exist_ok=True)
        if os.access(code, os.W_OK | os.X_OK):
            return code
    except PermissionError:
        pass
    except OSError as error:
        raise Refused(f"{code}: {error.strerror}") from error
    import tempfile

    user = f"user {os.getuid()}"
    try:
        directory = tempfile.mkdtemp(prefix="smspec-code-")
    except OSError as error:
        raise Refused(f"{user} can write neither to {code} nor to a temporary directory: {error}") from error
    log(f"{user} cannot write to {code}; the code runs from {directory}")
    return directory
