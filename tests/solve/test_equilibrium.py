"""Equilibria of a cantilever against beam theory, small and large, and how failures are told."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import supple as sp
from supple.robots.cantilever import stiff_cantilever
from supple.solve.equilibrium import EquilibriumStatus

LENGTH, RADIUS, E = 1.2, 0.003, 3e9
EI = E * np.pi * RADIUS**4 / 4
# Deflections over the length. Nine modes resolve the moment (a function of the tip's own shape)
# to 1e-7 at a load of 10 EI/L²; small-deflection theory is left at the square of the slope.
TOL_LARGE = 1e-7
TOL_SMALL = 1e-6


def cantilever(force=(0.0, 0.0, 0.0), moment=(0.0, 0.0, 0.0)) -> sp.Robot:
    """Clamped along x, free to bend in the x-y plane, no weight; one structure for all loads."""
    return sp.Robot(
        sp.Rod(
            "beam", length=LENGTH, section=sp.Circle(RADIUS), strains="planar", basis=9,
            material=sp.Material(E=E, density=1000.0),
        ),
        sp.Wrench("tip", on="beam", force=force, moment=moment),
        gravity=(0, 0, 0),
    )  # fmt: skip


@cache
def loaded(alpha: float):
    """Equilibrium under a dead tip force across of alpha EI/L²."""
    return sp.equilibrium(cantilever(force=(0.0, alpha * EI / LENGTH**2, 0.0)))


def elastica(alpha: float) -> tuple[float, float, float]:
    """Tip x/L, y/L and slope of the elastica under a dead tip force (Bisshopp & Drucker 1945)."""

    def amplitude(slope):
        k2 = (1 + np.sin(slope)) / 2
        return k2, np.arcsin(1 / np.sqrt(2 * k2))

    def gap(slope):
        k2, phi = amplitude(slope)
        return ellipk(k2) - ellipkinc(phi, k2) - np.sqrt(alpha)

    slope = brentq(gap, 1e-9, np.pi / 2 - 1e-9, xtol=1e-15, rtol=1e-14)
    k2, phi = amplitude(slope)
    y = 1 - 2 / np.sqrt(alpha) * (ellipe(k2) - ellipeinc(phi, k2))
    return np.sqrt(2 * np.sin(slope) / alpha), y, slope


def test_elliptic_integrals_give_the_published_deflection():
    """Bisshopp & Drucker's table: at F L²/EI = 10, δ/L = 0.81061 and (L - Δ)/L = 0.44500."""
    x, y, slope = elastica(10.0)
    np.testing.assert_allclose([x, y], [0.44500, 0.81061], atol=2e-5)
    assert slope < np.pi / 2


@pytest.mark.parametrize("alpha", [1e-3, -1e-3])
def test_small_loads_deflect_as_euler_and_bernoulli_say(alpha):
    found = loaded(alpha)
    assert found.position("beam")[1] / LENGTH == pytest.approx(alpha / 3, rel=TOL_SMALL)
    assert found.status == EquilibriumStatus.CONVERGED


@pytest.mark.parametrize("alpha", [0.5, 2.0, 10.0])
def test_large_loads_deflect_as_the_elastica(alpha):
    found = loaded(alpha)
    x, y, slope = elastica(alpha)
    np.testing.assert_allclose(
        found.position("beam"), LENGTH * np.array([x, y, 0]), rtol=0, atol=TOL_LARGE * LENGTH
    )
    rotation = np.asarray(found.frame("beam").pose.rotation)
    assert np.arctan2(rotation[1, 0], rotation[0, 0]) == pytest.approx(slope, abs=10 * TOL_LARGE)


def test_curvature_at_the_clamp_carries_the_moment_of_the_force():
    alpha = 2.0
    found = loaded(alpha)
    curvature = found.strain("beam", 3)[:, 2]
    moment = alpha * EI / LENGTH**2 * found.position("beam")[0]
    assert curvature[0] == pytest.approx(moment / EI, rel=1e-5)
    assert abs(curvature[-1]) < 1e-5 / LENGTH  # no moment at the tip


@pytest.mark.parametrize("turns", [0.25, 1.0])
def test_a_tip_moment_bends_the_beam_into_an_arc(turns):
    angle = 2 * np.pi * turns
    found = sp.equilibrium(cantilever(moment=(0.0, 0.0, angle * EI / LENGTH)))
    radius = LENGTH / angle
    expected = [radius * np.sin(angle), radius * (1 - np.cos(angle)), 0]
    np.testing.assert_allclose(found.position("beam"), expected, rtol=0, atol=1e-6 * LENGTH)
    np.testing.assert_allclose(found.strain("beam", 5)[:, 2], angle / LENGTH, rtol=1e-8)


def test_the_balance_left_is_small_and_the_energy_is_the_elastic_one():
    found = loaded(2.0)
    assert found.residual < 1e-9 * EI
    q = found.q
    # Legendre modes: ½ EI ∫ κ² = ½ EI L Σ q_k² / (2k + 1).
    expected = EI * LENGTH / 2 * np.sum(q**2 / (2 * np.arange(len(q)) + 1))
    assert float(found.energies.elastic) == pytest.approx(expected, rel=1e-12)
    assert float(found.energies.kinetic) == 0.0


def test_starting_elsewhere_leads_to_the_same_place():
    direct = loaded(2.0)
    again = sp.equilibrium(direct.model, initial=loaded(0.5))
    np.testing.assert_allclose(again.q, direct.q, rtol=0, atol=1e-8 / LENGTH)


def test_loads_can_be_raised_in_more_steps():
    direct = loaded(2.0)
    slowly = sp.equilibrium(direct.model, first_increment=0.1)
    assert slowly.increments > direct.increments
    np.testing.assert_allclose(slowly.q, direct.q, rtol=0, atol=1e-8 / LENGTH)


def test_a_sweep_is_the_equilibria_one_by_one():
    alphas = [0.5, 1.0, 1.5, 2.0]
    found = list(sp.sweep(lambda a: cantilever(force=(0.0, a * EI / LENGTH**2, 0.0)), alphas))
    assert [f.status for f in found] == [EquilibriumStatus.CONVERGED] * 4
    for alpha, one in zip(alphas, found, strict=True):
        x, y, _ = elastica(alpha)
        np.testing.assert_allclose(
            one.position("beam"), LENGTH * np.array([x, y, 0]), rtol=0, atol=TOL_LARGE * LENGTH
        )
    assert found[-1].iterations <= loaded(2.0).iterations  # an extrapolated start is a good one


def falling() -> sp.Robot:
    return sp.Robot(sp.Body("stone", mass=1.0, inertia=(1, 1, 1), joint=sp.Free()), name="fall")


def test_what_cannot_rest_is_told_by_name():
    with pytest.raises(sp.SolveError) as caught:
        sp.equilibrium(falling())
    message = str(caught.value)
    assert message.startswith("fall: no equilibrium: 'stone' floats")
    assert "adds up to 9.81 N" in message
    quiet = sp.equilibrium(falling(), throw=False)
    assert not quiet.ok
    assert quiet.status == EquilibriumStatus.NO_EQUILIBRIUM
    assert np.all(np.isfinite(quiet.q))


@pytest.mark.parametrize("turn", [0.0, 0.8])
def test_a_pendulum_on_a_ball_rests_although_it_may_spin(turn):
    """Hanging straight, or let go on a slope: its spin needs no force, so that its stiffness is singular."""
    bob = sp.Body("bob", mass=1.0, com=(0, 0, -0.1), inertia=(0.01, 0.01, 0.02),
                  rotation=(turn, 0.3 * turn, 0), joint=sp.Spherical())  # fmt: skip
    found = sp.equilibrium(sp.Robot(bob))
    assert found.ok
    down = np.asarray(found.frame("bob").pose.rotation)[:, 2]
    np.testing.assert_allclose(down, [0, 0, 1], atol=1e-7)


def test_a_sweep_raises_already_at_its_first_value():
    with pytest.raises(sp.SolveError, match="fall: no equilibrium"):
        next(sp.sweep(lambda _: falling(), [0.0]))
    assert not next(sp.sweep(lambda _: falling(), [0.0], throw=False)).ok


def runaway(t, X, pose, twist):
    """20 N/m, growing with the displacement."""
    return jnp.zeros(6).at[3].set(20.0 * jnp.exp(20.0 * (pose.position[0] - X)))


def test_how_far_the_load_got_is_told_and_what_to_try():
    """A stretch e of a rubber band balances the share EA e / ∫ 20 X exp(20 e X) dX of the load, which has a
    largest value: beyond it there is no equilibrium, whatever is tried."""
    band = sp.Rod("band", length=1.0, section=sp.Circle(0.01), strains=("gx",), basis=1,
                  material=sp.Material(E=5e5, density=1000.0))  # fmt: skip
    pull = sp.DistributedLoad("pull", on="band", density=runaway, follower=False)
    found = sp.equilibrium(sp.Robot(band, pull, gravity=(0, 0, 0)), throw=False)
    assert found.status == EquilibriumStatus.NOT_CONVERGED
    e, (x, weights) = np.linspace(0.01, 0.2, 1000), np.polynomial.legendre.leggauss(20)
    X = (1 + x[:, None]) / 2
    share = 5e5 * np.pi * 0.01**2 * e / (weights @ (10.0 * X * np.exp(20 * e * X)))
    assert found.load_factor == pytest.approx(share.max(), rel=1e-3)
    assert f"reached {found.load_factor:.3g} of the load" in found.message
    assert "more nodes or modes" in found.message


def test_a_path_that_ends_early_is_left_by_relaxation():
    """F L²/EI = 1000 on three nodes: a coarse model has equilibria that no path leads to."""
    found = sp.equilibrium(stiff_cantilever(as_printed=True, strains="planar", basis=3, nodes=3))
    assert found.status == EquilibriumStatus.RELAXED
    assert found.residual < 1e-9


@pytest.mark.parametrize(
    ("start", "part"),
    [(np.zeros(3), "(3,)"), (np.full(9, np.nan), "q[0]: got nan")],
)
def test_starts_that_do_not_fit_are_refused(start, part):
    with pytest.raises(sp.ArgumentError) as caught:
        sp.equilibrium(cantilever(), initial=start)
    assert part in str(caught.value)


def rising(t):
    return (0.0, 0.0, 3.0 * t**2), (0.0, 0.5 * t, 0.0)


def test_a_driven_base_is_at_rest_in_statics():
    """Neither its acceleration at t = 0 nor its velocity later is felt; where it stands is."""
    rod = dict(length=0.5, section=sp.Circle(2e-3), basis=3, nodes=10,
               material=sp.Material(E=2e9, density=1200.0))  # fmt: skip
    driven = sp.Robot(sp.Rod("arm", joint=sp.Driven(rising), **rod)).build()
    for t in (0.0, 0.2):
        position, rotation = rising(t)
        fixed = sp.Robot(sp.Rod("arm", position=position, rotation=rotation, **rod))
        np.testing.assert_allclose(
            sp.equilibrium(driven, t=t).position("arm"), sp.equilibrium(fixed).position("arm"),
            atol=1e-9,
        )  # fmt: skip


def test_rods_turned_inside_out_are_told():
    """A column far too heavy for its modulus: the linear law lets it fall through its own foot."""
    column = sp.Rod("column", length=1.0, section=sp.Circle(0.05), strains=("gx",), basis=2,
                    material=sp.Material(E=1e3, density=5e3))  # fmt: skip
    upright = sp.Robot(column, gravity=(-9.81, 0, 0), name="mud")
    with pytest.warns(RuntimeWarning, match="mud: rod 'column' is turned inside out at u = "):
        assert sp.equilibrium(upright).position("column")[0] < 0
    with pytest.warns(RuntimeWarning, match="inside out"):
        sp.simulate(upright, 0.5, dt=0.01)
