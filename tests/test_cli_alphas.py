"""The command line: ``ngeodesic alphas``."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoint_files import OFFICIAL, f32, f64, official_file, sharded_model, tensor_file
from click.testing import CliRunner

from ngeodesic import cli
from ngeodesic.checkpoints import read_alphas, summarize

ROOT = Path(__file__).parents[1]
KEYS = ["layer", "block", "tensor", "dim", "mean", "std", "cv", "off_plane_90", "theta", "off_plane"]
KEYS += ["rule", "missing"]


def run(*args: object):
    return CliRunner().invoke(cli.commands, ["alphas", *map(str, args)], prog_name="ngeodesic")


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} in JSON")

    return json.loads(text, parse_constant=refuse)


def words(text):
    """The text without the line breaks that click put in."""
    return " ".join(text.split())


@pytest.fixture
def path(tmp_path):
    return official_file(tmp_path / "a.safetensors")


def test_the_table(path):
    result = run(path, "--theta", "60")
    assert (result.exit_code, result.stderr) == (0, "")
    head, _, *rows = result.stdout.splitlines()
    assert head.split() == ["layer", "block", "d", "mean", "std", "std/mean", "off-plane", "90°", "60°"]
    for row, s in zip(rows[:4], summarize(read_alphas(path), theta=math.pi / 3), strict=True):
        layer, block, dim, *numbers = row.split()
        assert (layer, block, dim) == (str(s.layer), s.block, "1024")
        assert numbers == [f"{x:#.4g}" for x in (s.mean, s.std, s.cv, s.off_plane_90, s.off_plane)]
    assert words(" ".join(rows[4:])) == f"rule: {read_alphas(path)[0].rule}"


def test_json(path):
    result = run(path, "--json", "--theta", "60")
    assert (result.exit_code, result.stderr) == (0, "")
    records = read_alphas(path)
    for row, r, s in zip(
        strict(result.stdout), records, summarize(records, theta=math.radians(60)), strict=True
    ):
        assert list(row) == KEYS
        assert tuple(row.values()) == (
            *(r.layer, r.block, r.name, 1024, s.mean, s.std, s.cv, s.off_plane_90, 60, s.off_plane, r.rule),
            None,
        )


def test_the_help_documents_every_key_of_the_json():
    assert set(KEYS) <= set(re.findall(r"\w+", run("--help").output))


def test_an_undefined_number_is_null_in_json_and_empty_in_csv(tmp_path):
    path = tensor_file(tmp_path / "a.safetensors", {OFFICIAL.format(0, "attn"): f32(0.5, -0.5)})
    result = run(path, "--init-scaling", "1", "--signed", "--json", "--csv", tmp_path / "a.csv")
    assert strict(result.stdout)[0]["cv"] is None
    with (tmp_path / "a.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["cv"] == ""
    assert "undefined" in run(path, "--init-scaling", "1", "--signed").stdout


def test_csv_and_plot(path, tmp_path):
    table, picture = tmp_path / "a.csv", tmp_path / "a.png"
    result = run(path, "--csv", table, "--plot", picture, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [list(row) for row in rows] == [KEYS] * 4
    for row, right in zip(rows, strict(result.stdout), strict=True):
        assert {k: type(v)(row[k]) if row[k] else None for k, v in right.items()} == right
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.png", "a.safetensors"]


@pytest.mark.parametrize(("suffix", "start"), [(".pdf", b"%PDF"), (".svg", b"<?xml"), (".PNG", b"\x89PNG")])
def test_the_plot_is_of_the_kind_of_its_name(path, tmp_path, suffix, start):
    assert run(path, "--plot", tmp_path / f"a{suffix}").exit_code == 0
    assert (tmp_path / f"a{suffix}").read_bytes().startswith(start)


def test_the_plot_shows_every_block(tmp_path):
    """One kind of block, one panel; two, two; each with as many bars as it has layers."""
    for blocks in (("attn",), ("attn", "mlp")):
        tensors = {OFFICIAL.format(i, b): f64(np.linspace(0, 1, 1024)) for i in range(3) for b in blocks}
        picture = tmp_path / "a.svg"
        assert run(tensor_file(tmp_path / "a.safetensors", tensors), "--plot", picture).exit_code == 0
        text = picture.read_text()
        assert text.count('id="axes_') == len(blocks)
        assert text.count('id="LineCollection_') == 2 * len(blocks)


@pytest.mark.parametrize(
    ("args", "product"),
    [
        (["--base-scale", "0.5"], "|stored * 0.05 / 0.5|"),
        (["--init-scaling", "0.5", "--init-value", "-1e-1"], "|stored * -0.1 / 0.5|"),
        (["--init-scaling", "0.5", "--signed"], "nvidia: stored * 0.05 / 0.5;"),
        (
            ["--family", "other", "--init-scaling", "0.5", "--init-value", "1", "--absolute"],
            "|stored * 1 / 0.5|",
        ),
    ],
)
def test_the_options_are_in_the_rule(tmp_path, args, product):
    path = tensor_file(tmp_path / "a.safetensors", {OFFICIAL.format(0, "attn"): f32(0.5, 0.25)})
    assert product in words(run(path, *args).stdout)


def test_depth(tmp_path):
    path = tensor_file(tmp_path / "a.safetensors", {"layers.0.1.branch_scale.scale": f32(0.5, 0.25)})
    result = run(path)
    assert result.exit_code == 1
    assert "Give depth (--depth)" in result.stderr
    assert "depth, as given" in words(run(path, "--depth", "4").stdout)


def test_missing_blocks_are_named(path, tmp_path):
    assert "not in the checkpoint" not in run(path).stdout
    assert {row["missing"] for row in strict(run(path, "--json").stdout)} == {None}
    part = tensor_file(
        tmp_path / "b.safetensors", {OFFICIAL.format(i, "attn"): f32(*np.ones(1024)) for i in (0, 2)}
    )
    says = "attention 1; mlp 0-2"
    assert f"not in the checkpoint, by layer: {says}" in run(part).stdout
    assert [row["missing"] for row in strict(run(part, "--json").stdout)] == [says, says]


def test_a_negative_zero_is_zero(path):
    assert run(path, "--theta", "-0").stdout.splitlines()[0].endswith(" 0°")
    assert '"theta": 0.0' in run(path, "--theta", "-0", "--json").stdout


def test_the_plot_of_extreme_alphas(tmp_path):
    """No warnings: they are errors here."""
    for alpha, code in (
        ([0.1, 0.1], 0),
        ([1e300, -1e300], 0),
        ([5e-324, 0], 0),
        ([0, 0], 0),
        ([1e301, 0], 1),
    ):
        path = tensor_file(tmp_path / "a.safetensors", {OFFICIAL.format(0, "attn"): f64(alpha)})
        result = run(path, "--init-value", 1, "--init-scaling", 1, "--signed", "--plot", tmp_path / "a.png")
        assert (result.exit_code, "alphas above 1e300" in result.stderr) == (code, code == 1)


def test_two_rules_are_numbered(tmp_path):
    names = [f"model.layers.0.{block}_alpha" for block in ("attn", "mlp")]
    path = tensor_file(tmp_path / "a.safetensors", {name: f32(0.5, 0.25) for name in names})
    (tmp_path / "config.json").write_text('{"initializer_range": 0.5, "mlp_alpha_init_value": 0.1}')
    result = run(tmp_path)
    lines = result.stdout.splitlines()
    assert [line.split()[-1] for line in (lines[0], *lines[2:4])] == ["rule", "1", "2"]
    assert "rule 1: hf: |stored * 0.05 / 0.5|" in result.stdout
    assert "rule 2: hf: |stored * 0.1 / 0.5|" in result.stdout
    assert len(run(path, "--json").stdout) > 0


def test_links_are_followed_if_asked(path, tmp_path):
    folder = tmp_path / "snapshot"
    folder.mkdir()
    (folder / "model.safetensors").symlink_to(path)
    assert "--follow-links" in run(folder).stderr
    assert run(folder, "--follow-links").exit_code == 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--family", "gpt"], "family must be one of auto, nvidia,"),
        (["--theta", "181"], "--theta must lie in 0 to 180 degrees: got 181.0"),
        (["--theta", "nan"], "--theta must lie in 0 to 180 degrees: got nan"),
        (["--plot", "a.gif"], "--plot must end in .png, .pdf, .svg: got 'a.gif'"),
        (["--init-scaling", "0"], "init_scaling must be a finite number other than 0: got 0.0"),
        (["--depth", "-1"], "depth must be an integer from 1 to 1000000: got -1"),
        (["--depth", "9" * 400], "depth must be an integer from 1 to 1000000: got 999"),
        (["--depth", "9" * 5000], "is not a valid integer"),
        (["--csv", ""], "--csv must be the name of a file: got ''"),
        (["--plot", ""], "--plot must be the name of a file: got ''"),
        (["--csv", "a\0b"], r"--csv must be the name of a file: got 'a\x00b'"),
    ],
)
def test_wrong_usage(path, args, says):
    result = run(path, *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in words(result.stderr)


def test_a_bad_file_is_one_line_and_leaves_no_output(path, tmp_path):
    """cases.md, Checkpoints: the last of three shards is cut short."""
    shards = {OFFICIAL.format(i, "attn"): f"{i}.safetensors" for i in range(3)}
    folder = sharded_model(tmp_path / "m", shards)
    for name, shard in shards.items():
        tensor_file(folder / shard, {name: f32(*np.ones(1024))})
    table, picture = tmp_path / "a.csv", tmp_path / "a.png"
    table.write_text("before")
    os.truncate(folder / "2.safetensors", 4000)
    for flags in (["--json"], []):
        result = run(folder, "--csv", table, "--plot", picture, *flags)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"Error: {folder / '2.safetensors'}: ")
        assert result.stderr.count("\n") == 1
    assert table.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.safetensors", "m"]


def test_a_file_that_cannot_be_written(path, tmp_path):
    (tmp_path / "folder").mkdir()
    for wrong in (tmp_path / "none" / "a.csv", tmp_path / "folder"):
        result = run(path, "--csv", wrong)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"Error: --csv: {str(wrong)!r} is a directory, or")
        assert result.stderr.count("\n") == 1
    # the first file is not written if the second cannot be
    result = run(path, "--csv", tmp_path / "a.csv", "--plot", tmp_path / "none" / "a.png")
    assert result.exit_code == 1
    assert sorted(os.listdir(tmp_path)) == ["a.safetensors", "folder"]


def test_outputs_overwrite_neither_the_checkpoint_nor_each_other(path, tmp_path):
    before = path.read_bytes()
    (tmp_path / "link").symlink_to(path)
    for same in (path, tmp_path / "link"):
        result = run(path, "--csv", same)
        assert (result.exit_code, "would overwrite the checkpoint" in words(result.stderr)) == (2, True)
    picture = tmp_path / "a.png"
    result = run(path, "--csv", picture, "--plot", picture)
    assert (result.exit_code, "would overwrite the file of --csv" in words(result.stderr)) == (2, True)
    for name in ("model.safetensors", "model.safetensors.index.json", "config.json", "ckpt.pt"):
        # of a directory, any of its files may be read
        assert run(tmp_path, "--csv", tmp_path / name).exit_code == 2
        assert not (tmp_path / name).exists()
    assert path.read_bytes() == before
    assert not picture.exists()


def test_outputs_overwrite_no_file_that_is_read(path, tmp_path):
    """By whatever name: of a directory of links, of a Hugging Face cache, or of an index."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    names = [f"model.layers.{i}.attn_alpha" for i in range(2)]
    weight_map = {name: f"{i}.safetensors" for i, name in enumerate(names)} | {"w": "w.safetensors"}
    targets = {"config.json": "settings", "model.safetensors.index.json": "index"}
    targets |= {shard: f"blob-{shard[0]}" for shard in weight_map.values()}
    for link, blob in targets.items():
        (snapshot / link).symlink_to(blobs / blob)
    (blobs / "settings").write_text('{"model_type": "ngpt", "initializer_range": 0.5}')
    (blobs / "index").write_text(json.dumps({"weight_map": weight_map}))
    for name, shard in weight_map.items():
        tensor_file(blobs / targets[shard], {name: f32(0.5, -0.25)})
    before = {file: file.read_bytes() for file in blobs.iterdir()}
    (tmp_path / "alias").symlink_to(blobs / "blob-1")
    os.link(blobs / "blob-0", tmp_path / "twin")
    for args in ((snapshot,), (snapshot / "model.safetensors.index.json",), (snapshot, "--init-scaling", 1)):
        assert run(*args, "--follow-links").exit_code == 0
        for output in (*before, tmp_path / "alias", tmp_path / "twin"):
            result = run(*args, "--follow-links", "--csv", output)
            assert (result.exit_code, result.stdout) == (2, "")
            assert "--csv would overwrite" in words(result.stderr)
    assert {file: file.read_bytes() for file in blobs.iterdir()} == before
    # a directory with a link, for both options
    folder = tmp_path / "z"
    folder.mkdir()
    weights = path.rename(folder / "weights.png")
    (folder / "model.safetensors").symlink_to("weights.png")
    for option in ("--csv", "--plot"):
        result = run(folder, option, weights)
        assert (result.exit_code, "would overwrite" in words(result.stderr)) == (2, True)
    assert run(folder, "--csv", folder / "a.csv").exit_code == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipes_and_links_are_written_to_and_not_replaced(path, tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run(path, "--csv", pipe).exit_code == 0
    text = os.read(reader, 1000)
    os.close(reader)
    assert text.startswith(b"layer,block,")
    assert pipe.is_fifo()
    link.symlink_to("a.csv")
    assert run(path, "--csv", link).exit_code == 0
    assert link.is_symlink()
    assert (tmp_path / "a.csv").read_bytes().startswith(text[:500])


def test_no_output_is_replaced_if_another_cannot_be_written(path, tmp_path, monkeypatch):
    table, picture = tmp_path / "a.csv", tmp_path / "b" / "a.png"
    picture.parent.mkdir()
    table.write_text("before")
    make = cli.tempfile.mkstemp

    def full(dir, prefix):
        if os.path.samefile(dir, picture.parent):
            raise OSError(28, "No space left on device")
        return make(dir=dir, prefix=prefix)

    monkeypatch.setattr(cli.tempfile, "mkstemp", full)
    result = run(path, "--csv", table, "--plot", picture)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {str(picture)!r}: No space left on device\n"
    assert table.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.safetensors", "b"]
    assert os.listdir(picture.parent) == []


def test_a_file_keeps_its_rights_and_a_new_one_has_the_usual(path, tmp_path):
    (tmp_path / "plain").write_text("")
    run(path, "--csv", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode
    for mode in (0o600, 0o664, 0o640):
        (tmp_path / "a.csv").chmod(mode)
        run(path, "--csv", tmp_path / "a.csv")
        assert (tmp_path / "a.csv").stat().st_mode & 0o777 == mode


# --- as a program -------------------------------------------------------------------------------------------


def program(
    *args: object, before: str = "", stdout: Any = subprocess.PIPE, **env: str
) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.argv[1:] = {['alphas', *map(str, args)]!r}\n{before}\n"
    code += "from ngeodesic.cli import main; main()"
    plain = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE")}
    return subprocess.run(
        [sys.executable, "-c", code],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=plain | env,
        timeout=60,
    )


def test_piped_output_is_plain_and_at_most_80_wide(tmp_path):
    tensors = {
        f"blocks.{i}.{b}_alpha": f32(*np.linspace(-1, 1, 16)) for i in (0, 120) for b in ("attn", "mlp")
    }
    done = program(tensor_file(tmp_path / "a.safetensors", tensors), "--theta", "179.9")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert len(done.stdout.splitlines()) == 2 + 4 + 2 + 3  # no row is folded


@pytest.mark.parametrize("columns", ["0", "1", "30"])
def test_no_width_drops_or_splits_a_number(path, columns):
    usual, narrow = program(path), program(path, COLUMNS=columns)
    assert narrow.stdout.splitlines()[:6] == usual.stdout.splitlines()[:6]
    assert narrow.stdout.split() == usual.stdout.split()


def test_a_table_of_many_rows_is_quick(tmp_path):
    tensors = {OFFICIAL.format(i, b): f64(np.ones(1024)) for i in range(1000) for b in ("attn", "mlp")}
    path = tensor_file(tmp_path / "a.safetensors", tensors)
    rows = [cli._alpha_record(r, s, 90.0, "") for r in read_alphas(path) for s in summarize([r])]
    start = time.process_time()
    cli._print_alphas(rows, 90.0)
    assert time.process_time() - start < 0.5


def test_an_empty_path_is_wrong_usage(tmp_path, monkeypatch):
    official_file(tmp_path / "a.safetensors")
    monkeypatch.chdir(tmp_path)
    result = run("")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "path must not be empty" in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the system keeps a directory that is in use")
def test_a_current_directory_that_has_been_removed_is_one_line(path, tmp_path):
    (tmp_path / "gone").mkdir()
    done = program(
        path,
        "--csv",
        "a.csv",
        before=f"import os; os.chdir({str(tmp_path / 'gone')!r}); os.rmdir(os.getcwd())",
    )
    assert (done.returncode, done.stderr) == (1, "Error: --csv: 'a.csv': No such file or directory\n")


def test_a_missing_extra_is_one_line(path):
    done = program(path, "--plot", "a.png", before="sys.modules['matplotlib'] = None")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert 'pip install "ngeodesic-companion[notebooks]"' in done.stderr


linux = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full, /dev/stdout")


@linux
def test_the_table_as_csv_on_standard_output(path, tmp_path):
    """Whether standard output is a pipe or a file."""
    piped = program(path, "--csv", "/dev/stdout")
    with (tmp_path / "out").open("w") as file:
        assert program(path, "--csv", "/dev/stdout", stdout=file).returncode == 0
        assert program(path, "--csv", tmp_path / "out", stdout=file).returncode == 0  # the same file
    assert (tmp_path / "out").read_text() == piped.stdout * 2
    table, _, rest = piped.stdout.partition("layer  block")
    assert len(list(csv.DictReader(table.splitlines()))) == 4
    assert rest.endswith(program(path).stdout[-500:])
    done = program(path, "--csv", "/dev/stdout", "--json")
    assert (done.returncode, done.stdout) == (2, "")


@linux
@pytest.mark.parametrize("args", [[], ["--json"]])
def test_a_full_disk_is_one_line(path, args):
    with open("/dev/full", "w") as full:
        done = program(path, *args, stdout=full)
    assert (done.returncode, done.stderr) == (1, "ngeodesic: standard output: No space left on device\n")
    assert program(path, "--csv", "/dev/full").stderr == "Error: '/dev/full': No space left on device\n"


def test_an_encoding_without_the_degree_sign(path):
    done = program(path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"off-plane 90\xb0" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="closes a file descriptor")
def test_a_reader_that_has_left_gets_no_traceback(path):
    done = program(path, before="import os; r, w = os.pipe(); os.close(r); os.dup2(w, 1)")
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


@pytest.mark.skipif(os.name != "posix", reason="closes a file descriptor")
def test_without_a_standard_output_the_table_is_not_lost_in_silence(path, tmp_path):
    done = program(path, "--csv", tmp_path / "a.csv", before="import os; os.close(1); sys.stdout = None")
    assert (done.returncode, done.stderr) == (1, "ngeodesic: standard output is closed\n")
    assert not (tmp_path / "a.csv").exists()


def test_only_numpy_click_and_rich_are_needed(path):
    others = ("torch", "safetensors", "matplotlib", "sympy", "mpmath", "yaml", "scipy")
    done = program(path, before=f"sys.modules |= dict.fromkeys({others!r})")
    assert (done.returncode, done.stderr) == (0, "")
