"""Users' oracles on a cluster: the oracle goes to the workers, and is called where the inputs are."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import dualgap

from .. import _dualgap
from ..structured import Oracle, described, own_data
from ._blocks import blocks_of
from ._estimators import _KEYWORDS, Distributed


class StructuredSVM(Distributed, dualgap.StructuredSVM):
    _local: ClassVar[type] = dualgap.StructuredSVM
    __doc__ = (
        "A linear model of structured outputs on a cluster; see :class:`dualgap.StructuredSVM`. Workers must be able to unpickle the "
        "oracle; with a `checkpoint` it needs the method `admits`." + _KEYWORDS
    )

    def __init__(self, oracle: Oracle, **keywords: Any) -> None:
        super().__init__(oracle=oracle, **keywords)

    def fit(self, X: Any, Y: Any = None, sample_weight: Any = None) -> Self:
        """Train the model on the shards of X until its certified gap is within the tolerance.

        Parameters
        ----------
        X : list of blocks
            The inputs: every block is a shard, a delayed or plain list of whatever the oracle takes; of a matrix, the rows.
        Y : list of blocks
            Their outputs, in the same blocks.
        sample_weight : list of blocks, default=None
            What each example counts.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if Y is None:
            raise ValueError("an oracle is trained on blocks of inputs and of their outputs, and not on files: give X and Y")
        return self._fit_blocks(blocks_of(X, Y, sample_weight))

    def predict(self, X: Any) -> Any:
        """Predict as the estimator of one machine does."""
        return dualgap.StructuredSVM.predict(self, X)

    def _kind_of_intercept(self) -> None:
        return None

    def _how(self) -> dict[str, Any]:
        return {"structure": self._structure}

    def _shard_task(self, found: list[dict[str, Any]]) -> dict[str, Any]:
        structure = {"oracle": described(self.oracle), "rescaling": self.rescale}
        return {"structure": structure, "penalty": self._penalty()}

    def _shard_columns(self, found: list[dict[str, Any]]) -> tuple[int, list[str], None]:
        return int(self.oracle.dim), [], None

    def _completion(self) -> dict[str, Any]:
        # The outputs of a checkpoint are those of a file, which may say anything.
        return {"oracle": self.oracle, "trusted": self.checkpoint is None}

    def _any(self, setup: dict[str, Any]) -> _dualgap.Data:
        return own_data(self.oracle, [], [])
