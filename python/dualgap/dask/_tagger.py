"""Taggers on a cluster: column files are the shards.

A feature is numbered by its first occurrence in all files, and kept if it occurs often enough in all of them. So workers read their
files with all features first, and tell which they have met and how often; the client numbers them in the order of the shards, which
is the numbering of the joined file; and the workers renumber what they have read.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import dualgap

from .. import _dualgap
from ..tagger import _TOLERANCE
from ._blocks import blocks_of
from ._chains import any_sequence
from ._estimators import _KEYWORDS, _Classes


class SequenceTagger(_Classes, dualgap.SequenceTagger):
    _local: ClassVar[type] = dualgap.SequenceTagger
    __doc__ = (
        "A tagger of tokens on a cluster, from column files; see :class:`dualgap.SequenceTagger`. If nothing is said about the end "
        "of the run, it ends within 1 % of the optimum. There are no features of pairs." + _KEYWORDS
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the model on the sentences of files until its certified gap is within the tolerance.

        Parameters
        ----------
        X : list of paths
            Column files that every worker can read, plain or compressed, each a shard. They are parts of one file: the last line of
            each is empty, or the joined file has an empty line there.
        y, sample_weight : None
            Files have their labels, and their sentences count the same.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        blocks = blocks_of(X, y, sample_weight) if y is None else []
        if not blocks:
            raise ValueError("on a cluster a tagger is trained on the paths of column files")
        return self._fit_blocks(blocks)

    def predict(self, X: Any) -> Any:
        """Predict as the estimator of one machine does."""
        return dualgap.SequenceTagger.predict(self, X)

    def _is_bare(self) -> bool:
        # What a tagger of one machine does then, a number of passes with an average of the weights, is not done on shards.
        return False

    def _limits(self) -> dict[str, Any]:
        return super()._limits() or {"tolerance": _TOLERANCE}

    def _kind_of_intercept(self) -> None:
        return None

    def _how(self) -> dict[str, Any]:
        recipe = self._columns()
        # Whether a feature is rare only all shards together can say.
        recipe["format"]["columns"]["min_count"] = 1
        settings = self._task()["structure"]
        return {"structure": self._structure, "settings": settings, "recipe": recipe, "threads": int(self.threads)}

    def _shard_columns(self, found: list[dict[str, Any]]) -> tuple[int, list[str], dict[str, Any] | None]:
        recipe = found[0]["recipe"]
        for k, info in enumerate(found):
            if info["recipe"] != recipe:
                raise ValueError(f"the files of shards 0 and {k} have other columns: they must be parts of one file")
            if len(info["features"]) > info["width"]:
                raise ValueError("there are no features of pairs on shards: leave out the templates B…%x[…]")
        counts: dict[str, int] = {}
        for info in found:
            # Files have their features in the order of first occurrence, and so have all of them one after the other.
            for name, count in zip(info["features"], info["feature_counts"], strict=True):
                counts[name] = counts.get(name, 0) + count
        wanted = self._columns()["format"]["columns"]["min_count"]
        least = wanted or _dualgap.usual_min_count(sum(info["rows"] for info in found))
        names = [name for name, count in counts.items() if count >= least]
        if not names:
            raise ValueError(f"no feature occurs {least} times: lower min_count")
        columns = {**recipe["format"]["columns"], "min_count": least}
        return len(names), names, {**recipe, "format": {"columns": columns}}

    def _any(self, setup: dict[str, Any]) -> _dualgap.Data:
        return any_sequence(setup)
