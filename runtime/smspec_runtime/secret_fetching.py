"""Values of `secrets`, from Secrets Manager and Parameter Store."""

import json
import re

from .aws_http import Aws, AwsError
from .lean_typing import Dict, Environ, Json, Mapping
from .refusal import Refused
from .run_plan import SECRET_ARN
from .variables import obstacle_to


def fetch_secrets(references: Mapping[str, str], environ: Environ) -> Dict[str, str]:
    """Return variables for ARNs. No value becomes part of a message."""
    values = {}
    answers: Json = {}  # Variables may share a secret.
    aws = None
    for name, reference in references.items():
        found = re.fullmatch(SECRET_ARN, str(reference))
        if not found:
            raise Refused(f"secret `{name}` is not the ARN of a secret or parameter")
        try:
            aws = aws or Aws(environ)
            values[name] = value = _value(aws, found, answers)
            if obstacle := obstacle_to([f"{name}={value}"]):
                raise AwsError(f"no variable can have its value: {obstacle}")
        except AwsError as error:
            message = f"cannot fetch secret `{name}`, {found['arn']}: {error}"
            if error.code.startswith("AccessDenied"):
                action = "secretsmanager:GetSecretValue" if found["is_secret"] else "ssm:GetParameter"
                message += f"; the execution role needs {action} on it, and kms:Decrypt for a customer managed key"
            raise Refused(message) from None
    return values


def _value(aws: Aws, found: "re.Match[str]", answers: Json) -> str:
    arn, field = found["arn"], found["field"]
    place = found["partition"], found["region"]
    if not found["is_secret"]:
        members = {"Name": f"{arn}:{field}" if field else arn, "WithDecryption": True}
        try:
            return "".join(aws.call("ssm", *place, "AmazonSSM.GetParameter", members)["Parameter"]["Value"])
        except (LookupError, TypeError):
            raise AwsError("it has no value") from None
    asked_for = {"SecretId": arn, "VersionStage": found["stage"], "VersionId": found["version"]}
    members = {name: value for name, value in asked_for.items() if value}
    asked = str(members)
    if asked not in answers:
        answers[asked] = aws.call("secretsmanager", *place, "secretsmanager.GetSecretValue", members)
    text = answers[asked].get("SecretString")
    if text is None:
        raise AwsError("it is binary; store it as text")
    if not field:
        return str(text)
    try:
        value = json.loads(text)[field]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise AwsError(f"it is not a JSON object with the field `{field}`") from None
    return value if isinstance(value, str) else json.dumps(value)
