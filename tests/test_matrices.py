"""The checker for matrices accepts what is true in every size, refutes by a model, and cannot be fooled."""

import itertools
import math
import random

import pytest
import sympy as sp
from sympy import (
    HadamardProduct,
    Interval,
    MatMul,
    Matrix,
    MatrixSymbol,
    Rational,
    S,
    Symbol,
    Trace,
    ZeroMatrix,
)
from sympy import Identity as Unit

from ngeodesic import display
from ngeodesic.matrices import MatrixIdentity, Membership, _Algebra
from ngeodesic.proof import Identity, Step

m, n, k = sp.symbols("m n k", integer=True, positive=True)
sigma, eta = sp.symbols("sigma eta", real=True)
W, V, G = (MatrixSymbol(name, m, n) for name in "WVG")
A, B, C, K, H, M = (MatrixSymbol(name, n, n) for name in "ABCKHM")
POSITIVE = Interval.open(0, sp.oo)
ON = (W.T * W, sigma**2 * Unit(n))
MODEL = {
    W: Matrix([[2, -2], [1, 2], [2, 1]]),
    V: Matrix([[-1, 2], [3, 0], [1, 1]]),
    G: Matrix([[1, 2], [3, 5], [7, 11]]),
    A: Matrix([[1, 2], [3, 4]]),
    B: Matrix([[0, 1], [-1, 5]]),
    C: Matrix([[2, 0], [1, 7]]),
    K: Matrix([[0, 3], [-3, 0]]),
    H: Matrix([[2, 1], [1, -4]]),
    sigma: 3,
    eta: Rational(-1, 2),
}


def claim(lhs, rhs, *relations, **rest):
    given = {
        "domain": {sigma: POSITIVE, eta: S.Reals},
        "letters": (A, B, C, K, H, G, V, W),
        "relations": relations,
        "models": (MODEL,),
    }
    return MatrixIdentity(lhs, rhs, **{**given, **rest})


def proved(check):
    certificate = check.run()
    assert certificate.verdict == "proved", certificate
    return certificate


def refuted(check):
    certificate = check.run()
    assert certificate.verdict == "refuted", certificate
    return certificate


def refused(check, why=""):
    certificate = check.run()
    assert certificate.verdict == "refused", certificate
    assert why in certificate.detail
    return certificate


SKEW, SYMMETRIC = (K.T, -K), (H.T, H)

TRUE = {
    "square of a sum": claim((A + B) ** 2, A**2 + A * B + B * A + B**2),
    "commutator": claim((A * B - B * A) * C, A * B * C - B * A * C),
    "Jacobi": claim(
        A * (B * C - C * B) - (B * C - C * B) * A + B * (C * A - A * C) - (C * A - A * C) * B,
        -(C * (A * B - B * A) - (A * B - B * A) * C),
    ),
    "transpose of a product": claim((W * A * V.T).T, V * A.T * W.T),
    "coefficients": claim((sigma * A + eta * B).T, sigma * A.T + eta * B.T),
    "orthonormal": claim((W * W.T) ** 2, sigma**2 * W * W.T, ON),
    "transposed relation": claim(A * H.T * H, A * H**2, SYMMETRIC),
    "transpose of a relation": claim(
        B.T * A.T * H, C.T * H, (A * B, C), letters=(C, A, B, H), models=({**MODEL, C: MODEL[A] * MODEL[B]},)
    ),
    "denominator": claim(W.T * W / sigma**2, Unit(n), ON),
    "trace of a transpose": claim(Trace(A.T), Trace(A)),
    "rotation": claim(Trace(A * B * C), Trace(C * A * B)),
    "reversal": claim(Trace(H * A * B), Trace(B.T * A.T * H), SYMMETRIC),
    "trace of a skew matrix": claim(Trace(K), S.Zero, SKEW),
    "odd power of a skew matrix": claim(Trace(K**3), S.Zero, SKEW),
    "symmetric times skew": claim(Trace(H * K), S.Zero, SKEW, SYMMETRIC),
    "zero after a rotation": claim(
        Trace(B * H * A),
        S.Zero,
        (A * B, ZeroMatrix(n, n)),
        models=({**MODEL, A: Matrix([[1, 1], [1, 1]]), B: Matrix([[1, 2], [-1, -2]])},),
    ),
    "after a rotation": claim(
        Trace(B * H * A),
        Trace(C * H),
        (A * B, C),
        letters=(C, A, B, H),
        models=({**MODEL, C: MODEL[A] * MODEL[B]},),
    ),
}


@pytest.mark.parametrize("check", TRUE.values(), ids=TRUE)
def test_what_is_true_is_proved(check):
    proved(check)


FALSE = {
    "letters do not commute": claim(A * B, B * A),
    "square of a sum": claim((A + B) ** 2, A**2 + 2 * A * B + B**2),
    "transposition reverses": claim((A * B).T, MatMul(A.T, B.T)),
    "a transpose is another letter": claim(A.T, A),
    "only one side": claim(W * W.T, sigma**2 * Unit(m), ON),
    "coefficient": claim(W.T * W, sigma * Unit(n), ON),
    "sign of a skew matrix": claim(K.T, K, SKEW),
    "square of a skew matrix": claim(Trace(K**2), S.Zero, SKEW),
    "swap in a trace": claim(Trace(A * B * C), Trace(A * C * B)),
    "transpose of a factor": claim(Trace(A.T * B), Trace(A * B)),
    "trace of a commutator times a matrix": claim(Trace((A * B - B * A) * C), S.Zero),
    "trace of a product": claim(Trace(A * B), Trace(A + B)),
}


@pytest.mark.parametrize("check", FALSE.values(), ids=FALSE)
def test_what_is_false_is_refuted_by_a_model(check):
    detail = refuted(check).detail
    assert "does not reduce to 0" in detail
    assert "the sides are" in detail


def test_the_model_and_the_sides_are_shown():
    detail = refuted(claim(W * W.T, sigma**2 * Unit(m), ON)).detail
    assert "at W = [[2, -2], [1, 2], [2, 1]], sigma = 3 the sides are [[8, -2, 2], " in detail
    assert "[[9, 0, 0], [0, 9, 0], [0, 0, 9]]" in detail
    assert "the sides are -18 and 0" in refuted(claim(Trace(K**2), S.Zero, SKEW)).detail


def test_the_relations_that_were_used_are_named():
    certificate = proved(claim(W.T * W + K.T, sigma**2 * Unit(n) - K, ON, SKEW, SYMMETRIC))
    assert "by W.T*W = sigma**2*I, K.T = -K; relations and claim hold in 1 model" in certificate.detail
    assert "by " not in proved(claim(A + B, B + A, SYMMETRIC)).detail


# --- attacks ------------------------------------------------------------------------------------------------


def test_nothing_is_accepted_without_a_model():
    contradictory = (ON, (W.T * W, ZeroMatrix(n, n)))
    refused(claim(A, B, models=()), "no model is given")
    refused(claim(Unit(n), ZeroMatrix(n, n), *contradictory), "does not satisfy W.T*W = 0")
    refused(claim(Unit(n), ZeroMatrix(n, n), *contradictory, models=()), "no model is given")
    wide = {**MODEL, W: Matrix([[2, 1, 2], [-2, 2, 1]]), V: Matrix.zeros(2, 3), G: Matrix.zeros(2, 3)}
    refused(claim(W.T * W, sigma**2 * Unit(n), ON, models=(MODEL, wide)), "model 2 does not satisfy")


def test_a_model_must_fit():
    true = {"lhs": W * A, "rhs": W * A}
    for change, why in (
        ({A: Matrix([[1, 2, 3], [4, 5, 6]])}, "the shape of A does not fit"),
        ({A: sp.eye(3)}, "does not fit"),
        ({W: Matrix(0, 2, [])}, "does not fit"),
        ({A: Matrix([[1, sp.sqrt(2)], [0, 1]])}, "no rational matrix for A"),
        ({A: Matrix([[1, 0.5], [0, 1]])}, "no rational matrix for A"),
        ({A: Matrix([[1, sigma], [0, 1]])}, "no rational matrix for A"),
    ):
        refused(claim(**true, models=({**MODEL, **change},)), why)
    refused(claim(**true, models=({W: MODEL[W]},)), "no rational matrix for A")
    scaled = {"lhs": sigma * A, "rhs": A * sigma}
    refused(claim(sigma * A, eta * A, models=({A: MODEL[A], sigma: 1},)), "the model lacks one")
    for value in (-1, 0, sp.sqrt(2), 0.5, sp.oo):
        refused(claim(**scaled, models=({**MODEL, sigma: value},)), "is not a rational number of the domain")
    fixed = MatrixSymbol("F", 3, 3)
    refused(claim(fixed, fixed, letters=(fixed,), models=({fixed: sp.eye(2)},)), "does not fit")


@pytest.mark.parametrize(
    ("relation", "why"),
    [
        ((A.T, A.T), "smaller ones"),
        ((A, A.T), "smaller ones"),
        ((A, A * B), "smaller ones"),
        ((A * B, B * A), "smaller ones"),
        ((A, B + A), "smaller ones"),
        ((2 * A, 2 * A), "single word"),
        ((A + B, B), "single word"),
        ((ZeroMatrix(n, n), ZeroMatrix(n, n)), "single word"),
        ((W.T * W, W * W.T), "single word"),
        ((Unit(n), A), "smaller ones"),
    ],
)
def test_a_relation_must_lower_the_order(relation, why):
    refused(claim(A, A, relation), why)


def test_the_order_of_the_letters_decides_the_direction():
    commuting = {**MODEL, A: sp.eye(2)}
    proved(claim(B * A * B, A * B**2, (B * A, A * B), models=(commuting,)))
    refused(claim(B * A * B, A * B**2, (A * B, B * A), models=(commuting,)), "smaller ones")
    proved(claim(B * A * B, B**2 * A, (A * B, B * A), models=(commuting,), letters=(B, A)))


def _unchecked(kind, *parts):
    """An expression that SymPy would refuse to build."""
    return sp.Basic.__new__(kind, *parts)


def _of(*letters, **rest):
    """The claim that the product of other letters is itself, with 2 x 2 models: false only if unreadable."""
    return claim(
        sp.MatMul(*letters, A),
        sp.MatMul(*letters, A),
        letters=(*letters, A),
        models=(dict.fromkeys((*letters, A), sp.eye(2)),),
        **rest,
    )


n_real = Symbol("n", real=True)
OUTSIDE = {
    "inverse": claim(A.I * B, A.I * B),
    "negative power": claim(A**-2 * B, A**-2 * B),
    "symbolic power": claim(A**k, A**k),
    "entrywise product": claim(HadamardProduct(A, B), HadamardProduct(B, A)),
    "determinant": claim(sp.det(A) * A, sp.det(A) * A),
    "trace as a coefficient": claim(Trace(A) * B, Trace(A) * B),
    "entry as a coefficient": claim(A[0, 0] * B, B * A[0, 0]),
    "explicit matrix": claim(Matrix([[1]]), Matrix([[1]])),
    "no matrix": claim(sigma, sigma),
    "zero": claim(S.Zero, S.Zero),
    "root": claim(sp.sqrt(sigma) * A, sp.sqrt(sigma) * A),
    "logarithm": claim(sp.log(sigma) * A, sp.log(sigma) * A),
    "size as a coefficient": claim(n * A, n * A),
    "pole": claim(A / eta, A / eta),
    "symbol without a domain": claim(sigma * A, sigma * A, domain={}),
    "trace against matrix": claim(Trace(A), A),
    "two traces": claim(Trace(A) + Trace(B), Trace(A + B)),
    "shapes of the sides": claim(W, W.T),
    "shapes of a product": claim(_unchecked(MatMul, W, W), _unchecked(MatMul, W, W)),
    "shapes of a sum": claim(_unchecked(sp.MatAdd, W, A), _unchecked(sp.MatAdd, W, A)),
    "trace of what is not square": claim(_unchecked(Trace, W), S.Zero),
    "traces of two sizes": claim(Trace(W * W.T), Trace(W.T * W)),
    "unknown letter": claim(A * M, A * M),
    "letter and definition": claim(A, A, where={A: B}),
    "definition of another shape": claim(M, M, where={M: W}),
    "definition by a number": claim(M, M, where={M: sigma}),
    "defined later": claim(M, A, where={M: K, K: A}, letters=(A,)),
    "itself": claim(M, M + A, where={M: M + A}),
    "letters of one name": _of(A, MatrixSymbol("A", n, m), MatrixSymbol("F", m, n)),
    "letters that look alike": _of(MatrixSymbol("F_1", n, n), MatrixSymbol("F1", n, n)),
    "size and symbol of one name": claim(
        n_real * A, n_real * A, domain={n_real: POSITIVE}, models=({A: sp.eye(2), n_real: 1},)
    ),
    "size and letter of one name": _of(MatrixSymbol("n", n, n)),
    "size that may be 0": _of(
        MatrixSymbol("F", n, Symbol("q", integer=True)), MatrixSymbol("K", Symbol("q", integer=True), n)
    ),
    "sum of sizes": _of(MatrixSymbol("F", n, m + k), MatrixSymbol("K", m + k, n)),
    "no plain name": _of(MatrixSymbol("F + K", n, n)),
    "name of the identity": _of(MatrixSymbol("I", n, n)),
    "name of a number": _of(MatrixSymbol("2", n, n)),
    "number as a letter": claim(A, A, letters=(A, sigma)),
    "letter given twice": claim(A * B, A * B, letters=(A, B, A)),
    "named like an operator": _of(MatrixSymbol("tr", n, n)),
    "named like a real part": _of(MatrixSymbol("Re", n, n)),
    "typeset as a norm": _of(MatrixSymbol("Xnorm", n, n)),
    "typeset with a prime": _of(MatrixSymbol("Xprime", n, n)),
    "size of no letter": claim(Unit(k), Unit(k)),
    "zero of no letter's size": claim(Unit(k), ZeroMatrix(k, k)),
    "relation of no letter's size": claim(A, B, (Unit(k), ZeroMatrix(k, k))),
    "size of a letter that is not there": claim(A, A, (W.T * W, Unit(m)), letters=(A, W)),
    "empty size": claim(Unit(0), ZeroMatrix(0, 0)),
    "0 of Python as a side": claim(Trace(A * B) - Trace(B * A), 0),
    "number of Python as a definition": claim(A, M, where={M: 1}),
    "0 of Python in a relation": claim(A, A, (A * B, 0)),
    "number as a matrix of the model": claim(A, A, models=({A: 3},)),
    "nested list as a matrix of the model": claim(A, A, models=({A: [[1, 2], [3, 4]]},)),
}


@pytest.mark.parametrize("check", OUTSIDE.values(), ids=OUTSIDE)
def test_outside_the_language_is_refused(check):
    refused(check)


SLOPE = sp.Derivative(sigma**2, sigma)
AREA = sp.Integral(k_real := Symbol("s", real=True), (k_real, 0, sigma))


def _times(c, matrix):
    return MatMul(c, matrix, evaluate=False)


@pytest.mark.parametrize("c", [SLOPE, SLOPE**2, AREA])
def test_derivatives_and_integrals_are_refused(c):
    """They are read at the point of a model, where d/dx[x^2] at x = 3 would be that of the constant 9."""
    why = "a derivative or an integral"
    refused(claim(_times(c, A), 2 * sigma * A), why)
    refused(claim(A, _times(c, Unit(n)), (A, _times(c, Unit(n))), models=({A: sp.zeros(2), sigma: 3},)), why)
    refused(claim(M, A, where={M: _times(c, A)}), why)
    refused(claim(eta * A, A, where={eta: c}, domain={sigma: POSITIVE}), why)


def test_a_definition_stands_after_what_it_uses_and_is_shown():
    only = {"domain": {sigma: POSITIVE}}
    q = Symbol("q", real=True)
    for where in (
        {M: eta * A, eta: 2 * sigma},
        {q: sigma, M: eta * A, eta: 2 * q},
        {eta: 2 * q, q: sigma, M: eta * A},
        {M: eta * C, eta: S(2), C: A},
    ):
        refused(claim(M, A, where=where, letters=(A, B), **only), "by what is not defined before it")
    check = claim(M, 2 * sigma * A, where={q: sigma, eta: 2 * q, M: eta * A}, letters=(A,), **only)
    proved(check)
    assert check.conditions() == "A n by n; sigma > 0; with q = sigma, eta = 2*q, M = eta*A"
    # also if only a relation uses it
    zero = {"models": ({A: sp.zeros(2), B: sp.eye(2)},), "letters": (A, B)}
    check = claim(A * B, ZeroMatrix(n, n), (A * B, M), where={eta: S(2), M: (eta - 2) * A}, domain={}, **zero)
    proved(check)
    assert check.conditions() == "A, B n by n; A*B = M; with eta = 2, M = (eta - 2)*A"


def test_what_is_true_but_not_found_is_refused():
    # the relations do not say that H commutes with K, although it does in the model
    refused(claim(H * K, K * H, SKEW, SYMMETRIC, models=({**MODEL, H: sp.eye(2)},)), "does not reduce to 0")
    # a multiple of itself with a factor that is 1 somewhere: the trace need not vanish there
    scaled = {"letters": (B, A), "models": ({A: sp.diag(1, -1), B: sp.eye(2), sigma: 1},)}
    refused(claim(Trace(A * B), S.Zero, (A * B, sigma * B * A), **scaled), "does not reduce to 0")
    proved(
        claim(
            Trace(A * B),
            S.Zero,
            (A * B, -B * A),
            letters=(B, A),
            models=({A: sp.diag(1, -1), B: Matrix([[0, 1], [1, 0]])},),
        )
    )


def test_a_rotation_does_not_change_the_size_of_an_identity_matrix():
    # tr(W W^T) = tr(W^T W) = sigma^2 n, not sigma^2 m; a square model does not see the difference
    square = {W: 3 * sp.eye(2), sigma: 3}
    refused(claim(Trace(W * W.T), Trace(sigma**2 * Unit(m)), ON, models=(square,)), "does not reduce to 0")
    refuted(claim(Trace(W * W.T), Trace(sigma**2 * Unit(m)), ON))


def test_a_definition_is_used_and_one_that_is_not_used_is_not_read():
    proved(claim(M, A * B + B * A, where={M: A * B + B * A}))
    proved(claim(A, A, where={M: W}))
    refuted(claim(M, A * B, where={M: A * B + B * A}))


def test_random_words_keep_their_value():
    """Replacing words changes no value in a model: the same tree by words and by numbers."""
    relations = (ON, SKEW, SYMMETRIC, (K**2, -9 * Unit(n)))
    draw = random.Random(4)
    squares = [A, A.T, B, H, H.T, K, K.T, W.T * W, W.T * V, V.T * W, G.T * V]
    for _ in range(20):
        words = [sp.MatMul(*draw.choices(squares, k=draw.randint(1, 5))) for _ in range(3)]
        coefficients = [draw.choice([sigma, eta, 1 / sigma, Rational(2, 3), -1]) for _ in words]
        tree = sp.MatAdd(*(c * word for c, word in zip(coefficients, words, strict=True)))
        for lhs, rhs in ((tree, tree.T), (Trace(tree), Trace(tree.T))):
            check = claim(lhs, rhs, *relations)
            reader = _Algebra(check)
            left, _ = reader.read(check.sides, {})
            reader.settle()
            reduced = reader.rules.reduce(left)
            reduced = reader.rules.trace(reduced) if check.trace else reduced
            ((_, value, mirrored),) = reader.evaluated
            total = _in_model(reader, reduced)
            if check.trace:
                assert total.trace() == sp.sympify(value) == sp.sympify(mirrored)
            else:
                assert total.tolist() == [[sp.sympify(x) for x in row] for row in value]


def _in_model(reader, poly):
    """A polynomial in words with the letters of the model, by SymPy's matrices."""
    total = sp.zeros(2)
    for word, c in poly.terms.items():
        letters = [MODEL[reader.check.letters[letter]] for letter, _ in word]
        factors = [x.T if flag else x for x, (_, flag) in zip(letters, word, strict=True)]
        product = math.prod(factors[1:], start=factors[0]) if factors else sp.eye(2)
        if product.shape != (2, 2):  # under a trace a word may have been rotated
            product = sp.diag(product.trace(), 0)
        total += c.as_expr().subs({sigma: MODEL[sigma], eta: MODEL[eta]}) * product
    return total


# --- membership ---------------------------------------------------------------------------------------------

x, y, r = sp.symbols("x y r", real=True)
CIRCLE = x**2 + y**2 - 1
POINT = {x: Rational(3, 5), y: Rational(4, 5)}


def on_circle(lhs, rhs, cofactor, **rest):
    given = {
        "domain": {x: S.Reals, y: POSITIVE},
        "generators": (CIRCLE,),
        "cofactors": (cofactor,),
        "points": (POINT,),
    }
    return Membership(lhs, rhs, **{**given, **rest})


def test_membership_by_its_cofactors():
    certificate = proved(on_circle(x**4 - y**4, x**2 - y**2, x**2 - y**2))
    assert certificate.detail == "the difference is a combination of the generators in QQ(x, y)"
    assert "y != 0" in proved(on_circle(x**2 / y, 1 / y - y, 1 / y)).detail
    two = {
        "generators": (x - r, y - r),
        "points": ({x: 2, y: 2, r: 2},),
        "domain": {x: S.Reals, y: S.Reals, r: S.Reals},
    }
    proved(Membership(x * y, r**2, cofactors=(y, r), **two))
    refused(Membership(x * y, r**2, cofactors=(y,), **two), "2 generators and 1 cofactors")
    refused(Membership(x * y, r**2, cofactors=(r, y), **two), "not the combination")


def test_membership_is_refuted_at_a_point_of_the_variety():
    certificate = refuted(on_circle(x**4 - y**4, x**2 + y**2, x**2 - y**2))
    assert certificate.detail.endswith("at x = 3/5, y = 4/5 the sides are -7/25 and 1")
    refused(on_circle(x**2, 1 - y**2, S.Zero), "not the combination")  # true, with another cofactor


@pytest.mark.parametrize(
    "rest",
    [
        {"points": ()},
        {"points": ({x: 1, y: 1},)},
        {"points": ({x: Rational(3, 5)},)},
        {"points": ({x: 1},)},  # with y = 0 it would be on the circle
        {"points": ({x: Rational(3, 5), y: Rational(-4, 5)},)},
        {"points": ({x: 1 / sp.sqrt(2), y: 1 / sp.sqrt(2)},)},
        {"points": ({x: 0.6, y: 0.8},)},
        {"points": (POINT, {x: 1, y: 1})},
        {"generators": (CIRCLE, S.One), "cofactors": (S.One, S.Zero)},
        {"generators": (CIRCLE / x,)},
        {"generators": (sp.atan(x),)},
        {"domain": {x: S.Reals}},
    ],
)
def test_a_membership_needs_points_and_rational_functions(rest):
    proved(on_circle(x**2, 1 - y**2, S.One))
    refused(on_circle(x**2, 1 - y**2, S.One, **rest))


def test_a_membership_has_no_derivatives():
    slope = sp.Derivative(x**2, x)
    why = "a derivative or an integral"
    above = {"domain": {x: Interval.open(1, sp.oo)}, "points": ({x: 2},)}
    refused(Membership(x, S(2), generators=(slope,), cofactors=((x - 2) / (2 * x),), **above), why)
    refused(Membership(x, x, generators=(x - 2,), cofactors=(slope,), **above), why)
    refused(Membership(slope, 2 * x, generators=(x - 2,), cofactors=(S.Zero,), **above), why)
    refused(Membership(y, 2 * x, generators=(x - 2,), cofactors=(S.Zero,), where={y: slope}, **above), why)
    refused(on_circle(x**2, 1, S.One), "1 is not an expression")


def test_a_membership_shows_all_definitions():
    given = {"domain": {x: POSITIVE, y: S.Reals}, "where": {r: x * y}, "points": ({x: 1, y: 0},)}
    check = Membership(y, S.Zero, generators=(r,), cofactors=(1 / x,), **given)
    proved(check)
    assert check.conditions() == "r = 0; y real; x > 0; with r = x*y"
    given["where"] = {r: 1 / x}
    check = Membership(y, S.Zero, generators=(x * y,), cofactors=(r,), **given)
    proved(check)
    assert check.conditions() == "x*y = 0; y real; x > 0; with r = 1/x"


def test_a_membership_shows_its_generators():
    check = on_circle(x**2, 1 - y**2, S.One)
    assert check.latex() == "x^{2} = 1 - y^{2}"
    assert check.conditions() == "x**2 + y**2 - 1 = 0; x real; y > 0"


# --- what a check shows -------------------------------------------------------------------------------------


def test_matrix_formulas_are_shown_as_one_writes_them():
    W_perp = MatrixSymbol("W_perp", m, k)
    P = G - W * (W.T * G + G.T * W) / (2 * sigma**2)
    assert display.latex(P) == r"G - \frac{1}{2 \sigma^{2}} W \left(W^{T} G + G^{T} W\right)"
    assert display.plain(P) == "G - W*(W.T*G + G.T*W)/(2*sigma**2)"
    assert display.latex(W_perp.T * W) == r"W_{\perp}^{T} W"
    assert display.as_html("W_perp.T*W") == "W<sub>⊥</sub><sup>T</sup>\N{NARROW NO-BREAK SPACE}W"
    assert display.as_html("sum_(k>=1) e_(1,i)^2") == "∑<sub>k≥1</sub> e<sub>1,i</sub><sup>2</sup>"
    assert display.as_html("Integral_0^t, the sum") == "∫<sub>0</sub><sup>t</sup>, the sum"
    assert display.latex(W - V) == "W - V"
    assert display.latex(-W - V) == "-W - V"
    assert display.latex((sigma**2 + eta**2) * Unit(n)) == r"\left(\sigma^{2} + \eta^{2}\right) I"
    assert display.latex(3 * A - A**3) == "3 A - A^{3}"
    assert display.latex(W + sigma**2 * V + sigma * G) == r"W + \sigma G + \sigma^{2} V"
    assert display.plain(Trace(A * B) - 1) == "tr(A*B) - 1"
    assert display.plain(-2 * A / sigma) == "-2*A/sigma"


def test_a_check_shows_shapes_relations_and_definitions():
    check = claim(W.T * M, ZeroMatrix(n, n), ON, where={M: sigma * V * A}, letters=(A, V, W))
    assert check.conditions() == ("A n by n, V, W m by n; W.T*W = sigma**2*I; sigma > 0; with M = sigma*V*A")
    assert check.latex() == r"W^{T} M = 0, \qquad M = \sigma V A"


def test_a_matrix_step_needs_a_twin_like_any_other():
    check, twin = claim(A + B, B + A), claim(A * B, B * A)
    step = Step("sum", "Sums commute.", check, twin)
    assert step.conditions() == "A, B n by n"
    with pytest.raises(ValueError, match="twin"):
        Step("sum", "Sums commute.", check)
    assert isinstance(check, type(twin))
    assert not isinstance(check, Identity)
    assert len({c.run().detail for c in itertools.repeat(twin, 3)}) == 1
