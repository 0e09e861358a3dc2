"""glTF files: what they hold is the drawing, at every instant, as a reader of the format sees it."""

import json
import struct

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple.view import to_gltf
from supple.view.drawing import drawing_of

TYPES = {5126: "<f4", 5125: "<u4", 5123: "<u2"}
SIZES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


@pytest.fixture(scope="module")
def run():
    soft = sp.Material(E=1e6, density=1000.0)
    robot = sp.Robot(
        sp.Rod("arm", 0.3, sp.Circle(0.01), soft, strains="planar", basis=2),
        sp.Body("tool", parent="arm", mass=0.1, inertia=(2e-5, 3e-5, 4e-5), shape=sp.Box((0.1, 0.2, 0.3))),
        sp.Tendon("pull", on="arm", offset=(0.008, 0.0), tension=sp.ramp(0.0, 0.1, 5.0)),
        sp.Chamber("air", on="arm", area=1e-5, pressure=1e4),
    )  # fmt: skip
    return sp.simulate(robot, 0.1, dt=0.01)


def read(path):
    """The description, and a function that gives the array of an accessor."""
    content = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", content)
    assert (magic, version, length) == (b"glTF", 2, len(content))
    size, kind = struct.unpack_from("<I4s", content, 12)
    assert kind == b"JSON"
    data = json.loads(content[20 : 20 + size])
    binary = content[20 + size + 8 :]

    def array(index):
        accessor = data["accessors"][index]
        view = data["bufferViews"][accessor["bufferView"]]
        width = SIZES[accessor["type"]]
        flat = np.frombuffer(binary, TYPES[accessor["componentType"]],
                             accessor["count"] * width, view["byteOffset"])  # fmt: skip
        return flat.reshape(-1, width).astype(float)

    return data, array


def poses(data, array, frame):
    """Position and rotation of each node in our axes, at an instant."""
    found = []
    animation = data["animations"][0]
    moving = {(c["target"]["node"], c["target"]["path"]): animation["samplers"][c["sampler"]]
              for c in animation["channels"]}  # fmt: skip
    for index, node in enumerate(data["nodes"]):
        parts = []
        for path, still in (("translation", [0, 0, 0]), ("rotation", [0, 0, 0, 1])):
            sampler = moving.get((index, path))
            parts.append(array(sampler["output"])[frame] if sampler else node.get(path, still))
        found.append((np.array(parts[0]), Rotation.from_quat(parts[1]).as_matrix()))
    return found


def test_everything_is_where_it_is_drawn(run, tmp_path):
    drawing = drawing_of(run)
    data, array = read(to_gltf(run, tmp_path / "run.glb"))
    by_name = {node["name"]: i for i, node in enumerate(data["nodes"])}
    for frame in (0, 4, len(run.t) - 1):
        placed = poses(data, array, frame)
        position, rotation = placed[by_name["tool"]]
        np.testing.assert_allclose(position, drawing.solids[0].position[frame], atol=1e-6)
        np.testing.assert_allclose(rotation, drawing.solids[0].rotation[frame], atol=1e-5)
        node = data["nodes"][by_name["arm"]]
        attributes = data["meshes"][node["mesh"]]["primitives"][0]["attributes"]
        bones = data["skins"][node["skin"]]["joints"]
        owners = array(attributes["JOINTS_0"])[:, 0].astype(int)
        vertices = array(attributes["POSITION"])
        moved = np.array([placed[bones[o]][0] + placed[bones[o]][1] @ v
                          for o, v in zip(owners, vertices, strict=True)])  # fmt: skip
        skin = drawing.rods[0].skin(frame)[::2].reshape(-1, 3)
        np.testing.assert_allclose(moved[: len(skin)], skin, atol=1e-6)
    np.testing.assert_allclose(
        array(data["animations"][0]["samplers"][0]["input"])[:, 0], run.t, atol=1e-6
    )
    assert {"arm", "air", "pull", "tool"} <= set(by_name)
    top = data["nodes"][data["scenes"][0]["nodes"][0]]
    turned = Rotation.from_quat(top["rotation"]).apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(turned, [0.0, 1.0, 0.0], atol=1e-7)  # glTF's up is y


def test_others_can_read_it(run, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.load(str(to_gltf(run, tmp_path / "run.glb")))
    assert {"arm", "pull", "tool"} <= {name.split(".")[0] for name in scene.geometry}
    with pytest.raises(sp.ArgumentError, match=r"need a name that ends in \.glb"):
        to_gltf(run, tmp_path / "run.gltf")
