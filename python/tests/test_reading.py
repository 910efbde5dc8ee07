"""Files of the program's formats, read by the extension: the same data as from arrays."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from dualgap import MatchingSVM, MatrixCompletion, SequenceTagger, _dualgap
from dualgap.completion import _data

RATINGS = b"user,item,rating\nann,tea,4\nbob,tea,2.5\nann,milk,1\n"
COMPLETION = json.dumps({"structure": {"loss": {"name": "squared"}, "centre": "mean"}, "recipe": None})
EDGES = b"0 0 1 1:0.5\n0 1 0 2:1\n\n0 0 ? 1:2 2:3\n"
MATCHING = json.dumps({"structure": {"loss": {"false_positive": 1.0, "false_negative": 3.0}}, "recipe": None})


def test_ratings_are_those_of_arrays(tmp_path: Path) -> None:
    data, told = _dualgap.Data.read("completion", RATINGS, COMPLETION)
    arrays = np.array(["ann", "bob", "ann"]), np.array(["tea", "tea", "milk"]), np.array([4.0, 2.5, 1.0])
    assert len(data) == 3 and data.fingerprint() == _data(*arrays).fingerprint()
    assert told["recipe"]["format"] == {"ratings": {"header": ["user", "item"]}} and told["labelled"]
    (tmp_path / "ratings.gz").write_bytes(gzip.compress(RATINGS))
    again, _ = _dualgap.Data.read("completion", tmp_path / "ratings.gz", COMPLETION)
    assert again.fingerprint() == data.fingerprint()
    model = MatrixCompletion(radius=1.0).fit(*arrays)
    pairs, told = _dualgap.Data.read(
        "completion", b"ann,tea\neve,milk\n", COMPLETION, purpose="predict", names_of=model.model_
    )
    assert not told["labelled"]
    assert model.model_.predict(pairs).tolist() == model.predict(["ann", "eve"], ["tea", "milk"]).tolist()


def test_edges_are_those_of_arrays() -> None:
    data, told = _dualgap.Data.read("matching", EDGES, MATCHING, weights=[1.0, 2.0])
    graphs = [
        ([(0, 0), (0, 1)], sp.csr_array([[0.5, 0.0], [0.0, 1.0]]), (1, 2)),
        ([(0, 0)], sp.csr_array([[2.0, 3.0]]), (1, 1)),
    ]
    model = MatchingSVM().fit(graphs, [[(0, 0)], {"possible": [(0, 0)]}], [1.0, 2.0])
    assert model.model_.certify(data)["evidence"] == "witness" and told["recipe"]["format"] == "edges"
    assert model.model_.figures(data)["sure"] == 1


def test_purposes_need_their_model_and_errors_name_line_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="read to train, or for a model"):
        _dualgap.Data.read("completion", RATINGS, COMPLETION, purpose="predict")
    with pytest.raises(ValueError, match="in memory:2: has no rating.*a line is `user item rating`"):
        _dualgap.Data.read("completion", b"a b 1\nc d\n", COMPLETION)
    with pytest.raises(ValueError, match="no structure `forest`"):
        _dualgap.Data.read("forest", RATINGS, COMPLETION)
    with pytest.raises(FileNotFoundError, match="no-such-file"):
        _dualgap.Data.read("completion", tmp_path / "no-such-file", COMPLETION)
    tagger = SequenceTagger().fit([["a", "b"]], [["x", "y"]])
    with pytest.raises(TypeError, match="a model of the structure `chain`, not `completion`"):
        _dualgap.Data.read("completion", RATINGS, COMPLETION, purpose="test", names_of=tagger.model_)
