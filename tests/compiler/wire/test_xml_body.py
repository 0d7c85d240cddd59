"""XML is parsed within limits, and the limits are exact."""

import pytest

from smspec.wire.aws_shape import check_xml
from smspec.wire.fault import BadResponse


def nested(levels):
    return b"<a>" * levels + b"</a>" * levels


def flat(elements):
    return b"<a>" + b"<b/>" * (elements - 1) + b"</a>"


@pytest.mark.parametrize("content", [nested(32), flat(100_000)], ids=["levels", "elements"])
def test_as_much_as_the_limits_allow_is_taken(content):
    check_xml(content)


@pytest.mark.parametrize("content", [nested(33), flat(100_001)], ids=["levels", "elements"])
def test_one_more_is_refused(content):
    with pytest.raises(BadResponse, match="beyond the limits"):
        check_xml(content)
