# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # A tagger by lunch
#
# A tagger gives every word of a sentence a label. Words are ambiguous: "saw" is a verb in "she saw the duck" and a
# noun in "the old saw". What decides is the neighbourhood, and a chain model learns it: weights of the features of a
# word, and weights of pairs of neighbouring labels.
#
# The sentences of this page are made by a small grammar with ambiguous words. Your own come as lists, or as column
# files in the manner of the CoNLL shared tasks: `SequenceTagger().fit("train.txt")`.

# %%
import random

import matplotlib.pyplot as plt

import dualgap

WORDS = {
    "DET": ["the", "a", "this", "every"],
    "ADJ": ["old", "light", "wooden", "last", "quick"],
    "NOUN": ["duck", "saw", "light", "run", "dog", "walk", "park", "watch", "last"],
    "VERB": ["saw", "walk", "run", "watch", "duck", "light", "sleeps"],
    "PRON": ["she", "they", "we", "he"],
    "ADV": ["fast", "quickly", "often"],
}
PATTERNS = [
    ["PRON", "VERB", "DET", "NOUN"],
    ["DET", "ADJ", "NOUN", "VERB", "ADV"],
    ["DET", "NOUN", "VERB", "DET", "ADJ", "NOUN"],
    ["PRON", "ADV", "VERB"],
    ["DET", "ADJ", "ADJ", "NOUN", "VERB", "PRON"],
]


def sentences(count: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return sentences and their labels."""
    choose = random.Random(seed)
    labels = [choose.choice(PATTERNS) for _ in range(count)]
    return [[choose.choice(WORDS[label]) for label in pattern] for pattern in labels], labels


X, y = sentences(300, seed=1)
X_test, y_test = sentences(200, seed=2)
print(list(zip(X[0], y[0], strict=True)))

# %% [markdown]
# ## Training
#
# `features="standard"` takes words, their shapes and their affixes, of the token itself and of its neighbours. Training
# ends when the model is *proven* to be within one per cent of the best value that any weights have.

# %%
tagger = dualgap.SequenceTagger(features="standard", lam=0.01, tolerance=0.01).fit(X, y)
print(tagger.certificate_)

# %%
accuracy = tagger.score(X_test, y_test)
print(f"{accuracy:.1%} of the labels of new sentences are right")
assert accuracy > 0.95

# %% [markdown]
# Half of the words are ambiguous. Here is one word with two labels:

# %%
for sentence in (["she", "saw", "the", "duck"], ["the", "old", "saw", "sleeps", "often"]):
    print(list(zip(sentence, tagger.predict([sentence])[0], strict=True)))

# %% [markdown]
# ## What it has learnt
#
# Transitions say which label likes to follow which; features say which words speak for a label.

# %%
dualgap.plot.transitions(tagger)
plt.show()

# %%
for name, weight in tagger.top_features("VERB", 5):
    print(f"{weight:8.4f}  {name}")

# %% [markdown]
# ## Keeping it
#
# The model file is portable: the program `dualgap` predicts with it, too, and a file from a stranger is safe to load.
# It has the dual point behind the certificate, so that whoever has the training data can prove the bound again.

# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "tagger.dualgap"
    tagger.save(file)
    again = dualgap.load(file)
assert again.predict(X_test) == tagger.predict(X_test)
print(again.certify(X, y))
