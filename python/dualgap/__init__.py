"""Linear and structured predictors, trained to a certified optimum.

Every ``fit`` ends with a model and a duality gap that was recomputed from the data: ``certificate_``. Anyone can check
it again with :func:`certify`, which also proves how far the models of other packages are from their optimum.

The estimators follow scikit-learn's conventions. They are imported when they are first used, so that ``import dualgap``
loads neither scikit-learn nor numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._dualgap import __version__

if TYPE_CHECKING:
    from ._certificate import Certificate as Certificate
    from ._files import load as load
    from .linear import LinearClassifier as LinearClassifier
    from .linear import LinearRegressor as LinearRegressor

#: The module of every public name.
_HOMES = {
    "Certificate": "_certificate",
    "load": "_files",
    "LinearClassifier": "linear",
    "LinearRegressor": "linear",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'dualgap' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
