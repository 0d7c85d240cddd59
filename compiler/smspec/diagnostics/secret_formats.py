"""The formats of known secrets: tokens with specific marks, signed URLs, private keys.

Nothing here depends on randomness. A pattern must have no false positives in ordinary text: each was tested on
third-party programs and specs.

Some are certain: known formats that nothing else has, or values directly after a known name. No entropy, no names of
variables, no passwords in URLs: these may be tests, examples, and hashes. What is certain is an error in a request, an
image, and a source; the rest is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

_PLACEHOLDER_PASSWORD = (
    r"(?!(?:(?:my|your|the|some)?[-_]?(?:password|passwd|pass|pwd|pw|secret|token|key)|change-?_?me|x+|\*+|\.+)@)"
)

# Name → marks, and pattern. A pattern is compiled only if one of its marks is present: most texts have none.
_FORMATS: dict[str, tuple[str, str]] = {
    "an AWS access key": ("AKIA ASIA", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "an AWS session token": (
        "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz",
        r"\b(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/%]{60,}={0,2}",
    ),
    "a signed address": (
        "ignature= sig= oken= credential=",
        r"(?i)(?<=[?&;])(?:X-(?:Amz|Goog)-(?:Signature|Security-Token|Credential)|Signature|sig|AWSAccessKeyId)"
        r"=[A-Za-z0-9%_+/=~.-]{16,}(?:&(?:X-(?:Amz|Goog)-[A-Za-z-]+|Signature|Expires|Key-Pair-Id)=[^&\s\"']*)*",
    ),
    "a key in an address": (
        "key= token= secret= auth= code=",
        r"(?i)(?<=[?&])(?:api_?key|key|code|(?:access_|auth_|id_|private_)?token|client_secret|secret|auth)"
        r"=(?=[A-Za-z_%.~-]*[0-9])[A-Za-z0-9_%.~-]{16,}",
    ),
    "a webhook": (
        "hooks.slack.com/ /api/webhooks/ webhook.office.com/ hooks.zapier.com/ /bot hooks/catch/",
        r"\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}"
        r"|\bdiscord(?:app)?\.com/api/webhooks/[0-9]{10,}/[A-Za-z0-9_-]{30,}"
        r"|\bwebhook\.office\.com/webhookb?2?/[A-Za-z0-9@/_-]{36,}"
        r"|\bhooks\.zapier\.com/hooks/catch/[0-9]+/[A-Za-z0-9]{5,}"
        r"|\bapi\.telegram\.org/bot[0-9]{8,10}:[A-Za-z0-9_-]{35}",
    ),
    "a bot token": (
        ":AA .",
        r"(?<![\w/])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![\w-])"
        r"|(?<![\w.-])[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![\w-])",
    ),
    "a GitHub token": (
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    "a GitLab token": (
        "glpat- gldt- glrt- glptt- glcbt- gloas- glsoat- glft- glimt- glagent-",
        r"\bgl(?:pat|dt|rt|ptt|cbt|oas|soat|ft|imt|agent)-[A-Za-z0-9_.-]{20,}",
    ),
    "a Hugging Face token": ("hf_ api_org_", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    "an API key": (
        "sk- sk_ rk_ whsec_",
        r"\bsk-(?:(?:proj|svcacct|admin|None|ant|or|lf)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,})"
        r"|\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9+/=]{24,}|\bsk_[0-9a-f]{48}\b",
    ),
    "a token of a model service": (
        "gsk_ r8_ pplx- xai- nvapi- pcsk_ lsv2_ fw_ wandb_v KGAT_ csk- tvly- jina_ pa- username",
        r"\b(?:gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|nvapi-[\w-]{40,}"
        r"|pcsk_[A-Za-z0-9_]{40,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|fw_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{22,}"
        r"|wandb_v[0-9]_[A-Za-z0-9_]{40,}|KGAT_[0-9a-f]{32}|csk-[a-z0-9]{40,}|tvly-(?:dev-)?[A-Za-z0-9]{30,}"
        r"|jina_[A-Za-z0-9_-]{50,}|pa-[A-Za-z0-9_-]{43}|username\W{1,16}[\w-]{1,40}\W{1,16}key\W{1,16}[0-9a-f]{32})",
    ),
    "a Slack token": ("xox xapp-", r"\b(?:xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{20,})"),
    "a Google credential": (
        "AIza ya29. GOCSPX- 1//0",
        r"\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,})",
    ),
    "a mail service key": (
        "SG. key- -us xkeysib-",
        r"\b(?:SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}|key-[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2}"
        r"|xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})\b",
    ),
    "a Twilio key": ("SK", r"\bSK[0-9a-f]{32}\b"),
    "a private key": (
        "PRIVATE AGE-SECRET-KEY-1 PuTTY-User-Key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)|\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"
        r"|PuTTY-User-Key-File-(?s:.*)",
    ),
    "a JSON Web Token": ("eyJ", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+"),
    "credentials of HTTP": (
        "earer EARER asic ASIC oken",
        r"(?i)(?<=\bbearer )[ ]*(?=[^\s\"'0-9]*[0-9])[A-Za-z0-9._~+/-]{16,}={0,2}"
        r"|(?<=\bbasic )[ ]*(?-i:(?=[a-z]*[A-Z0-9+/=])(?=[A-Z]*[a-z0-9+/=]))"
        r"(?:[A-Za-z0-9+/]{4}){3,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?![\w+/])"
        r"|(?<=authorization: token )[A-Za-z0-9._-]{16,}",
    ),
    "a password in a URL": (
        "@",
        rf"(?<=://)[^\s/:@\"'`$<>{{}}]*:{_PLACEHOLDER_PASSWORD}(?:[^\s/@\"'`$<>{{}}]|(?<=[\w$])\$(?![{{(]))+"
        r"(?=@[\w.\[-])",
    ),
    "a token in a URL": (
        "@",
        r"(?<=://)(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[A-Za-z0-9_-]{20,}(?=@(?!\w+\.ingest\.)[\w.-])",
    ),
    "a password in a connection string": (
        "assword= ASSWORD= wd= WD= Key=",
        r"(?i)(?<=[;?&])[ ]?(?:password|passwd|pwd)=(?!\$?\{|\$(?-i:[A-Z])|<|\*|x{3})[^;&\s\"']{3,}"
        r"|\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/%]{40,}={0,2}",
    ),
    "a cloud credential": (
        "dapi 8Q~ 7Q~ 6Q~ 5Q~ 4Q~ 3Q~ 2Q~ 1Q~ 9Q~ 0Q~ LTAI AKID dop_ doo_ dor_",
        r"\b(?:dapi[0-9a-f]{32}|LTAI[A-Za-z0-9]{16,24}|AKID[A-Za-z0-9]{32}|do[opr]_v1_[0-9a-f]{64})\b"
        r"|(?<![\w~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![\w~.-])",
    ),
    "a registry token": (
        "npm_ pypi- dckr_ rubygems_ cio AKCp cmVmdGtuO",
        r"\b(?:npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{50,}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"
        r"|rubygems_[0-9a-f]{48}|AKCp[A-Za-z0-9]{60,}|cmVmdGtuO[A-Za-z0-9]{50,})",
    ),
    "a service token": (
        "hvs. hvb. .atlasv1. dbtu_ dbtc_ glsa_ glc_ NRAK- sntrys_ sntryu_ dp. ATATT3x ATBB secret_ ntn_"
        " lin_api_ shpat_ pscale_ sbp_ PMAK- figd_ sq0 HRKU- phx_ shpss_ shpca_ shppa_",
        r"\bhv[sb]\.[A-Za-z0-9_-]{24,}|\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}|\bdbt[uc]_[A-Za-z0-9_-]{30,}"
        r"|\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|\bglc_[A-Za-z0-9+/]{32,}={0,2}|\bNRAK-[A-Z0-9]{27}"
        r"|\bsntry[su]_[A-Za-z0-9_=+/-]{40,}|\bdp\.(?:pt|st|ct|sa)\.(?:[a-z0-9_]+\.)?[A-Za-z0-9]{40,}"
        r"|\bATATT3x[A-Za-z0-9_=-]{60,}"
        r"|\bATBB[A-Za-z0-9]{28,}|\bsecret_[A-Za-z0-9]{43}\b|\bntn_[A-Za-z0-9]{40,}|\blin_api_[A-Za-z0-9]{40}"
        r"|\bshp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}|\bpscale_(?:tkn|pw|oauth)_[\w=.-]{32,}|\bsbp_[0-9a-f]{40}"
        r"|\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"
        r"|\bfigd_[A-Za-z0-9_-]{40}|\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"
        r"|\bHRKU-[A-Za-z0-9_-]{30,}|\bphx_[A-Za-z0-9]{40,}",
    ),
}
_MARKS = tuple((mark, what) for what, (marks, _) in _FORMATS.items() for mark in marks.split())
# Keys in documentation: they contain a marker at their end, or repeat one character.
_PRINTED = r"EXAMPLE(?:KEY|TOKEN)?\Z|([A-Za-z*.0-9])\1{9,}"
_LEAST_PRINTED = 1 / 3
_SHORTEST = 12
"""Characters; every format has more, except a password in a URL of a very short host."""

_BRIEF = 1_000

CERTAIN_FORMATS = {
    "an AWS access key": "AKIA ASIA",
    "a GitHub token": "ghp_ gho_ ghs_ github_pat_",
    "a GitLab token": "glpat-",
    "a Hugging Face token": "hf_",
    "an API key": "sk-proj- sk-ant- sk-or- sk- sk_live_ rk_live_",
    "a Slack token": "xoxb- xoxp- xoxa- xapp-",
    "a Google credential": "AIza GOCSPX-",
    "a registry token": "npm_ pypi-AgE dckr_pat_",
    "a cloud credential": "dapi Q~",
    "a private key": "PRIVATE AGE-SECRET",
}
"""Format → the marks of which a text has one."""

_NAMED = {
    "an AWS secret key": (
        "aws_secret_access AWS_SECRET_ACCESS",
        r"(?i)aws_secret_access_key[\"']?\s{0,8}[=:,]\s{0,8}[\"']?(?=[^\s\"']{0,38}[0-9])(?![^\s\"']*EXAMPLE)"
        r"(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    "a W&B key": (
        "WANDB wandb",
        r"(?i)wandb(?:_api_key|\.login\(\s{0,8}key|[_.]api[_.]key)[\"']?\]?\s{0,8}[=:,]\s{0,8}[\"']?"
        r"(?P<value>[0-9a-f]{40})\b",
    ),
}
CERTAIN_NAMED = {what: marks for what, (marks, _) in _NAMED.items()}
"""The same for secrets that are known only by a name in front of them."""

_WORDS = r"[A-Za-z]+[_-][a-z_-]+"
"""A mark, and letters in lowercase: 34 random letters are this once in 2 to the power of 34."""

_KEY_WITH_BODY = (
    r"AGE-|-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\\nr\"'+,]*"
    r"(?:[A-Za-z-]+: [^\n]*[\s\\nr\"'+,]+)*[A-Za-z0-9+/=]{40}"
)


def written_secrets(
    text: str, formats: Iterable[str] = _FORMATS, *, with_printed: bool = False
) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the secrets of known formats in a text, under any name: the format, and the match.

    Keys that documentation prints count only ``with_printed``.
    """
    if len(text) < _SHORTEST:
        return
    marked = _marked_briefly(text) if len(text) <= _BRIEF else _marked(text)
    for what in formats if marked else ():
        if what in marked:
            for found in re.finditer(_FORMATS[what][1], text):
                if with_printed or not _is_printed(found[0]):
                    yield what, found


def _marked(text: str) -> list[str]:
    return [what for mark, what in _MARKS if mark in text]


# One value is checked because of its name, for its content, and where it is shown.
_marked_briefly = lru_cache(maxsize=256)(_marked)


def _is_printed(secret: str) -> bool:
    printed = re.search(_PRINTED, secret)
    return printed is not None and (printed[1] is None or len(printed[0]) >= _LEAST_PRINTED * len(secret))


def secrets_in(text: str, formats: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield where a secret of one of these formats begins, and its format, in any order."""
    for what, match in written_secrets(text, [what for what in formats if what not in _NAMED]):
        if _is_whole(what, match[0]):
            yield match.start(), what
    for what in _NAMED.keys() & set(formats):
        for match in re.finditer(_NAMED[what][1], text):
            yield match.start("value"), what


def certain_secret(name: str, value: str) -> str | None:
    """Return the kind of secret that a value with a name certainly contains; None for none."""
    text = f"{name}={value}"
    return _certain_briefly(text) if len(text) <= _BRIEF else _certain(text)


def _certain(text: str) -> str | None:
    marked = dict.fromkeys([what for mark, what in _CERTAIN_MARKS if mark in text])
    return next((what for _, what in sorted(secrets_in(text, marked))), None) if marked else None


_certain_briefly = lru_cache(maxsize=256)(_certain)  # jobs share most values

_CERTAIN_MARKS = [(mark, what) for what, marks in (CERTAIN_FORMATS | CERTAIN_NAMED).items() for mark in marks.split()]


def _is_whole(what: str, text: str) -> bool:
    """Return whether a private key has a body, and a token more than words.

    Code that reads keys contains their first lines; a directory of data may be `hf_` and words in lowercase.
    """
    if what == "a private key":
        return re.match(_KEY_WITH_BODY, text) is not None
    return what not in CERTAIN_FORMATS or re.fullmatch(_WORDS, text) is None
