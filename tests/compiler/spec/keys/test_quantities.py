"""Durations and sizes: accepted spellings and suggestions for others."""

import time

import pytest

from smspec.spec.keys.row import duration_meant, seconds, size_in_bytes, size_meant, volume_in_gb, volume_meant
from support.small_job import READY
from support.spec.job_documents import reported, with_key


@pytest.mark.parametrize(
    ("value", "expected"), [(90, 90), (90.0, 90), ("90s", 90), ("15m", 900), ("6h", 21_600), ("2d", 172_800)]
)
def test_durations_are_parsed(value, expected):
    assert seconds(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, 5),
        ("5kB", 5_000),
        ("32MB", 32_000_000),
        ("2GB", 2_000_000_000),
        ("5KiB", 5_120),
        ("32MiB", 33_554_432),
        ("1GiB", 1_073_741_824),
    ],
)
def test_sizes_are_parsed(value, expected):
    assert size_in_bytes(value) == expected


@pytest.mark.parametrize(("value", "expected"), [(50, 50), ("50GB", 50), ("2000MB", 2), ("3000000kB", 3)])
def test_volumes_are_integral_gigabytes(value, expected):
    assert volume_in_gb(value) == expected


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1h30m", "90m"),
        ("1.5h", "90m"),
        ("90 min", "90m"),
        ("2 days", "2d"),
        ("6H", "6h"),
        ("1 hour 30 minutes", "90m"),
        ("24h", "1d"),
        ("120sec", "2m"),
        ("12:30", "750m"),
        ("00:15:00", "15m"),
        ("0s", None),
        ("0.0001s", None),
        ("five", None),
        ("5 parsecs", None),
        ("5m later", None),
        ("", None),
    ],
)
def test_other_spellings_of_a_duration_are_suggested(written, meant):
    assert duration_meant(written) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("32 MB", "32MB"),
        ("32mb", "32MB"),
        ("32M", "32MB"),
        ("0.5GB", "500MB"),
        ("1TB", "1000GB"),
        ("32 mib", "32MiB"),
        ("0.5GiB", "512MiB"),
        ("1 gigabyte", None),
        ("32", "32MB"),
        ("1000", None),
        ("0MB", None),
        ("MB", None),
    ],
)
def test_other_spellings_of_a_size_are_suggested(written, meant):
    assert size_meant(written) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("50 gb", "50GB"),
        ("50G", "50GB"),
        ("500MB", "1GB"),
        ("0.5GB", "1GB"),
        ("1TB", "1000GB"),
        ("50GiB", "54GB"),
        ("x", None),
    ],
)
def test_other_spellings_of_a_volume_round_up(written, meant):
    assert volume_meant(written) == meant


@pytest.mark.parametrize("written", ["90s", "15m", "6h", "2d", "90", "1"])
def test_valid_durations_are_accepted(written):
    assert reported(with_key(f"stopping: {{max_runtime: {written}}}")) == []


@pytest.mark.parametrize(
    "written", ["1h30m", "1.5h", "90 s", "6H", "0h", "-1", "-1h", "0", "1.5", "1w", '"90"', '"6h\\n"']
)
def test_malformed_durations_are_rejected(written):
    assert [code for code, *_ in reported(with_key(f"stopping: {{max_runtime: {written}}}"))] == ["SM211"]


@pytest.mark.parametrize(
    "written", ["32Mb", "32 MB", "32M", "0MB", "0.5MB", "-1", "0", "32mb", "1TB", '"32"', '"4096"', "999"]
)
def test_malformed_sizes_are_rejected(written):
    text = with_key(f"entry_point: {{pipe_loop: 'a:b', prefetch: {written}}}")
    assert [code for code, *_ in reported(text)] == ["SM212"]


@pytest.mark.parametrize("written", ["1kB", "1KiB", "1000", "32MB"])
def test_valid_sizes_are_accepted(written):
    assert reported(with_key(f"entry_point: {{pipe_loop: 'a:b', prefetch: {written}}}")) == []


@pytest.mark.parametrize("written", ["50GB", "50", "2000MB", "1000000kB"])
def test_valid_volumes_are_accepted(written):
    assert reported(READY.replace("10GB", written)) == []


@pytest.mark.parametrize("written", ["0", "500MB", "0.5GB", "50GiB", "50gb", "1500MB", "0GB", "50.5"])
def test_malformed_volumes_are_rejected(written):
    assert [code for code, *_ in reported(READY.replace("10GB", written))] == ["SM213"]


@pytest.mark.parametrize("piece", [" ", "1", "1h", "1h ", "h", "1 "])
def test_long_text_is_rejected_in_linear_time(piece):
    start = time.process_time()
    text = piece * 100_000 + "!"
    assert duration_meant(text) is size_meant(text) is volume_meant(text) is None
    assert time.process_time() - start < 10  # an idle machine takes milliseconds
