"""Plots of runs, weights, chains, alignments and paths. They take matplotlib: ``pip install dualgap[plot]``.

Every function draws on the axes that it is given, or on a figure of its own, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._certificate import Certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["alignment", "coefficients", "convergence", "path", "transitions"]

#: Okabe and Ito's palette, which everybody can tell apart; black first where one colour is enough.
_BLUE, _ORANGE, _GREEN, _RED, _SKY, _PINK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"
_COLOURS = (_BLUE, _ORANGE, _GREEN, _RED, _SKY, _PINK)

#: Above this number of rows or columns, the numbers in the cells of a heat map could not be read.
_READABLE = 12


def convergence(
    run: Any, ax: Axes | Sequence[Axes] | None = None, *, against: Literal["passes", "seconds"] = "passes"
) -> np.ndarray:
    """Draw how the certified band around the optimum became narrow, and its relative width on a logarithmic scale below.

    Parameters
    ----------
    run : object or list of dict
        A fitted estimator, or its `history_`. If it has one for each class, the gaps of all are drawn.
    ax : pair of matplotlib Axes, or one of them, default=None
        Where to draw the band and the gap. One of them gets the gap alone.
    against : {"passes", "seconds"}, default="passes"
        The horizontal axis: passes over the data, or seconds, both without what came before the run.

    Returns
    -------
    axes : ndarray of Axes
        The axes of the band and of the gap, or of the gap alone.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from dualgap import LinearRegressor, plot
    >>> X, y = make_regression(random_state=0)
    >>> band, gap = plot.convergence(LinearRegressor(tolerance=1e-4).fit(X, y))
    >>> gap.get_ylabel()
    'relative gap'
    """
    history, tolerance = getattr(run, "history_", run), getattr(run, "tolerance", None)
    if against not in ("passes", "seconds"):
        raise ValueError(f'against must be "passes" or "seconds", not {against!r}')
    if not history:
        raise ValueError("there is no history: a model that was read from a file has none")
    several = isinstance(history[0], list)
    axes = _axes(ax, rows=1 if several else 2)
    if len(axes) == 2:
        _band(axes[0], history, against)
    gap = axes[-1]
    if several:
        names = [str(label) for label in getattr(run, "classes_", range(len(history)))]
        for k, (name, part) in enumerate(zip(names, history, strict=True)):
            # Colours and then strokes tell the classes apart.
            colour, stroke = _COLOURS[k % len(_COLOURS)], ("-", "--", ":", "-.")[k // len(_COLOURS) % 4]
            gap.semilogy(_work(part, against), _gaps(part), color=colour, linestyle=stroke, label=name)
    else:
        gap.semilogy(
            _work(history, against), _gaps(history), color=_BLUE, marker="o", markersize=3, label="proven gap"
        )
    if tolerance:
        gap.axhline(tolerance, color=_RED, linestyle="--", linewidth=1.2, label=f"tolerance {tolerance:g}")
    if tolerance or several:
        gap.legend(frameon=False)
    gap.set_ylabel("relative gap")
    gap.set_xlabel("passes over the data" if against == "passes" else "seconds")
    for axis in axes:
        _calm(axis)
    return axes


def _work(history: list[dict[str, Any]], against: str) -> list[float]:
    if against == "passes":
        return [entry["passes"] for entry in history]
    return [entry["solve_seconds"] + entry["certify_seconds"] for entry in history]


def _gaps(history: list[dict[str, Any]]) -> np.ndarray:
    """Return the proven gaps. One of zero, or one that is not proven, has no place on a logarithmic scale."""
    bounds = np.array([Certificate._of(entry, reached=False).relative_gap for entry in history])
    return np.where((bounds > 0.0) & np.isfinite(bounds), bounds, np.nan)


def _band(ax: Axes, history: list[dict[str, Any]], against: str) -> None:
    x = _work(history, against)
    primal, dual = ([entry[side] for entry in history] for side in ("primal", "dual"))
    ax.fill_between(x, dual, primal, color=_BLUE, alpha=0.15, linewidth=0, label="the optimum is in here")
    ax.plot(x, primal, color=_BLUE, marker="o", markersize=3, label="primal: the objective of the model")
    ax.plot(x, dual, color=_GREEN, marker="o", markersize=3, label="dual: the optimum is not below")
    ax.set_ylabel("objective")
    ax.legend(frameon=False)


def coefficients(
    estimator: Any, ax: Axes | None = None, *, top: int = 20, names: Sequence[str] | None = None
) -> Axes:
    """Draw the largest weights of a linear model: as bars, or as a table of colours if there are several classes.

    Parameters
    ----------
    estimator : object
        A fitted estimator with `coef_`.
    ax : matplotlib Axes, default=None
        Where to draw.
    top : int, default=20
        How many features to show: those with the largest weights, whatever their sign.
    names : sequence of str, default=None
        The names of the features. By default they are `feature_names_in_`, or ``x0``, ``x1`` and so on.

    Returns
    -------
    ax : Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dualgap import LinearRegressor, plot
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = plot.coefficients(LinearRegressor(lam=1e-4).fit(X, y), top=5)
    >>> len(ax.get_yticklabels())
    5
    """
    weights = estimator.coef_
    weights = np.atleast_2d(weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights))
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(weights.shape[1])]
    if len(names) != weights.shape[1]:
        raise ValueError(f"there are {weights.shape[1]} features, and {len(names)} names")
    largest = np.abs(weights).max(axis=0)
    # Sorted stably, so that equal weights stay in the order of their columns; those of zero say nothing.
    order = [i for i in np.argsort(-largest, kind="stable")[:top] if largest[i] > 0.0]
    if not order:
        raise ValueError("all weights are zero")
    shown = [str(names[i]) for i in order]

    if len(weights) > 1:
        labels = [str(label) for label in getattr(estimator, "classes_", range(len(weights)))]
        (ax,) = _axes(ax, size=(1.5 + 0.6 * len(labels), 1.2 + 0.3 * len(order)))
        _heat_map(ax, weights[:, order].T, shown, labels[: len(weights)], "weight")
        ax.set_xlabel("class")
        return ax
    (ax,) = _axes(ax, size=(6.0, 1.0 + 0.25 * len(order)))
    values = weights[0, order]
    ax.barh(range(len(order)), values, color=np.where(values > 0.0, _BLUE, _ORANGE), height=0.7)
    ax.set_yticks(range(len(order)), shown)
    ax.invert_yaxis()
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) == 2:
        ax.set_xlabel(f"weight (negative: {classes[0]}, positive: {classes[1]})")
    else:
        ax.set_xlabel("weight")
    _calm(ax)
    ax.grid(visible=False, axis="y")
    return ax


def transitions(chain: Any, labels: Sequence[Any] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the weights of a chain's transitions as a table of colours.

    Parameters
    ----------
    chain : object or array of shape (n_labels, n_labels)
        A fitted chain, or the weights: the row is the label that a transition leaves.
    labels : sequence, default=None
        The names of the labels. By default they are the chain's `classes_`.
    ax : matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : Axes
        The axes.

    Examples
    --------
    >>> from dualgap import plot
    >>> ax = plot.transitions([[1.0, -0.5], [0.2, 0.8]], ["noun", "verb"])
    >>> ax.get_xlabel()
    'to'
    """
    weights = np.asarray(getattr(chain, "transitions_", chain), dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"transitions are a square matrix, not one of the shape {weights.shape}")
    names = [str(label) for label in (getattr(chain, "classes_", range(len(weights))) if labels is None else labels)]
    if len(names) != len(weights):
        raise ValueError(f"there are transitions of {len(weights)} labels, and {len(names)} names")
    side = max(3.5, 1.5 + 0.45 * len(names))
    (ax,) = _axes(ax, size=(side + 1.0, side))
    _heat_map(ax, weights, names, names, "weight")
    ax.set_xlabel("to")
    ax.set_ylabel("from")
    return ax


def alignment(
    links: Any, source: Sequence[str], target: Sequence[str], *, truth: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw which words of two sentences are aligned, beside the true links if they are known.

    Parameters
    ----------
    links : pairs (row, column), or array of shape (n_source, n_target)
        The predicted links.
    source, target : sequence of str
        The words: a row for each of `source`, a column for each of `target`.
    truth : as `links`, or dict with the lists ``"sure"`` and ``"possible"``, default=None
        The true links. In an array, 1 is a sure link and -1 a possible one.
    ax : matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : Axes
        The axes.

    Examples
    --------
    >>> from dualgap import plot
    >>> ax = plot.alignment([(0, 0), (1, 1)], ["das", "Haus"], ["the", "house"], truth=[(0, 0), (1, 1)])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['the', 'house']
    """
    shape = (len(source), len(target))
    found, _ = _links(links, shape, "a link")
    sure, possible = _links([] if truth is None else truth, shape, "a true link")
    plt = _pyplot()
    # A cell of 0.42 inches is as high as a word; the rest is for words and legend.
    (ax,) = _axes(ax, size=(3.2 + 0.42 * shape[1], 1.0 + 0.42 * shape[0]))
    right = set(sure) | set(possible)
    # The colours say whether a prediction is right, and so do the shapes.
    for i, j in found:
        wrong = truth is not None and (i, j) not in right
        colour = _ORANGE if wrong else _BLUE
        ax.add_patch(plt.Rectangle((j - 0.36, i - 0.36), 0.72, 0.72, facecolor=colour, gid="wrong" if wrong else "link"))
        if wrong:
            ax.plot([j - 0.2, j + 0.2], [i - 0.2, i + 0.2], color="white", linewidth=1.5)
    for pairs, style, kind in ((sure, "-", "sure"), (possible, ":", "possible")):
        for i, j in pairs:
            square = plt.Rectangle(
                (j - 0.44, i - 0.44), 0.88, 0.88, fill=False, edgecolor="black", linewidth=1.5, linestyle=style, gid=kind
            )
            ax.add_patch(square)
    ax.set_xlim(-0.5, shape[1] - 0.5)
    ax.set_ylim(shape[0] - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.set_xticks(range(shape[1]), target, rotation=90)
    ax.set_yticks(range(shape[0]), source)
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(-0.5, shape[1]), minor=True)
    ax.set_yticks(np.arange(-0.5, shape[0]), minor=True)
    ax.grid(which="minor", color="0.85", linewidth=0.8)
    ax.tick_params(which="both", length=0)
    ax.set_axisbelow(True)
    for spine in ax.spines.values():
        spine.set_visible(False)
    handles = [_patch("predicted" if truth is None else "predicted, true", facecolor=_BLUE)]
    if any((i, j) not in right for i, j in found) and truth is not None:
        handles.append(_patch("predicted, not true", facecolor=_ORANGE))
    if sure:
        handles.append(_patch("true", fill=False, edgecolor="black", linewidth=1.5))
    if possible:
        handles.append(_patch("possible", fill=False, edgecolor="black", linewidth=1.5, linestyle=":"))
    ax.legend(handles=handles, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def path(
    certified: Any, ax: Axes | Sequence[Axes] | None = None, *, top: int = 6, names: Sequence[str] | None = None
) -> np.ndarray:
    """Draw the weights of a certified path, and below what is proven at every lam of it.

    Parameters
    ----------
    certified : sequence of pieces
        A path: every piece has `lam` (or `value`, if it is over something else), `interval`, `certificate` and `coef`. If it has a method ``at(lam)``, the bound is
        drawn all over its interval.
    ax : pair of matplotlib Axes, default=None
        Where to draw the weights and the gap. One of them gets the gap alone.
    top : int, default=6
        How many weights to show: those that are largest somewhere on the path.
    names : sequence of str, default=None
        The names of the features. By default they are those of the estimators, or ``x0``, ``x1`` and so on.

    Returns
    -------
    axes : ndarray of Axes
        The axes of the weights and of the gap, or of the gap alone.
    """
    pieces = sorted(certified, key=_place)
    if not pieces:
        raise ValueError("the path has no pieces")
    axes = _axes(ax, rows=2, size=(8.0, 5.2))
    if len(axes) == 2:
        _path_weights(axes[0], pieces, top, names)
    gap = axes[-1]
    for number, piece in enumerate(pieces):
        low, high = piece.interval
        gap.axvspan(low, high, color="0.9" if number % 2 else "0.96", linewidth=0)
        lams = np.geomspace(low, high, 33) if low < high else np.array([low])
        at = getattr(piece, "at", None)
        bounds = [piece.certificate.relative_gap if at is None else at(lam).relative_gap for lam in lams]
        gap.plot(lams, bounds, color=_BLUE, label="proven gap" if number == 0 else None)
        gap.plot([_place(piece)], [piece.certificate.relative_gap], color=_BLUE, marker="o", markersize=4, clip_on=False)
    tolerance = getattr(certified, "tolerance", None)
    if tolerance:
        gap.axhline(tolerance, color=_RED, linestyle="--", linewidth=1.2, label=f"tolerance {tolerance:g}")
    gap.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    gap.set_ylim(bottom=0.0)
    gap.set_xscale("log")
    gap.set_xlabel(getattr(certified, "over", "lam"))
    gap.set_ylabel("relative gap")
    for axis in axes:
        _calm(axis)
    return axes


def _place(piece: Any) -> float:
    """Return the number that a path is over."""
    return getattr(piece, "value", None) or piece.lam


def _path_weights(ax: Axes, pieces: list[Any], top: int, names: Sequence[str] | None) -> None:
    weights = np.array([np.ravel(piece.coef) for piece in pieces])
    if names is None:
        names = getattr(getattr(pieces[0], "estimator", None), "feature_names_in_", None)
    if names is None or len(names) != weights.shape[1]:
        names = [f"x{i}" for i in range(weights.shape[1])]
    largest = np.abs(weights).max(axis=0)
    # A model holds all over its interval; where two of them overlap, they meet in the middle.
    ends = np.array([piece.interval for piece in pieces])
    middles = np.sqrt(ends[:-1, 1] * ends[1:, 0])
    lams = np.concatenate([ends[:1, 0], np.repeat(middles, 2), ends[-1:, 1]])
    for rank, i in enumerate(np.argsort(-largest, kind="stable")[:top]):
        colour, line = _COLOURS[rank % len(_COLOURS)], "-" if rank < len(_COLOURS) else "--"
        ax.plot(lams, np.repeat(weights[:, i], 2), color=colour, linestyle=line, label=str(names[i]))
    ax.axhline(0.0, color="0.3", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_ylabel("weight")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _links(
    links: Any, shape: tuple[int, int], what: str
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return sure and possible links as pairs."""
    if isinstance(links, Mapping):
        sure, possible = links.get("sure", []), links.get("possible", [])
    elif hasattr(links, "shape") and tuple(links.shape) == shape:
        matrix = links.toarray() if hasattr(links, "toarray") else np.asarray(links)
        sure, possible = np.argwhere(matrix > 0), np.argwhere(matrix < 0)
    else:
        sure, possible = links, []

    def checked(pairs: Iterable[Any]) -> list[tuple[int, int]]:
        result = [(int(i), int(j)) for i, j in pairs]
        for i, j in result:
            if not (0 <= i < shape[0] and 0 <= j < shape[1]):
                raise ValueError(f"{what} joins {i} and {j}, and there are {shape[0]} and {shape[1]} words")
        return result

    return checked(sure), checked(possible)


def _heat_map(ax: Axes, values: np.ndarray, rows: list[str], columns: list[str], what: str) -> None:
    """Draw numbers as colours that are symmetric around a white zero."""
    most = float(np.abs(values).max()) or 1.0
    image = ax.imshow(values, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    ax.set_xticks(range(len(columns)), columns, rotation=90 if max(map(len, columns)) > 3 else 0)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    if len(columns) <= _READABLE:
        for (i, j), value in np.ndenumerate(values):
            colour = "white" if abs(value) > 0.6 * most else "black"
            ax.text(j, i, f"{value:.2g}", ha="center", va="center", color=colour, fontsize="small")
    ax.figure.colorbar(image, ax=ax, label=what)


def _calm(ax: Axes) -> None:
    """Leave out what says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def _patch(label: str, **style: Any) -> Any:
    _pyplot()
    from matplotlib.patches import Patch

    return Patch(label=label, **style)


def _axes(ax: Any, rows: int = 1, size: tuple[float, float] | None = None) -> np.ndarray:
    """Return the given axes as an array, or those of a new figure."""
    if ax is not None:
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) > rows:
            raise ValueError(f"there are {len(axes)} axes, and this is drawn on at most {rows}")
        return axes
    plt = _pyplot()
    size = size or (6.4, 2.6 * rows)
    _, axes = plt.subplots(rows, 1, sharex=rows > 1, figsize=size, layout="constrained", squeeze=False)
    return axes.ravel()


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots take matplotlib: pip install dualgap[plot]") from error
    return plt
