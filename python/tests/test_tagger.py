"""SequenceTagger: column files, tokens and dicts, judged by hand-made features, by ChainSVM and by the program."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

import dualgap
from dualgap import ChainSVM, SequenceTagger

#: Words with their part of speech and their chunk.
SENTENCES = [
    [("The", "DT", "B-NP"), ("dog", "NN", "I-NP"), ("barks", "VBZ", "B-VP")],
    [("A", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("sees", "VBZ", "B-VP"), ("the", "DT", "B-NP"), ("dog", "NN", "I-NP")],
    [("He", "PRP", "B-NP"), ("sleeps", "VBZ", "B-VP"), (".", ".", "O")],
    [("Dogs", "NNS", "B-NP"), ("see", "VBP", "B-VP"), ("him", "PRP", "B-NP"), (".", ".", "O")],
    [("The", "DT", "B-NP"), ("small", "JJ", "I-NP"), ("cat", "NN", "I-NP"), ("runs", "VBZ", "B-VP")],
]
WORDS = [[token[0] for token in sentence] for sentence in SENTENCES]
TUPLES = [[token[:2] for token in sentence] for sentence in SENTENCES]
CHUNKS = [[token[2] for token in sentence] for sentence in SENTENCES]
TEMPLATES = "U0:%lower[0,0]\nU1:%x[-1,1]/%x[0,1]\nU2:\nB\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a column file of the sentences."""
    path = tmp_path / "train.txt"
    path.write_text("\n\n".join("\n".join(" ".join(token) for token in sentence) for sentence in SENTENCES) + "\n")
    return path


def by_hand(sentence: list[Any]) -> list[dict[str, Any]]:
    """Return the features that the templates above make, as dicts."""
    before = ["_B-1", *(token[1] for token in sentence)]
    return [
        {"U0": token[0].lower(), "U1": f"{before[t]}/{token[1]}", "U2:": True} for t, token in enumerate(sentence)
    ]


def test_templates_make_the_features_that_one_writes_by_hand() -> None:
    tagger = SequenceTagger(features=TEMPLATES, lam=0.05, tolerance=1e-3).fit(TUPLES, CHUNKS)
    dicts = [by_hand(sentence) for sentence in TUPLES]
    other = SequenceTagger(lam=0.05, tolerance=1e-3).fit(dicts, CHUNKS)
    assert other.features_ == tagger.features_ and list(other.classes_) == sorted({c for part in CHUNKS for c in part})
    assert np.array_equal(other.coef_, tagger.coef_) and other.certificate_ == tagger.certificate_
    rows = [np.array([[1.0 * (f in _flat(d)) for f in tagger.features_] for d in sentence]) for sentence in dicts]
    plain = ChainSVM(lam=0.05, hamming="plain", tolerance=1e-6).fit(rows, CHUNKS)
    tight = clone(tagger).set_params(tolerance=1e-6).fit(TUPLES, CHUNKS)
    assert plain.certificate_.primal == pytest.approx(tight.certificate_.primal, rel=2e-6)
    assert tagger.predict(TUPLES) == [list(labels) for labels in plain.predict(rows)] == other.predict(dicts)


def _flat(token: dict[str, Any]) -> set[str]:
    return {key if value is True else f"{key}:{value}" for key, value in token.items()}


def test_a_column_file_and_lists_give_the_same_model(file: Path, tmp_path: Path) -> None:
    of_file = SequenceTagger(lam=0.05).fit(file)
    of_lists = SequenceTagger(lam=0.05).fit(TUPLES, CHUNKS)
    assert np.array_equal(of_file.coef_, of_lists.coef_) and of_file.certificate_ == of_lists.certificate_
    assert of_file.predict(str(file)) == of_lists.predict(TUPLES) == of_file.predict(TUPLES)
    assert of_file.certify(TUPLES, CHUNKS).primal == of_lists.certify(file).primal == of_file.certificate_.primal
    told = of_file.predict_file(file, tmp_path / "out.txt")
    assert told["features"] == 0 and told["features_met"] > 0
    written = [line.split()[3] for line in (tmp_path / "out.txt").read_text().splitlines() if line]
    assert written == [label for part in of_file.predict(file) for label in part]
    (tmp_path / "bare.txt").write_text("The DT\ndog NN\n\nHe PRP\n")
    assert of_file.predict(tmp_path / "bare.txt") == of_file.predict([[("The", "DT"), ("dog", "NN")], [("He", "PRP")]])
    with pytest.raises(ValueError, match="would be replaced by its own predictions"):
        of_file.predict_file(file, tmp_path / "." / file.name)
    with pytest.raises(ValueError, match="no labels to compare with"):
        of_file.evaluate(tmp_path / "bare.txt")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        SequenceTagger().fit(tmp_path / "nowhere.txt")


def test_evaluations_count_chunks_as_the_shared_tasks_do(file: Path) -> None:
    tagger = SequenceTagger(lam=0.01).fit(TUPLES, CHUNKS)
    figures = tagger.evaluate(file)
    assert figures == tagger.evaluate(TUPLES, CHUNKS)
    assert figures["accuracy"] == tagger.score(TUPLES, CHUNKS) == 1.0 and figures["chunks"]["f1"] == 1.0
    # One of three chunks gets another end: two of the predicted three are right.
    truth = [["B-NP", "I-NP", "B-VP", "B-NP", "B-NP"]]
    predicted = tagger.predict(TUPLES[1:2])
    assert predicted == [["B-NP", "I-NP", "B-VP", "B-NP", "I-NP"]]
    figures = tagger.evaluate(TUPLES[1:2], truth)
    assert figures["accuracy"] == 0.8
    chunks = figures["chunks"]
    assert (chunks["precision"], chunks["recall"]) == (pytest.approx(2 / 3), pytest.approx(1 / 2))
    figures = tagger.evaluate([[("The", "DT")]], [["NEW"]])
    assert figures["accuracy"] == 0.0


def test_options_of_features_are_those_of_the_program(tmp_path: Path) -> None:
    often = SequenceTagger(features=TEMPLATES, min_count=2).fit(TUPLES, CHUNKS)
    assert "U0:cat" in often.features_ and "U0:barks" not in often.features_
    lower = SequenceTagger(features="U0:%x[0,0]\n", lowercase=True).fit(WORDS, CHUNKS)
    assert "U0:the" in lower.features_ and "U0:The" not in lower.features_
    # Only the part of speech, and the label behind it.
    picked = SequenceTagger(features="U0:%x[0,0]\n", columns=[1, 2]).fit(TUPLES, CHUNKS)
    assert set(picked.features_) == {f"U0:{tag}" for part in TUPLES for _, tag in part}
    assert picked.predict(TUPLES[:1]) == picked.predict([[("x", tag) for _, tag in TUPLES[0]]])
    (tmp_path / "templates").write_text(TEMPLATES)
    of_path = SequenceTagger(features=tmp_path / "templates").fit(TUPLES, CHUNKS)
    assert of_path.features_ == SequenceTagger(features=TEMPLATES).fit(TUPLES, CHUNKS).features_
    paper = SequenceTagger(features="paper-conll2000").fit(TUPLES, CHUNKS)
    assert paper.model_.provenance["recipe"]["format"]["columns"]["min_count"] == 3
    dicts = [[{"word": word, "long": len(word) > 4} for word in words] for words in WORDS]
    assert "word:barks" not in SequenceTagger(min_count=2).fit(dicts, CHUNKS).features_


def test_templates_of_pairs_have_weights_of_their_own() -> None:
    tagger = SequenceTagger(features="U0:%x[0,0]\nB1:%x[0,1]\n", lam=0.05, tolerance=0.01).fit(TUPLES, CHUNKS)
    assert set(tagger.pair_features_) == {f"B1:{tag}" for part in TUPLES for _, tag in part[1:]}
    assert tagger.pair_coef_.shape == (len(tagger.pair_features_), 4, 4)
    b, i = (list(tagger.classes_).index(label) for label in ("B-NP", "I-NP"))
    assert tagger.pair_coef_[tagger.pair_features_.index("B1:NN"), b, i] > 0
    arrays = [np.array(sentence) for sentence in TUPLES]
    assert tagger.predict(arrays) == tagger.predict(TUPLES) and tagger.certify(arrays, CHUNKS).reached


def test_values_of_dicts_are_those_of_crfsuite() -> None:
    inner = {"q": "r", "z": 2.0}
    tokens = [
        [{"bias": 1, "w": "a", "up": np.True_, "down": False, "half": 0.5, "set": {"x", "y"}, "in": inner}],
        [{"w": "b"}],
    ]
    tagger = SequenceTagger(lam=0.1).fit(tokens, [["p"], ["q"]])
    assert set(tagger.features_) == {"bias", "w:a", "up", "half", "set:x", "set:y", "in:q:r", "in:z", "w:b"}
    # By symmetry of the two sentences, weights are proportional to the values.
    weights = dict(zip(tagger.features_, tagger.coef_[0], strict=True))
    assert weights["in:z"] == pytest.approx(4 * weights["half"]) and weights["bias"] == weights["up"]
    assert tagger.predict([[{"w": "b", "never": "seen"}]]) == [["q"]]
    figures = tagger.evaluate(tokens, [["p"], ["new"]])
    assert figures["accuracy"] == 0.5


def test_weights_are_told_by_name() -> None:
    tagger = SequenceTagger(features=TEMPLATES, lam=0.01).fit(TUPLES, CHUNKS)
    best = tagger.top_features("O", 3)
    row = tagger.coef_[list(tagger.classes_).index("O")]
    assert [weight for _, weight in best] == sorted(row, reverse=True)[:3]
    assert best[0][0] in ("U0:.", "U1:VBZ/.", "U1:PRP/.")
    arrays = tagger.model_.arrays["transitions"]
    i, j = (list(tagger.classes_).index(label) for label in ("B-NP", "I-NP"))
    assert tagger.transitions_["B-NP", "I-NP"] == arrays[i, j] > 0
    assert np.array_equal(np.asarray(tagger.transitions_), arrays)
    assert "I-NP" in repr(tagger.transitions_) and "<td>" in tagger.transitions_._repr_html_()
    with pytest.raises(ValueError, match="there is no label 'X': the model knows B-NP"):
        tagger.top_features("X")
    with pytest.raises(KeyError):
        tagger.transitions_["X", "O"]


def test_files_pickles_and_clones(tmp_path: Path) -> None:
    dicts = [by_hand(sentence) for sentence in TUPLES]
    for X, keywords in [(TUPLES, {"features": "paper-conll2000", "min_count": 1}), (WORDS, {}), (dicts, {})]:
        tagger = SequenceTagger(lam=0.05, hamming="plain", **keywords).fit(X, CHUNKS)
        tagger.save(tmp_path / "tagger.dualgap")
        loaded = dualgap.load(tmp_path / "tagger.dualgap")
        for again in (loaded, pickle.loads(pickle.dumps(tagger))):
            assert type(again) is SequenceTagger and (again.hamming, again.lam) == ("plain", 0.05)
            assert again.predict(X) == tagger.predict(X)
            assert again.certify(X, CHUNKS).primal == tagger.certificate_.primal
        refit = clone(loaded).fit(X, CHUNKS)
        assert np.array_equal(refit.coef_, tagger.coef_)


def test_scikit_learn_validates_it() -> None:
    found = cross_val_score(SequenceTagger(lam=0.05), TUPLES * 2, CHUNKS * 2, cv=2)
    assert found.shape == (2,) and found.min() > 0.9


def test_odd_tokens_are_read_as_they_are() -> None:
    X = [["BZh9", "#", "New York", ""], ["# a", "\u3000", "é"], []]
    y = [["a", "b", "c", "d"], ["b", "c", "a"]]
    tagger = SequenceTagger(lam=0.001).fit(X[:2], y)
    assert tagger.predict(X) == [*y, []]
    assert tagger.predict([[], [""]]) == [[], tagger.predict([[""]])[0]]
    assert tagger.predict([[]]) == [[]]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (["He runs"], [["A", "B"]], "a sentence is a list of tokens"),
        ([["He"], []], [["A"], []], "sentence 1 has no tokens: leave it out"),
        ([], [], "there are no sentences"),
        ([["He"]], None, "needs a list of labels"),
        ([["He"]], [["A"], ["B"]], "every one of the 1 sentences"),
        ([["He", "is"]], [["A"]], "sentence 0 has 2 tokens"),
        ([["He", ("is", "VBZ")]], [["A", "B"]], "has 2 columns, and the first token has 1"),
        ([["He", {"w": 1}]], [["A", "B"]], "either all tokens are dicts, or none"),
        ([["He\tis", "x"]], [["A", "B"]], "a tab or a line break"),
        ([["He", None]], [["A", "B"]], "a token is a string, a tuple"),
        ([["He", "is"]], [["A", ""]], "the label of token 1 of sentence 0 is empty"),
        ([["He", "is"]], [["A", "A"]], "at least two labels"),
        ([[{"w": "a"}, {"w": "b"}]], [["A", "A"]], "at least two labels"),
        ([[{"w": float("nan")}, {"w": 1}]], [["A", "B"]], "the feature 'w' of token 0 of sentence 0 is nan"),
        ([[{"w": object()}, {"w": 1}]], [["A", "B"]], "must be a string, a number or a bool"),
        ([[("3-4", *"abcdefgh"), tuple("abcdefghi")]], [["A", "B"]], "read as CoNLL-U"),
    ],
)
def test_bad_sentences_are_refused_with_a_remedy(X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SequenceTagger().fit(X, y)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"loss": "perceptron"}, "no loss 'perceptron': take one of hinge, log"),
        ({"loss": "log", "beam": 3}, "sums over all labelings"),
        ({"loss": "log", "rescale": "slack"}, "sums over all labelings"),
        ({"features": "nonsense"}, "no set of features, no template and no file"),
        ({"features": "U0:%z[0,0]\n"}, r"%z\[0,0\]"),
        ({"features": "U0:%x[0,5]\n"}, "name column 5"),
        ({"min_count": 1000}, "no feature occurs 1000 times"),
        ({"columns": [7, 2]}, "has 3 columns, and 8 are needed"),
    ],
)
def test_bad_keywords_are_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SequenceTagger(**keywords).fit(TUPLES, CHUNKS)


def test_tokens_must_be_of_the_kind_of_training(file: Path) -> None:
    tagger = SequenceTagger().fit(TUPLES, CHUNKS)
    dicts = [by_hand(sentence) for sentence in TUPLES]
    other = SequenceTagger().fit(dicts, CHUNKS)
    with pytest.raises(ValueError, match="a token has 1 columns, and in training it had 2"):
        tagger.predict(WORDS)
    with pytest.raises(ValueError, match="trained on tokens that are columns"):
        tagger.predict(dicts)
    for use in (lambda: other.predict(WORDS), lambda: other.predict(file), lambda: other.predict_file(file, "x")):
        with pytest.raises(ValueError, match="trained on tokens that are dicts"):
            use()
    with pytest.raises(ValueError, match="leave y out"):
        tagger.fit(file, CHUNKS)
    with pytest.raises(ValueError, match="dicts have their features already"):
        SequenceTagger(lowercase=True).fit(dicts, CHUNKS)


def test_a_missed_tolerance_is_told_and_weights_count() -> None:
    with pytest.warns(ConvergenceWarning):
        SequenceTagger(lam=1e-5, tolerance=1e-9, passes=1).fit(TUPLES, CHUNKS)
    counts = [2.0, 1.0, 1.0, 1.0, 0.0]
    weighted = SequenceTagger(lam=0.05, tolerance=1e-6).fit(TUPLES, CHUNKS, sample_weight=counts)
    doubled = SequenceTagger(lam=0.05, tolerance=1e-6, features=weighted.features)
    doubled.fit([TUPLES[0], *TUPLES[:4]], [CHUNKS[0], *CHUNKS[:4]])
    assert weighted.certificate_.primal == pytest.approx(doubled.certificate_.primal, rel=2e-6)


def all_labelings(crf: SequenceTagger, rows: np.ndarray) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Return every labeling of a sentence, and its probability by the weights."""
    labels, edges = range(len(crf.classes_)), np.asarray(crf.transitions_)
    every = list(itertools.product(labels, repeat=len(rows)))
    scores = np.array(
        [
            crf.start_[y[0]]
            + crf.end_[y[-1]]
            + sum(crf.coef_[k] @ row for k, row in zip(y, rows, strict=True))
            + sum(edges[a, b] for a, b in itertools.pairwise(y))
            for y in every
        ]
    )
    shares = np.exp(scores - scores.max())
    return every, shares / shares.sum()


def test_marginals_and_the_objective_of_a_crf_are_those_of_all_labelings() -> None:
    dicts = [by_hand(sentence) for sentence in TUPLES]
    dicts[0][0]["U0"] = 0.5
    crf = SequenceTagger(loss="log", lam=0.05, tolerance=1e-6).fit(dicts, CHUNKS)
    assert crf.certificate_.relative_gap <= 1e-6 and crf.certificate_.reached
    losses = []
    for tokens, labels, marginals in zip(dicts, CHUNKS, crf.predict_marginals(dicts), strict=True):
        values = [{**dict.fromkeys(_flat(d), 1.0), "U0": d["U0"] if d["U0"] == 0.5 else 0.0} for d in tokens]
        rows = np.array([[value.get(f, 0.0) for f in crf.features_] for value in values])
        every, shares = all_labelings(crf, rows)
        for t, at in enumerate(marginals):
            assert sum(at.values()) == pytest.approx(1.0) and list(at) == list(crf.classes_)
            for k, label in enumerate(crf.classes_):
                assert at[label] == pytest.approx(sum(p for y, p in zip(every, shares, strict=True) if y[t] == k))
        truth = tuple(list(crf.classes_).index(label) for label in labels)
        losses.append(-np.log(shares[every.index(truth)]))
        best = every[int(np.argmax(shares))]
        assert crf.predict_single(tokens) == [crf.classes_[k] for k in best]
    weights = [crf.coef_, crf.start_, crf.end_, np.asarray(crf.transitions_)]
    ridge = 0.05 / 2 * sum(float((part**2).sum()) for part in weights)
    assert crf.certificate_.primal == pytest.approx(np.mean(losses) + ridge, rel=1e-9)
    assert crf.evaluate(dicts, CHUNKS)["log_loss"] == pytest.approx(np.sum(losses) / sum(map(len, CHUNKS)))
    assert crf.certify(dicts, CHUNKS).primal == crf.certificate_.primal


def test_a_crf_stands_beside_that_of_sklearn_crfsuite(tmp_path: Path) -> None:
    dicts = [by_hand(sentence) for sentence in TUPLES]
    for X in (TUPLES, dicts):
        crf = SequenceTagger(loss="log", lam=0.05).fit(X, CHUNKS)
        assert crf.certificate_.relative_gap <= 0.01
        assert crf.predict_marginals_single(X[1]) == crf.predict_marginals(X)[1]
        assert crf.predict_marginals([[], X[0]]) == [[], crf.predict_marginals_single(X[0])]
        assert crf.predict_marginals([[]]) == [[]]
        crf.save(tmp_path / "crf.dualgap")
        for again in (dualgap.load(tmp_path / "crf.dualgap"), pickle.loads(pickle.dumps(crf))):
            assert type(again) is SequenceTagger and again.loss == "log"
            assert again.predict_marginals(X) == crf.predict_marginals(X)
            assert again.certify(X, CHUNKS).primal == crf.certificate_.primal
        assert np.array_equal(clone(dualgap.load(tmp_path / "crf.dualgap")).fit(X, CHUNKS).coef_, crf.coef_)
    assert crf.attributes_ == crf.features_
    assert crf.transition_features_["B-NP", "I-NP"] == crf.transitions_["B-NP", "I-NP"]
    feature, label = crf.features_[2], crf.classes_[1]
    assert crf.state_features_[feature, label] == crf.coef_[1, 2]
    assert len(crf.state_features_) == np.count_nonzero(crf.coef_)
    hinge = SequenceTagger(lam=0.05).fit(dicts, CHUNKS)
    assert hinge.stop_ == "pass_limit" and hinge.n_iter_ == 10
    with pytest.raises(ValueError, match='no probabilities: train it with loss="log"'):
        hinge.predict_marginals(dicts)


def test_chains_of_rows_have_marginals(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = [random.normal(size=(length, 3)) for length in (1, 4, 2, 5)]
    y = [["abc"[row.argmax()] for row in x] for x in X]
    model = ChainSVM(loss="log", lam=0.1, tolerance=1e-6).fit(X, y)
    marginals = model.predict_marginals(X)
    for x, found in zip(X, marginals, strict=True):
        every, shares = all_labelings(model, x)
        for t, at in enumerate(found):
            mine = [sum(p for labels, p in zip(every, shares, strict=True) if labels[t] == k) for k in range(3)]
            assert at == pytest.approx(mine)
    lengths = [len(x) for x in X]
    assert np.array_equal(model.predict_marginals(np.concatenate(X), lengths), np.concatenate(marginals))
    model.save(tmp_path / "rows.dualgap")
    again = dualgap.load(tmp_path / "rows.dualgap")
    assert type(again) is ChainSVM and again.loss == "log"
    assert np.array_equal(again.predict_marginals(X)[1], marginals[1])
    with pytest.raises(ValueError, match="no probabilities"):
        ChainSVM(lam=0.1).fit(X, y).predict_marginals(X)


def test_rare_features_are_dropped_where_tokens_are_many() -> None:
    few = SequenceTagger(passes=1).fit(TUPLES, CHUNKS)
    assert few.model_.provenance["recipe"]["format"]["columns"]["min_count"] == 1
    times = 1 + 20_000 // sum(len(part) for part in TUPLES)
    sentences, chunks = [*TUPLES * times, [("hapax", "NN")]], [*CHUNKS * times, [CHUNKS[0][0]]]
    many = SequenceTagger(passes=1).fit(sentences, chunks)
    assert many.model_.provenance["recipe"]["format"]["columns"]["min_count"] == 2
    assert "Uw0:hapax" not in many.features_
    assert "Uw0:hapax" in SequenceTagger(passes=1, min_count=1).fit(sentences, chunks).features_


@pytest.mark.skipif("DUALGAP_PROGRAM" not in os.environ, reason="DUALGAP_PROGRAM names no program to compare with")
def test_the_program_and_python_read_the_models_of_each_other(file: Path, tmp_path: Path) -> None:
    def program(*words: Any) -> str:
        command = [os.environ["DUALGAP_PROGRAM"], *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    mine, theirs = tmp_path / "mine.dualgap", tmp_path / "theirs.dualgap"
    tagger = SequenceTagger(lam=0.05, min_count=2, seed=3).fit(file)
    tagger.save(mine)
    # Without a word about the end, both train for ten passes.
    end = ("--seed", "3", "--witness", "-o", theirs)
    program("train", "chain", file, "--lambda", "0.05", "--min-count", "2", *end)
    assert mine.read_bytes() == theirs.read_bytes()
    crf = SequenceTagger(loss="log", lam=0.05).fit(file)
    crf.save(mine)
    program("train", "chain", file, "--loss", "log", "--lambda", "0.05", "--witness", "-o", theirs)
    assert mine.read_bytes() == theirs.read_bytes()
    told = program("predict", theirs, file, "--marginals").split("\n\n")[0].splitlines()
    for line, marginals in zip(told, crf.predict_marginals(file)[0], strict=True):
        assert np.allclose([float(number) for number in line.split()[-4:]], list(marginals.values()), atol=1e-4)
    program("train", "chain", file, "--lambda", "0.05", "--min-count", "2", *end)
    loaded = dualgap.load(theirs)
    assert loaded.predict(TUPLES) == tagger.predict(TUPLES) and loaded.certify(file).evidence == "witness"
    # A model of lists, which the program has not seen before.
    of_lists = SequenceTagger(lam=0.05).fit(WORDS, CHUNKS)
    of_lists.save(mine)
    (tmp_path / "words.txt").write_text("\n\n".join("\n".join(words) for words in WORDS) + "\n")
    lines = program("predict", mine, tmp_path / "words.txt").splitlines()
    assert [line.split()[-1] for line in lines if line] == [label for part in of_lists.predict(WORDS) for label in part]
    told = json.loads(program("eval", "--json", theirs, file))
    assert told["chunks"] == loaded.evaluate(file)["chunks"] and told["accuracy"] == loaded.score(file)
