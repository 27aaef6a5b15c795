"""Faults that others reported in public, each restated for `Spel`; EO is Emerging-Optimizers."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer is torch's")

from ngeodesic import polar, stiefel  # noqa: E402
from ngeodesic.optim import Spel  # noqa: E402

W = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
G = [[3.0, 1.0], [2.0, 4.0], [1.0, -1.0]]
W1 = [
    [0.995863477615015069, 0.0686398223054580231],
    [-0.0642492566203235529, 0.995277423429141336],
    [-0.0642492566203235529, 0.0686398223054580231],
]


def tensor(values: Any, dtype: Any = torch.float64) -> Any:
    return torch.as_tensor(values, dtype=dtype).clone()


def stepped(weight: Any, grad: Any, lr: float = 0.1, dtype: Any = torch.float64, **options: Any) -> Any:
    """The weight after one step, without momentum and decay unless the options say so."""
    p = torch.nn.Parameter(tensor(weight, dtype))
    p.grad = tensor(grad, dtype)
    Spel([p], lr=lr, **{"momentum": 0.0, "weight_decay": 0.0} | options).step()
    return p.detach()


def assert_near(actual: Any, expected: Any, atol: float = 1e-15) -> None:
    torch.testing.assert_close(actual, tensor(expected), rtol=0, atol=atol)


@pytest.mark.parametrize("direction", ["svd", "polar_express"])
def test_the_momentum_is_projected(direction: str) -> None:  # EO #106, #301
    assert_near(stepped(W, G, coefficient_type=direction), W1, 3e-15)
    assert abs(stepped(W, G, coefficient_type=direction)[0, 0] - 0.99880150974952175) > 2e-3
    assert_near(stepped(W, G, dtype=torch.float32).double(), W1, 2e-7)


def test_a_wide_weight_is_the_transpose() -> None:
    assert_near(stepped(tensor(W).mT, tensor(G).mT).mT, W1, 3e-15)


def test_a_normal_gradient_moves_nothing() -> None:  # EO #301
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        normal = tensor(W) @ tensor([[2.0, 1.0], [1.0, 3.0]])
        assert torch.equal(stepped(W, normal, dtype=dtype), tensor(W, dtype))


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (4, 4)])
def test_a_zero_gradient_moves_nothing(
    shape: tuple[int, int],
) -> None:  # microsoft/dion #24, KellerJordan/Muon PR 8
    for seed in range(5):
        p = torch.nn.Parameter(torch.from_numpy(stiefel.random_point(shape, seed=seed)))
        before = p.detach().clone()
        optimizer = Spel([p], lr=0.1)
        for _ in range(3):
            p.grad = torch.zeros(shape, dtype=torch.float64)
            optimizer.step()
        assert torch.equal(p, before)
        assert not optimizer.state[p]["momentum_buffer"].any()


def test_five_quintic_steps_are_no_polar_factor() -> None:  # pytorch PR 159465, 160213
    for value, mapped in ((1, 0.696436409469752343), (0.5, 0.765438530454340), (2**-0.5, 1.10811111568293)):
        a, b, c = polar.COEFFICIENTS["muon_quintic"].steps[0]
        for _ in range(5):
            value = a * value + b * value**3 + c * value**5
        assert value == pytest.approx(mapped, rel=1e-13, abs=0)
    for dtype, most in ((torch.float32, 1e-6), (torch.float64, 1e-12)):
        for direction in ("simple", "quintic"):
            point = stepped(W, G, dtype=dtype, coefficient_type=direction, num_ns_steps=5)
            assert (point.mT @ point - torch.eye(2, dtype=dtype)).abs().max() < most


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_resume_is_bit_for_bit(dtype: Any) -> None:  # DeepSpeed #7748, KempnerForge #115
    def steps(p: Any, optimizer: Spel, first: int, last: int) -> None:
        for step in range(first, last):
            p.grad = tensor(G, dtype) * (1 + step) + step * torch.ones(3, 2, dtype=dtype).tril()
            optimizer.step()

    through, stopped = (torch.nn.Parameter(tensor(W, dtype)) for _ in range(2))
    steps(through, Spel([through], lr=0.1), 0, 5)
    optimizer = Spel([stopped], lr=0.1)
    steps(stopped, optimizer, 0, 3)
    resumed = torch.nn.Parameter(stopped.detach().clone())
    fresh = Spel([resumed])
    fresh.load_state_dict(optimizer.state_dict())
    assert fresh.state[resumed]["momentum_buffer"].dtype == dtype
    steps(resumed, fresh, 3, 5)
    assert torch.equal(resumed, through)


@pytest.mark.parametrize("shape", [(5,), (4, 1, 1), (8, 3, 3, 3), (0, 3), ()])
def test_other_shapes_are_refused_at_construction(
    shape: tuple[int, ...],
) -> None:  # Moonlight #37, pytorch #166209
    with pytest.raises(ValueError, match=r"^head\.weight must be a matrix, .* got shape \("):
        Spel([("head.weight", torch.nn.Parameter(torch.zeros(shape)))])


def test_strides_do_not_count() -> None:  # ultralytics #26013, clovaai/AdamP #17
    p = torch.nn.Parameter(tensor(W).mT.contiguous().mT)
    assert not p.is_contiguous()
    p.grad = tensor(G).mT.contiguous().mT
    Spel([p], lr=0.1, momentum=0, weight_decay=0).step()
    assert_near(p.detach(), W1, 3e-15)
    row = tensor([1.0, 2.0]).expand(3, 2)
    q = torch.nn.Parameter(tensor(W))
    q.grad = row
    Spel([q], lr=0.1, momentum=0, weight_decay=0).step()
    assert_near(q.detach(), stepped(W, row.contiguous()))


def test_no_gradient_no_decay() -> None:  # KellerJordan/Muon #54
    p, q = (torch.nn.Parameter(2 * tensor(W)) for _ in range(2))
    p.grad = tensor(G)
    optimizer = Spel([p, q], lr=0.1, weight_decay=0.5)
    assert optimizer.step(lambda: "loss") == "loss"
    assert torch.equal(q, 2 * tensor(W))
    assert list(optimizer.state) == [p]


def test_the_length_of_the_gradient_does_not_count() -> None:  # DeepSpeed #8441
    assert_near(stepped(W, 7 * tensor(G)), stepped(W, G))
    assert_near(stepped(W, 7 * tensor(G), momentum=0.95), W1, 3e-15)


def test_the_whole_matrix_counts() -> None:  # DeepSpeed #8437, Moonlight #27, Megatron-LM #5961
    whole = polar.msign([[1.0, 0.0], [1.0, 1.0]])
    expected = [[0.894427190999915879, -0.447213595499957939], [0.447213595499957939, 0.894427190999915879]]
    assert_near(tensor(whole), expected)


def test_a_large_learning_rate() -> None:  # tinygrad #11414
    expected = [
        [0.417620168032103094, 0.686398223054580231],
        [-0.642492566203235529, -0.240239378069103081],
        [-0.642492566203235529, 0.686398223054580231],
    ]
    assert_near(stepped(W, G, lr=10), expected, 5e-15)


def test_a_weight_off_the_manifold_is_retracted_first() -> None:  # EO #301
    assert_near(stepped(2 * tensor(W), G), W1, 3e-15)
    assert_near(stepped(0.01 * tensor(W), G), W1, 3e-15)


def test_the_radius_of_wide_weights() -> None:  # EO #301
    tall = tensor([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    grad = tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]])
    for lr, row in (  # the value in the report is that of lr / sigma = 0.1
        (0.1 * math.sqrt(2), [1.04726819759315136, 0.101001648523994985]),
        (0.1, [1.0339811825982651585, 0.072437725932655903163]),
    ):
        point = stepped(tall, grad, lr, scale_mode="unit_rms_to_rms_norm", coefficient_type="svd")
        assert_near(point[0], row, 3e-15)
        assert_near(point.mT @ point, 2 * torch.eye(2), 3e-15)
    wide = stepped(tall.mT, grad.mT, scale_mode="unit_rms_to_rms_norm")
    assert_near(wide @ wide.mT, 0.707106781186547524**2 * torch.eye(2), 1e-15)


def test_a_group_without_decay_ends_nothing() -> None:  # keras-team/keras #21856
    p, q = (torch.nn.Parameter(tensor(W)) for _ in range(2))
    p.grad, q.grad = tensor(G), tensor(G)
    groups = [{"params": [p], "weight_decay": 0.0}, {"params": [q], "weight_decay": 0.5}]
    Spel(groups, lr=1.0, momentum=0).step()
    assert_near(p.detach(), stepped(W, G, lr=1.0))
    assert_near(q.detach(), stepped(W, G, lr=2.0), 3e-15)  # half of the weight is left
    r = torch.nn.Parameter(tensor(W))
    r.grad = torch.zeros_like(r)
    Spel([r], lr=1.0, weight_decay=0.5).step()
    assert torch.equal(r, tensor(W))
    with pytest.raises(ValueError, match=r"got lr 2.0 and weight_decay 0.6"):
        Spel([r], lr=2.0, weight_decay=0.6)


def test_parameters_of_a_group_do_not_feel_each_other() -> None:  # geoopt #164
    def trained(count: int) -> list[Any]:
        weights = [torch.nn.Parameter(tensor(W)) for _ in range(count)]
        optimizer = Spel(weights, lr=0.1)
        for step in range(3):
            for p in weights:
                p.grad = tensor(G) + step
            optimizer.step()
        return weights

    first, second = trained(2)
    assert torch.equal(first, second)
    assert torch.equal(trained(3)[0], first)


def test_nesterov_as_documented() -> None:  # NorMuon #5, EO #65
    seen = []
    for nesterov in (False, True):
        p = torch.nn.Parameter(tensor(W))
        optimizer = Spel([p], lr=0.1, momentum=0.9, nesterov=nesterov)
        for grad, buffer in ((tensor(G), 0.1), (2 * tensor(G), 0.29)):
            p.grad = grad
            optimizer.step()
            assert_near(optimizer.state[p]["momentum_buffer"], buffer * tensor(G))
            assert p.grad is grad
        assert torch.equal(p.grad, 2 * tensor(G))
        seen.append(p.detach())
    assert_near(seen[0], seen[1])  # of one gradient all averages have one direction
    p = torch.nn.Parameter(tensor(W))
    optimizer = Spel([p], lr=0.1, momentum=0.9, nesterov=True)
    other = tensor(G).flip(0)
    for grad in (tensor(G), other):
        before = p.detach().clone()
        p.grad = grad
        optimizer.step()
    # 0.1 g2 + 0.9 (0.09 g1 + 0.1 g2): with numbers 1 and 2 for the gradients, 0.461
    assert_near(p.detach(), stepped(before, 0.081 * tensor(G) + 0.19 * other, weight_decay=0.1), 3e-15)


@pytest.mark.parametrize("direction", ["svd", "polar_express"])
def test_rotations_stay_rotations(direction: str) -> None:  # pymanopt #301, GraphicsGems #15
    grad = [[1.0, -3, 2], [3, 2, -1], [-2, 1, 3]]
    point = stepped(torch.eye(3), grad, coefficient_type=direction)
    assert_near(point[0], [0.99539167662356134, 0.0804894353885156921, -0.0521235158001975748], 3e-15)
    assert float(torch.linalg.det(point)) == pytest.approx(1, rel=1e-14, abs=0)
    angle = math.acos((float(point.trace()) - 1) / 2)
    assert angle == pytest.approx(0.0996686524911620274, rel=1e-13, abs=0)


def test_a_vector_moves_on_its_sphere() -> None:
    point = stepped([[1.0], [0], [0]], [[5.0], [3], [4]])
    assert_near(point, [[0.995037190209989136], [-0.0597022314125993481], [-0.0796029752167991309]], 3e-16)
