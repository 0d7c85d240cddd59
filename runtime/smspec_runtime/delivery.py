"""Brings the author's code into the code directory: it may lie in the image, in a channel, or somewhere else."""

import os

from .input_config import InputConfig
from .layout import Layout
from .lean_typing import Mapping, Optional
from .log import log
from .refusal import Refused
from .run_plan import CODE_CHANNEL

ARCHIVE = "sourcedir.tar.gz"
_SCHEME = "s3://"


def deliver(delivery: str, layout: Layout, config: InputConfig, environ: Mapping[str, str]) -> None:
    """Put the code in place. What was sent with the job wins over what the image holds."""
    if delivery == "channel":
        source: Optional[str] = _archive_or_directory(layout.channel(CODE_CHANNEL))
    elif delivery == "s3":
        source = _submit_directory(config)
    else:
        source = None
    if source is None or os.path.abspath(source) == os.path.abspath(layout.code):
        _make_directory(layout.code)
        return
    staged = _staging_directory(layout.code)
    try:
        _stage(source, staged, config, environ)
        _replace(layout.code, staged, source)
    finally:
        _remove(staged)


def _submit_directory(config: InputConfig) -> Optional[str]:
    location = config.hyperparameters.sagemaker.get("sagemaker_submit_directory")
    if not location:
        return None
    location = str(location)
    return location[len("file://") :] if location.startswith("file://") else location


def _archive_or_directory(directory: str) -> str:
    """Return the archive of a channel if it is all that the channel has, else the channel."""
    try:
        names = os.listdir(directory)
    except OSError as error:
        raise Refused(f"channel `{CODE_CHANNEL}`: {error.strerror}") from error
    return os.path.join(directory, ARCHIVE) if names == [ARCHIVE] else directory


def _staging_directory(code: str) -> str:
    """Make the directory that the code is put together in: beside its place if we may write there."""
    tried = [f"{code}.{os.getpid()}", f"/tmp/smspec-code.{os.getpid()}"]
    for directory in tried:
        try:
            _remove(directory)  # Of a container that was stopped here, and is now started again.
            os.makedirs(directory)
            return directory
        except OSError:
            continue
    raise Refused(f"there is no room for the code: cannot make {' nor '.join(tried)}")


def _stage(source: str, staged: str, config: InputConfig, environ: Mapping[str, str]) -> None:
    if source.startswith(_SCHEME):
        from .submitted_object import fetch  # Late, as all that only some deliveries need.

        archive = staged + ".tar.gz"
        try:
            _remove(archive)
            fetch(source, archive, config, environ)
            _extract(archive, staged, config.settings.source)
        finally:
            _remove(archive)
    elif os.path.isfile(source) and _is_archive(source):
        _extract(source, staged, config.settings.source)
    elif os.path.exists(source):
        import shutil

        try:
            if os.path.isdir(source):
                shutil.copytree(source, staged, dirs_exist_ok=True)
            else:
                shutil.copy(source, staged)
        except (OSError, shutil.Error) as error:
            raise Refused(f"cannot copy the code from {source}: {error}") from error
    else:
        raise Refused(f"there is no code at {source}")


def _is_archive(path: str) -> bool:
    if path.endswith((".gz", ".tgz", ".tar")):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError:
        return False


def _extract(archive: str, directory: str, expected: Optional[str]) -> None:
    """Unpack, and compare with the digest that the compiler gave the files, if it did."""
    from .extraction import digest, extract

    files = extract(archive, directory)
    if expected not in (None, digest(files)):
        raise Refused(f"{archive} does not hold the code that the job was made with: its digest is not {expected}")
    log(f"files of code unpacked: {len(files)}")


def _replace(code: str, staged: str, source: str) -> None:
    """Put the staged directory in the place of the code directory."""
    old = f"{code}.{os.getpid()}.replaced"
    try:
        held = os.listdir(code)
    except OSError:
        held = []
    log(f"code: {source}{', in the place of what the image holds' if held else ''}")
    try:
        if held:
            os.rename(code, old)
        os.rename(staged, code)
    except OSError:
        # A mount point cannot be renamed, but what is in it can be replaced.
        _replace_content(code, staged)
    finally:
        _remove(old)


def _replace_content(code: str, staged: str) -> None:
    import shutil

    try:
        _make_directory(code)
        for name in os.listdir(code):
            _remove(os.path.join(code, name))
        for name in os.listdir(staged):
            shutil.move(os.path.join(staged, name), os.path.join(code, name))
    except (OSError, shutil.Error) as error:
        raise Refused(f"cannot put the code into {code}: {error}") from error


def _make_directory(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)
