"""Chains on a cluster: the sequences are in shards."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

import dualgap

from .. import _dualgap
from ._blocks import blocks_of
from ._estimators import _KEYWORDS, _Classes, no_rows


class ChainSVM(_Classes, dualgap.ChainSVM):
    _local: ClassVar[type] = dualgap.ChainSVM
    __doc__ = (
        "Labels for the positions of sequences, on a cluster; see :class:`dualgap.ChainSVM`. There are no features of pairs."
        + _KEYWORDS
    )

    def fit(self, X: Any, y: Any = None, lengths: Any = None, *, sample_weight: Any = None) -> Self:
        """Train the model on the shards of X until its certified gap is within the tolerance.

        Parameters
        ----------
        X : list of blocks, or Dask array
            The rows of all positions: every block is a shard, with the rows of whole sequences. A block is a delayed or plain
            array or CSR matrix.
        y : list of blocks, or Dask array
            The labels of the positions, in the same blocks.
        lengths : list of blocks, or Dask array
            The number of rows of each sequence, in as many blocks.
        sample_weight : as lengths, default=None
            What each sequence counts in the mean loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if lengths is None:
            raise ValueError("sequences in shards need their lengths; dualgap.dask.SequenceTagger reads column files")
        return self._fit_blocks(blocks_of(X, y, sample_weight, lengths))

    def predict(self, X: Any, lengths: Any = None, *, edges: Any = None) -> Any:
        """Predict as the estimator of one machine does."""
        return dualgap.ChainSVM.predict(self, X, lengths, edges=edges)

    def _kind_of_intercept(self) -> None:
        return None

    def _recipe(self) -> None:
        return None

    def _recipe_target(self) -> dict[str, bool]:
        return {}

    def _any(self, setup: dict[str, Any]) -> _dualgap.Data:
        return any_sequence(setup)


def any_sequence(setup: dict[str, Any]) -> _dualgap.Data:
    """Return a sequence with the columns and labels of the shards."""
    numbers = np.zeros(1, dtype=np.int64)
    names = {"features": setup["features"]} if setup["features"] else {}
    return _dualgap.Data.sequences(
        no_rows(setup["width"]), np.array([0, 1]), classes=numbers, labels=setup["labels"], **names
    )
