"""Measurements, one line of JSON each, kept as soon as they are made.

A record is what one version of one program did on one problem: all rungs of its ladder. A race that is begun again skips what is there;
a line that a crash has cut off counts as not being there.
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

Record = dict[str, Any]
Key = tuple[str, str, int, str]


def key(record: Record) -> Key:
    """Return what makes a measurement the same."""
    return record["problem"], record["program"], record["threads"], record["version"]


class Records:
    """The file of all measurements; the last of those with the same key counts."""

    def __init__(self, path: pathlib.Path) -> None:
        """Read the file, if there is one."""
        self.path = path
        self.by_key: dict[Key, Record] = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            try:
                record = json.loads(line)
                self._keep(record)
            except (json.JSONDecodeError, KeyError):
                continue

    def _keep(self, record: Record) -> None:
        # Taken out first, so that the order is that of measuring and `newest` finds the last.
        self.by_key.pop(key(record), None)
        self.by_key[key(record)] = record

    def __contains__(self, wanted: Key) -> bool:
        """Return whether this has been measured."""
        return wanted in self.by_key

    def add(self, record: Record) -> None:
        """Append a measurement, and make sure that it is on the disk."""
        self._keep(record)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a+b") as file:
            # Behind a line that was cut off a new one begins.
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def newest(self, version: str | None = None) -> dict[str, dict[tuple[str, int], Record]]:
        """Return for each problem the last record of each program and number of threads; of dualgap only a version, if one is given."""
        found: dict[str, dict[tuple[str, int], Record]] = {}
        for record in self.by_key.values():
            if version and record["program"] == "dualgap" and record["version"] != version:
                continue
            found.setdefault(record["problem"], {})[record["program"], record["threads"]] = record
        return found
