# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # An own structure in 40 lines
#
# Not every output is a label or a number. Here it is an assignment: five workers, five jobs, and everybody gets one
# job. All that dualgap has to know is an *oracle*, an object with
#
# - `features(x, y)`: what of the input speaks for an output,
# - `loss(truth, y)`: what an output costs if another one is right,
# - `decode(w, x, truth)`: the output with the highest score, plus its loss if there is a truth.
#
# The last one is where the structure is. Assignments have a fast algorithm, and scipy has it.

# %%
import numpy as np
from scipy.optimize import linear_sum_assignment

import dualgap

WORKERS, FEATURES = 5, 4


class Assignment:
    """An input has a row of features for every worker and job; an output is the job of every worker."""

    dim = FEATURES

    def features(self, x, y):
        return x[np.arange(WORKERS), list(y)].sum(axis=0)

    def loss(self, truth, y):
        return float(np.mean(np.array(truth) != np.array(y)))

    def decode(self, w, x, truth=None):
        scores = x @ w
        if truth is not None:
            # Every wrong job adds to the loss, so the loss is a part of the scores.
            scores = scores + 1 / WORKERS
            scores[np.arange(WORKERS), list(truth)] -= 1 / WORKERS
        return tuple(int(job) for job in linear_sum_assignment(-scores)[1])

    def admits(self, x, y):
        return sorted(y) == list(range(WORKERS))


# %% [markdown]
# Inputs are made up: true weights, and some noise on the scores that decided.

# %%
rng = np.random.default_rng(0)
truth = np.array([2.0, -1.0, 0.5, 0.0])


def example():
    """Return an input and the assignment that somebody made."""
    x = rng.normal(size=(WORKERS, WORKERS, FEATURES))
    noise = 0.3 * rng.normal(size=(WORKERS, WORKERS))
    return x, tuple(int(job) for job in linear_sum_assignment(-(x @ truth) - noise)[1])


X, Y = zip(*[example() for _ in range(150)], strict=True)
X_new, Y_new = zip(*[example() for _ in range(100)], strict=True)

# %% [markdown]
# ## Is the oracle right?
#
# A wrong `decode` would make the certificate worthless, so it can be tried first. `check_oracle` draws weights,
# decodes, and compares with all outputs, which can be listed as long as inputs are small.

# %%
from itertools import permutations

report = dualgap.check_oracle(
    Assignment(), X[:3], Y[:3], draws=5, all_outputs=lambda x: list(permutations(range(WORKERS)))
)
print(report)
report.raise_for_breach()

# %% [markdown]
# ## Training
#
# The rest is as for every other estimator: a certified optimum, predictions, a score.

# %%
model = dualgap.StructuredSVM(Assignment(), lam=0.01, tolerance=0.01).fit(X, Y)
print(model.certificate_)
print("weights:", model.coef_.round(2))

# %%
print(f"{model.score(X_new, Y_new):.1%} of the workers get the right job in new inputs")
assert model.score(X_new, Y_new) > 0.7
assert model.certificate_.relative_gap <= 0.01

# %% [markdown]
# Outputs are stored as numbers, never as pickles. A model file stays safe to load, and whoever has the oracle and the
# data can prove its bound again.

# %%
print(model.certify(X, Y))
