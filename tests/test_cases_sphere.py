"""Faults that others reported in public, restated for angle, retract and slerp; each id is project and issue.

The right values come from 40 to 60 digits on the float64 values of the decimals shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from public_cases import check_value

from ngeodesic.geodesic import angle, retract, slerp

REASON = "torch is an optional extra"
EPS = float(np.finfo(np.float64).eps)
E1 = (1.0, 0.0)


def f32(*x: float) -> Any:
    return np.array(x, np.float32)


def f16(value: float, count: int) -> Any:
    return np.full(count, value, np.float16)


A, B, T = (
    (-0.0112188980, -0.0367633253, -0.00361495349, -0.999254525),
    (-0.0114078531, -0.0367971063, -0.00342923636, -0.999251783),
    0.691265166,
)
DIAGONAL = (-1.0, -1.0, 1.0)
QUATERNION = (0.18257419, 0.36514837, 0.54772256, 0.73029674)
NORMAL = np.array([0.5, 1, 0.5]) / math.sqrt(1.5)
NEAR_PI = (
    (0.024432172998785973, 1.3685636623961273e-8, 0.9997014999389648),
    (-0.024432172998785973, -8.114220406696404e-9, -0.9997014999389648),
)
ROWS = [[3, 4, 0], [0, 5, 12], [8, 0, 15]]
UNIT_ROWS = [
    [0.6, 0.8, 0],
    [0, 0.384615384615384615, 0.923076923076923077],
    [0.470588235294117647, 0, 0.882352941176470588],
]
H, TARGET, ALPHA = (0.6, 0.8, 0.0), (0.0, 0.6, 0.8), (0.05, 0.1, 0.15)

# source, what is computed, the right value, error allowed relative to the largest entry
VALUES: list[tuple[str, Callable[[], Any], Any, float]] = [
    ("toji/gl-matrix #500", lambda: slerp([0, 0, 1], [0, 0, 1], 0.5), [0, 0, 1], 0),
    (
        "pytransform3d #45",
        lambda: slerp(QUATERNION, QUATERNION, 0.3) / QUATERNION[3],
        np.array(QUATERNION) / QUATERNION[3],
        1e-8,
    ),
    (
        "redorav/hlslpp #68, slerp",
        lambda: slerp(A, B, T),
        [-0.011349515823720139, -0.036786676101393999, -0.0034865736285270812, -0.99925260708006717],
        2 * EPS,
    ),
    ("redorav/hlslpp #68, angle", lambda: angle(A, B), 0.000267102138281524820, 4 * EPS),
    ("redorav/hlslpp #68, float32 angle", lambda: angle(f32(*A), f32(*B)), 0.000267102132072828585, 4e-7),
    (
        "redorav/hlslpp #68, float32 values in float64",
        lambda: angle(f32(*A).astype(float), f32(*B).astype(float)),
        0.000267102132072828585,
        4 * EPS,
    ),
    ("mathnet/mathnet-spatial #13, equal", lambda: angle(DIAGONAL, DIAGONAL), 0, 0),
    ("mathnet/mathnet-spatial #13, opposite", lambda: angle(DIAGONAL, (1, 1, -1)), math.pi, 0),
    ("g-truc/glm #145", lambda: angle(QUATERNION, QUATERNION), 0, 0),
    (
        "luanti-org/luanti #7738",
        lambda: angle([0, 0, 1], [2e-5, 2e-5, 0.9999999996]),
        0.0000282842712512331404,
        4 * EPS,
    ),
    ("SauersML/gam #592", lambda: angle(E1, (math.cos(1e-9), math.sin(1e-9))), 1e-9, 2 * EPS),
    ("scipy/scipy #10380, angle", lambda: angle(H, (-0.6, -0.8, 0)), math.pi, 0),
    ("geomstats #1218, a quarter", lambda: retract(H, (-0.6, -0.8, 0), 0.25), H, 2 * EPS),
    ("geomstats #1218, three quarters", lambda: retract(H, (-0.6, -0.8, 0), 0.75), (-0.6, -0.8, 0), 2 * EPS),
    (
        "godotengine/godot #27825, slerp",
        lambda: slerp(NORMAL, (0, -1, 0), 0.5),
        (0.673887338679049162, -0.302905446527686233, 0.673887338679049162),
        4 * EPS,
    ),
    ("godotengine/godot #27825, angle", lambda: angle(NORMAL, (0, -1, 0)), 2.52611294491940590, 2 * EPS),
    (
        "JuliaGeometry/Quaternions.jl #78, slerp",
        lambda: slerp([2, 0], [0, 3], 0.25),
        (0.923879532511286756, 0.382683432365089772),
        2 * EPS,
    ),
    (
        "JuliaGeometry/Quaternions.jl #78, retract normalises its inputs",
        lambda: retract([3, 0], [0, 1], 0.25),
        (0.948683298050513800, 0.316227766016837933),
        2 * EPS,
    ),
    (
        "AUTOMATIC1111/stable-diffusion-webui #1229",
        lambda: angle([3, 0, 0], [0, 2, 2]),
        1.57079632679489662,
        EPS,
    ),
    (
        "JuliaArrays/StaticArrays.jl #975, small",
        lambda: angle((1e-200, 1e-200), (1e-200, 0)),
        0.785398163397448310,
        EPS,
    ),
    (
        "JuliaArrays/StaticArrays.jl #975, large",
        lambda: angle((1e200, 1e200), (0, 1e200)),
        0.785398163397448310,
        EPS,
    ),
    ("apache/datafusion #25289", lambda: slerp((3e-320, 4e-320), (1, 0), 0), (0.6, 0.8), 1e-4),
    ("apache/datafusion #25289, retract", lambda: retract((3e-320, 4e-320), (3, 4), 0), (0.6, 0.8), 1e-4),
    ("kornia/kornia #4623, angle", lambda: angle(f16(16, 512), f16(16, 512)), 0, 0),
    (
        "kornia/kornia #4623, float16",
        lambda: retract(f16(16, 512), f16(16, 512), 0.3),
        f16(0.0441941738241592203, 512),
        0,
    ),
    (
        "kornia/kornia #4623, float64",
        lambda: retract([16] * 512, [16] * 512, 0.3),
        [0.0441941738241592203] * 512,
        2 * EPS,
    ),
    ("pytorch #18057", lambda: angle(np.arange(84, dtype=np.float32), np.arange(84, dtype=np.float32)), 0, 0),
    ("facebookresearch/pytorch3d #188", lambda: angle(*NEAR_PI), 3.14159264801837708, EPS),
    (
        "toji/gl-matrix #230, 1e-6 from pi",
        lambda: slerp(E1, (-math.cos(1e-6), math.sin(1e-6)), 0.25),
        (0.707106957963220724, 0.707106604409830131),
        8e-16 / 1e-6,
    ),
    (
        "toji/gl-matrix #230, 1e-3 from pi",
        lambda: slerp(E1, (-math.cos(1e-3), math.sin(1e-3)), 0.25),
        (0.707283535782915940, 0.706929982396005514),
        8e-16 / 1e-3,
    ),
    ("lucidrains/nGPT-pytorch #9, rows", lambda: retract(ROWS, ROWS, 0.5), UNIT_ROWS, 2 * EPS),
    (
        "lucidrains/nGPT-pytorch #9, columns",
        lambda: retract(np.transpose(ROWS), np.transpose(ROWS), 0.5, axis=0),
        np.transpose(UNIT_ROWS),
        2 * EPS,
    ),
    (
        "lucidrains/nGPT-pytorch #2, alpha per dimension",
        lambda: retract(H, TARGET, ALPHA),
        (0.585516873793297407, 0.801233616769775398, 0.123266710272273138),
        2 * EPS,
    ),
    (
        "lucidrains/nGPT-pytorch #2, contraction per dimension",
        lambda: angle(retract(H, TARGET, ALPHA), TARGET) / angle(H, TARGET),
        0.890406444656430904,
        4 * EPS,
    ),
    (
        "lucidrains/nGPT-pytorch #2, contraction of the scalar step",
        lambda: angle(retract(H, TARGET, 0.1), TARGET) / angle(H, TARGET),
        0.913772095819357368,
        4 * EPS,
    ),
    (
        "lucidrains/nGPT-pytorch #2, angle to slerp",
        lambda: angle(retract(H, TARGET, 0.1), slerp(H, TARGET, 0.1)),
        0.0147380928536651115,
        2 * EPS / 0.0147,
    ),
    (
        "python/cpython #105712",
        lambda: retract([1, 0], [0, 1], -0.25),
        (0.980580675690920160, -0.196116135138184032),
        2 * EPS,
    ),
]


@pytest.mark.parametrize(
    ("compute", "right", "tolerance"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES]
)
def test_value(compute: Callable[[], Any], right: Any, tolerance: float) -> None:
    check_value(compute, right, tolerance)


ZERO = (0.0, 0.0, 0.0)
BATCH = [[1.0, 2, 3], [4, 5, 6], [0, 0, 0]]
ERRORS: list[tuple[str, Callable[[], Any], str]] = [
    ("scipy/scipy #10380", lambda: slerp(H, (-0.6, -0.8, 0), 0.5), "antipodal"),
    ("scipy/scipy #23426", lambda: slerp((1, 0, 0), (-1, 0, 0), 0.1), "antipodal"),
    ("geomstats/geomstats #2124", lambda: slerp(H, (-1.8, -2.4, 0), 0.9), "antipodal"),
    ("opentk/opentk #1736", lambda: retract(H, (-0.6, -0.8, 0), 0.5), "antipodal"),
    ("SauersML/gam #588", lambda: retract((1, 0, 0), (-1, 0, 0), 0.5), "antipodal"),
    ("mrdoob/three.js #17545", lambda: angle(ZERO, H), r"^x must not be a zero vector$"),
    ("mrdoob/three.js #24112", lambda: angle(H, ZERO), r"^y must not be a zero vector$"),
    ("BabylonJS #5922, h", lambda: retract(ZERO, H, 0.1), r"^h must not be a zero vector$"),
    ("BabylonJS #5922, target", lambda: retract(H, ZERO, 0.1), r"^target must not be a zero vector$"),
    ("tracel-ai/burn #5584, h", lambda: slerp(ZERO, H, 0.1), r"^h must not be a zero vector$"),
    (
        "tracel-ai/burn #5584, row",
        lambda: slerp(H, BATCH, 0.1),
        r"^target must not be a zero vector \(row 2\)$",
    ),
]


@pytest.mark.parametrize(
    ("compute", "message"), [case[1:] for case in ERRORS], ids=[case[0] for case in ERRORS]
)
def test_error(compute: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute()


def test_random_equal_pairs() -> None:
    """iory/scikit-robot #807: a dead guard let 847 of 2000 random equal pairs raise."""
    x = np.random.default_rng(807).standard_normal((2000, 4))
    for v in (x, x / np.linalg.norm(x, axis=1, keepdims=True)):
        np.testing.assert_array_equal(angle(v, v), 0)
        np.testing.assert_array_equal(angle(v, -v), math.pi)
        np.testing.assert_allclose(slerp(v, v, 0.3), retract(v, v, 0.3), rtol=4 * EPS)


def test_endpoints_of_slerp() -> None:
    """dimforge/nalgebra #1614, jfalcou/kyosu #247, mrdoob/three.js #5207."""
    for a, b in ((H, TARGET), ((0.0, 0.6, 0.8), (1.0, 0.0, 0.0))):
        assert (np.abs(slerp(a, b, 0) - a) <= 2 * np.spacing(a)).all()
        assert (np.abs(slerp(a, b, 1) - b) <= 2 * np.spacing(b)).all()
        assert angle(slerp(a, b, 0.25), a) == pytest.approx(angle(a, b) / 4, rel=8 * EPS, abs=0)


def test_norm_does_not_drift() -> None:
    """Manopt.jl #306, #67: after many steps the norm was 1.0038."""
    rng = np.random.default_rng(306)
    h, target = rng.standard_normal((20, 3)), rng.standard_normal((20, 3))
    for _ in range(5000):  # 10^5 steps in all
        h = retract(h, target, 1e-3)
        assert np.max(np.abs(np.hypot(np.hypot(h[:, 0], h[:, 1]), h[:, 2]) - 1)) <= 4.5e-16


@pytest.mark.parametrize(
    "source", ["geoopt #79", "geoopt #243", "kornia #4007", "kornia #4404", "pytorch #8069"]
)
def test_gradients_at_equal_points(source: str) -> None:
    """A NaN from the arccos or the norm; torch.where on the output alone does not remove it."""
    torch = pytest.importorskip("torch", reason=REASON)
    points = {"geoopt #79": H, "geoopt #243": E1, "kornia #4007": DIAGONAL, "kornia #4404": QUATERNION}
    a = torch.tensor(points.get(source, (3.0, 1.0)), dtype=torch.float64, requires_grad=True)
    b = a.detach().clone().requires_grad_()
    value = angle(a, b)
    value.backward()
    assert value == 0
    assert not a.grad.any()
    assert not b.grad.any()
    for function in (retract, slerp):
        assert torch.autograd.gradcheck(function, (a, b, 0.3))
