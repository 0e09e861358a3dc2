"""Where a description is cut into items does not matter: two halves make the whole."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple.mechanics.frames import find_joint, find_rod
from tests.samples import (
    BENT,
    FLAT,
    RUBBER,
    accelerate,
    at,
    moving,
    random_configuration,
    random_vector,
    residual,
    rod,
)

TOL = 1e-12  # relative; the very same nodes, summed in another order


def half(name: str, **options) -> sp.Rod:
    base = dict(length=0.5, section=FLAT, material=RUBBER, strains="reissner", basis=1, rest=BENT)
    return sp.Rod(name, **{**base, **options})


def test_a_rod_with_two_constant_pieces_is_two_rods_in_a_row(rng):
    """Piecewise constant strain on one rod, or one constant strain on each of two."""
    nodes = dict(nodes=12)
    whole = sp.Robot(
        half("rod", length=1.0, basis=sp.PiecewiseConstant(2), **nodes),
        sp.Body("tool", parent="rod", mass=0.2),
        sp.Wrench("push", on="rod", force=(1, 2, 3)),
    ).build()
    parts = sp.Robot(
        half("one", **nodes),
        half("two", parent="one", **nodes),
        sp.Body("tool", parent="two", mass=0.2),
        sp.Wrench("push", on="two", force=(1, 2, 3)),
    ).build()
    q = random_configuration(whole, rng)
    v, a = random_vector(whole, rng, 1.0, 2.0), random_vector(whole, rng, 1.0, 5.0)
    # Coordinates of the whole: (first, second) piece for each strain in turn.
    order = np.zeros(12, dtype=int)
    for piece, name in enumerate(("one", "two")):
        order[find_rod(parts, name).v] = np.arange(piece, 12, 2)
    expected = np.asarray(residual(whole, at(q, v, a)))
    found = np.asarray(residual(parts, at(q[order], v[order], a[order])))
    np.testing.assert_allclose(found, expected[order], rtol=0, atol=TOL * np.abs(expected).max())


def test_bodies_welded_together_are_one_body(rng):
    """Masses add, centers average, inertias add by Steiner's theorem in turned axes."""
    seat = dict(position=(0.2, -0.1, 0.3), rotation=(0.4, -0.2, 0.9))
    one = dict(mass=0.5, inertia=(1e-2, 2e-2, 2.5e-2), com=(0.05, 0.0, -0.02))
    two = dict(mass=0.3, inertia=(2e-2, 1e-2, 1.5e-2), com=(-0.03, 0.04, 0.01))
    pair = sp.Robot(
        sp.Body("a", joint=sp.Free(), **one), sp.Body("b", parent="a", **two, **seat)
    ).build()
    turn = Rotation.from_rotvec(seat["rotation"]).as_matrix()
    masses = np.array([one["mass"], two["mass"]])
    centers = np.array([one["com"], seat["position"] + turn @ two["com"]])
    center = masses @ centers / masses.sum()
    inertia = np.diag(one["inertia"]) + turn @ np.diag(two["inertia"]) @ turn.T
    for mass, d in zip(masses, centers - center, strict=True):
        inertia = inertia + mass * (d @ d * np.eye(3) - np.outer(d, d))
    single = sp.Robot(
        sp.Body("a", joint=sp.Free(), mass=masses.sum(), com=center, inertia=inertia)
    ).build()
    q, v = random_configuration(pair, rng), random_vector(pair, rng, 1.0, 1.0)
    np.testing.assert_allclose(
        accelerate(pair, q, v, 0.0), accelerate(single, q, v, 0.0), atol=1e-11
    )


@pytest.mark.parametrize("carrier", [True, False], ids=["rod on a driven body", "driven rod"])
def test_a_prescribed_motion_may_belong_to_the_rod_or_to_what_carries_it(rng, carrier):
    """Both equal the strong form's answer elsewhere; here they equal a rod on a driven frame."""
    place = dict(position=(0.2, 0.1, -0.3), rotation=(0.3, 0.8, -0.2))
    reference = sp.Robot(rod(joint=sp.Driven(moving), **place)).build()
    if carrier:
        # The carrier stands where the rod did; the rod is fixed to it without an offset.
        other = sp.Robot(
            sp.Body("cart", mass=3.0, joint=sp.Driven(moving), **place), rod(parent="cart")
        ).build()
    else:
        # The same motion seen from a ground frame that is a marker, not the ground itself.
        other = sp.Robot(
            sp.Marker("corner", **place), rod(parent="corner", joint=sp.Driven(moving))
        ).build()
    q = random_configuration(reference, rng)
    v, a = random_vector(reference, rng, 1.0, 2.0), random_vector(reference, rng, 1.0, 5.0)
    expected = np.asarray(residual(reference, at(q, v, a, 0.6)))
    found = np.asarray(residual(other, at(q, v, a, 0.6)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOL * np.abs(expected).max())


def test_a_rod_on_a_sliding_and_turning_cart_may_turn_first_or_slide_first(rng):
    """A cylindrical joint is a slider on a hinge about the same axis, with nothing between."""
    speck = dict(mass=1e-9, inertia=(1e-12, 1e-12, 1e-12))
    body = dict(mass=0.7, inertia=(2e-2, 3e-2, 4e-2), com=(0.1, 0.2, -0.1))
    one = sp.Robot(sp.Body("b", joint=sp.Cylindrical("x"), **body)).build()
    two = sp.Robot(
        sp.Body("speck", joint=sp.Revolute("x"), **speck),
        sp.Body("b", parent="speck", joint=sp.Prismatic("x"), **body),
    ).build()
    q, v = rng.normal(size=(2, 2))
    found = np.asarray(accelerate(two, q, v, 0.0))
    order = [find_joint(two, name).v_start for name in ("speck", "b")]
    np.testing.assert_allclose(
        found[order], accelerate(one, q[order], v[order], 0.0), atol=1e-6
    )  # the speck of 1e-9 kg
