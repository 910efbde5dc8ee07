"""The pages of the book: every Python session in them is run, and prints what the page says."""

from __future__ import annotations

import doctest
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if ">>> " in page.read_text()]
#: What doctests of the package may use, too.
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_says_what_python_prints(page: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for what a page writes
    # Each line keeps its number, so that a failure names it; the blocks of a page are one session.
    lines: list[str] = []
    inside = False
    for line in page.read_text().splitlines():
        fence = re.match(r"\s*```", line)
        lines.append(line if inside and not fence else "")
        if fence:
            inside = not inside and line.strip() == "```python"
    test = doctest.DocTestParser().get_doctest("\n".join(lines) + "\n", {}, page.name, str(page), 0)
    failures: list[str] = []
    found = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=failures.append)
    assert found.failed == 0, "".join(failures)
