"""Rotations and rigid motions on batches, and the conventions of the whole library.

Conventions, fixed here once
----------------------------
* SI units throughout.
* A **twist** is ``(angular, linear)``, a **wrench** is ``(moment, force)``, both of shape ``(6,)``.
* Names carry frames: ``g_wb`` is the pose of frame b seen from the world w.
* ``body`` quantities are written in the moving frame; ``world`` quantities are *spatial*: written in
  the world frame and about its origin, so that they add along the tree without transport.
* A rod's tangent is its local x axis; its strain is ``(κx, κy, κz, γx, γy, γz)`` and a straight rod
  at rest has ``(0, 0, 0, 1, 0, 0)``. X ∈ [0, L] is reference arc length, u = X/L.
* Gravity defaults to ``(0, 0, -9.81)`` m/s². Quaternions are ``(w, x, y, z)``.
* All leading axes are batch axes.
"""

from supple.lie import se3 as se3, small as small, so3 as so3
from supple.lie.se3 import Pose as Pose
