"""Taggers: labels for the tokens of sentences."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _dualgap
from ._arrays import rows, weights
from ._base import whole
from ._certificate import Certificate
from ._crf import Crfsuite
from ._sentences import column_text, feature_rows, labels_of, tokens_of
from ._tables import Table
from .chain import ChainEstimator

#: The set of features whose templates see the same mark at any distance from a sentence.
_PAPER = "paper-conll2000"


#: How a run ends if nothing is said about it, as the program has it: hardly any of a tagger's accuracy comes from a small
#: gap. The passes are those of a weighted average.
_PASSES, _TOLERANCE = 10, 0.01


class SequenceTagger(Crfsuite, ChainEstimator):
    """A tagger of tokens: a first-order chain over features that templates make, trained to a certified optimum.

    It learns from column files (one token a line, the label last, an empty line after each sentence), or from lists of
    sentences. A token is a string, a tuple of strings such as a word and its part of speech, or a dict of features as
    sklearn-crfsuite has them. The problem is that of :class:`ChainSVM`, or with ``loss="log"`` that of a conditional
    random field, whose models have probabilities.

    A model of a column file, or of strings and tuples, stores its templates: the program predicts, evaluates and
    certifies with the saved file, and Python does so with a file of ``dualgap train chain``.

    Parameters
    ----------
    features : str or Path, default="standard"
        How columns become features: ``"standard"`` (words, shapes and affixes of the context, and its other columns),
        ``"paper-conll2000"``, templates in the manner of CRF++, a line each, or the path of a file of them. Dicts have
        their features already.
    min_count : int, default=None
        Features that occur less often in training are dropped; by default none, or what the set of features says: of the
        standard ones those that occur once are dropped from 20,000 tokens on.
    lowercase : bool, default=False
        Whether templates see cells in lower case, except for their shape.
    columns : list of int, default=None
        The columns to use, in this order, counted from 0; the label, which comes last, is one of them. By default all.
    loss : {"hinge", "log"}, default="hinge"
        The loss of a sentence: the structural hinge, or the negative log-likelihood of its labels, which makes the model
        a conditional random field.
    hamming : {"normalized", "plain"}, default="plain"
        Whether the hinge is about the fraction of wrong labels of a sentence, or about their number. It does not matter
        to the log-loss.
    rescale, beam, beam_bound, lam, l1, nonnegative, scale
        The problem, as in :class:`ChainSVM`.
    tolerance, absolute_tolerance, passes, oracle_calls, time : default=None
        When the run ends, as in :class:`ChainSVM`. If nothing is said, as in the program: under the hinge after ten
        passes, with a weighted average of the weights; under the log-loss within 1 % of the optimum.
    solver, solver_options, threads, seed, warm_start, callback, verbose
        The run, as in :class:`ChainSVM`.

    Attributes
    ----------
    classes_ : ndarray of str
        The labels.
    features_ : list of str
        The names of the features of a token.
    coef_ : ndarray of shape (n_classes, n_features)
        Their weights.
    transitions_ : Table
        The weights of pairs of neighbouring labels, ``transitions_["B-NP", "I-NP"]``.
    start_, end_ : ndarray of shape (n_classes,)
        The weights of the first and of the last label.
    pair_features_ : list of str
        The names of the features of pairs of labels, which templates that begin with B make.
    pair_coef_ : ndarray of shape (n_pair_features, n_classes, n_classes) or None
        Their weights.
    certificate_ : Certificate
        The bound on the distance to the optimum.
    transition_features_, state_features_, attributes_
        The same weights and names, as ``sklearn_crfsuite.CRF`` has them.

    See Also
    --------
    ChainSVM : Chains over rows of numbers.

    Examples
    --------
    >>> from dualgap import SequenceTagger
    >>> X = [["He", "runs"], ["She", "sleeps", "well"], ["He", "sleeps"]]
    >>> y = [["PRP", "VBZ"], ["PRP", "VBZ", "RB"], ["PRP", "VBZ"]]
    >>> tagger = SequenceTagger(lam=0.01).fit(X, y)
    >>> tagger.predict([["She", "runs", "well"]])
    [['PRP', 'VBZ', 'RB']]
    >>> tagger.top_features("RB", 1)[0][0] in tagger.features_
    True
    >>> tagger.transitions_["PRP", "VBZ"] > tagger.transitions_["PRP", "PRP"]
    True

    The features of sklearn-crfsuite:

    >>> def features(words):
    ...     return [{"word": word.lower(), "first": t == 0} for t, word in enumerate(words)]
    >>> tagger = SequenceTagger(lam=0.01).fit([features(words) for words in X], y)
    >>> tagger.predict([features(["She", "runs"])])
    [['PRP', 'VBZ']]

    A conditional random field has probabilities:

    >>> crf = SequenceTagger(loss="log", lam=0.01).fit(X, y)
    >>> marginals = crf.predict_marginals_single(["She", "runs", "well"])
    >>> max(marginals[0], key=marginals[0].get), marginals[0]["PRP"] > 0.5
    ('PRP', True)
    """

    def __init__(
        self,
        *,
        features: str | Path = "standard",
        min_count: int | None = None,
        lowercase: bool = False,
        columns: list[int] | None = None,
        loss: Literal["hinge", "log"] = "hinge",
        hamming: Literal["normalized", "plain"] = "plain",
        rescale: Literal["margin", "slack"] = "margin",
        beam: int | None = None,
        beam_bound: bool = True,
        lam: float | str = "1/n",
        l1: float | str = 0.0,
        nonnegative: bool = False,
        scale: Literal["none", "max", "rms"] = "none",
        tolerance: float | None = None,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
        oracle_calls: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.min_count = min_count
        self.lowercase = lowercase
        self.columns = columns
        self.loss = loss
        self.hamming = hamming
        self.rescale = rescale
        self.beam = beam
        self.beam_bound = beam_bound
        self.lam = lam
        self.l1 = l1
        self.nonnegative = nonnegative
        self.scale = scale
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.oracle_calls = oracle_calls
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the model until its certified gap is within the tolerance, or to the end of its passes.

        Parameters
        ----------
        X : str, Path, or list of sentences
            The path of a column file, plain or compressed, or sentences: lists of strings, of tuples, or of dicts.
        y : list of lists of labels, default=None
            A label for every token; a column file has them.
        sample_weight : array of shape (n_sentences,), default=None
            What each sentence counts in the mean loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        data, recipe = self._training(X, y, sample_weight, None)
        self._keep(*self._run(data, self._task(), recipe=recipe, warm_start=self._previous()))
        return self

    def predict(self, X: Any) -> list[list[str]]:
        """Predict a label for every token.

        Parameters
        ----------
        X : str, Path, or list of sentences
            A column file with or without labels, or sentences of the form that ``fit`` was given. A sentence without
            tokens has no labels.

        Returns
        -------
        labels : list of lists of str
            The labels of every sentence.
        """
        check_is_fitted(self)
        data, lengths = self._to_predict(X)
        found = iter([] if data is None else self._named(data))
        return list(found) if lengths is None else [next(found) if length else [] for length in lengths]

    def _to_predict(self, X: Any) -> tuple[_dualgap.Data | None, list[int] | None]:
        if _is_path(X):
            return self._read(X, "predict"), None
        sentences, dicts = tokens_of(X, empty=True)
        full = [sentence for sentence in sentences if len(sentence)]
        lengths = [len(sentence) for sentence in sentences]
        if not full:
            return None, lengths
        if dicts or self._recipe() is None:
            self._check_kind(dicts)
            matrix, names = feature_rows(full, self.model_.features)
            starts = np.cumsum([0, *(len(sentence) for sentence in full)])
            return _dualgap.Data.sequences(rows(matrix), starts, features=names), lengths
        return self._read(self._columns_to_predict(full), "predict"), lengths

    def predict_file(self, path: str | Path, out: str | Path) -> dict[str, Any]:
        """Write a column file with one more column, the prediction, as ``dualgap predict`` does.

        Parameters
        ----------
        path : str or Path
            A column file with or without labels. It is read as a stream, so it may be of any length.
        out : str or Path
            Where to write. An existing file is replaced at once, or not at all.

        Returns
        -------
        unseen : dict
            How many `features` the model has not seen in training, of how many `features_met`.
        """
        check_is_fitted(self)
        self._check_kind(False)
        if os.path.exists(out) and os.path.exists(path) and os.path.samefile(path, out):
            raise ValueError(f"{os.fspath(path)} would be replaced by its own predictions: give `out` another name")
        return self.model_.predict_file(os.fspath(path), os.fspath(out), self.threads)

    def evaluate(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Compare predictions with the truth.

        Parameters
        ----------
        X, y : as in ``fit``
            A column file, or sentences and labels. Labels that the model does not know count as mistakes.

        Returns
        -------
        figures : dict
            `accuracy`, `sequence_error` and others, as the program's ``eval --json`` has them; `chunks` with precision,
            recall and F1 as the CoNLL shared tasks count them, if the labels are those of chunks, ``B-NP``.
        """
        check_is_fitted(self)
        return self.model_.figures(self._testing(X, y), self.threads)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the fraction of tokens whose label is predicted.

        Parameters
        ----------
        X, y : as in ``fit``
            A column file, or sentences and labels.

        Returns
        -------
        accuracy : float
            The fraction.
        """
        return self.evaluate(X, y)["accuracy"]

    def certify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data, without trusting a number of the model.

        Parameters
        ----------
        X, y, sample_weight : as in ``fit``
            The training data. Other data are refused.

        Returns
        -------
        certificate : Certificate
            The bound, as computed now.
        """
        check_is_fitted(self)
        data, _ = self._training(X, y, sample_weight, self.model_)
        return self._certified(self.model_, data, sample_weight)

    def top_features(self, label: str, n: int = 10) -> list[tuple[str, float]]:
        """Return the features that speak most for a label.

        Parameters
        ----------
        label : str
            One of `classes_`.
        n : int, default=10
            How many.

        Returns
        -------
        features : list of (str, float)
            Names and weights, the largest weight first.
        """
        check_is_fitted(self)
        found = np.flatnonzero(self.classes_ == str(label))
        if not len(found):
            raise ValueError(f"there is no label {label!r}: the model knows {', '.join(self.classes_)}")
        weights = self.coef_[found[0]]
        return [(self.features_[k], float(weights[k])) for k in np.argsort(-weights, kind="stable")[:n]]

    def _is_bare(self) -> bool:
        """Return whether nothing is said about the end of the run."""
        limits = (self.tolerance, self.absolute_tolerance, self.passes, self.oracle_calls, self.time)
        return all(limit is None for limit in limits)

    def _limits(self) -> dict[str, Any]:
        if not self._is_bare():
            return super()._limits()
        return {"tolerance": _TOLERANCE} if self.loss == "log" else {"passes": _PASSES}

    def _method(self) -> dict[str, Any]:
        method = super()._method()
        plain = self.solver == "auto" and not self.solver_options and not isinstance(self.l1, str) and not self.l1
        averaged = plain and self._is_bare() and self.loss == "hinge"
        return {**method, "average": "weighted"} if averaged else method

    def _recipe(self) -> dict[str, Any] | None:
        """Return how the columns of the model become features, or None if its tokens are dicts."""
        recipe = self.model_.provenance["recipe"]
        return None if recipe is None else recipe["format"]["columns"]

    def _check_kind(self, dicts: bool) -> None:
        """Raise an error if the model is not of such tokens."""
        if dicts != (self._recipe() is None):
            of, other = ("columns", "dicts of features") if dicts else ("dicts of features", "columns")
            raise ValueError(f"the model was trained on tokens that are {of}, and these are {other}")

    def _columns(self) -> dict[str, Any]:
        """Return the recipe of the keywords."""
        features = self.features
        if features in ("standard", _PAPER):
            recipe = _dualgap.column_recipe(preset=features)
        elif isinstance(features, os.PathLike) or (isinstance(features, str) and os.path.isfile(features)):
            name = os.fspath(features)
            recipe = _dualgap.column_recipe(templates=Path(features).read_text(encoding="utf-8"), name=name)
        elif isinstance(features, str) and ("\n" in features or ":" in features):
            recipe = _dualgap.column_recipe(templates=features)
        else:
            recipe = _dualgap.column_recipe(preset=str(features))
        if self.min_count is not None:
            recipe["min_count"] = whole(self.min_count, "min_count")
        recipe["lowercase"] = bool(self.lowercase)
        if self.columns is not None:
            recipe["pick"] = [whole(column, "columns") for column in self.columns]
        return {"format": {"columns": recipe}, "folds": None}

    def _training(
        self, X: Any, y: Any, sample_weight: Any, model: _dualgap.Model | None
    ) -> tuple[_dualgap.Data, dict[str, Any] | None]:
        """Return the training data and how they were read: by the keywords, or as those of a model."""
        if _is_path(X):
            if y is not None:
                raise ValueError("a column file has its labels in its last column: leave y out")
            source: Any = os.fspath(X)
        else:
            sentences, dicts = tokens_of(X)
            labels = labels_of(sentences, y)
            sample_weight = weights(sample_weight, np.empty(len(sentences)))
            if dicts:
                return self._of_dicts(sentences, labels, sample_weight, model), None
            source, _ = column_text(sentences, labels)
        if model is not None and model.provenance["recipe"] is None:
            raise ValueError("the model was trained on dicts of features, and these are columns")
        recipe = self._columns() if model is None else model.provenance["recipe"]
        request = json.dumps({"structure": self._task()["structure"], "recipe": recipe})
        data, told = _dualgap.Data.read("chain", source, request, weights=sample_weight, threads=self.threads)
        return data, told["recipe"]

    def _of_dicts(
        self, sentences: list[Any], labels: list[list[str]], sample_weight: Any, model: _dualgap.Model | None
    ) -> _dualgap.Data:
        """Return training data whose tokens are dicts."""
        if model is None:
            if self.features != "standard" or self.lowercase or self.columns is not None:
                raise ValueError("dicts have their features already: leave `features`, `lowercase` and `columns` out")
            known = sorted({label for part in labels for label in part})
            if len(known) < 2:
                raise ValueError(f"there must be at least two labels, and all tokens have {known[0]!r}")
            min_count = 1 if self.min_count is None else whole(self.min_count, "min_count")
            matrix, names = feature_rows(sentences, None, min_count)
        elif model.provenance["recipe"] is not None:
            raise ValueError("the model was trained on columns, and these are dicts of features")
        else:
            matrix, names = feature_rows(sentences, model.features)
            known = model.labels
        return self._dict_data(sentences, matrix, names, labels, known, sample_weight)

    def _dict_data(
        self,
        sentences: list[Any],
        matrix: Any,
        names: list[str],
        labels: list[list[str]],
        known: list[str],
        sample_weight: Any = None,
    ) -> _dualgap.Data:
        """Return labelled data of rows; labels that are not known come after the known ones."""
        place = {label: k for k, label in enumerate(known)}
        numbers = [place.setdefault(label, len(place)) for part in labels for label in part]
        return _dualgap.Data.sequences(
            rows(matrix),
            np.cumsum([0, *(len(sentence) for sentence in sentences)]),
            classes=np.array(numbers, dtype=np.int64),
            labels=list(place),
            weights=sample_weight,
            features=names,
        )

    def _testing(self, X: Any, y: Any) -> _dualgap.Data:
        """Return labelled data to compare predictions with."""
        if _is_path(X):
            return self._read(X, "test")
        sentences, dicts = tokens_of(X)
        labels = labels_of(sentences, y)
        self._check_kind(dicts)
        if dicts:
            matrix, names = feature_rows(sentences, self.model_.features)
            return self._dict_data(sentences, matrix, names, labels, self.model_.labels)
        return self._read(column_text(sentences, labels)[0], "test")

    def _columns_to_predict(self, sentences: list[Any]) -> bytes:
        """Return sentences as a column file.

        Every token has some label where the training data had one, because a line without could be empty.
        """
        recipe = self.model_.provenance["recipe"]["format"]["columns"]
        last = not recipe["pick"] or recipe["pick"][-1] == max(recipe["pick"])
        text, width = column_text(sentences, self.model_.labels[0] if last else None)
        if not recipe["pick"] and width != recipe["columns"] - 1:
            raise ValueError(
                f"a token has {width} columns, and in training it had {recipe['columns'] - 1} beside the label"
            )
        return text

    def _read(self, source: Any, purpose: str) -> _dualgap.Data:
        """Read data as those of the model were read."""
        self._check_kind(False)
        source = source if isinstance(source, bytes) else os.fspath(source)
        recipe = self.model_.provenance["recipe"]
        if isinstance(source, bytes) and recipe["format"]["columns"].get("encoding") == "latin1":
            # Sentences in memory were made UTF-8; a model of a file in Latin-1 is read as that.
            source = source.decode().encode("latin-1", "replace")
        request = json.dumps({"structure": self.model_.task["structure"], "recipe": recipe})
        data, told = _dualgap.Data.read(
            "chain", source, request, purpose=purpose, names_of=self.model_, threads=self.threads
        )
        if purpose == "test" and not told["labelled"]:
            raise ValueError(f"{source!r:.60} has no labels to compare with: a prediction needs none")
        return data

    def _named(self, data: _dualgap.Data) -> list[list[str]]:
        """Return the predicted labels by name."""
        names = self.model_.labels
        return [[names[k] for k in numbers] for numbers in self.model_.predict(data, self.threads)]

    def _set_fitted(self) -> None:
        super()._set_fitted()
        self.classes_ = np.array(self.model_.labels, dtype=object)
        self.transitions_ = Table(self.model_.labels, self.model_.labels, self.transitions_)
        names, width = self.model_.features, self.model_.width
        self.features_, self.pair_features_ = names[:width], names[width:]

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        keywords = super()._keywords(model)
        recipe = model.provenance["recipe"]
        if recipe is not None:
            columns = recipe["format"]["columns"]
            paper = _dualgap.column_recipe(preset=_PAPER)
            is_paper = (columns["templates"], columns["pad"]) == (paper["templates"], paper["pad"])
            keywords |= {
                "features": _PAPER if is_paper else columns["templates"],
                "min_count": columns["min_count"],
                "lowercase": columns["lowercase"],
                "columns": columns["pick"] or None,
            }
        return keywords

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.target_tags.required = False
        return tags


def _is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))
