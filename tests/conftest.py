"""What every test gets: a quiet numerical environment, a history of its own, the real datasets."""

from __future__ import annotations

import importlib
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

# Before numpy is imported: BLAS threads beside parallel tests only fight each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYTHON_CPU_COUNT", "1")  # tests run in parallel themselves

import pytest

TESTS = Path(__file__).parent
# Where modules lie that tests share.
SHARED = ("tuning", "tuning/history", "export", "datasets/files", "penalties")
sys.path[:0] = [str(TESTS / "core" / folder) for folder in SHARED]
sys.path.append(str(TESTS / "benchmarks"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is not marked as slow is quick: `-m quick` is for every change."""
    for item in items:
        if not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.quick)


@pytest.fixture(autouse=True)
def own_history(tmp_path_factory, monkeypatch) -> Path:
    """Where the history and the runs lie during a test: never where the person's own are."""
    place = tmp_path_factory.mktemp("history") / "history.sqlite3"
    monkeypatch.setenv("TUNESCOPE_HISTORY", str(place))
    monkeypatch.setenv("TUNESCOPE_RUNS", str(place.parent / "runs"))
    return place


@pytest.fixture(scope="session", autouse=True)
def own_key(tmp_path_factory) -> Iterator[Path]:
    """The key of this computer during the tests: never the person's own."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("state") / "key"
        patch.setenv("TUNESCOPE_KEY", str(place))
        yield place


@pytest.fixture(autouse=True)
def run_in_this_process(request, monkeypatch) -> None:
    """Runs of a test try settings and end in its process, unless it is marked: copies take longer.

    Of several settings at a time each has a process all the same.
    """
    tuning = sys.modules.get("core.tuning.tune")
    if tuning is None or request.node.get_closest_marker("copies"):
        return
    from run_events import executor_here

    monkeypatch.setitem(tuning.tune.__kwdefaults__, "executor", executor_here)
    conclude = sys.modules["core.tuning.results.conclude"]
    monkeypatch.setattr(conclude, "stream_from_fork", lambda stream, *_, **__: stream)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the real datasets, or a skip with the reason."""
    folder = Path(__file__).parent.parent.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real datasets are not on this machine (no folder ../shared/data)")
    return folder


def record_package(folder: Path, name: str, points: dict[str, dict[str, str]]) -> None:
    """Leave in a folder what pip leaves of a package: its entry points, {group: {name: object}}."""
    record = folder / f"{name}-1.0.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, of_group in points.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in of_group.items())]
    (record / "entry_points.txt").write_text("\n".join(lines) + "\n")


GUIDES = {
    "today": TESTS.parent / "docs" / "extensions.md",
    "earlier": TESTS / "earlier_version" / "extension_guide.md",
}


@pytest.fixture(scope="session", params=GUIDES)
def example(tmp_path_factory, request) -> Path:
    """A folder with the package installed that the guide shows, today's and that of before."""
    folder = tmp_path_factory.mktemp("example")
    guide = GUIDES[request.param].read_text(encoding="utf-8")
    for name, code in re.findall(r"```\w+\n# (\S+)\n(.*?)```", guide, flags=re.DOTALL):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(code, encoding="utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    record_package(folder, project["name"], project["entry-points"])
    return folder


@pytest.fixture
def broken(tmp_path) -> Path:
    """A folder with a package installed of which nothing can be used."""
    (tmp_path / "broken").mkdir()
    code = """
        from dataclasses import replace
        from core.estimators.tables.curved_models import SVM
        from core.tuning.strategies.search_strategies import RANDOM
        taken = replace(SVM, name="forest")
        spaceless = replace(SVM, name="spaceless", space=lambda task: 1 / 0)
        taskless = replace(SVM, name="taskless", tasks=("ranking",))
        wordless = replace(RANDOM, name="wordless", works=lambda moment: None)
        """
    (tmp_path / "broken" / "rest.py").write_text(code.replace("        ", ""))
    models = {
        "absent": "broken.no_such_module:X",
        "kind": "broken.rest:RANDOM",
        "taken": "broken.rest:taken",
        "spaceless": "broken.rest:spaceless",
        "taskless": "broken.rest:taskless",
    }
    points = {"tunescope.models": models}
    points["tunescope.strategies"] = {"wordless": "broken.rest:wordless"}
    points["tunescope.exporters"] = {"file": "broken.rest:taken"}
    points["tunescope.views"] = {"view": "broken.rest:taken"}
    record_package(tmp_path, "broken", points)
    return tmp_path


@pytest.fixture
def late(tmp_path) -> Path:
    """A folder with a package whose model and strategy read well and fail when they are asked."""
    (tmp_path / "broken").mkdir()
    code = """
        from dataclasses import replace
        from core.estimators.tables.curved_models import SVM
        from core.tuning.strategies.search_strategies import RANDOM
        model = replace(SVM, name="late", suggests=lambda facts: facts.no_such_fact)
        strategy = replace(RANDOM, name="tardy", suits=lambda space: 1 / 0)
        """
    (tmp_path / "broken" / "rest.py").write_text(code.replace("        ", ""))
    points = {
        "tunescope.models": {"late": "broken.rest:model"},
        "tunescope.strategies": {"tardy": "broken.rest:strategy"},
    }
    record_package(tmp_path, "broken", points)
    return tmp_path


@pytest.fixture
def installed(monkeypatch):
    """Installs the packages of a folder for the length of a test."""

    def put(folder: Path) -> None:
        from app.views.registry import VIEWS
        from core import extensions
        from core.estimators.registry import MODELS
        from core.export.exporters import EXPORTERS
        from core.tuning.strategies.registry import STRATEGIES

        monkeypatch.setattr(extensions, "_faults", {})
        for registry in (MODELS, STRATEGIES, EXPORTERS, VIEWS):
            # What was read without the folder comes back at the end.
            monkeypatch.setitem(registry.__dict__, "_all_entries", registry._all_entries)
            del registry.__dict__["_all_entries"]
        extensions._faults.clear()
        monkeypatch.syspath_prepend(str(folder))

    yield put
    for name in [name for name in sys.modules if name.split(".")[0] in ("example", "broken")]:
        del sys.modules[name]
    importlib.invalidate_caches()
