"""From description to model: grouping, places, inertias, loads and scales."""

import jax
import numpy as np
import pytest

import supple as sp
from supple.model.model import RodGroup
from supple.robot.placement import placement, unit_axis

STEEL = sp.Material(E=2e11, density=7800.0)
TOL = 1e-14


def rod(name, **options):
    base = dict(length=1.0, section=sp.Circle(0.01), material=STEEL, basis=2)
    return sp.Rod(name, **{**base, **options})


def test_rods_of_one_shape_are_one_group_and_others_are_not():
    model = sp.Robot(
        rod("a"), rod("b", length=2.0, material=sp.Material(E=1e9, density=1.0)), rod("c", basis=3)
    ).build()
    assert [g.size for g in model.groups] == [2, 1]
    assert (model.nq, model.nv) == (6 + 6 + 9, 6 + 6 + 9)
    np.testing.assert_array_equal(model.groups[0].length, [1.0, 2.0])


def test_joints_of_one_kind_are_one_group_with_their_own_axes():
    bodies = [sp.Body(n, mass=1.0, joint=sp.Revolute(n)) for n in ("x", "y", "z")]
    model = sp.Robot(*bodies, sp.Body("s", mass=1.0, joint=sp.Prismatic("x"))).build()
    assert [g.size for g in model.groups] == [3, 1]
    np.testing.assert_array_equal(model.groups[0].joint.axis, np.eye(3))


def test_fixed_bodies_hang_on_the_sample_of_what_carries_them():
    model = sp.Robot(
        rod("arm"),
        sp.Body("grip", parent="arm", mass=1.0, position=(0.1, 0, 0), rotation=(0, 0, np.pi / 2)),
        sp.Body("claw", parent="grip", mass=1.0, position=(0.2, 0, 0)),
        sp.Body("ring", parent="arm", fraction=0.0, mass=1.0, position=(0, 1, 0)),
        sp.Body("table", mass=9.0),
    ).build()
    nodes = model.groups[0].grid.weights.shape[1]
    # The ring sits on the clamped start and the table on the ground: neither ever moves.
    assert model.bodies.sample == (nodes, nodes)
    np.testing.assert_allclose(model.bodies.offset.position, [[0.1, 0, 0], [0.1, 0.2, 0]], atol=TOL)
    frames = {f.name: f.sample for f in model.topology.frames}
    assert frames["ring"] == frames["table"] == -1


def test_body_inertia_is_about_its_frame_by_steiners_theorem():
    model = sp.Robot(
        sp.Body("b", mass=2.0, inertia=(1.0, 2.0, 2.5), com=(0.3, 0, 0), joint=sp.Free())
    ).build()
    inertia = model.bodies.inertia[0]
    np.testing.assert_allclose(inertia[:3, :3], np.diag([1.0, 2.18, 2.68]), atol=TOL)
    np.testing.assert_allclose(inertia[3:, 3:], 2.0 * np.eye(3), atol=TOL)
    # Momentum of a turn about y: the mass center moves along -z.
    np.testing.assert_allclose(inertia[3:, 1], [0, 0, -0.6], atol=TOL)
    np.testing.assert_allclose(inertia, inertia.T, atol=TOL)


def test_loads_on_the_ground_are_dropped_and_others_kept():
    model = sp.Robot(
        rod("arm"),
        sp.Body("table", mass=1.0),
        sp.Wrench("idle", on="table", force=(0, 0, 1)),
        sp.Wrench("also idle", on="arm", fraction=0.0, force=(0, 0, 1)),
        sp.Wrench("pull", on="arm", fraction=0.5, force=(1, 2, 3), moment=(4, 5, 6)),
    ).build()
    assert len(model.loads) == 1
    np.testing.assert_array_equal(model.loads[0].value, [4, 5, 6, 1, 2, 3])
    nodes = model.groups[0].grid.weights.shape[1]
    assert model.groups[0].grid.points[0, model.loads[0].sample] == 0.5
    assert model.loads[0].sample == nodes + 1


def test_scales_are_radians_a_length_and_sizes_of_the_robot():
    model = sp.Robot(
        rod("arm", length=2.0, strains="reissner", basis=1),
        sp.Body("b", mass=1.0, joint=sp.Cylindrical("x")),
    ).build()
    slots = {s.name: s.v for s in (*model.topology.rod_slots, *model.topology.joint_slots)}
    np.testing.assert_array_equal(model.scale[slots["arm"]], [0.5, 0.5, 0.5, 1, 1, 1])
    np.testing.assert_array_equal(model.scale[slots["b"]], [1.0, 2.0])


def test_sectional_matrices_follow_varying_sections():
    model = sp.Robot(rod("arm", section=sp.Circle(lambda u: 0.02 - 0.01 * u))).build()
    group = model.groups[0]
    assert isinstance(group, RodGroup)
    u = np.asarray(group.grid.points[0, : group.grid.weights.shape[1]])
    expected = 2e11 * np.pi / 4 * (0.02 - 0.01 * u) ** 4
    np.testing.assert_allclose(group.stiffness[0, :, 1, 1], expected, rtol=1e-12)


def test_descriptions_are_differentiable():
    """The rod's bending stiffness over its length, through description and build."""

    def stiffness(radius, length):
        model = sp.Robot(rod("arm", section=sp.Circle(radius), length=length)).build()
        return model.groups[0].stiffness[0, 0, 1, 1] / model.groups[0].length[0]

    by_radius, by_length = jax.grad(stiffness, argnums=(0, 1))(0.01, 2.0)
    value = 2e11 * np.pi / 4 * 0.01**4 / 2
    np.testing.assert_allclose([by_radius, by_length], [4 * value / 0.01, -value / 2], rtol=1e-12)


def test_rotations_may_be_vectors_quaternions_or_matrices():
    angle = 2 * np.pi / 3
    vector = angle * np.ones(3) / np.sqrt(3)
    cyclic = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    for rotation in (vector, (0.5, 0.5, 0.5, 0.5), (-3, -3, -3, -3), cyclic):
        pose = placement("item", (1, 2, 3), rotation)
        np.testing.assert_allclose(pose.rotation, cyclic, atol=1e-15)
        np.testing.assert_array_equal(pose.position, [1, 2, 3])


def test_a_traced_quaternion_is_still_a_quaternion():
    found = jax.jit(lambda q: placement("item", (0, 0, 0), q).rotation)(np.array([1.0, 0, 0, 0]))
    np.testing.assert_allclose(found, np.eye(3), atol=1e-15)


@pytest.mark.parametrize(
    "direction", ["x", "-x", "y", "-y", "z", "-z", (1.0, 2.0, -3.0), (-1.0, 1e-9, 0.0)]
)
def test_along_points_the_rod_along_the_direction(direction):
    turned = placement("item", (0, 0, 0), sp.along(direction)).rotation
    expected = unit_axis("item", "direction", direction)
    np.testing.assert_allclose(turned[:, 0], expected, atol=1e-15)


def test_along_takes_the_shortest_turn():
    assert np.linalg.norm(sp.along("y")) == pytest.approx(np.pi / 2)
    np.testing.assert_array_equal(sp.along("x"), 0.0)


@pytest.mark.parametrize(("accuracy", "bending"), [(1e-1, 4), (1e-2, 8), (1e-3, 12)])
def test_automatic_bases_take_four_bending_modes_a_digit(accuracy, bending):
    chosen = rod("arm", basis="auto", strains="kirchhoff").resolved(accuracy).strain_field()
    counts = {row: chosen.rows.count(row) for row in set(chosen.rows)}
    assert counts == {0: bending // 2, 1: bending, 2: bending}


def test_automatic_strains_shear_stubby_rods_only():
    slender = rod("arm", strains="auto", basis=1).resolved(1e-2)
    stubby = rod("arm", strains="auto", basis=1, section=sp.Circle(0.3)).resolved(1e-2)
    assert slender.strain_field().count == 3
    assert stubby.strain_field().count == 6


def test_strains_are_chosen_where_neither_they_nor_a_basis_are_named():
    stubby = sp.Circle(0.3)
    assert rod("arm", basis="auto", section=stubby).resolved(1e-2).strains == "reissner"
    assert rod("arm", basis=4, section=stubby).resolved(1e-2).strains == "kirchhoff"
