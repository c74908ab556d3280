"""Addresses and certificates: what is refused, what is warned of, which versions fit."""

from __future__ import annotations

import subprocess
import sys

import pytest

from core.errors import UnusableError
from core.tuning.cluster.cluster_monitor import installed_versions, sent_whole, version_difference
from core.tuning.cluster.connection import (
    LOCAL,
    ClusterAddress,
    data_transfer_warning,
    parse_cluster_address,
)


@pytest.mark.parametrize(
    ("given", "meant", "host"),
    [
        ("tcp://node7:8786", "tcp://node7:8786", "node7"),
        (" tls://10.1.2.3:8786 ", "tls://10.1.2.3:8786", "10.1.2.3"),
        ("node7:8786", "tcp://node7:8786", "node7"),
        ("tcp://[fe80::1]:8786", "tcp://[fe80::1]:8786", "fe80::1"),
        ("local", "local", ""),
    ],
)
def test_addresses(given, meant, host):
    place = parse_cluster_address(given)
    assert (place.address, place.host) == (meant, host)
    assert place.is_local == (given == LOCAL)


@pytest.mark.parametrize(
    "given",
    ["", "node7", "http://node7:8786", "tcp://node7", "tcp://node7:0", "tcp://node7:70000",
     "tcp://a b:1", "tcp://node7:8786/path", "inproc://1:2", "tcp://:8786", "--help"],
)  # fmt: skip
def test_what_is_no_address(given):
    with pytest.raises(UnusableError, match="is no address of a scheduler"):
        parse_cluster_address(given)


def test_certificates_are_for_addresses_that_use_them(tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text("")
    with pytest.raises(UnusableError, match="option tls-ca: a certificate is named"):
        parse_cluster_address("tcp://node7:8786", ca=str(file))
    assert parse_cluster_address("node7:8786", ca=str(file)).address == "tls://node7:8786"
    with pytest.raises(UnusableError, match=r"option tls-key: the file .* cannot be read"):
        parse_cluster_address("tls://node7:8786", ca=str(file), key=str(tmp_path / "none.pem"))


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("tcp://node7:8786", True),
        ("tcp://10.0.0.1:8786", True),
        ("tcp://0.0.0.0:8786", True),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://127.8.8.8:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
        ("tcp://localhost.evil.example:8786", True),
        ("tls://node7:8786", False),
        ("local", False),
    ],
)
def test_who_connects_to_others_without_certificates_is_warned(address, warned):
    said = data_transfer_warning(ClusterAddress(address))
    assert bool(said) == warned
    assert not warned or ("run any code" in said and address in said)


def test_versions_that_differ():
    here = installed_versions()
    assert "fault" not in here
    assert version_difference("w", dict(here), here) == ("", True)
    for package in ("python", "numpy", "scikit-learn", "tunescope", "pandas"):
        remark, usable = version_difference("w", {**here, package: "0.1"}, here)
        assert usable == (package == "pandas")
        assert remark == f"Worker w has {package} 0.1, and this computer {here[package]}."
    remark, usable = version_difference("w", {**here, "tunescope": ""}, here)
    assert (usable, remark.startswith("Worker w has no tunescope")) == (False, True)


def test_versions_are_told_by_a_process_that_has_nothing_of_the_program(tmp_path):
    cloudpickle = pytest.importorskip("cloudpickle")
    sent = tmp_path / "sent"
    sent.write_bytes(cloudpickle.dumps(sent_whole()))
    code = (
        "import sys, pickle; sys.path[:] = [p for p in sys.path if p not in ('', sys.argv[2])]\n"
        "print(sorted(pickle.loads(open(sys.argv[1], 'rb').read())().items()))"
    )
    root = str(tmp_path)
    told = subprocess.run(
        [sys.executable, "-P", "-c", code, str(sent), root],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    ).stdout  # fmt: skip
    assert "('python', '3." in told
