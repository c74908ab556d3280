"""Content packed in every way that files are: {what a dataset calls it: the function}."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile


def zipped(data: bytes) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", data)
    return into.getvalue()


PACKERS = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped}
