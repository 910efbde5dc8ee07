# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # A path, and which lam to take
#
# How strong should the penalty be? The usual answer is a grid: train at ten values of `lam`, and hope that nothing
# happens in between. A model and its dual point prove more than that. They bound the distance to the optimum at *every*
# `lam`, not only at the one they were trained at, and the bound is small on an interval. So a few models are enough for
# all of them.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import dualgap

data = load_breast_cancer()
X, X_new, y, y_new = train_test_split(data.data, data.target, random_state=0)
scaler = StandardScaler().fit(X)
X, X_new = scaler.transform(X), scaler.transform(X_new)

# %% [markdown]
# ## Every lam between two ends
#
# The ends are numbers or multiples of `1/n`. At every `lam` in between, one of these models is within five per cent
# of the optimum, and that is proven.

# %%
estimator = dualgap.LinearClassifier(loss="smooth-hinge", intercept=True)
path = dualgap.path(estimator, X, y, low="0.1/n", high="100/n", tolerance=0.05)
print(path)
print(pd.DataFrame(path.to_dict()).round(5).to_string(index=False))

# %% [markdown]
# `at` gives the model for a `lam` that nobody has trained at, with the bound that holds there.

# %%
model, certificate = path.at(0.02)
print(certificate)
print(f"{model.score(X_new, y_new):.1%} of new examples are right")

# %% [markdown]
# Is that true? A tight fit at the same `lam` says what the optimum is.

# %%
tight = dualgap.LinearClassifier(loss="smooth-hinge", intercept=True, lam=0.02, tolerance=1e-6).fit(X, y)
above = certificate.primal - tight.certificate_.primal
print(f"{above / certificate.primal:.2%} above the optimum, and at most {certificate.relative_gap:.2%} was promised")
assert above <= certificate.gap_bound

# %% [markdown]
# ## A picture
#
# The weights grow as `lam` gets smaller, and below is what is proven. Each arc belongs to one model.

# %%
dualgap.plot.path(path, names=data.feature_names)
plt.show()

# %% [markdown]
# ## Which one predicts best?
#
# Cross-validation tries a grid on held-out folds. All of its models are certified, too: no `lam` looks worse than
# another because its training ended too early. With `one_standard_error` it takes the strongest penalty that is as
# good as the best within the error of the measurement.

# %%
chosen = dualgap.LinearClassifierCV(loss="smooth-hinge", intercept=True, one_standard_error=True).fit(X, y)
table = pd.DataFrame(
    {
        "lam": chosen.lams_,
        "error": chosen.cv_mean_errors_,
        "±": chosen.cv_standard_errors_,
        "worst gap": chosen.cv_gaps_,
    }
)
print(table.to_string(index=False, float_format="{:.5f}".format))
print(f"chosen: lam = {chosen.lam_:.3g}; {chosen.score(X_new, y_new):.1%} of new examples are right")
assert np.all(chosen.cv_gaps_ <= 0.01)
