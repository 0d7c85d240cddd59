"""Signatures of requests to AWS, compared with those of botocore."""

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as OfBotocore
from hypothesis import given
from hypothesis import strategies as st

from smspec_runtime.aws_signature import Credentials, signed_headers

TEXT = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60)
HOST = st.from_regex(r"[a-z][a-z0-9-]{0,20}(\.[a-z0-9]{1,9}){0,3}(:[1-9][0-9]{3})?", fullmatch=True)
MOMENT = st.datetimes().map(
    lambda it: f"{it.year:04}{it.month:02}{it.day:02}T{it.hour:02}{it.minute:02}{it.second:02}Z"
)


@given(
    host=HOST,
    path=st.sampled_from(["", "/", "/stage", "/a/b"]),
    body=st.binary(max_size=200),
    target=TEXT,
    place=st.tuples(st.sampled_from(["ssm", "secretsmanager"]), TEXT.filter(lambda text: "/" not in text)),
    key=st.tuples(TEXT, TEXT, st.just("") | TEXT),
    moment=MOMENT,
)
def test_signature_is_that_of_botocore(host, path, body, target, place, key, moment):
    headers = {"content-type": "application/x-amz-json-1.1", "x-amz-target": target}
    url = f"https://{host}{path}"
    ours = signed_headers(url, body, headers, *place, Credentials(*key), moment)
    request = AWSRequest("POST", url, headers={**headers, "x-amz-date": moment}, data=body)
    request.context["timestamp"] = moment
    if key[2]:
        request.headers["x-amz-security-token"] = key[2]
    auth = SigV4Auth(OfBotocore(*key[:2], key[2] or None), *place)
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    names = auth.signed_headers(auth.headers_to_sign(request))
    assert ours["authorization"] == (
        f"AWS4-HMAC-SHA256 Credential={auth.scope(request)}, SignedHeaders={names}, Signature={signature}"
    )
