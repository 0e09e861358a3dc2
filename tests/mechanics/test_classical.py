"""The equations of motion as matrices: they are the balance, and Ṁ - 2 C is antisymmetric."""

import jax.numpy as jnp
import numpy as np

import supple as sp
from supple.mechanics.classical import equations_of_motion
from supple.mechanics.element_motion import Coordinates, neutral
from tests.samples import RUBBER
from tests.tools import jit, tangent

TOL = 1e-11  # sums of the same terms in another order
TOL_FD = 1e-6  # central differences of the mass matrix, h = 1e-4

terms = jit(equations_of_motion, quick=True)


def test_terms_add_up_to_the_balance_and_power_is_kept(rng):
    rod = sp.Rod(
        "arm", 0.4, sp.Circle(0.02), RUBBER, joint=sp.Revolute("z", stiffness=1.0), basis="pcc:2",
    )  # fmt: skip
    tendon = sp.Tendon("cable", on="arm", offset=(0.004, -0.003), tension=3.0)
    push = sp.Wrench("push", on="arm", force=(0.1, 0.4, 0.2), follower=True)
    model = sp.Robot(rod, tendon, push, formulation="pcs").build()
    scale = np.asarray(model.scale)
    q = neutral(model) + 0.5 * rng.normal(size=model.nv) * scale
    v, a = rng.normal(size=(2, model.nv)) * scale
    found = terms(model, q, v)
    balance = tangent(model, Coordinates(q, 0 * q, v, a, jnp.zeros(()))).residual
    added = found.mass @ a + found.coriolis @ v + found.own - found.driving
    added = added - found.gravity @ np.asarray(model.gravity)
    np.testing.assert_allclose(added, balance, atol=TOL * np.abs(found.mass @ a).max())
    h = 1e-4
    ahead, behind = (terms(model, q + s * v, v).mass for s in (h, -h))
    skew = (ahead - behind) / (2 * h) - 2 * found.coriolis
    np.testing.assert_allclose(skew, -skew.T, atol=TOL_FD * np.abs(found.coriolis).max())
