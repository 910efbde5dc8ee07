"""A table of numbers whose rows and columns have names."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np


class Table:
    """Numbers by the names of their row and their column, such as the weights of transitions between labels.

    Parameters
    ----------
    rows, columns : sequence of str
        The names.
    values : array of shape (n_rows, n_columns)
        The numbers, which ``numpy.asarray`` returns.

    Examples
    --------
    >>> from dualgap._tables import Table
    >>> table = Table(["B", "O"], ["B", "O"], [[0.5, -1.0], [0.25, 2.0]])
    >>> table["B", "O"]
    -1.0
    >>> table
             B        O
    B   0.5000  -1.0000
    O   0.2500   2.0000
    """

    def __init__(self, rows: Sequence[str], columns: Sequence[str], values: Any) -> None:
        self.rows = [str(name) for name in rows]
        self.columns = [str(name) for name in columns]
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.shape != (len(self.rows), len(self.columns)):
            raise ValueError(f"{len(self.rows)} rows and {len(self.columns)} columns for {self.values.shape} numbers")

    def __getitem__(self, names: tuple[str, str]) -> float:
        row, column = names
        try:
            return float(self.values[self.rows.index(str(row)), self.columns.index(str(column))])
        except ValueError:
            raise KeyError(names) from None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.values.shape

    def to_pandas(self) -> Any:
        """Return the table as a data frame of pandas."""
        import pandas as pd

        return pd.DataFrame(self.values, index=self.rows, columns=self.columns)

    def __repr__(self) -> str:
        cells = [[f"{value:.4f}" for value in row] for row in self.values]
        width = max([len(cell) for row in cells for cell in row] + [len(name) for name in self.columns], default=0)
        first = max((len(name) for name in self.rows), default=0)
        lines = [" " * first + "".join(f"  {name:>{width}}" for name in self.columns)]
        for name, row in zip(self.rows, cells, strict=True):
            lines.append(f"{name:<{first}}" + "".join(f"  {cell:>{width}}" for cell in row))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr><th>{escape(name)}</th>{''.join(f'<td>{value:.4f}</td>' for value in row)}</tr>"
            for name, row in zip(self.rows, self.values, strict=True)
        )
        return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
