"""The pages of mapped shards, kept within the memory limit of their worker.

Pages of a mapped file that a process has touched count as its memory, although the operating system drops them when memory is short.
Dask's workers are watched by that number: beyond 80 % of their limit they are paused, and beyond 95 % they are killed. So a thread of the
worker drops the pages before. They stay in the memory of the operating system as long as there is room, and come back from there.
"""

from __future__ import annotations

import threading
import time

import psutil
from distributed import get_worker

from .. import _dualgap

#: The share of the limit above which pages are dropped: below those at which Dask spills, pauses and kills.
_SHARE = 0.6
#: How often the thread looks, in seconds. A core touches some tens of megabytes meanwhile.
_LOOK = 0.01
#: So many bytes at least must have come since pages were dropped: what else a process has is not dropped by doing it more often.
_LEAST = 16 << 20
#: The thread ends when nothing has been mapped for this many seconds.
_IDLE = 5.0

_lock = threading.Lock()
_thread: threading.Thread | None = None


def watch() -> None:
    """Keep the pages of this worker within its limit from now on, if it has one."""
    global _thread
    try:
        limit = get_worker().memory_manager.memory_limit
    except (ValueError, AttributeError):
        return
    if not limit:
        return
    with _lock:
        if _thread is None or not _thread.is_alive():
            _thread = threading.Thread(target=_keep, args=(_SHARE * limit,), name="dualgap pages", daemon=True)
            _thread.start()


def _keep(most: float) -> None:
    process, least, until = psutil.Process(), 0, time.monotonic() + _IDLE
    while True:
        resident = process.memory_info().rss
        if resident > max(most, least):
            _dualgap.release_pages()
            least = process.memory_info().rss + _LEAST
        time.sleep(_LOOK)
        if time.monotonic() < until:
            continue
        with _lock:
            if not _dualgap.mapped_bytes():
                global _thread
                _thread = None
                return
        until = time.monotonic() + _IDLE
