"""Plots of runs in one style: each takes a :class:`~supple.Result` and, if wanted, axes, and returns axes.

>>> import supple as sp
>>> sp.plot.overview(result).savefig("run.png")
>>> axes = sp.plot.tensions(result)

Matplotlib is imported by the first plot, not before.
"""

from supple.plot.diagrams import branches as branches
from supple.plot.figures import (
    KINDS as KINDS,
    figure as figure,
    fitting as fitting,
    overview as overview,
)
from supple.plot.histories import (
    angles as angles,
    efforts as efforts,
    energies as energies,
    gaps as gaps,
    lengths as lengths,
    multipliers as multipliers,
    newton as newton,
    position as position,
    pressures as pressures,
    residuals as residuals,
    tensions as tensions,
    torques as torques,
    volumes as volumes,
)
from supple.plot.spaces import (
    path as path,
    shapes as shapes,
    strains as strains,
)
