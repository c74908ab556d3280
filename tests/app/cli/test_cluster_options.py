"""The options for a cluster: refused before a run begins, and said where they change nothing."""

from __future__ import annotations

import pytest

from app.cli import main

QUICK = ["tune", "sample:iris", "--model", "svm", "--strategy", "random", "--trials", "2"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--cluster", "somewhere"], "option cluster: “somewhere” is no address of a scheduler"),
        (["--cluster", "tcp://a:8786", "--tls-ca", "none.pem"], "option tls-ca: a certificate is"),
        (["--cluster", "tls://a:8786", "--tls-ca", "none.pem"], "option tls-ca: the file “none"),
    ],
)
def test_what_cannot_be_used_begins_no_run(given, said, tmp_path, capsys):
    assert main([*QUICK, *given, "--run-dir", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert f"tunescope: {said}" in error
    assert not (tmp_path / "run").exists()


def test_certificates_without_a_cluster_are_said_to_change_nothing(tmp_path, capsys):
    run = ["--tls-ca", "none.pem", "--run-dir", str(tmp_path / "run")]
    assert main([*QUICK, *run]) == 0
    assert "--tls-ca has no effect: there is no --cluster." in capsys.readouterr().err


def test_learning_a_penalty_is_one_fit_that_needs_no_cluster(tmp_path, capsys):
    given = ["tune", "sample:iris", "--model", "logistic", "--strategy", "mm"]
    run = ["--cluster", "tcp://127.0.0.1:9", "--run-dir", str(tmp_path / "run")]
    assert main([*given, *run]) == 0
    said = "--cluster has no effect: mm is one fit, which is made on this computer."
    assert said in capsys.readouterr().err


def test_no_run_folder_names_a_cluster(tmp_path):
    """A stranger's run must not lead this program to a machine of theirs."""
    folder = tmp_path / "run"
    assert main([*QUICK, "--run-dir", str(folder)]) == 0
    text = "".join(path.read_text() for path in folder.glob("*.json*"))
    assert '"workers"' in text
    assert "cluster" not in text
    assert "tls" not in text
