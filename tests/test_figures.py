"""Every figure: what it shows, that no label hides another, that it reads on a phone, that it repeats."""

import re
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib
import matplotlib.colors
import numpy as np
import pytest
import test_figures_at_work as at_work
import test_figures_stiefel as stiefel
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from ngeodesic import figures

STATIC = Path(__file__).parent.parent / "book" / "_static"
PHONE_WIDTH = 340  # px
DEGREE = np.pi / 180
Floats = np.ndarray


def landing(alpha: Floats | float, theta: Floats | float) -> Floats:
    """phi, in the half-angle form."""
    return theta / 2 - np.arctan((1 - 2 * np.asarray(alpha)) * np.tan(np.asarray(theta) / 2))


def gap(alpha: Floats | float, theta: Floats | float) -> Floats:
    return np.asarray(alpha) * theta - landing(alpha, theta)


def left(theta: float, alpha: float, steps: int) -> list[float]:
    angles = [theta]
    for _ in range(steps):
        angles.append(float(landing(1 - alpha, angles[-1])))
    return angles


ALPHA = np.linspace(0, 1, 201)
THETA = DEGREE * np.linspace(1, 179, 179)
LOG_THETA = DEGREE * np.geomspace(2.5, 150, 120)


def draw_gap_over_alpha(*degrees: float) -> figures.BookFigure:
    return figures.gap_over_alpha(ALPHA, {t * DEGREE: gap(ALPHA, t * DEGREE) for t in degrees})


def draw_largest_gap() -> figures.BookFigure:
    alpha = np.linspace(0, 0.5, 2001)
    gaps = gap(alpha, THETA[:, None])
    return figures.largest_gap(THETA, gaps.max(axis=1), alpha[gaps.argmax(axis=1)])


def draw_cubic(alpha: float) -> figures.BookFigure:
    beta, t = 1 - 2 * alpha, np.tan(LOG_THETA / 2)
    upper = beta * (1 - beta**2) * t**3 / 3
    lower = upper / ((1 + t**2) * (1 + beta**2 * t**2))
    cubic = alpha * (1 - alpha) * beta * LOG_THETA**3 / 6
    return figures.cubic_loglog(LOG_THETA, gap(alpha, LOG_THETA), lower, upper, cubic)


def draw_cumulants() -> figures.BookFigure:
    third = ALPHA * (1 - ALPHA) * (1 - 2 * ALPHA)
    return figures.cumulants(ALPHA, third, third * (1 - 12 * ALPHA + 12 * ALPHA**2))


def draw_contraction(*alphas: float) -> figures.BookFigure:
    return figures.contraction({a: left(150 * DEGREE, a, 8) for a in alphas})


def draw_ratio(*alphas: float) -> figures.BookFigure:
    return figures.contraction_ratio(THETA, {a: landing(1 - a, THETA) / THETA for a in alphas})


def draw_sphere(theta: float, alpha: float) -> figures.BookFigure:
    frame = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    target = np.cos(theta * DEGREE) * frame[0] + np.sin(theta * DEGREE) * frame[1]
    return figures.step_on_sphere(2 * frame[0], 3 * target, alpha)


def draw_off_circle(h: list[float], target: list[float], alpha: list[float]) -> figures.BookFigure:
    return figures.step_off_circle(h, target, alpha)


def draw_off_plane_dimension(law: float) -> figures.BookFigure:
    dims = 4.0 ** np.arange(2, 8)
    spread = 1.5 * law / np.sqrt(dims)
    norms = law + spread[:, None] * np.random.default_rng(4).standard_normal((6, 30))
    return figures.off_plane_dimension(dims, norms, law, law - 2 * spread, law + 2 * spread)


def draw_off_plane_histogram(*marks: float) -> figures.BookFigure:
    norms = np.random.default_rng(5).normal(0.182, 0.0083, 4000)
    return figures.off_plane_histogram(norms, 0.1826, marks, (0.166, 0.199))


Draw = Callable[[], figures.BookFigure]

NAMES = [f"tangent-projection-{i}" for i in range(16)]
USES = {name: [NAMES[j] for j in {0, i // 2} if j < i] for i, name in enumerate(NAMES)}

BLOCKS = [f"{i // 2 + 1} {'MLP' if i % 2 else 'attention'}" for i in range(8)]


def draw_alphas(blocks: int) -> figures.BookFigure:
    drawn = np.random.default_rng(0).normal(np.linspace(0.1, 0.33, blocks)[:, None], 0.025, (blocks, 384))
    return figures.alpha_histograms(dict(zip(BLOCKS, drawn, strict=False)), start=0.05, mean=0.3, std=0.1)


def draw_law_against_model(scale: float) -> figures.BookFigure:
    law = scale * np.random.default_rng(1).uniform(0.4, 1, (2, 12))
    measured = law / np.linspace(0.98, 1.3, 12)
    kinds = ("attention", "MLP")
    return figures.law_against_model(
        dict(zip(kinds, law, strict=True)), dict(zip(kinds, measured, strict=True)), tolerance=0.1
    )


def draw_growth() -> figures.BookFigure:
    moments = np.array([0, 50, 100, 200, 400, 800, 2000])
    rise = (1 - np.exp(-moments / 150))[:, None]
    ratio = {"attention": rise * [0.14, 0.15], "MLP": rise * [0.07, 0.13]}
    return figures.training_growth(moments, ratio, {kind: 0.35 * value for kind, value in ratio.items()})


def draw_energy() -> figures.BookFigure:
    rng = np.random.default_rng(2)
    return figures.alpha_against_energy(rng.normal(0.1, 0.015, 128), rng.chisquare(1, 128))


DRAWN: dict[str, Draw] = {
    "chord_and_arc": lambda: figures.chord_and_arc(0.25, 120 * DEGREE),
    "bisector_frame": lambda: figures.bisector_frame(110 * DEGREE),
    "halving": lambda: figures.halving(140 * DEGREE, 3),
    "step_on_sphere": lambda: draw_sphere(120, 0.25),
    "step_off_circle": lambda: draw_off_circle([-2, 1, 0], [1, 0, -2], [0.7, 0.1, 0.4]),
    "off_plane_dimension": lambda: draw_off_plane_dimension(0.1826),
    "off_plane_histogram": lambda: draw_off_plane_histogram(0.1762, 0.1797, 0.2021),
    "gap_over_alpha": lambda: draw_gap_over_alpha(45, 90, 135, 170),
    "gap_map": lambda: figures.gap_map(ALPHA, THETA, gap(ALPHA, THETA[:, None])),
    "largest_gap": draw_largest_gap,
    "cubic_loglog": lambda: draw_cubic((3 - np.sqrt(3)) / 6),
    "cumulants": draw_cumulants,
    "contraction": lambda: draw_contraction(0.1, 0.25, 0.5, 0.75),
    "contraction_ratio": lambda: draw_ratio(0.1, 0.25, 0.5, 0.75, 0.9),
    "alpha_histograms": lambda: draw_alphas(8),
    "law_against_model": lambda: draw_law_against_model(0.06),
    "training_growth": draw_growth,
    "alpha_against_energy": draw_energy,
    "dependencies": lambda: figures.dependencies(USES),
    **stiefel.DRAWN,
    **at_work.DRAWN,
}

OTHER_DATA: dict[str, Draw] = {
    "step that leads": lambda: figures.chord_and_arc(0.7, 150 * DEGREE),
    "half a step": lambda: figures.chord_and_arc(0.5, 90 * DEGREE),
    "model-like step": lambda: figures.chord_and_arc(0.2, 100 * DEGREE),
    "bisector at 90": lambda: figures.bisector_frame(90 * DEGREE),
    "bisector at 130": lambda: figures.bisector_frame(130 * DEGREE),
    "two halvings": lambda: figures.halving(120 * DEGREE, 2),
    "one halving": lambda: figures.halving(100 * DEGREE, 1),
    "sphere at 90": lambda: draw_sphere(90, 0.3),
    "sphere at 130": lambda: draw_sphere(130, 0.2),
    "off the other side": lambda: draw_off_circle([2, 1, 0], [-1, 0, -2], [0.7, 0.1, 0.4]),
    "a small law": lambda: draw_off_plane_dimension(0.044),
    "one norm marked": lambda: draw_off_plane_histogram(0.18),
    "two gap curves": lambda: draw_gap_over_alpha(90, 120),
    "cubic at 0.3": lambda: draw_cubic(0.3),
    "contraction at three": lambda: draw_contraction(0.25, 0.5, 0.75),
    "ratio at three": lambda: draw_ratio(0.25, 0.5, 0.75),
    "three blocks": lambda: draw_alphas(3),
    "three statements": lambda: figures.dependencies({"a": [], "b": ["a"], "c": []}),
    "large off-plane norms": lambda: draw_law_against_model(0.3),
}

EVERY = [pytest.param(draw, id=name) for name, draw in (DRAWN | OTHER_DATA).items()]


SAYS = {
    "chord_and_arc": [
        "SLERP",
        "nGPT step",
        "chord",
        "$h$",
        r"$h_{\mathrm{A}}$",
        "= 30.0°",
        "= 19.1°",
        "= 10.9°",
    ],
    "bisector_frame": [r"$\cos(\theta/2)$", r"$\alpha = 0$", "1/4", "nGPT 19.5°", "SLERP 27.5°", "= 55.0°"],
    "halving": ["$h_0$", "$h_3$", r"$h_{\mathrm{A}}$", r"$\theta$", r"$\theta/2$", r"$\theta/8$"],
    "step_on_sphere": ["SLERP", "nGPT", "chord", "$h$", r"$h_{\mathrm{A}}$"],
    "step_off_circle": ["SLERP", "nGPT step", "chord", "off the\nplane", "$h$", r"$h_{\mathrm{A}}$"],
    "off_plane_dimension": ["dimensions $d$", "off-plane norm", "law: 0.1826", "16384", "band"],
    "off_plane_histogram": ["off-plane norm", "steps", "law: 0.1826", "0.1762", "0.1797", "0.2021", "95 %"],
    "gap_over_alpha": [r"step size $\alpha$", "gap  $G", "= 45°", "= 170°", "lags", "leads", "20°", "−20°"],
    "gap_map": [r"step size $\alpha$", r"angle $\theta$", "$G = 0$", "lags", "leads", "10°", "−10°", "180°"],
    "largest_gap": [r"angle $\theta$", "largest gap", "0.46°", "4.07°", "17.0°", "49.6°", "lags", "leads"],
    "cubic_loglog": [r"angle $\theta$", "gap $G$", "cubic law", "bounds", "8.01", "8.04", "8.15", "0.01°"],
    "cumulants": [r"$\alpha$", "cumulant", r"$\kappa_3$", r"$\kappa_5$"],
    "contraction": ["step $k$", r"angle left  $\theta_k$", r"(1-\alpha)^k", "= 0.75", "100°", "0.001°"],
    "contraction_ratio": [r"angle $\theta$", "share left", r"$1-\alpha$", "= 0.9", "180°"],
    "alpha_histograms": [r"$\alpha$", "block", "1 attention", "4 MLP", "start", "the note's example"],
    "law_against_model": ["by the law", "measured", "attention", "MLP", "±10 %", "equal"],
    "training_growth": ["training steps", "std / mean", "off-plane norm", "attention", "MLP"],
    "alpha_against_energy": [r"$\alpha_i$", "share of the chord", "mean"],
    "dependencies": ["tangent-projection-0", "tangent-projection-15"],
    **stiefel.SAYS,
    **at_work.SAYS,
}


@pytest.fixture
def drawn_texts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Figure], list[tuple[str, float, Bbox]]]:
    """Draws a figure and tells every text that really came onto it: words, size in points, box in pixels."""

    def record(figure: Figure) -> list[tuple[str, float, Bbox]]:
        found: dict[int, tuple[str, float, Bbox]] = {}  # by text: the layout engine draws more than once
        draw = Text.draw

        def spy(text: Text, renderer: object) -> None:
            if text.get_visible() and text.get_text().strip():
                found[id(text)] = (text.get_text(), text.get_fontsize(), text.get_window_extent(renderer))
            draw(text, renderer)

        with monkeypatch.context() as patch:
            patch.setattr(Text, "draw", spy)
            figure.draw_without_rendering()
        return list(found.values())

    return record


def data(figure: Figure, marker: str, colour: str) -> Floats:
    """The single points drawn with this marker and colour."""
    lines = [line for ax in figure.axes for line in ax.lines]
    return np.array(
        [line.get_xydata()[0] for line in lines if (line.get_marker(), line.get_color()) == (marker, colour)]
    )


def test_every_public_figure_is_tested() -> None:
    drawings = {name for name in figures.__all__ if name.islower() and name != "style"}
    assert drawings == set(DRAWN) == set(SAYS)


@pytest.mark.parametrize("name", DRAWN)
def test_content(name: str, drawn_texts: Callable) -> None:
    figure = DRAWN[name]()
    assert isinstance(figure, Figure)
    assert figure.get_figwidth() == figures.WIDTH
    words = [text for text, _, _ in drawn_texts(figure)]
    for expected in SAYS[name]:
        assert any(expected in text for text in words), (expected, words)
    for ax in figure.axes:
        assert ax.has_data()
        assert not ax.axison or ax.get_ylabel()
    assert not figure.axes[-1].axison or figure.axes[-1].get_xlabel()


@pytest.mark.parametrize("draw", EVERY)
def test_labels_are_apart_inside_and_large_enough(draw: Draw, drawn_texts: Callable) -> None:
    figure = draw()
    found = drawn_texts(figure)
    width, height = figure.get_size_inches() * figure.dpi
    for text, size, box in found:
        assert box.x0 >= 0, text
        assert box.y0 >= 0, text
        assert box.x1 <= width, text
        assert box.y1 <= height, text
        assert size * PHONE_WIDTH / (72 * figures.WIDTH) >= 10, text
    for (one, _, a), (two, _, b) in combinations(found, 2):
        apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
        assert apart, (one, two)


@pytest.mark.parametrize("name", DRAWN)
def test_same_bytes_whatever_the_callers_settings(name: str) -> None:
    before = dict(matplotlib.rcParams)
    first = DRAWN[name]().png()
    assert dict(matplotlib.rcParams) == before
    odd = {
        "font.size": 30,
        "axes.facecolor": "black",
        "lines.linewidth": 9,
        "xtick.direction": "in",
        "figure.dpi": 50,
    }
    with matplotlib.rc_context(odd):
        second = DRAWN[name]().png()
        assert matplotlib.rcParams["font.size"] == 30
    assert first == second
    assert b"Software" not in first


def test_shown_in_a_notebook_at_half_its_pixels() -> None:
    figure = DRAWN["cumulants"]()
    png, metadata = figure._repr_png_()
    assert int.from_bytes(png[16:20], "big") == 2 * metadata["width"] == 2 * figures.DISPLAY_WIDTH
    assert repr(figure) == str(figure) == "<BookFigure>"


def test_pyplot_is_left_alone() -> None:
    code = """
import sys
from ngeodesic import figures
figures.halving(2.0, 2).png()
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_matplotlib_names_the_extra() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; import ngeodesic.figures"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'pip install "ngeodesic-companion[notebooks]"' in done.stderr


@pytest.mark.parametrize(("alpha", "degrees"), [(0.25, 120), (0.7, 150), (0.5, 90), (0.1, 100)])
def test_chord_and_arc_draws_the_step(alpha: float, degrees: float) -> None:
    theta = degrees * DEGREE
    figure = figures.chord_and_arc(alpha, theta)
    (stepped,), (slerped,) = data(figure, "s", figures.CHORD), data(figure, "o", figures.GEODESIC)
    (on_chord,) = data(figure, "D", figures.CHORD)
    start = (np.pi - theta) / 2
    for point, angle in ((stepped, landing(alpha, theta)), (slerped, alpha * theta)):
        np.testing.assert_allclose(point, [np.cos(start + angle), np.sin(start + angle)], atol=1e-12)
    assert on_chord[1] == pytest.approx(np.cos(theta / 2))


def test_halving_draws_points_that_halve_the_angle() -> None:
    theta = 140 * DEGREE
    points = data(figures.halving(theta, 3), "s", figures.CHORD)
    target = np.array([-np.sin(theta / 2), np.cos(theta / 2)])
    np.testing.assert_allclose(np.arccos(points @ target), theta / 2.0 ** np.arange(1, 4), rtol=1e-12)


@pytest.mark.parametrize("theta", [90, 120, 150])
def test_sphere_points_lie_as_they_must(theta: float) -> None:
    figure = draw_sphere(theta, 0.25)
    (on_chord,), (stepped,) = data(figure, "D", figures.CHORD), data(figure, "s", figures.CHORD)
    h, target = data(figure, "o", figures.INK)
    np.testing.assert_allclose(on_chord, 0.75 * h + 0.25 * target, atol=1e-12)
    length = np.sqrt(0.75**2 + 0.25**2 + 2 * 0.75 * 0.25 * np.cos(theta * DEGREE))
    np.testing.assert_allclose(stepped, on_chord / length, atol=1e-12)


def test_graphs_draw_their_data_in_degrees() -> None:
    lines = draw_gap_over_alpha(90).axes[0].lines
    np.testing.assert_allclose(lines[1].get_ydata(), gap(ALPHA, 90 * DEGREE) / DEGREE)
    lines = draw_contraction(0.25).axes[0].lines
    np.testing.assert_allclose(lines[0].get_ydata(), 150 * 0.75 ** np.arange(9))
    np.testing.assert_allclose(lines[1].get_ydata(), np.array(left(150 * DEGREE, 0.25, 8)) / DEGREE)


def test_dependencies_draws_an_arrow_from_each_name_to_those_that_use_it() -> None:
    figure = figures.dependencies({"a": [], "b": ["a"], "c": ["a", "b"]})
    (ax,) = figure.axes
    rows = data(figure, "o", figures.INK)[:, 1]
    arcs = [line.get_ydata() for line in ax.lines if len(line.get_ydata()) > 1]
    ends = {tuple(int(np.argmin(abs(rows - y))) for y in (arc[0], arc[-1])) for arc in arcs}
    assert ends == {(0, 1), (0, 2), (1, 2)}
    heads = data(figure, ">", figures.INK)
    assert sorted(heads[:, 1]) == pytest.approx(sorted(arc[-1] for arc in arcs))
    with pytest.raises(ValueError, match=r"^uses: "):
        figures.dependencies({"a": ["b"], "b": []})


def luminance(colour: str) -> float:
    parts = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_colours_differ_in_lightness_and_from_the_paper() -> None:
    dark_to_light = [luminance(c) for c in (figures.GEODESIC, figures.CHORD, figures.GAP, figures.PAPER)]
    for one, two in pairwise(dark_to_light):
        assert (two + 0.05) / (one + 0.05) >= 1.5
    for colour in (figures.GEODESIC, figures.CHORD, figures.GAP):
        assert 1.05 / (luminance(colour) + 0.05) >= 3


# --- the interactive picture ---


def test_the_page_has_the_figures_colours() -> None:
    css = (STATIC / "figures.css").read_text()
    root = css[css.index(":root") : css.index("}")]
    for name, colour in (("chord", figures.CHORD), ("geodesic", figures.GEODESIC), ("gap", figures.GAP)):
        assert f"--ng-{name}: {colour};" in root


def test_the_script_finds_its_parts_and_asks_no_host() -> None:
    script, page = ((STATIC / name).read_text() for name in ("chord.js", "chord_snippet.html"))
    named = set(re.findall(r'\b(?:part|place|path|write)\("([a-z-]+)"', script)) | {"slerp-name", "step-name"}
    parts = re.findall(r'data-part="([a-z-]+)"', page)
    assert len(parts) == len(set(parts))
    assert named == set(parts)
    for text in (script, page, (STATIC / "figures.css").read_text()):
        assert "//" not in re.sub(r"^\s*//.*$| // .*$", "", text, flags=re.M)


def test_the_still_picture_shows_the_step_it_names() -> None:
    page = (STATIC / "chord_snippet.html").read_text()
    shown = dict(re.findall(r'data-part="([a-z-]+-value)">([^<]+)<', page))
    alpha, theta = float(shown["alpha-value"]), float(shown["theta-value"].rstrip("°")) * DEGREE
    phi = float(landing(alpha, theta))
    assert shown["share-value"] == f"{alpha * theta / DEGREE:.2f}°"
    assert shown["phi-value"] == f"{phi / DEGREE:.2f}°"
    assert shown["gap-value"] == f"{(alpha * theta - phi) / DEGREE:.2f}°"
    place = re.search(r'data-part="step" [^>]*translate\(([-.\d]+) ([-.\d]+)\)', page)
    turn = (np.pi - theta) / 2 + phi
    assert [float(v) for v in place.groups()] == pytest.approx(
        [100 * np.cos(turn), -100 * np.sin(turn)], abs=0.01
    )


def test_law_against_model_draws_its_band_and_its_points() -> None:
    figure = figures.law_against_model({"a": [0.2], "b": [0.4]}, {"a": [0.1], "b": [0.5]}, tolerance=0.25)
    ax = figure.axes[0]
    points = [line.get_xydata()[0] for line in ax.lines if line.get_marker() in ("s", "o")]
    np.testing.assert_allclose(points, [[0.2, 0.1], [0.4, 0.5]])
    corners = ax.collections[0].get_paths()[0].vertices
    slopes = corners[corners[:, 0] > 0] @ [0, 1] / corners[corners[:, 0] > 0, 0]
    np.testing.assert_allclose([slopes.min(), slopes.max()], [1 / 1.25, 1 / 0.75])
