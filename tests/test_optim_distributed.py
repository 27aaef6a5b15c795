"""`Spel` on two and four processes: the same weights as on one, an error and no hang if a process is lost.

Real processes with torch's gloo backend, about a minute of them: NGEODESIC_DISTRIBUTED=1 runs the tests.
"""

from __future__ import annotations

import math
import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer is torch's")
if not (os.environ.get("NGEODESIC_DISTRIBUTED") and torch.distributed.is_available()):
    pytest.skip("starts processes: set NGEODESIC_DISTRIBUTED=1 to run it", allow_module_level=True)

import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.distributed.tensor import Replicate, Shard, distribute_tensor  # noqa: E402
from torch.distributed.tensor.debug import CommDebugMode  # noqa: E402

from ngeodesic.optim import Spel  # noqa: E402

SIZES = (
    12,
    16,
    7,
    5,
    3,
    3,
    9,
)  # rows of 7, 5 and 3 are shared unevenly, the last of four processes gets none
STEPS, BATCH, PATIENCE = 20, 24, 60
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-11}
OPTIONS: tuple[dict[str, Any], ...] = (
    {"lr": 0.05},
    {"lr": 0.05, "nesterov": True, "weight_decay_method": "l2", "scale_mode": "unit_rms_to_rms_norm"},
)


def make_model(dtype: Any) -> Any:
    torch.manual_seed(0)
    layers: list[Any] = []
    for rows, columns in zip(SIZES[1:], SIZES[:-1], strict=True):
        layers += [torch.nn.Linear(columns, rows, bias=False, dtype=dtype), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def make_steps(model: Any, part: slice, dtype: Any, options: dict[str, Any]) -> None:
    """Train on a part of each batch; whoever wraps the model takes the mean of the gradients."""
    optimizer = Spel(model.named_parameters(), **options)
    for step in range(STEPS):
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(BATCH, SIZES[0], generator=generator, dtype=torch.float64).to(dtype)[part]
        optimizer.zero_grad()
        (model(x) - x[:, : SIZES[-1]]).square().mean().backward()
        optimizer.step()


def whole(p: Any) -> Any:
    p = p.detach()
    return (p.full_tensor() if hasattr(p, "full_tensor") else p).clone()


def random(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- what the processes do ----------------------------------------------------------------------------------


def start(rank: int, world: int, folder: Path) -> None:
    torch.set_num_threads(1)
    store = f"file://{folder / 'store'}"
    dist.init_process_group("gloo", store, timedelta(seconds=PATIENCE), world, rank)


def work(rank: int, world: int, folder: str) -> None:
    start(rank, world, Path(folder))
    share = BATCH // world
    part = slice(rank * share, (rank + 1) * share)
    mesh = init_device_mesh("cpu", (world,))
    result: dict[Any, Any] = {}
    for dtype in TOLERANCE:
        for i, options in enumerate(OPTIONS):
            model = make_model(dtype)
            make_steps(torch.nn.parallel.DistributedDataParallel(model), part, dtype, options)
            result["ddp", dtype, i] = [whole(p) for p in model.parameters()]
            model = make_model(dtype)
            for layer in model:
                if isinstance(layer, torch.nn.Linear):
                    fully_shard(layer, mesh=mesh)
            fully_shard(model, mesh=mesh)
            make_steps(model, part, dtype, options)
            result["fsdp", dtype, i] = [whole(p) for p in model.parameters()]
    result["rows"] = [p.to_local().shape[0] for p in model.parameters()]
    placements: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "columns": (mesh, (Shard(1),)), "copies": (mesh, (Replicate(),)),
    }  # fmt: skip
    if world == 4:
        square = init_device_mesh("cpu", (2, 2))
        placements |= {"both": (square, (Shard(0), Shard(1))), "hybrid": (square, (Replicate(), Shard(0)))}
    for name, (place, how) in placements.items():
        p = torch.nn.Parameter(distribute_tensor(random(7, 5), place, how))
        optimizer = Spel([p], lr=0.1, nesterov=True)
        for seed in range(3):
            p.grad = distribute_tensor(random(7, 5, seed=seed), place, how)
            optimizer.step()
        result[name] = whole(p)
    p = torch.nn.Parameter(distribute_tensor(random(7, 5), mesh, (Shard(0),)))
    optimizer = Spel([p], lr=0.1)
    p.grad = distribute_tensor(random(7, 5), mesh, (Shard(0),))
    optimizer.step()
    with CommDebugMode() as comm:
        optimizer.step()
    result["collectives"] = {str(name): count for name, count in comm.get_comm_counts().items()}
    state, before = optimizer.state_dict(), whole(p)
    result["buffer"] = tuple(state["state"][0]["momentum_buffer"].to_local().shape) == tuple(
        p.to_local().shape
    )
    if rank == 0:
        p.grad.to_local()[0, 0] = math.nan
    try:
        optimizer.step()
    except ValueError as error:
        result["nan"] = str(error)
    result["unchanged"] = torch.equal(whole(p), before)
    torch.save(result, Path(folder) / f"{rank}.pt")
    dist.destroy_process_group()


def lose_one(rank: int, world: int, folder: str) -> None:
    start(rank, world, Path(folder))
    mesh = init_device_mesh("cpu", (world,))
    p = torch.nn.Parameter(distribute_tensor(random(7, 5), mesh, (Shard(0),)))
    optimizer = Spel([p], lr=0.1)
    p.grad = distribute_tensor(random(7, 5), mesh, (Shard(0),))
    optimizer.step()
    if rank == world - 1:
        os._exit(0)
    try:
        for _ in range(3):
            optimizer.step()
    except RuntimeError as error:
        (Path(folder) / f"{rank}.txt").write_text(str(error))
    os._exit(0)


# --- what they must have done -------------------------------------------------------------------------------


def run(target: Any, world: int, folder: Path) -> None:
    context = mp.start_processes(target, (world, str(folder)), world, join=False, start_method="spawn")
    end = time.monotonic() + 300
    while not context.join(timeout=1):
        if time.monotonic() > end:
            for process in context.processes:
                process.kill()
            pytest.fail("the processes hang")


@pytest.fixture(scope="module", params=[2, 4])
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[Any, Any]]:
    folder = tmp_path_factory.mktemp("processes")
    run(work, request.param, folder)
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(request.param)]


@pytest.fixture(scope="module")
def single() -> dict[Any, Any]:
    trained = {}
    for dtype in TOLERANCE:
        for i, options in enumerate(OPTIONS):
            model = make_model(dtype)
            make_steps(model, slice(None), dtype, options)
            trained[dtype, i] = [whole(p) for p in model.parameters()]
    return trained


@pytest.mark.parametrize("engine", ["ddp", "fsdp"])
@pytest.mark.parametrize("options", range(len(OPTIONS)))
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_processes_train_as_one(
    results: list[dict[Any, Any]], single: dict[Any, Any], engine: str, dtype: Any, options: int
) -> None:
    for result in results:
        for p, expected in zip(result[engine, dtype, options], single[dtype, options], strict=True):
            torch.testing.assert_close(p, expected, rtol=0, atol=TOLERANCE[dtype])


def test_shards_were_uneven_and_empty(results: list[dict[Any, Any]]) -> None:
    rows = [result["rows"] for result in results]
    assert any(len(set(column)) > 1 for column in zip(*rows, strict=True))
    if len(results) == 4:
        assert 0 in rows[3]


def test_every_placement_makes_the_same_step(results: list[dict[Any, Any]]) -> None:
    p = torch.nn.Parameter(random(7, 5))
    optimizer = Spel([p], lr=0.1, nesterov=True)
    for seed in range(3):
        p.grad = random(7, 5, seed=seed)
        optimizer.step()
    for result in results:
        for name in ("columns", "copies", "both", "hybrid"):
            if name in result:
                assert torch.equal(result[name], p.detach())


def test_the_momentum_is_sharded_and_two_matrices_are_gathered(results: list[dict[Any, Any]]) -> None:
    for result in results:
        assert result["buffer"]
        gathers = sum(count for name, count in result["collectives"].items() if "all_gather" in name)
        assert gathers == 2


def test_one_bad_shard_stops_all(results: list[dict[Any, Any]]) -> None:
    said = {result["nan"].removeprefix("parameter 0 of group 0: ") for result in results}
    assert said == {
        "the gradient must be finite: got NaN or infinity; nothing is changed",
        "refused by another process; nothing is changed",
    }
    for result in results:
        assert result["unchanged"]


@pytest.mark.parametrize("world", [2, 4])
def test_a_lost_process_gives_an_error(world: int, tmp_path: Path) -> None:
    begun = time.monotonic()
    run(lose_one, world, tmp_path)
    assert time.monotonic() - begun < 4 * PATIENCE
    for rank in range(world - 1):
        assert (tmp_path / f"{rank}.txt").read_text()
