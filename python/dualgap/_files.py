"""Model files: which estimator a file becomes."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from . import _dualgap

#: The estimators of each structure, by module and class. The first that says it can takes the model.
_READERS = {
    "linear": [
        "linear.LinearClassifier",
        "linear_regressor.LinearRegressor",
        "balls.SparseClassifier",
        "balls.SparseRegressor",
    ],
    "multiclass": ["multiclass.MulticlassSVM", "balls.SparseClassifier", "low_rank.LowRankClassifier"],
    "multilabel": ["multilabel.MultilabelClassifier"],
    "multioutput": ["balls.SparseRegressor", "low_rank.LowRankRegressor"],
    "kernel_linear": ["kernel.KernelSVM", "kernel.KernelRegressor"],
    "kernel_multiclass": ["kernel.KernelSVM"],
}


def load(path: str | Path) -> Any:
    """Return the fitted estimator of a model file, whether Python, the program or the library has written it.

    Its keywords are those of the problem; those of the run, such as ``tolerance``, have their defaults. Labels become
    whole numbers if all are such, else they are strings. Nothing in a file is executed, so a file from a stranger is
    safe to load; its certificate is what the file says until ``certify`` recomputes it.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator : object
        The fitted estimator, such as a LinearClassifier.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import dualgap
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 1])
    >>> model = dualgap.LinearClassifier(lam=0.1).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "two.dualgap"))
    ...     again = dualgap.load(os.path.join(folder, "two.dualgap"))
    >>> again.predict(X)
    array([0, 1])
    """
    model = _dualgap.Model.load(path)
    for reader in _READERS.get(model.structure, []):
        module, name = reader.split(".")
        estimator = getattr(importlib.import_module(f".{module}", __package__), name)
        if estimator._reads(model):
            return estimator._from_model(model)
    raise ValueError(f"{path} is a model of the structure `{model.structure}` that Python has no estimator for")
