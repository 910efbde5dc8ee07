"""Linear classifiers: classes by the signs of scores."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _dualgap
from ._arrays import spelled
from ._base import remarks_of
from ._certificate import Certificate
from ._examples import CertifiedClassifier, is_path
from ._linear import LinearMixin
from ._one_vs_rest import Part, example_weights, most_passes, run_each, workers, worst_stop
from .callbacks import Callback



def _has_probabilities(estimator: LinearClassifier) -> bool:
    """Return whether the loss has probabilities; else raise the error that says so."""
    if estimator.loss != "logistic":
        raise AttributeError('probabilities need loss="logistic"')
    return True


class LinearClassifier(LinearMixin, CertifiedClassifier):
    """A linear classifier, trained to a certified optimum.

    Minimises ``mean(loss(y, <x, w>)) + lam/2 ||w||^2 + l1 ||w||_1``. More than two classes are one such problem for
    each class against all others; :class:`dualgap.MulticlassSVM` trains them jointly.

    Parameters
    ----------
    loss : "hinge", "smooth-hinge", "squared-hinge" or "logistic", default="hinge"
        What a wrong or narrow score costs. With m the score times the class, which is -1 or 1: ``max(0, 1 - m)``, the
        same with its corner rounded off over `width`, its square, or ``log(1 + exp(-m))``, which has probabilities.
    width : float, default=1.0
        Of the smooth hinge.
    lam : float or str, default="1/n"
        The strength of the penalty: a number, or a multiple of 1/n such as ``"10/n"``, with n the sum of the weights of
        the examples. Zero together with a positive `l1` is pure l1, and ``"0.1l1"`` is a tenth of it. ``"auto"`` is the
        one that predicts best on five folds of the training data; `auto_` tells how. A `C` of scikit-learn or LIBLINEAR is
        ``lam=1/(C*n)``, or with their l1 penalty ``lam=0, l1=1/(C*n)``.
    l1 : float or str, default=0.0
        The strength of the l1 penalty, which makes many weights zero. Also a fraction such as ``"0.1max"`` of
        the smallest with which all weights are zero, or ``"auto"``: the one that predicts best on five folds of the
        training data, of which `auto_` tells.
    q_norm : bool, default=False
        Whether to penalise ``lam c/2 ||w||_q^2`` with q near 1 in the place of the Euclidean norm, for dense inputs
        that are small in every entry.
    nonnegative : bool, default=False
        Whether weights must not be negative.
    intercept : bool, "free" or "penalised", default=False
        Whether scores have an intercept. True and ``"free"`` leave it without a penalty; ``"penalised"`` treats it as
        the weight of a column of ones. An intercept copies X, in ``fit`` for each class that is trained, and in
        ``predict``.
    scale : "none", "max" or "rms", default="none"
        What every column is divided by before the run: its largest magnitude, or its root mean square. `lam` and `l1`
        are then about the scaled columns; `coef_` is about the columns as they are.
    class_weight : dict, "balanced" or None, default=None
        What the examples of each class count, times `sample_weight`. ``"balanced"`` gives all classes the same total.
    n_jobs : int or None, default=None
        How many classes are trained at the same time if there are more than two: None for one, -1 for as many as there
        are cores.
    tolerance : float or None, default=0.01
        Stop when the certified gap is at most this fraction of the objective. With None, only the other limits stop
        the run.
    absolute_tolerance : float, default=None
        Stop at this gap in units of the objective. With both tolerances, either one stops the run.
    passes, oracle_calls : int, default=None
        Stop after so many passes over the data, or calls of the oracle, with a ConvergenceWarning.
    time : float, default=None
        Stop after so many seconds, with a ConvergenceWarning.
    solver : str, default="auto"
        The method. ``"auto"`` chooses as the run goes on; ``"bcfw"``, ``"fw"``, ``"ssg"``, ``"subgradient"``,
        ``"cutting-plane"`` and ``"n-slack"`` are those of the papers.
    solver_options : dict, default=None
        Settings of the solver by name, such as ``{"sampling": "gap", "option": "ii"}``.
    threads : int, default=0
        The number of threads of a run; zero stands for all cores. The result does not depend on it.
    seed : int, default=0
        The seed of the random order. The same seed gives the same bits, here and in the program.
    warm_start : bool, default=False
        Whether to start from the dual point of the previous fit, which may have had another `lam`, or fewer examples.
    callback : callable or list of them, default=None
        Receives a :class:`dualgap.callbacks.Certification` whenever the gap was computed, and ends the run by returning
        True.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights: of the second class, or of each class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts; zero without any.
    model_ : Model
        The model of two classes.
    models_ : list of Model
        The model of two classes, or one for each class.
    certificate_ : Certificate
        How far from the optimum the model is at most: recomputed from the data at the end of the run. For more
        than two classes it is that of the sum of their problems.
    certificates_ : list of Certificate
        The certificate of each problem.
    history_ : list of dict
        Every certification of the run: passes, seconds, primal, dual, gap; for more than two classes, such a list for
        each class.
    stop_ : str
        Why the run ended: ``"gap_reached"``, ``"pass_limit"``, ``"time_limit"``, ``"oracle_limit"``,
        ``"interrupted"``, ``"callback"`` or ``"stalled"``.
    n_iter_ : int
        The number of passes over the data, rounded up, of the longest run.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X is a data frame with names.

    Notes
    -----
    Float64 arrays in row-major order and float64 CSR matrices with sorted int32 indices are used in place. Float32 is
    converted to float64, which copies it: the certificate is about the converted numbers, which are the same.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualgap import LinearClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearClassifier(loss="logistic", lam=1e-3, intercept=True, scale="rms", tolerance=1e-4).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-4
    True
    >>> model.certify(X, y) == model.certificate_
    True
    >>> model.score(X, y) > 0.95
    True
    """

    _losses: ClassVar[tuple[str, ...]] = ("hinge", "smooth-hinge", "squared-hinge", "logistic")

    def __init__(
        self,
        *,
        loss: Literal["hinge", "smooth-hinge", "squared-hinge", "logistic"] = "hinge",
        width: float = 1.0,
        lam: float | str = "1/n",
        l1: float | str = 0.0,
        q_norm: bool = False,
        nonnegative: bool = False,
        intercept: bool | Literal["free", "penalised"] = False,
        scale: Literal["none", "max", "rms"] = "none",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        n_jobs: int | None = None,
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
        oracle_calls: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        callback: Callback | Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.width = width
        self.lam = lam
        self.l1 = l1
        self.q_norm = q_norm
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.scale = scale
        self.class_weight = class_weight
        self.n_jobs = n_jobs
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
        if is_path(X):
            return self._fit_file(X, y, sample_weight)
        X, numbers, counts = self._classified(X, y, sample_weight, reset=True)
        previous = self._previous_models()
        if len(self.classes_) == 2:
            data = self._examples(X, counts, classes=numbers, labels=[spelled(label) for label in self.classes_])
            self._keep(*self._run(data, self._task(), recipe=self._recipe(), warm_start=previous[0]))
            return self
        counts = example_weights(self.class_weight, self.classes_, numbers, counts)
        task = {**self._task(), "class_weights": None}
        # The callbacks of scikit-learn belong to the estimator, which can only be in one of its tasks at a time.
        jobs = 1 if hasattr(self, "_skl_callbacks") else workers(self.n_jobs, len(self.classes_))
        # Runs side by side share the cores, unless someone has said how many threads each has.
        threads = 1 if jobs > 1 and self.threads == 0 else None

        def run(k: int, stop: _dualgap.Interrupt) -> Part:
            data = self._one_against_rest(X, numbers, counts, k)
            begin, recipe = previous[k], self._recipe()
            return self._run(data, task, recipe=recipe, warm_start=begin, interrupt=stop, threads=threads)

        self._keep_parts(*run_each(run, len(self.classes_), jobs))
        return self

    fit.__doc__ = CertifiedClassifier.fit.__doc__

    def _one_against_rest(
        self, X: Any, numbers: np.ndarray, counts: np.ndarray | None, k: int
    ) -> _dualgap.Data:
        """Return the data of the problem of one class, which is the second of its two."""
        name = spelled(self.classes_[k])
        return self._examples(X, counts, classes=(numbers == k).astype(np.int64), labels=[f"not {name}", name])

    def _keep_parts(self, parts: list[Part], raised: BaseException | None) -> None:
        """Set the attributes of more than two classes, and raise or warn as the run of one would."""
        models, reports = zip(*parts, strict=True)
        if hasattr(self, "model_"):
            del self.model_
        self.models_ = list(models)
        self.certificates_ = [
            Certificate._of(report["certificate"], reached=report["stop"] == "gap_reached") for report in reports
        ]
        self.certificate_ = Certificate._sum(self.certificates_)
        self.history_ = [report["history"] for report in reports]
        self.stop_ = worst_stop([report["stop"] for report in reports])
        self.n_iter_ = most_passes(reports)
        self._remarks = [
            f"{spelled(name)}: {remark}"
            for name, report in zip(self.classes_, reports, strict=True)
            for remark in remarks_of(report)
        ]
        self._set_weights()
        self._end(raised)

    def _set_fitted(self) -> None:
        self.models_ = [self.model_]
        self.certificates_ = [self.certificate_]
        self._set_weights()

    def _set_weights(self) -> None:
        coefficients, intercepts = zip(*(self._weights(model) for model in self.models_), strict=True)
        self.coef_, self.intercept_ = np.vstack(coefficients), np.array(intercepts)

    def _previous_models(self) -> list[_dualgap.Model | None]:
        """Return the models that the problems of the classes start from."""
        parts = 1 if len(self.classes_) == 2 else len(self.classes_)
        previous = getattr(self, "models_", []) if self.warm_start else []
        return list(previous) if len(previous) == parts else [None] * parts

    def certify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Certificate:
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().certify(X, y, sample_weight)
        X, numbers, counts = self._classified(X, y, sample_weight, reset=False)
        counts = example_weights(self.class_weight, self.classes_, numbers, counts)
        given = None if sample_weight is None else counts
        parts = enumerate(self.models_)
        return Certificate._sum(
            [self._certified(model, self._one_against_rest(X, numbers, counts, k), given) for k, model in parts]
        )

    certify.__doc__ = CertifiedClassifier.certify.__doc__

    def save(self, path: str | Path, *, witness: bool = True) -> None:
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise ValueError(
                "a file has one model, and there is one for each class: save those of `models_`, pickle the estimator, "
                "or train all classes jointly by MulticlassSVM"
            )
        super().save(path, witness=witness)

    save.__doc__ = CertifiedClassifier.save.__doc__

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes, one score, which is positive for the second class; else the score of each class against the
            rest.
        """
        data = self._unlabelled(X)
        scores = [model.predict(data, self.threads) for model in self.models_]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def predict(self, X: Any) -> np.ndarray:
        scores = self.decision_function(X)
        numbers = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[numbers]

    predict.__doc__ = CertifiedClassifier.predict.__doc__

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, under the logistic loss.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The probabilities. Those of more than two classes are each against the rest, divided by their sum.
        """
        data = self._unlabelled(X)
        each = np.hstack([model.probabilities(data, self.threads) for model in self.models_])
        if each.shape[1] == 1:
            return np.hstack([1.0 - each, each])
        total = each.sum(axis=1, keepdims=True)
        # All may underflow, and then say nothing.
        return np.divide(each, total, out=np.full_like(each, 1.0 / each.shape[1]), where=total > 0.0)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes, under the logistic loss.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            The logarithms of what ``predict_proba`` returns.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
