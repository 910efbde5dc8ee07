"""The estimators on a cluster of Dask: examples stay on their workers, and the certificate is that of all of them.

Needs ``pip install dualgap[dask]``. The estimators have the keywords of those of the package, and take Dask arrays, Dask data
frames, lists of delayed or plain blocks, or paths of files that every worker can read: LIBSVM files, data files, which are
mapped and not read, and column files. What comes out is an ordinary model: it can be saved, loaded and certified without a cluster.

`simulate` tells how many workers a data set is worth, without having them.
"""

from __future__ import annotations

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError("dualgap.dask needs Dask: pip install 'dualgap[dask]'") from error

from ._calibration import calibrate
from ._chains import ChainSVM
from ._clock import Network
from ._estimators import LinearClassifier, LinearRegressor, MulticlassSVM
from ._matchings import MatchingSVM
from ._simulated import Rates
from ._simulator import Simulation, simulate
from ._structured import StructuredSVM
from ._tagger import SequenceTagger

__all__ = [
    "ChainSVM",
    "LinearClassifier",
    "LinearRegressor",
    "MatchingSVM",
    "MulticlassSVM",
    "Network",
    "Rates",
    "SequenceTagger",
    "Simulation",
    "StructuredSVM",
    "calibrate",
    "simulate",
]
