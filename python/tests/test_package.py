"""The package as it is installed: what it holds, what it loads, and which program it belongs to."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import subprocess
import sys

import pytest

import dualgap


def python(code: str) -> str:
    """Return what a fresh interpreter prints."""
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout.strip()


def test_the_import_loads_neither_numpy_nor_scikit_learn() -> None:
    heavy = ("numpy", "scipy", "sklearn", "pandas", "matplotlib")
    assert python(f"import sys, dualgap; print([name for name in {heavy} if name in sys.modules])") == "[]"


def test_every_public_name_is_there_with_a_docstring() -> None:
    for name in set(dualgap.__all__) - {"__version__"}:
        assert getattr(dualgap, name).__doc__, name
    assert set(dualgap.__all__) <= set(dir(dualgap))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dualgap.nothing  # noqa: B018


def test_the_version_is_that_of_the_distribution() -> None:
    assert dualgap.__version__ == importlib.metadata.version("dualgap")


def test_types_come_with_the_package() -> None:
    home = pathlib.Path(dualgap.__file__).parent
    assert (home / "py.typed").exists()
    assert (home / "_dualgap.pyi").exists()


def test_the_program_is_of_the_same_version() -> None:
    program = os.environ.get("DUALGAP_PROGRAM")
    if program is None:
        pytest.skip("DUALGAP_PROGRAM does not name the program")
    run = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True)
    assert run.stdout.split()[:2] == ["dualgap", dualgap.__version__]
