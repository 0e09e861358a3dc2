"""A lock on a file that the system holds for a process, and drops when the process ends, however it ends."""

import errno
import os
from pathlib import Path

from supple.errors import StoreError

_UNABLE = (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL)
"""Said by file systems that know no locks: there users must see to it that only one writes."""


class Lock:
    """Held by one writer at a time. The file stays, and says who has it or had it last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def take(self) -> None:
        """Take it, or raise; having it already is fine."""
        if self._file is not None:
            return
        file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(file)
        except OSError as error:
            if error.errno not in _UNABLE:
                who = os.read(file, 20).decode(errors="replace").strip()
                os.close(file)
                what = f"another run is writing to it (process {who or 'unknown'})"
                need = "to wait for it, to end it, or another folder"
                raise StoreError(self.path.parent, what, need) from None
        os.truncate(file, 0)
        os.write(file, str(os.getpid()).encode())
        self._file = file

    def release(self) -> None:
        """Give it back; forgotten locks are given back with their owner."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    __del__ = release


try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, 2**30, os.SEEK_SET)  # beyond what is written, which others may read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        os.lseek(file, 0, os.SEEK_SET)
else:

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
