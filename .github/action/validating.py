"""The step that validates: findings at their lines, and a SARIF file for code scanning where it may be uploaded."""

import sys

from workflow import is_wanted, log, paths, pull_request, put_out, smspec, temporary


def main() -> None:
    words = [*(["--strict"] if is_wanted("STRICT") else []), "--", *paths()]
    verdict = smspec("validate", "--format", "github", *words)
    sys.stdout.write(verdict.out)  # commands to the runner, in which all that a spec says is escaped
    sys.stdout.flush()
    log(verdict.err)
    put_out("status", verdict.status)

    request = pull_request()
    if is_wanted("SARIF") and verdict.status in (0, 1) and not (request and request.is_from_fork):
        findings = temporary("findings.sarif")
        findings.write_text(smspec("validate", "--format", "sarif", *words).out, encoding="utf-8")
        put_out("sarif", findings)


if __name__ == "__main__":
    main()
