"""False twins of the theorems in book/coq: a change of a statement, and a case in which it is false."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """`old`, found once in the statement of `theorem`, becomes `new`; `false` says where that fails."""

    theorem: str
    old: str
    new: str
    false: str


MUTANTS = [
    Mutant("ng_angle_law", "theta < PI", "theta <= PI", "theta = pi, alpha = 1/2: the chord point is 0"),
    Mutant("ng_angle_law", "chord_y alpha theta = r", "chord_y alpha theta = - r", "theta = pi/2, alpha = 1"),
    Mutant("ng_angle_law_range", "+ PI / 2", "+ PI / 3", "theta = pi/2, alpha = 100: phi = 135 degrees"),
    Mutant("ng_angle_law_increasing", "0 < theta", "- PI < theta", "theta = 0: phi is 0 for every alpha"),
    Mutant("ng_angle_law_ends", "phi 1 theta = theta", "phi 1 theta = - theta", "theta = pi/2"),
    Mutant("ng_angle_law_arccos", "Rabs (phi alpha theta)", "phi alpha theta", "alpha = -1: phi < 0"),
    Mutant("ng_matched_step", "= f * theta", "= (1 - f) * theta", "f = 0: alpha = 0 does not turn by theta"),
    Mutant("ng_matched_step", "< PI ->\n  phi", "<= PI ->\n  phi", "f = 2, theta = pi/3: phi < 2 theta"),
    Mutant("ng_matched_step_between", "0 < f < 1", "0 <= f < 1", "f = 0: matching_alpha is 0"),
    Mutant("ng_matched_step_ends", "1 theta = 1", "1 theta = 0", "theta = 1: alpha = 1 for f = 1"),
    Mutant("ng_matched_step_slerp", "1 - matching", "1 + matching", "f = 1: 2 on the left, 0 on the right"),
    Mutant("ng_gap_integral_tangents", "- PI < theta < PI", "- PI < theta", "alpha = 0, theta = 3 pi/2"),
    Mutant("ng_gap_integral_derivative", "1 - b ^ 2", "1 + b ^ 2", "b = 1: the gap is 0 for every t"),
    Mutant("ng_gap_integral", "1 - beta alpha ^ 2", "1 + beta alpha ^ 2", "alpha = 0: the gap is 0"),
    Mutant("ng_gap_integral_mean", "0 < c < s", "s < c", "b = 1/2, s = 1: the gap is more"),
    Mutant("ng_triple_zero", "alpha = 0 \\/ alpha = 1 / 2", "alpha = 0", "alpha = 1/2: the gap is 0"),
    Mutant("ng_triple_zero", "0 < theta", "0 <= theta", "theta = 0, alpha = 1/4: the gap is 0"),
    Mutant("ng_triple_zero_turn", "1 / 2", "1 / 3", "alpha = 1/2: phi = theta/2"),
    Mutant("ng_triple_zero_odd", "- gap", "gap", "alpha = 1/4, theta = 1"),
    Mutant("ng_triple_zero_lags", "alpha < 1 / 2", "alpha < 1", "alpha = 3/4: the gap is negative"),
    Mutant("ng_triple_zero_leads", "alpha < 0", "alpha <= 0", "alpha = 0: the gap is 0"),
    Mutant("ng_max_gap_beta", "< 1 / 3", "< 1 / 4", "theta = 1/10: best_beta^2 is near 1/3"),
    Mutant("ng_max_gap_beta", "5 / (15", "6 / (15", "theta = 1/10: best_beta^2 is near 1/3"),
    Mutant("ng_max_gap_slope", "- b)", "- 2 * b)", "b = best_beta: the slope is 0 there"),
    Mutant("ng_max_gap", "alpha <= 1", "alpha <= 2", "alpha = 2, theta = pi/2: |G| = 1.1, max_gap = 0.07"),
    Mutant("ng_max_gap", " \\/ alpha = 1 - best_alpha theta", "", "alpha = 1 - best_alpha is a place too"),
    Mutant("ng_max_gap_place", "< 1 / 2", "< 1 / 4", "theta = 3: best_alpha = 0.397"),
    Mutant("ng_max_gap_increasing", "max_gap theta < max", "max_gap theta > max", "always"),
    Mutant("ng_max_gap_range", "< PI / 2", "< PI / 4", "theta = 170 degrees: the maximum is 49.6 degrees"),
    Mutant("ng_max_gap_supremum", "PI / 2 - eps", "PI / 2", "by ng_max_gap_range the maximum is below pi/2"),
    Mutant("ng_bisector", "theta / 2", "theta / 3", "theta = 1"),
    Mutant("ng_bisector_halving", "2 ^ k", "3 ^ k", "k = 1"),
    Mutant("ng_cubic_law", "alpha <= 1 / 2", "alpha <= 1", "alpha = 3/4: the upper bound is below the lower"),
    Mutant("ng_cubic_law", "upper_bound (beta alpha) (t theta)", "upper_bound (beta alpha) (theta / 2)",
           "alpha = 1/3, theta = 2: G exceeds kappa_3 theta^3/6"),
    Mutant("ng_cubic_law_mirrored", "<= - gap", "<= gap", "alpha = 3/4: G < 0, the bound > 0"),
    Mutant("ng_cubic_law_amplitude", "alpha <= 1", "alpha <= 2", "alpha = 2: kappa_3/6 = 1"),
    Mutant("ng_cubic_law_amplitude", "<= sqrt 3 / 108", "<= sqrt 3 / 109", "alpha = (3 - sqrt 3)/6"),
    Mutant("ng_cubic_law_leading_term", "theta - kappa", "theta + kappa", "alpha = 1/4, theta = 1/10"),
    Mutant("ng_contraction_swap", "phi (1 - alpha)", "phi alpha", "alpha = 1/4, theta = 1"),
    Mutant("ng_contraction_inside", "alpha < 1", "alpha <= 1", "alpha = 1 leaves 0"),
    Mutant("ng_contraction", "theta + alpha", "theta - alpha", "alpha = 1/2, theta = pi/2: 1 and -1"),
    Mutant("ng_contraction_ratio", "theta > 1 - alpha", "theta < 1 - alpha", "alpha = 1/4: the step lags"),
    Mutant("ng_contraction_rate", "4 / 3", "1 / 8", "alpha = 1/4, theta = 1/10: the factor is near 1/6"),
    Mutant("ng_contraction_converges", "0 < alpha", "0 <= alpha", "alpha = 0 leaves theta in every step"),
    Mutant("ng_contraction_limit_ratio", "(1 - alpha).", "alpha.", "alpha = 1/4: the ratio tends to 3/4"),
    Mutant("ng_off_plane_criterion", "p * h i", "p * q * h i", "h = e_1, h_A = e_2, alpha = (1, 0): q is 0"),
    Mutant("ng_off_plane", "- kappa ^ 2", "+ kappa ^ 2", "d = 2, h = e_1, h_A = e_2, alpha = (1, 0)"),
    Mutant("ng_off_plane", "(m - m_2) * C", "(m + m_2) * C", "alpha = 1/2 in every dimension"),
    Mutant("ng_off_plane", " -> dot d h_A h_A = 1", "", "d = 2, h = e_1, h_A = 2 e_2, alpha = (0, 1)"),
    Mutant("ng_tangent_projection", "(project m n sigma W", "(project m n 1 W", "m = n = 1, W = sigma = 2"),
    Mutant("ng_tangent_projection_fixes", "(k < n)%nat -> ", "", "m = n = k = 1, W = 1: V i k is arbitrary"),
    Mutant("ng_tangent_projection_normal", "tangent m n W V -> ", "", "V = W, which is normal"),
    Mutant("ng_arctan_law", "eta ^ 2) * identity", "eta ^ 3) * identity", "m = n = 1, eta = -1"),
    Mutant("ng_arctan_law", "atan (eta / sigma)", "eta / sigma", "eta = sigma = 1: cos(1) is not 1/sqrt 2"),
    Mutant("ng_arctan_law_geodesic", "(- turned", "(turned", "phi = 0: the acceleration is -W"),
    Mutant("ng_arctan_law_lag", "y ^ 5 / 5", "y ^ 5 / 6", "y = 1/2"),
    Mutant("ng_one_law", "0 < chord_x", "0 <= chord_x", "alpha = 1, theta = pi/2: eta is 0 in Coq"),
    Mutant("ng_one_law_forward", "theta < PI / 2", "theta < PI", "alpha = 1, theta = 2 pi/3"),
    Mutant("ng_one_law_matched", "= tan (f * theta)", "= f * theta", "f = 1/2, theta = pi/2"),
    Mutant("ng_one_law_matched", "theta < PI / 2", "theta < PI", "f = 9/10, theta = 3: chord_x < 0"),
]  # fmt: skip
