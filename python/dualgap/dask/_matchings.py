"""Matchings on a cluster: the graphs are in shards."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

import dualgap

from .. import _dualgap
from ..matching import SURE, graph_data
from ._blocks import blocks_of
from ._estimators import _KEYWORDS, Distributed


class MatchingSVM(Distributed, dualgap.MatchingSVM):
    _local: ClassVar[type] = dualgap.MatchingSVM
    __doc__ = (
        "Links between rows and columns, at most one for each, on a cluster; see :class:`dualgap.MatchingSVM`." + _KEYWORDS
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the model on the shards of X until its certified gap is within the tolerance.

        Parameters
        ----------
        X : list of blocks
            The graphs: every block is a shard, a delayed or plain list of graphs.
        y : list of blocks
            The links of each graph, in the same blocks.
        sample_weight : list of blocks, default=None
            What each graph counts in the mean loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if y is None:
            raise ValueError("on a cluster matchings are trained on blocks of graphs and of their links, and not on files")
        return self._fit_blocks(blocks_of(X, y, sample_weight))

    def predict(self, X: Any) -> Any:
        """Predict as the estimator of one machine does."""
        return dualgap.MatchingSVM.predict(self, X)

    def _kind_of_intercept(self) -> None:
        return None

    def _how(self) -> dict[str, Any]:
        return {"structure": self._structure}

    def _shard_columns(self, found: list[dict[str, Any]]) -> tuple[int, list[str], dict[str, Any]]:
        self._check_sure(any(info["sure"] for info in found))
        width = found[0]["width"]
        for k, info in enumerate(found):
            if info["width"] != width:
                raise ValueError(f"the edges of shard {k} have {info['width']} features, and those of shard 0 {width}")
        return width, [], self._recipe()

    def _any(self, setup: dict[str, Any]) -> _dualgap.Data:
        """Return a graph of one edge."""
        graph = np.zeros((1, 2), dtype=np.int64), np.zeros((1, setup["width"])), (1, 1)
        return graph_data([graph], np.array([SURE]))
