"""Several classes with a joint loss of their scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from . import _dualgap
from ._scores import ScoringClassifier, one_of


class MulticlassSVM(ScoringClassifier):
    """A classifier of two or more classes under one loss of all scores, trained to a certified optimum.

    Minimises ``mean(loss) + lam/2 ||W||^2 + l1 ||W||_1`` over a vector of weights for each class. With a the scores of
    an example of class y, and c(y, k) what it costs to predict k:

    - hinge: ``max_k [c(y, k) + a_k] - a_y``, which is Crammer and Singer's with costs of 1;
    - smooth hinge: the same with its corners rounded off over `width`;
    - softmax: ``log sum_k exp(a_k) - a_y``, which is multinomial logistic regression.

    Parameters
    ----------
    loss : "hinge", "smooth-hinge" or "softmax", default="hinge"
        The loss of the scores. Softmax has probabilities.
    width : float, default=1.0
        Of the smooth hinge.
    costs : array of shape (n_classes, n_classes), default=None
        What a mistake costs, of the hinges: row by row the true class, column by column the predicted one, both in the
        order of `classes_`. By default every mistake costs 1.
    rescale : "margin" or "slack", default="margin"
        Of the hinge: whether the cost of a mistake is the margin that the true class must have, or the weight of what
        is missing of a margin of 1. With costs of 1 both are the same.
    lam : float or str, default="1/n"
        The strength of the penalty: a number, or a multiple of 1/n such as ``"10/n"``, with n the sum of the weights of
        the examples. Zero together with a positive `l1` is pure l1, and ``"0.1l1"`` is a tenth of it. ``"auto"`` is the
        one that predicts best on five folds of the training data; `auto_` tells how. A `C` of scikit-learn is ``lam=1/(C*n)``.
    l1 : float or str, default=0.0
        The strength of the l1 penalty, which makes many weights zero. Also a fraction such as ``"0.1max"`` of
        the smallest with which all weights are zero, or ``"auto"``: the one that predicts best on five folds of the
        training data, of which `auto_` tells.
    nonnegative : bool, default=False
        Whether weights must not be negative.
    intercept : bool, default=False
        Whether every score has an intercept. It is penalised like the weight of a column of ones, and copies X once.
    scale : "none", "max" or "rms", default="none"
        What every column is divided by before the run: its largest magnitude, or its root mean square. `lam` and `l1`
        are then about the scaled columns; `coef_` is about the columns as they are.
    class_weight : dict, "balanced" or None, default=None
        What the examples of each class count, times `sample_weight`. ``"balanced"`` gives all classes the same total.
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
        ``"cutting-plane"``, ``"n-slack"`` and ``"eg"`` are those of the papers.
    solver_options : dict, default=None
        Settings of the solver by name, such as ``{"sampling": "gap"}``.
    threads : int, default=0
        The number of threads of a run; zero stands for all cores. The result does not depend on it.
    seed : int, default=0
        The seed of the random order. The same seed gives the same bits, here and in the program.
    warm_start : bool, default=False
        Whether to start from the dual point of the previous fit, which may have had another `lam`, or fewer examples.
    callback : callable, default=None
        Receives a dict of every certification, and ends the run by returning True.
    verbose : int, default=0
        Whether to show the progress of the run.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        The weights of each class; of two classes, those of the second minus those of the first.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        The intercepts; zero without any.
    model_ : Model
        The model, with the weights of all classes in ``model_.arrays["weights"]``.
    certificate_ : Certificate
        How far from the optimum the model is at most: recomputed from the data at the end of the run.
    history_ : list of dict
        Every certification of the run: passes, seconds, primal, dual, gap.
    stop_ : str
        Why the run ended: ``"gap_reached"``, ``"pass_limit"``, ``"time_limit"``, ``"oracle_limit"``,
        ``"interrupted"`` or ``"stalled"``.
    n_iter_ : int
        The number of passes over the data, rounded up.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X is a data frame with names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dualgap import MulticlassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 1], [1, 5, 0]]  # to take virginica for versicolor is worse than all else
    >>> model = MulticlassSVM(costs=costs, lam=1e-3, intercept=True, tolerance=1e-3).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> model.coef_.shape, model.score(X, y) > 0.9
    ((3, 4), True)
    """

    _structure: ClassVar[str] = "multiclass"
    _losses: ClassVar[tuple[str, ...]] = ("hinge", "smooth-hinge", "softmax")

    def __init__(
        self,
        *,
        loss: Literal["hinge", "smooth-hinge", "softmax"] = "hinge",
        width: float = 1.0,
        costs: Any = None,
        rescale: Literal["margin", "slack"] = "margin",
        lam: float | str = "1/n",
        l1: float | str = 0.0,
        nonnegative: bool = False,
        intercept: bool = False,
        scale: Literal["none", "max", "rms"] = "none",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
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
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.width = width
        self.costs = costs
        self.rescale = rescale
        self.lam = lam
        self.l1 = l1
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.scale = scale
        self.class_weight = class_weight
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

    def _structure_settings(self) -> dict[str, Any]:
        rescaling = one_of(self.rescale, "rescale", ("margin", "slack"))
        return {**super()._structure_settings(), "rescaling": rescaling}

    def _intercept(self) -> str | None:
        return penalised(self.intercept)

    def _set_fitted(self) -> None:
        self.coef_, self.intercept_ = self._class_weights(self.model_.arrays["weights"])

    @classmethod
    def _reads(cls, model: _dualgap.Model) -> bool:
        return super()._reads(model) and model.task["penalty"]["name"] != "ball"

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        rescale = model.task["structure"].get("rescaling", "margin")
        found = super()._keywords(model)
        return {**found, "rescale": rescale, "intercept": bool(found["intercept"]), "costs": model.costs}


def penalised(intercept: Any) -> str | None:
    """Return the kind of an intercept that is penalised if there is one."""
    if intercept not in (False, True, "penalised"):
        raise ValueError(f"intercept must be False or True, which is one with a penalty here, not {intercept!r}")
    return "penalised" if intercept else None
