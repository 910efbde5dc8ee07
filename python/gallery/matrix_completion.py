# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Matrix completion
#
# Some people have rated some items. What would they say of the others? If tastes follow a few patterns, the matrix of
# all ratings has low rank, and a bound on its trace norm (the sum of its singular values) finds it without choosing a
# rank.
#
# The ratings of this page are made up: three patterns, and noise.

# %%
import matplotlib.pyplot as plt
import numpy as np

import dualgap

rng = np.random.default_rng(0)
users, items, rank = 80, 60, 3
tastes = rng.normal(size=(users, rank)) @ rng.normal(size=(rank, items)) / np.sqrt(rank)
known = rng.random((users, items)) < 0.35
who, what = np.nonzero(known)
ratings = 3.0 + tastes[who, what] + 0.2 * rng.normal(size=len(who))
test = rng.random(len(who)) < 0.2
train = ~test
print(f"{train.sum()} ratings to train on, {test.sum()} to test with, {users * items} pairs")

# %% [markdown]
# ## The radius
#
# The trace norm of the matrix is at most `radius`. A small one predicts little more than the effects of users and items,
# a large one learns the noise. `radius="auto"`, the default, tries some on ratings that it keeps back; here is what it
# does, with ratings that we keep back ourselves. Every one of these models is certified, so no radius
# looks bad because its run ended too early.

# %%
radii = [20, 40, 80, 160, 320]
errors = []
for radius in radii:
    model = dualgap.MatrixCompletion(radius=radius, tolerance=0.02).fit(who[train], what[train], ratings[train])
    errors.append(model.evaluate(who[test], what[test], ratings[test])["rmse"])
    print(
        f"radius {radius:3}: error {errors[-1]:.3f}, rank {len(model.singular_values_):2}, "
        f"at most {model.certificate_.relative_gap:.1%} above the optimum"
    )
best = radii[int(np.argmin(errors))]
mean = float(np.sqrt(np.mean((ratings[test] - ratings[train].mean()) ** 2)))
print(f"the mean of all ratings has an error of {mean:.3f}")
assert min(errors) < 0.7 * mean

# %%
figure, axes = plt.subplots()
axes.semilogx(radii, errors, "o-", label="error on ratings that were kept back")
axes.axhline(mean, linestyle=":", color="gray", label="the mean of all ratings")
axes.set_xlabel("radius")
axes.legend()
plt.show()

# %% [markdown]
# ## Predictions
#
# The factors of the matrix are attributes; a pair that nobody has rated is as easy as one that somebody has.

# %%
model = dualgap.MatrixCompletion(radius=best, tolerance=0.01).fit(who, what, ratings)
unknown = np.argwhere(~known)[:5]
for (user, item), predicted in zip(unknown, model.predict(unknown), strict=True):
    print(f"user {user}, item {item:2}: {predicted:.2f}, and the truth is {3.0 + tastes[user, item]:.2f}")
print("singular values:", model.singular_values_[:6].round(1))
print(model.certify(who, what, ratings))
