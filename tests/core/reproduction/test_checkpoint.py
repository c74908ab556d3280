"""What a long reproduction keeps: finished parts survive a stop at any moment."""

from __future__ import annotations

from core.reproduction.checkpoint import Checkpoint


def test_finished_parts_are_there_next_time(tmp_path):
    Checkpoint("table", tmp_path).record_result("a", {"error": 0.5})
    again = Checkpoint("table", tmp_path)
    assert "a" in again
    assert again["a"] == {"error": 0.5}
    assert "b" not in again
    assert "a" not in Checkpoint("other", tmp_path)


def test_a_line_cut_short_is_passed_over(tmp_path):
    kept = Checkpoint("table", tmp_path)
    kept.record_result("a", 1)
    kept.record_result("b", 2)
    path = tmp_path / "table.jsonl"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-4], encoding="utf-8")
    again = Checkpoint("table", tmp_path)
    assert again["a"] == 1
    assert "b" not in again
    again.record_result("b", 3)
    assert Checkpoint("table", tmp_path)["b"] == 3
