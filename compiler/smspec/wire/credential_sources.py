"""What botocore gets credentials from: files and a program, which it reads without an end or a time limit, and servers.

A server may repeat what it is sent, so all that botocore signs or proves something with is hidden before it is sent.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import signal
import subprocess
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smspec.diagnostics.open_question import question
from smspec.diagnostics.quoting import hide
from smspec.source.limited_output import TooMuchOutput, both_outputs
from smspec.source.real_file import OUTSIDE_PROJECTS, variables_outside
from smspec.wire.connections import require_file
from smspec.wire.fault import Deadline, DeadlineMissed, WireFault

MOST_BYTES = 1 << 20
"""Of what a program prints; credentials have a few kilobytes."""

_TIME = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}[T ][0-9:.,]{4,20} ?(?:Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?")

_FILES = (("AWS_CONFIG_FILE", "config_file"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials_file"))
_LOGINS = ("sso", "sso-oidc", "sts", "signin")
"""The services that take tokens as parameters; elsewhere, AWS also calls the names of keys sensitive."""

_NUMBERS = ("metadata_service_timeout", "metadata_service_num_attempts")
"""The settings that botocore converts to integers before it looks for credentials."""

_NAMING = re.compile(r"AWS_[A-Z_]*_FILE|BOTO_CONFIG")
"""Variables that name a file: of the AWS CLI, and of its predecessors, which botocore still reads."""


def require_profiles(core: Any) -> None:
    """Raise `WireFault` if a file of settings is not a regular one; call it before botocore reads any."""
    for variable in sorted(os.environ):
        if _NAMING.fullmatch(variable):
            require_file(os.path.expanduser(os.environ[variable]), f"`{variable}`")
    for variable, name in _FILES:
        where = os.environ.get(variable) or str(core.get_config_variable(name) or "")
        require_file(os.path.expanduser(where), f"`{variable}`" if os.environ.get(variable) else "the file of profiles")


def require_settings(core: Any) -> None:
    """Raise `WireFault` if a number of a profile is not one, or the file with its token is not a regular one."""
    for name in _NUMBERS:
        try:
            core.get_config_variable(name)
        except ValueError:
            variable = f"AWS_{name.upper()}"
            where = f"`{variable}`" if os.environ.get(variable) else f"`{name}` of the profile"
            raise WireFault(f"{where} is not an integer") from None
    for profile in _profiles(core):
        path = profile.get("web_identity_token_file")
        require_file(os.path.expanduser(path) if isinstance(path, str) else "", "`web_identity_token_file`")


def _profiles(core: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the profile in use, and those that its role is assumed with."""
    profiles = core.full_config.get("profiles", {})
    name, seen = core.get_config_variable("profile") or "default", set()
    while isinstance(name, str) and name not in seen and isinstance(profiles.get(name), Mapping):
        seen.add(name)
        yield profiles[name]
        name = profiles[name].get("source_profile")


def hide_what_is_sent(core: Any) -> None:
    """Hide what each request is signed with: of a role's source, of one bucket, or just renewed; and tokens in it.

    botocore has one signer per request. It holds them, whatever header or query member they are sent in.
    """

    def hide_signing(request_signer: Any, **_event: object) -> None:
        create = request_signer.get_auth_instance
        if getattr(create, "hides", False):
            return

        def hiding(*words: Any, **options: Any) -> Any:
            signer = create(*words, **options)
            keys, bearer = getattr(signer, "credentials", None), getattr(signer, "auth_token", None)
            hide(getattr(holder, name, None) for holder in (keys, bearer) for name in ("secret_key", "token"))
            return signer

        hiding.hides = True  # type: ignore[attr-defined]  # one wrapper for all requests of a client
        request_signer.get_auth_instance = hiding

    def hide_tokens(params: Mapping[str, Any], model: Any, **_event: object) -> None:
        if model.input_shape is not None:
            hide(_sensitive(params, model.input_shape))

    events = core.get_component("event_emitter")
    events.register("before-sign", hide_signing)
    for service in _LOGINS:
        events.register(f"before-parameter-build.{service}", hide_tokens)
    container = core.get_component("credential_provider").get_provider("container-role")
    headers = container._build_headers

    def hidden_headers() -> Any:
        found = headers()
        hide((found or {}).values())
        return found

    container._build_headers = hidden_headers


def _sensitive(value: Any, shape: Any) -> Iterator[str]:
    """Yield the texts of a parameter that the model of a service calls sensitive."""
    if isinstance(value, Mapping) and shape.type_name == "structure":
        for name in value.keys() & shape.members.keys():
            yield from _sensitive(value[name], shape.members[name])
    elif isinstance(value, str) and shape.metadata.get("sensitive"):
        yield value


def limit_questions(core: Any) -> None:
    """Let the `credential_process` of every profile end within the time limit of a response.

    Nothing is drawn over what it, or botocore itself, asks a person.
    """
    provider = core.get_component("credential_provider")
    provider.get_provider("custom-process")._popen = _LimitedProgram
    of_roles = provider.get_provider("assume-role")
    prompter = getattr(of_roles, "_prompter", None) or getpass.getpass

    def asked(prompt: str) -> Any:
        with question(is_shown=True), warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            try:
                return prompter(prompt)
            except getpass.GetPassWarning:
                raise EOFError from None  # without a terminal there is no answer

    of_roles._prompter = asked
    builder = getattr(of_roles, "_profile_provider_builder", None)
    create = getattr(builder, "_create_process_provider", None)
    if builder is None or create is None:
        return

    def limited(profile_name: str) -> Any:
        created = create(profile_name)
        created._popen = _LimitedProgram
        return created

    builder._create_process_provider = limited


class _LimitedProgram:
    """A program as botocore starts it. It stays in the group of smspec, so it can ask a person on the terminal."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self._deadline = Deadline()
        with contextlib.ExitStack() as stack:
            stack.enter_context(question(is_shown=False))
            options |= {"env": variables_outside(os.environ), "cwd": OUTSIDE_PROJECTS}
            self._process = subprocess.Popen(command, **options)
            self._question = stack.pop_all()

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def communicate(self) -> tuple[bytes, bytes]:
        """Return what the program prints. Raise `WireFault` if that is too much, or if it takes too long."""
        try:
            content, errors = both_outputs(self._process, MOST_BYTES, self._deadline.left)
            self._process.wait(self._deadline.left())
        except TooMuchOutput:
            raise WireFault(f"`credential_process` prints more than {MOST_BYTES >> 20} MiB") from None
        except (DeadlineMissed, subprocess.TimeoutExpired):
            raise WireFault(
                f"`credential_process` does not end within {self._deadline.seconds:g} s; log in first, or set"
                " SMSPEC_HTTP_TIMEOUT to a longer time"
            ) from None
        finally:
            self._question.close()
            below = _processes_below(self._process.pid) if self._process.poll() is None else []
            self._process.kill()
            self._process.wait()
            for each in below:
                with contextlib.suppress(OSError):
                    os.kill(each, signal.SIGKILL)
            for pipe in filter(None, (self._process.stdout, self._process.stderr)):
                pipe.close()
        if self._process.returncode == 0:
            _check_credentials(content)
        return content, errors


def _processes_below(process: int) -> list[int]:
    """Return what a process has started, such as a shell the program, as far as Linux lists it."""
    found, ahead = [], [process]
    while ahead:
        one = ahead.pop()
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{one}/task/{one}/children") as file:
            started = [int(each) for each in file.read().split()]
            found += started
            ahead += started
    return found


def _check_credentials(content: bytes) -> None:
    """Raise `ValueError` for members that botocore would repeat in a message: a program may print a key as one."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("`credential_process` does not print JSON") from None
    if not isinstance(found, dict) or found.get("Version") != 1 or isinstance(found["Version"], bool):
        raise ValueError("`credential_process` does not print an object with `Version` 1")
    expiration = found.get("Expiration")
    if expiration is not None and not (isinstance(expiration, str) and _TIME.fullmatch(expiration)):
        raise ValueError("`credential_process` prints an `Expiration` that is not a time of ISO 8601")
