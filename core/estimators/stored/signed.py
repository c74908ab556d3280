"""Files that may run code, signed by this computer's own key (HMAC-SHA256)."""

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from pathlib import Path

from core.errors import UnusableError, write_error
from core.ordinary_files import open_ordinary, read_ordinary

MAGIC = b"Tunescope, signed 1\n"
_KEY_BYTES, _SIGNATURE_BYTES = 32, hashlib.sha256().digest_size


def key_path() -> Path:
    """The path of the key: TUNESCOPE_KEY, or in the user's state folder."""
    if path := os.environ.get("TUNESCOPE_KEY"):
        return Path(path)
    from platformdirs import user_state_path

    return user_state_path("tunescope", appauthor=False) / "key"


def sign_content(content: bytes) -> bytes:
    """The content behind its signature."""
    return MAGIC + _signature(_read_key() or _new_key(), content) + content


def verified_content(path: Path) -> bytes:
    """The content of a file that this computer signed; an OSError where it cannot be read."""
    data, key = read_ordinary(path), _read_key()
    start = len(MAGIC) + _SIGNATURE_BYTES
    signature, content = data[len(MAGIC) : start], data[start:]
    # In constant time, so that no signature is found byte by byte.
    is_authentic = key is not None and hmac.compare_digest(signature, _signature(key, content))
    if not data.startswith(MAGIC) or not is_authentic:
        raise UnusableError(
            "this file could run code, and it does not come from this computer",
            where=str(path),
            cure="on the computer that it comes from, export the model as .skops; or resume the"
            " run here, which fits the model again",
        )
    return content


def _signature(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, MAGIC + content, hashlib.sha256).digest()


def _read_key() -> bytes | None:
    try:
        with open_ordinary(key_path()) as file:
            # Of the open file: by its name another could stand there by now.
            about, key = os.fstat(file.fileno()), file.read(_KEY_BYTES + 1)
    except OSError:
        return None
    is_private = os.name == "nt" or (
        about.st_uid == os.getuid() and not about.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    )
    return key if is_private and len(key) == _KEY_BYTES else None


def _new_key() -> bytes:
    path = key_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(prefix=".key.", dir=path.parent)  # its owner alone reads it
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            if path.exists() and _read_key() is None:  # one that does not count
                os.replace(name, path)
            else:
                with contextlib.suppress(FileExistsError):  # another program was first
                    os.link(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        cure = "let TUNESCOPE_KEY name a file that you may write to"
        raise write_error("the key of this computer", path, error, cure) from error
    key = _read_key()
    if key is None:
        cure = "see that the file is yours alone, or delete it"
        raise UnusableError("the key of this computer cannot be used", where=str(path), cure=cure)
    return key
