"""Sentences of tokens, from Python to what the library reads: column files in memory, or rows of named features."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

#: The number of columns of a CoNLL-U file, of which the reader skips lines such as ``3-4``, and these lines.
_CONLLU, _NO_TOKEN = 10, re.compile(r"\d+[-.]\d+")


def tokens_of(X: Any, *, empty: bool = False) -> tuple[list[Sequence[Any]], bool]:
    """Return the sentences, and whether their tokens are dicts of features."""
    sentences = list(X)
    dicts: bool | None = None
    for i, sentence in enumerate(sentences):
        if isinstance(sentence, (str, bytes, Mapping)):
            raise ValueError(
                f"sentence {i} is {type(sentence).__name__} {sentence!r:.60}: a sentence is a list of tokens"
            )
        if len(sentence) == 0 and not empty:
            raise ValueError(f"sentence {i} has no tokens: leave it out, with its labels")
        for t, token in enumerate(sentence):
            is_dict = isinstance(token, Mapping)
            dicts = is_dict if dicts is None else dicts
            if is_dict != dicts:
                raise ValueError(f"token {t} of sentence {i} is {token!r:.60}: either all tokens are dicts, or none is")
    if not sentences:
        raise ValueError("there are no sentences")
    return sentences, bool(dicts)


def labels_of(sentences: list[Sequence[Any]], y: Any) -> list[list[str]]:
    """Return the labels of every sentence as strings."""
    if y is None or isinstance(y, (str, bytes)) or len(y) != len(sentences):
        raise ValueError(f"every one of the {len(sentences)} sentences needs a list of labels in y")
    for i, (sentence, labels) in enumerate(zip(sentences, y, strict=True)):
        if isinstance(labels, (str, bytes)) or len(labels) != len(sentence):
            raise ValueError(f"sentence {i} has {len(sentence)} tokens, and y[{i}] is {labels!r:.60}: one label for each")
    return [[str(label) for label in labels] for labels in y]


def column_text(sentences: list[Sequence[Any]], labels: list[list[str]] | str | None) -> tuple[bytes, int]:
    """Return sentences as a column file, and the number of columns of a token.

    The label comes last: of every token, or the same for all of them. The columns are separated by tabs.
    """
    # The first line is empty, so that no token is mistaken for the mark of a compressed file.
    lines = [""]
    width: int | None = None
    for i, sentence in enumerate(sentences):
        for t, token in enumerate(sentence):
            cells = [token] if isinstance(token, str) else list(token) if isinstance(token, (list, tuple)) else None
            if not cells or not all(isinstance(cell, (str, Real)) for cell in cells):
                raise ValueError(
                    f"token {t} of sentence {i} is {token!r:.60}: a token is a string, a tuple of strings, or a dict of "
                    "features"
                )
            width = len(cells) if width is None else width
            if len(cells) != width:
                raise ValueError(
                    f"token {t} of sentence {i} has {len(cells)} columns, and the first token has {width}: all tokens "
                    "have the same columns"
                )
            if labels is not None:
                cells = [*cells, labels if isinstance(labels, str) else labels[i][t]]
            line = "\t".join(map(str, cells))
            if line.count("\t") >= len(cells) or "\n" in line or "\r" in line:
                raise ValueError(
                    f"token {t} of sentence {i} is {token!r:.60}: a tab or a line break cannot be part of a token or of "
                    "its label"
                )
            if len(cells) == _CONLLU and _NO_TOKEN.fullmatch(str(cells[0])):
                raise ValueError(
                    f"token {t} of sentence {i} begins with {cells[0]}: ten columns are read as CoNLL-U, where this "
                    "is no token; leave a column out, or add one"
                )
            lines.append(line)
        lines.append("")
    if width is None:
        raise ValueError("there are no tokens")
    return "\n".join([*lines, ""]).encode(), width


def named_features(token: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield the features of a dict with their values, as crfsuite has them.

    A string gives the feature ``name:value``, a number is the value of the feature ``name``, and True stands for one. A
    list or a set of strings gives a feature for each, and a dict a feature ``name:inner`` for each of its own.
    """
    for key, value in token.items():
        name = f"{prefix}{key}"
        if isinstance(value, str):
            yield f"{name}:{value}", 1.0
        elif isinstance(value, (bool, np.bool_)):
            yield name, float(value)
        elif isinstance(value, Real):
            yield name, float(value)
        elif isinstance(value, Mapping):
            yield from named_features(value, f"{name}:")
        elif isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(part, str) for part in value):
            for part in sorted(value):
                yield f"{name}:{part}", 1.0
        else:
            raise ValueError(f"the feature {name!r} is {value!r:.60}: it must be a string, a number or a bool")


def feature_rows(
    sentences: list[Sequence[Mapping[Any, Any]]], names: Sequence[str] | None, min_count: int = 1
) -> tuple[sp.csr_matrix, list[str]]:
    """Return a row for every token, and the names of its columns.

    With the `names` that a model knows, others are left out; without, they are those that occur in `min_count` tokens,
    in the order of their first.
    """
    number = {} if names is None else {name: k for k, name in enumerate(names)}
    places, values, ends = [], [], [0]
    for i, sentence in enumerate(sentences):
        for t, token in enumerate(sentence):
            for name, value in named_features(token):
                if not math.isfinite(value):
                    raise ValueError(f"the feature {name!r} of token {t} of sentence {i} is {value}: it must be finite")
                k = number.setdefault(name, len(number)) if names is None else number.get(name)
                if k is not None and value != 0.0:
                    places.append(k)
                    values.append(value)
            ends.append(len(places))
    shape = (len(ends) - 1, len(number))
    matrix = sp.csr_matrix((np.array(values, dtype=np.float64), np.array(places, dtype=np.int32), ends), shape=shape)
    matrix.sum_duplicates()
    if names is not None:
        return matrix, list(names)
    kept = np.flatnonzero(np.bincount(matrix.indices, minlength=len(number)) >= max(min_count, 1))
    if not len(kept):
        raise ValueError(f"no feature occurs in {min_count} tokens: lower `min_count`")
    all_names = list(number)
    return matrix[:, kept].tocsr(), [all_names[k] for k in kept]
