"""Fitted models as skops files; what one holds is allowed by its name and made anew."""

import json
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from core.datasets.files.file_bytes import check_archive
from core.errors import UnusableError
from core.estimators.stored.rebuilding import Rebuilder
from core.estimators.stored.skops_nodes import LOADERS, SkopsReader, name_of
from core.estimators.stored.skops_writer import PROTOCOL, SkopsWriter
from core.ordinary_files import open_ordinary

SCHEMA = "schema.json"


class _Archive(zipfile.ZipFile):
    # skops asks for every array whether it is there, which took the square of their number.
    def namelist(self) -> list[str]:
        return cast(list[str], self.NameToInfo.keys())


def dump_model(model: Any, file: BinaryIO, compression: int = zipfile.ZIP_STORED) -> set[str]:
    """Write a model as ``skops.io.dump`` does; the names of its types, as in `load_model`.

    TypeError or ValueError: skops cannot store something inside.
    """
    import skops

    with _Archive(file, "w", compression) as archive:
        state = SkopsWriter(archive).node(model)
        schema = {**state, "protocol": PROTOCOL, "_skops_version": skops.__version__}
        archive.writestr(SCHEMA, json.dumps(schema))
    return {name for name, _ in schema_objects(schema)}


def load_model(path: Path, trusted: Collection[str]) -> Any:
    """The model in an untrusted skops file: nothing beyond `trusted` types is imported."""
    try:
        with open_ordinary(path) as file, zipfile.ZipFile(file) as archive:
            check_archive(archive, path)
            schema = json.loads(archive.read(SCHEMA))
            _check_schema(schema, trusted, path)
            return Rebuilder(trusted).build(SkopsReader(archive, path).read(schema))
    except (UnusableError, MemoryError):
        raise
    except Exception as error:
        # Damaged archives and schemas raise many kinds; each means the same to a person.
        problem = "this is no skops model file, or it is damaged"
        raise UnusableError(problem, where=str(path), cure="export the model again") from error


def _check_schema(schema: Any, trusted: Collection[str], path: Path) -> None:
    named_objects = list(schema_objects(schema))
    strangers = {name for name, _ in named_objects if name not in trusted}
    strangers |= {f"{name} ({loader})" for name, loader in named_objects if loader not in LOADERS}
    if strangers:
        first = [name[:200] for name in sorted(strangers)[:3]]
        names = ", ".join(first) + (" …" if len(strangers) > 3 else "")
        problem = f"the file holds objects that no Tunescope model has ({names})"
        cure = "open only model files that Tunescope exported"
        raise UnusableError(problem, where=str(path), cure=cure)
    # Older schemas name things in ways that are not looked at above.
    if not int(schema["protocol"]) >= PROTOCOL:
        raise ValueError("written by an old skops")


def schema_objects(schema: Any) -> Iterator[tuple[str, str]]:
    """Every (module.name, loader) that a schema asks for."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__module__" in node or "__class__" in node or "__loader__" in node:
                yield name_of(node), str(node.get("__loader__"))
            waiting += node.values()
        elif isinstance(node, (list, tuple)):
            waiting += node
