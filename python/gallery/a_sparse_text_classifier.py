# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # A sparse text classifier, beside LinearSVC, with both certified
#
# Two classifiers are trained on the same texts for the same problem, one by scikit-learn and one by dualgap. How good
# are they as *solutions*? `dualgap.certify` answers for both: it proves how far above the optimum of its own problem
# a model is, whoever trained it.
#
# The texts are made up: two authors who use the same words with other frequencies.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

import dualgap

rng = np.random.default_rng(0)
vocabulary = np.array([f"word{k}" for k in range(2000)])
zipf = 1.0 / np.arange(1, 2001)
frequencies = {author: zipf * rng.lognormal(sigma=0.6, size=2000) for author in ("Ada", "Bert")}


def text(author: str) -> str:
    """Return forty words of an author."""
    frequency = frequencies[author]
    return " ".join(rng.choice(vocabulary, size=40, p=frequency / frequency.sum()))


authors = rng.choice(["Ada", "Bert"], size=1200)
texts = [text(author) for author in authors]
texts, new_texts, authors, new_authors = train_test_split(texts, authors, random_state=0)

vectorizer = TfidfVectorizer()
X, X_new = vectorizer.fit_transform(texts), vectorizer.transform(new_texts)
n = X.shape[0]
print(f"{n} texts, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of the entries are not zero")

# %% [markdown]
# ## The same problem twice
#
# LinearSVC minimises `½‖w‖² + C Σ loss`, dualgap the mean loss plus `lam/2 ‖w‖²`. Divided by `C n` the first is the
# second with `lam = 1/(C n)`. LinearSVC penalises its intercept like a weight, so ours does here.

# %%
C = 1.0
theirs = LinearSVC(C=C, loss="hinge", random_state=0).fit(X, authors)
ours = dualgap.LinearClassifier(loss="hinge", lam=1 / (C * n), intercept="penalised", tolerance=1e-4).fit(X, authors)
for name, model in [("LinearSVC", theirs), ("LinearClassifier", ours)]:
    print(f"{name:17} {model.score(X_new, new_authors):.1%} of new texts are right")

# %% [markdown]
# ## Who is at the optimum?
#
# The bounds for LinearSVC are in the units of its own objective. Nothing of its solver has to be trusted for that: any
# dual point bounds the optimum from below, and dualgap finds a good one.

# %%
proof = dualgap.certify(theirs, X, authors)
print("LinearSVC:       ", proof)
print("LinearClassifier:", ours.certificate_)
assert proof.at_least <= proof.at_most
assert ours.certificate_.relative_gap <= 1e-4

# %% [markdown]
# ## Fewer words
#
# An l1 penalty sets most weights to zero, and the certificate covers it. The words that are left say what the authors
# differ in.

# %%
sparse = dualgap.LinearClassifier(loss="hinge", lam=1 / (C * n), l1=0.001, intercept="penalised").fit(X, authors)
print(f"{np.count_nonzero(ours.coef_)} weights without l1, {np.count_nonzero(sparse.coef_)} with it")
print(f"{sparse.score(X_new, new_authors):.1%} of new texts are right")
print(sparse.certificate_)
assert np.count_nonzero(sparse.coef_) < np.count_nonzero(ours.coef_)

# %%
dualgap.plot.coefficients(sparse, top=15, names=vectorizer.get_feature_names_out())
plt.show()
