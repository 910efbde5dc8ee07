"""The pages of mapped shards, kept within the memory limit of their worker.

Pages of a mapped file that a process has touched count as its memory, although the operating system drops them when memory is short.
Dask's workers are watched by that number: beyond 80 % of their limit they are paused, and beyond 95 % they are killed. So a thread of the
worker drops the pages before, one that no other Python code can keep waiting.
"""

from __future__ import annotations

from distributed import get_worker

from .. import _dualgap

#: The share of the limit above which pages are dropped: below those at which Dask spills, pauses and kills.
_SHARE = 0.6


def watch() -> None:
    """Keep the pages of this worker within its limit from now on, if it has one."""
    try:
        limit = get_worker().memory_manager.memory_limit
    except (ValueError, AttributeError):
        return
    if limit:
        _dualgap.keep_pages(int(_SHARE * limit))
