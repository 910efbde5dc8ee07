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
    from . import callbacks as callbacks
    from . import plot as plot
    from ._certificate import Certificate as Certificate
    from ._files import load as load
    from ._grid_path import GridPath as GridPath
    from ._grid_path import GridPoint as GridPoint
    from ._path import CertifiedPath as CertifiedPath
    from ._path import PathPiece as PathPiece
    from ._path import path as path
    from ._report import Report as Report
    from .balls import SparseClassifier as SparseClassifier
    from .balls import SparseRegressor as SparseRegressor
    from .certification import Appraisal as Appraisal
    from .certification import certify as certify
    from .chain import ChainSVM as ChainSVM
    from .completion import MatrixCompletion as MatrixCompletion
    from .cross_validation import ChainSVMCV as ChainSVMCV
    from .cross_validation import LinearClassifierCV as LinearClassifierCV
    from .cross_validation import LinearRegressorCV as LinearRegressorCV
    from .cross_validation import MulticlassSVMCV as MulticlassSVMCV
    from .kernel import KernelRegressor as KernelRegressor
    from .kernel import KernelSVM as KernelSVM
    from .linear import LinearClassifier as LinearClassifier
    from .linear_regressor import LinearRegressor as LinearRegressor
    from .low_rank import LowRankClassifier as LowRankClassifier
    from .low_rank import LowRankRegressor as LowRankRegressor
    from .matching import MatchingSVM as MatchingSVM
    from .multiclass import MulticlassSVM as MulticlassSVM
    from .multilabel import MultilabelClassifier as MultilabelClassifier
    from .structured import Decoded as Decoded
    from .structured import OracleReport as OracleReport
    from .structured import StructuredSVM as StructuredSVM
    from .structured import check_oracle as check_oracle
    from .tagger import SequenceTagger as SequenceTagger

#: The module of every public name.
_HOMES = {
    "Appraisal": "certification",
    "Certificate": "_certificate",
    "CertifiedPath": "_path",
    "certify": "certification",
    "ChainSVM": "chain",
    "ChainSVMCV": "cross_validation",
    "check_oracle": "structured",
    "Decoded": "structured",
    "GridPath": "_grid_path",
    "GridPoint": "_grid_path",
    "KernelRegressor": "kernel",
    "KernelSVM": "kernel",
    "LinearClassifier": "linear",
    "LinearClassifierCV": "cross_validation",
    "LinearRegressor": "linear_regressor",
    "LinearRegressorCV": "cross_validation",
    "load": "_files",
    "LowRankClassifier": "low_rank",
    "LowRankRegressor": "low_rank",
    "MatchingSVM": "matching",
    "MatrixCompletion": "completion",
    "MulticlassSVM": "multiclass",
    "MulticlassSVMCV": "cross_validation",
    "MultilabelClassifier": "multilabel",
    "OracleReport": "structured",
    "path": "_path",
    "PathPiece": "_path",
    "Report": "_report",
    "SequenceTagger": "tagger",
    "SparseClassifier": "balls",
    "SparseRegressor": "balls",
    "StructuredSVM": "structured",
}

#: The public modules.
_MODULES = ("callbacks", "plot")

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'dualgap' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
