"""Names of secrets, also for the compiler."""

import re

from .lean_typing import FrozenSet, List

SURE = 3  # Any value is a secret, as in `DB_PASSWORD`.
LIKELY = 2  # All but words and references, as in `HF_TOKEN`.
PERHAPS = 1  # Only a random one, as in `SERVICE_X_KEY`.


def _words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_STEMS = _words("pass pw secret token cred key auth bearer jwt pat cookie mnemonic hmac sas")

# About the place or time of a secret.
_BEHIND = _words("""
value prod production prd dev develop development stage staging stg test testing qa uat live sandbox old new
current main primary secondary backup default base raw plain plaintext encoded ro rw
""")
_HARMLESS_LAST = _words("""
arn arns param params parameter parameters name names file files filename path paths dir directory url uri id
ids idx index type types length len size count limit num ttl field column prefix suffix enabled disabled
version class method format policy var variable
""")
_PASSWORDS = ("password", "passwords", "passwd", "passphrase", "passcode")
_ACCOUNTS = _words("""
db database user username admin root smtp mail email imap ftp sftp ssh sql mysql mssql oracle pg postgres
postgresql mongo mongodb redis rabbitmq amqp ldap proxy http https basic auth login registry docker git github
gitlab artifactory nexus pypi pip npm index jdbc odbc snowflake redshift kafka sasl broker mqtt es elastic
elasticsearch opensearch clickhouse cassandra vpn wifi keystore truststore key store cert ssl tls
account service svc api app client server remote minio grafana jupyter notebook vnc mlflow airflow tracking
sudo gpg trino
""")
# Tokens of a text, not of an account.
_TEXT_TOKENS = _words("""
pad padding eos bos unk unknown sep separator cls mask special stop start begin end image img video audio vision
extra additional new first last next prev prompt trigger placeholder concept instance class control boi eoi eot
blank newline speaker fim init trained response instruction per max min num n single word char byte patch frame
target decoder encoder tool think query label lang language task timestamp text
""")
_SECRET_QUALIFIERS = _words("""
api app application access private secret auth authentication authorization encryption encrypt decryption decrypt
signing signature master license licence ssh deploy deployment subscription shared client hmac crypto cipher
aes rsa jwt webhook storage admin session cookie fernet account service bearer refresh oauth wandb kaggle comet
openai anthropic claude cohere mistral huggingface hf ngc nvidia neptune sendgrid mailgun mailchimp datadog dd
twilio stripe github gitlab slack azure aws gcp google databricks snowflake pinecone langchain langsmith groq
replicate gemini openrouter clearml roboflow sentry grafana newrelic
""")
_PLAIN_KEYS = _words("""
partition sort primary foreign public pub cache kms cmk object bucket hash lookup join group metric row dict
map config column order idempotency routing message feature label data dataset input output image text state
target timestamp unique record range shard cluster dist dedup attention query value batch sample index file
json yaml event loss rng prng seed candidate registry
""")
_CREDENTIALS = _words("secret secrets credential credentials cred creds")
_LIKELY_LAST = _CREDENTIALS | _words("authorization bearer jwt mnemonic")
_PERHAPS_LAST = _words("auth cookie hmac sas pass pwd pw pat")


def may_name_a_secret(text: str) -> bool:
    """False for most texts."""
    lower = text.lower()
    return any(stem in lower for stem in _STEMS)


def strength(name: str) -> int:
    """Return `SURE`, `LIKELY`, `PERHAPS`, or 0."""
    lower = name.lower()
    if not may_name_a_secret(name) or "tokeniz" in lower or "tokenis" in lower:
        return 0
    words = [word.lower() for word in re.findall(_WORD, name)]
    if "by" in words[1:]:
        words = words[: words.index("by", 1)]  # `passwords_by_user`
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _BEHIND):
        words.pop()
    if not words or words[-1] in _HARMLESS_LAST:
        return 0
    return max(_of_last(words[-1], words[:-1]), _of_inner(words[:-1]))


def _of_last(last: str, before: List[str]) -> int:
    nearest = before[-1:]
    if "".join([*nearest, last]).endswith(_PASSWORDS):
        return SURE
    for ending in ("pass", "pwd", "pw"):
        if last.endswith(ending) and (last[: -len(ending)] or "".join(nearest)) in _ACCOUNTS:
            return SURE
    if last.endswith(("token", "tokens")):
        kind = last.partition("token")[0] or "".join(nearest)
        is_likely = kind in _SECRET_QUALIFIERS if last[-1] == "s" else kind not in _TEXT_TOKENS
        return LIKELY if is_likely else 0
    if last.endswith(("key", "keys")):
        return _key(last.rpartition("key")[0], before, last[-1] == "s")
    if last.endswith("secret") or last in _LIKELY_LAST or (before and last in ("pat", "auth", "pwd")):
        return LIKELY
    return PERHAPS if last in _PERHAPS_LAST else 0


def _key(stem: str, before: List[str], is_plural: bool) -> int:
    """The nearest word, which names its purpose, decides."""
    for kind in reversed([*before, stem]):
        if kind in _SECRET_QUALIFIERS:
            return LIKELY
        if kind in _PLAIN_KEYS:
            return 0
    return 0 if stem or is_plural else PERHAPS  # `monkey`


def _of_inner(words: List[str]) -> int:
    """`PASSWORD_OF_X`, `API_KEY_OPENAI`."""
    joined = "_".join(words)
    if any(part in joined for part in (*_PASSWORDS, "api_key", "apikey")):
        return LIKELY
    return 0 if _CREDENTIALS.isdisjoint(words) else PERHAPS
