"""Tokens, keys and passwords with a known format."""

import re

_MAY_HAVE_ONE = r"(?=[a-z_-]{0,40}[A-Z\d])[\w-]{15}|://|[?&;]"
"""Most lines have none; the pattern takes milliseconds to compile."""
_WRITTEN = (
    r"\b(?:(?:gh[pousr]|hf|api_org|npm|gsk|r8|KGAT|pcsk|[rs]k_(?:live|test)|lsv2_(?:pt|sk)|wandb_v\d|dbt[uc]|glsa|ntn)_"
    r"[A-Za-z0-9]{20,}\w*"
    r"|sk-(?:(?:proj|svcacct|admin|None|ant|or|lf)-[\w-]{20,}|(?=[A-Za-z]*\d)[A-Za-z0-9]{20,})"
    r"|(?:pplx|xai|csk|tvly|tvly-dev)-[A-Za-z0-9]{30,}|nvapi-[\w-]{40,}|github_pat_\w{20,}|dckr_[op]at_[\w-]{20,}"
    r"|gl(?:pat|dt|rt|ptt|cbt)-[\w.-]{20,}|pypi-AgE[\w-]{50,}|GOCSPX-[\w-]{20,}"
    r"|(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}\b|AIza[\w-]{35}|(?:ya29|hv[sb])\.[\w-]{20,}"
    r"|SG\.[\w-]{16,99}\.[\w-]{30,}|eyJ[\w-]{10,300}\.eyJ[\w-]{10,}\.[\w-]+|dapi[0-9a-f]{32}\b|\d{8,10}:AA[\w-]{33}"
    r"|(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[\w%/+]{60,}|hooks\.slack\.com/\w+/[\w/-]{20,}"
    r"|discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,})"
    r"|(?<=://)[^\s/:@\"'<>]*:[^\s/@\"'<>]+(?=@[\w.\[-])|(?<=://)(?=[A-Za-z_-]*\d)[\w-]{20,}(?=@)"
    r"|(?<=earer )(?=[^\s\d]*\d)[\w.~+/-]{16,}=*|(?:(?<=ignature=)|(?<=ecurity-Token=))[\w%+/=~.-]{16,}"
    r"|(?<=[?&])(?:api_?key|key|(?:access_)?token|sig)=(?=[A-Za-z_%.~-]*\d)[\w%+/=~.-]{16,}"
    r"|(?<=[;?&])(?i:password|pwd)=[^;&\s\"']{3,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*-----|\Z)"
)


def without_tokens(text: str, mask: str) -> str:
    return re.sub(_WRITTEN, mask, text) if re.search(_MAY_HAVE_ONE, text) else text
