"""A report of hostile names: nothing in it runs, loads or leads anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.reading import read_dataset
from core.export.finished_run import finished_run
from core.export.report.report_page import page_html
from core.tuning.plan import DataPlan, Plan

EVIL = "</title></style></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'`"
# Elements that only show; of their attributes none may start or fetch anything.
SHOWN = """html head meta title style body main header h1 h2 h3 p div section footer dl dt dd table
thead tbody tr th td details summary code svg desc g line path circle rect text br b strong em span
ul ol li figure figcaption tspan ellipse polyline polygon"""


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.meta: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "meta":
            self.meta.append(dict(attrs))


def check(text: str) -> None:
    seen = Seen()
    seen.feed(text)
    assert seen.elements <= set(SHOWN.split())
    assert not [name for name in seen.attributes if name.startswith("on")]
    assert not seen.attributes & {"href", "src", "action", "xlink:href", "srcdoc", "background"}
    policy = next(
        m["content"] for m in seen.meta if m.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert text.index("Content-Security-Policy") < text.index("<title>")
    assert "<script" not in text.lower()
    assert "url(" not in text.lower()
    assert "@import" not in text.lower()


def test_hostile_columns_classes_and_files(finish_run: Callable[..., Any], tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(90, 2)), columns=[f"{EVIL} a", f"{EVIL} b"])
    table[f"{EVIL} c"] = random.choice([f"{EVIL} 1", f"{EVIL} 2"], 90)
    table[f"{EVIL} y"] = np.where(table.iloc[:, 0] > 0, f"{EVIL} yes", f"{EVIL} no")
    path = tmp_path / "<script>alert(1)<!-- onerror=x>.csv"
    table.to_csv(path, index=False)
    dataset = read_dataset(str(path))
    made = finish_run(Plan(DataPlan(str(path)), "logistic", "random"), dataset, tmp_path / "made")
    check(page_html(finished_run(made.folder)))


def test_a_run_folder_that_a_stranger_wrote(make_run: Callable[..., Any]) -> None:
    """Every text in it is hostile that is no name of a model, a metric, a task and the like."""
    made = make_run("binary", "logistic", learned=True)
    takeaway = json.loads(made.folder.takeaway_path.read_text())
    for name in ("dataset", "target"):
        takeaway[name] = EVIL
    for name in ("feature_names", "output_names", "group_names", "findings", "classes"):
        takeaway[name] = [EVIL + str(i) for i in range(len(takeaway[name]) or 1)]
    takeaway["versions"] = {EVIL: EVIL}
    takeaway["source"] |= {"fingerprint": EVIL, "path": EVIL}
    takeaway["columns"] = [{**column, "name": EVIL} for column in takeaway["columns"]]
    made.folder.takeaway_path.write_text(json.dumps(takeaway))
    events = made.folder.path / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    for line in lines:
        for place in (line, line.get("results") or {}):
            for key in ("run", "because", "stopped_because", "reason", "remarks", "metric_reason"):
                if key in place:
                    place[key] = [EVIL] if isinstance(place[key], list) else EVIL
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    check(page_html(finished_run(made.folder)))
