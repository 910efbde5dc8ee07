"""The notebooks of the gallery run from the first cell to the last."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import jupytext
import matplotlib
import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).parent.parent / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.py"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Showing a figure where there is no screen.
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        # scikit-learn's own runs that ended early, which is what a notebook may be about.
        warnings.filterwarnings("ignore", "Liblinear failed to converge")
        runpy.run_path(str(notebook), run_name="__main__")
    plt.close("all")


def test_every_notebook_is_one_for_jupyter() -> None:
    assert len(NOTEBOOKS) == 5
    for path in NOTEBOOKS:
        notebook = jupytext.read(path)
        kinds = [cell.cell_type for cell in notebook.cells]
        assert notebook.cells[0].source.startswith("# "), "a title comes first"
        assert kinds.count("code") >= 4 and kinds.count("markdown") >= 3
