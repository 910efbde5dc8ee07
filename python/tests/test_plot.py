"""Plots show the numbers of what they are given."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from dualgap import Certificate, LinearClassifier, plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    X, y = make_classification(200, 8, flip_y=0.3, random_state=0)
    return LinearClassifier(tolerance=1e-4).fit(X, y)


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


@pytest.mark.parametrize("against", ["passes", "seconds"])
def test_the_band_has_the_primal_and_dual_values_as_its_edges(fitted, against):
    band, gap = plot.convergence(fitted, against=against)
    history = fitted.history_
    x = [h["passes"] if against == "passes" else h["solve_seconds"] + h["certify_seconds"] for h in history]
    primal, dual = (lines(band)[name] for name in list(lines(band))[:2])
    np.testing.assert_array_equal(primal.get_xdata(), x)
    np.testing.assert_array_equal(primal.get_ydata(), [h["primal"] for h in history])
    np.testing.assert_array_equal(dual.get_ydata(), [h["dual"] for h in history])
    (filled,) = band.collections
    corners = {tuple(corner) for corner in filled.get_paths()[0].vertices}
    assert {(a, h["primal"]) for a, h in zip(x, history, strict=True)} <= corners
    assert {(a, h["dual"]) for a, h in zip(x, history, strict=True)} <= corners
    bounds = [(h["primal"] - h["dual"] + h["rounding_error"]) / abs(h["primal"]) for h in history]
    np.testing.assert_allclose(lines(gap)["proven gap"].get_ydata(), bounds, rtol=1e-12)
    assert gap.get_yscale() == "log"
    np.testing.assert_array_equal(lines(gap)["tolerance 0.0001"].get_ydata(), [1e-4, 1e-4])


def test_a_history_is_enough_and_one_axis_gets_the_gap(fitted):
    _, ax = plt.subplots()
    (gap,) = plot.convergence(fitted.history_, ax)
    assert gap is ax
    assert list(lines(gap)) == ["proven gap"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_class_has_a_gap_of_its_own():
    X, y = make_classification(100, 6, n_informative=4, n_classes=3, random_state=0)
    model = LinearClassifier(tolerance=None, passes=8).fit(X, np.array(["a", "b", "c"])[y])
    (gap,) = plot.convergence(model)
    drawn = lines(gap)
    assert list(drawn) == ["a", "b", "c"]
    for name, history in zip("abc", model.history_, strict=True):
        np.testing.assert_array_equal(drawn[name].get_xdata(), [entry["passes"] for entry in history])


def test_an_unproven_gap_is_not_drawn(fitted):
    history = [{**fitted.history_[0], "certified": False}, *fitted.history_[1:]]
    _, gap = plot.convergence(history)
    drawn = lines(gap)["proven gap"].get_ydata()
    assert np.isnan(drawn[0]) and not np.isnan(drawn[1:]).any()


def test_without_a_history_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="no history"):
        plot.convergence([])


def test_the_largest_weights_are_drawn_in_their_order(fitted):
    names = list("abcdefgh")
    ax = plot.coefficients(fitted, top=3, names=names)
    order = np.argsort(-np.abs(fitted.coef_[0]))[:3]
    assert [bar.get_width() for bar in ax.patches] == list(fitted.coef_[0, order])
    assert [label.get_text() for label in ax.get_yticklabels()] == [names[i] for i in order]
    assert "negative: 0, positive: 1" in ax.get_xlabel()


def test_weights_of_several_classes_are_a_heat_map():
    weights = np.arange(12.0).reshape(3, 4)
    ax = plot.coefficients(SimpleNamespace(coef_=weights, classes_=["a", "b", "c"]), top=2)
    np.testing.assert_array_equal(ax.images[0].get_array(), weights[:, [3, 2]].T)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x3", "x2"]
    assert len(ax.texts) == 6


def test_names_that_do_not_fit_are_refused(fitted):
    with pytest.raises(ValueError, match="8 features, and 2 names"):
        plot.coefficients(fitted, names=["a", "b"])
    with pytest.raises(ValueError, match="zero"):
        plot.coefficients(SimpleNamespace(coef_=np.zeros(3)))


def test_transitions_are_drawn_from_rows_to_columns():
    weights = np.array([[1.0, -2.0], [0.5, 0.25]])
    chain = SimpleNamespace(transitions_=weights, classes_=np.array(["O", "B"]))
    for ax in (plot.transitions(chain), plot.transitions(weights, ["O", "B"])):
        np.testing.assert_array_equal(ax.images[0].get_array(), weights)
        # The colours are symmetric around zero.
        assert ax.images[0].get_clim() == (-2.0, 2.0)
        assert (ax.get_ylabel(), ax.get_xlabel()) == ("from", "to")
        assert [label.get_text() for label in ax.get_xticklabels()] == ["O", "B"]
    with pytest.raises(ValueError, match="square"):
        plot.transitions(weights[:1])
    with pytest.raises(ValueError, match="2 labels, and 1 names"):
        plot.transitions(weights, ["O"])


def squares(ax, kind):
    """Return the middles of the squares of a kind, as pairs of a row and a column."""
    found = [patch for patch in ax.patches if patch.get_gid() == kind]
    return {(round(p.get_y() + p.get_height() / 2), round(p.get_x() + p.get_width() / 2)) for p in found}


def test_an_alignment_tells_right_links_from_wrong_ones():
    truth = {"sure": [(0, 0), (2, 1)], "possible": [(1, 1)]}
    ax = plot.alignment([(0, 0), (1, 1), (2, 0)], ["a", "b", "c"], ["x", "y"], truth=truth)
    assert squares(ax, "link") == {(0, 0), (1, 1)}
    assert squares(ax, "wrong") == {(2, 0)}
    assert squares(ax, "sure") == {(0, 0), (2, 1)}
    assert squares(ax, "possible") == {(1, 1)}
    marks = np.array([[1, 0], [0, -1], [0, 1]])
    same = plot.alignment([(0, 0), (1, 1), (2, 0)], ["a", "b", "c"], ["x", "y"], truth=marks)
    assert all(squares(same, kind) == squares(ax, kind) for kind in ("link", "wrong", "sure", "possible"))


def test_a_link_beyond_the_words_is_refused():
    with pytest.raises(ValueError, match="joins 0 and 2, and there are 1 and 2 words"):
        plot.alignment([(0, 2)], ["a"], ["x", "y"])


def piece(lam, low, high, coef):
    """A piece whose gap is 0.01 at its lam, and grows with the distance."""
    return SimpleNamespace(
        lam=lam,
        interval=(low, high),
        certificate=Certificate(1.0, 0.99, 0.0),
        coef=np.array(coef),
        at=lambda other: Certificate(1.0, 0.99 - abs(np.log(other / lam)) / 100.0, 0.0),
    )


def test_a_path_is_drawn_on_its_intervals():
    # The intervals overlap between 0.09 and 0.11, which are the same way from 0.0995.
    pieces = [piece(1.0, 0.09, 2.0, [0.0, 3.0]), piece(0.05, 0.01, 0.11, [1.0, 5.0])]
    weights, gap = plot.path(pieces, names=["a", "b"])
    drawn = lines(weights)
    assert list(drawn)[:2] == ["b", "a"], "the largest first"
    middle = np.sqrt(0.09 * 0.11)
    np.testing.assert_allclose(drawn["b"].get_xdata(), [0.01, middle, middle, 2.0])
    np.testing.assert_array_equal(drawn["b"].get_ydata(), [5.0, 5.0, 3.0, 3.0])
    curves = [line for line in gap.get_lines() if len(line.get_xdata()) > 1]
    for curve, (low, high), lam in zip(curves, [(0.01, 0.11), (0.09, 2.0)], [0.05, 1.0], strict=True):
        x = curve.get_xdata()
        np.testing.assert_allclose(x[[0, -1]], [low, high])
        np.testing.assert_allclose(curve.get_ydata(), 0.01 + np.abs(np.log(x / lam)) / 100.0)
    assert gap.get_xscale() == "log"


def test_without_matplotlib_the_error_names_the_extra():
    # `dualgap` itself does not import it, either.
    script = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "from dualgap import plot\n"
        "try: plot.transitions([[0.0]])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "plots take matplotlib: pip install dualgap[plot]"
