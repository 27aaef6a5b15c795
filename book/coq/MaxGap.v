(** * Where the gap is largest *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions Preliminaries TripleZero.
Open Scope R_scope.

(** In the book's notation x = theta/2, q = sqrt(t/x - 1), beta* = q/t,
    alpha* = (1 - beta* )/2. *)
Definition q (theta : R) := sqrt (t theta / (theta / 2) - 1).
Definition best_beta (theta : R) := q theta / t theta.
Definition best_alpha (theta : R) := (1 - best_beta theta) / 2.
Definition max_gap (theta : R) := atan (q theta) - theta / 2 * q theta / t theta.

(** ** The place *)

Lemma q_positive (theta : R) :
  0 < theta < PI -> 0 < q theta /\ theta / 2 * (1 + q theta ^ 2) = t theta.
Proof.
  intros range. pose proof (atan_less (t theta) (t_positive theta range)) as below.
  rewrite atan_t in below by lra.
  assert (1 < t theta / (theta / 2)) by (apply less_than_quotient; lra).
  split; [apply sqrt_lt_R0; lra |].
  unfold q. rewrite pow2_sqrt by lra. field. lra.
Qed.

Lemma best_beta_times_t (theta : R) : 0 < theta < PI -> best_beta theta * t theta = q theta.
Proof. intros range. pose proof (t_positive theta range). unfold best_beta. field. lra. Qed.

(** ng-max-gap. For 0 < theta < pi, 5/(15 + 4 t^2) < best_beta^2 < 1/3, and
    best_beta is positive. *)
Theorem ng_max_gap_beta (theta : R) :
  0 < theta < PI -> 0 < best_beta theta /\ 5 / (15 + 4 * t theta ^ 2) < best_beta theta ^ 2 < 1 / 3.
Proof.
  intros range. pose proof (t_positive theta range) as pos.
  destruct (q_positive theta range) as (q_pos & product).
  split; [now apply Rdiv_lt_0_compat |].
  pose proof (atan_below (t theta) pos) as below. pose proof (atan_above (t theta) pos) as above.
  rewrite atan_t in below, above by lra. rewrite <- best_beta_times_t in product by assumption.
  set (s := t theta) in *. set (x := theta / 2) in *. set (b := best_beta theta) in *.
  assert (0 < x * s ^ 2) by (apply Rmult_lt_0_compat; unfold x; nra).
  split; [apply quotient_less_than; [nra |] |]; apply Rmult_lt_reg_l with (x * s ^ 2); nra.
Qed.

(** ng-max-gap. At a fixed theta in (0, pi) the slope of the gap by beta is
    0 at beta = best_beta and at its negative, and only there: the quotient
    is positive; the two factors after it vanish at -best_beta and
    best_beta. *)
Theorem ng_max_gap_slope (b theta : R) :
  0 < theta < PI ->
  derivable_pt_lim (fun b => gap_in_tangents b (t theta)) b
    (theta / 2 * t theta ^ 2 / (1 + (b * t theta) ^ 2) * (best_beta theta + b) * (best_beta theta - b)).
Proof.
  intros range. destruct (q_positive theta range) as (_ & product).
  unfold gap_in_tangents. rewrite atan_t by lra. differentiate.
  transitivity ((t theta - theta / 2 * (1 + (b * t theta) ^ 2)) / (1 + (b * t theta) ^ 2)).
  - field. nra.
  - rewrite <- product at 1. rewrite <- best_beta_times_t by assumption. field. nra.
Qed.

Lemma gap_at_best_beta (theta : R) :
  0 < theta < PI -> gap_in_tangents (best_beta theta) (t theta) = max_gap theta.
Proof.
  intros range. pose proof (t_positive theta range). unfold gap_in_tangents, max_gap.
  rewrite best_beta_times_t, atan_t by lra. unfold best_beta. field. lra.
Qed.

(** Every other beta >= 0 gives less: the mean value theorem between it and
    best_beta. *)
Lemma gap_below_max (b theta : R) :
  0 < theta < PI -> 0 <= b -> b <> best_beta theta -> gap_in_tangents b (t theta) < max_gap theta.
Proof.
  intros range b_pos different. pose proof (t_positive theta range).
  destruct (ng_max_gap_beta theta range) as [best_pos _].
  rewrite <- gap_at_best_beta by assumption.
  set (g := fun b => gap_in_tangents b (t theta)). change (g b < g (best_beta theta)).
  assert (mean : exists c, 0 < c /\ 0 < (best_beta theta - c) * (best_beta theta - b)
    /\ g (best_beta theta) - g b = theta / 2 * t theta ^ 2 / (1 + (c * t theta) ^ 2)
        * (best_beta theta + c) * ((best_beta theta - c) * (best_beta theta - b))).
  { destruct (Rdichotomy _ _ different) as [before | after].
    - destruct (MVT_cor2 g _ _ _ before (fun c _ => ng_max_gap_slope c theta range)) as (c & mean & inside).
      exists c. rewrite mean. repeat split; nra.
    - destruct (MVT_cor2 g _ _ _ after (fun c _ => ng_max_gap_slope c theta range)) as (c & mean & inside).
      exists c. repeat split; nra. }
  destruct mean as (c & c_pos & same_side & mean).
  cut (0 < g (best_beta theta) - g b); [lra |]. rewrite mean.
  apply Rmult_lt_0_compat; [| assumption]. apply Rmult_lt_0_compat; [| lra].
  apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat |]; nra.
Qed.

Lemma gap_absolute (alpha theta : R) :
  0 < theta < PI -> 0 <= alpha <= 1 ->
  Rabs (gap alpha theta) = gap_in_tangents (Rabs (beta alpha)) (t theta).
Proof.
  intros range inside. destruct (gap_factored alpha theta range) as (k & [k_pos _] & factored).
  assert (0 <= alpha * (1 - alpha) * k) by (apply Rmult_le_pos; nra).
  pose proof (ng_gap_integral_tangents alpha theta) as tangents. unfold beta in *.
  unfold Rabs at 2. destruct Rcase_abs as [negative | positive].
  - rewrite Rabs_left1 by nra. rewrite tangents by lra. unfold gap_in_tangents.
    rewrite Ropp_mult_distr_l_reverse, atan_opp. ring.
  - rewrite Rabs_pos_eq by nra. now rewrite tangents by lra.
Qed.

(** ng-max-gap. For 0 < theta < pi and 0 <= alpha <= 1, |G| is at most
    arctan q - x q/t, x = theta/2 and q = sqrt(t/x - 1), and equal to it
    exactly at best_alpha and at 1 - best_alpha. *)
Theorem ng_max_gap (alpha theta : R) :
  0 < theta < PI -> 0 <= alpha <= 1 ->
  Rabs (gap alpha theta) <= max_gap theta
  /\ (Rabs (gap alpha theta) = max_gap theta <-> alpha = best_alpha theta \/ alpha = 1 - best_alpha theta).
Proof.
  intros range inside. rewrite gap_absolute by assumption.
  pose proof (gap_below_max (Rabs (beta alpha)) theta range (Rabs_pos _)) as below.
  pose proof (gap_at_best_beta theta range) as at_best.
  assert (same : Rabs (beta alpha) = best_beta theta <->
    alpha = best_alpha theta \/ alpha = 1 - best_alpha theta).
  { destruct (ng_max_gap_beta theta range) as [positive _].
    unfold best_alpha, beta, Rabs. destruct Rcase_abs; lra. }
  rewrite <- same. destruct (Req_dec (Rabs (beta alpha)) (best_beta theta)) as [-> | different].
  - lra.
  - specialize (below different). lra.
Qed.

(** ng-max-gap. For 0 < theta < pi the best alpha is above (3 - sqrt 3)/6
    and below 1/2. *)
Theorem ng_max_gap_place (theta : R) :
  0 < theta < PI -> (3 - sqrt 3) / 6 < best_alpha theta < 1 / 2.
Proof.
  intros range. destruct (ng_max_gap_beta theta range) as [positive small].
  pose proof (sqrt_lt_R0 3). pose proof (pow2_sqrt 3). unfold best_alpha. split; nra.
Qed.

(** ng-max-gap. The maximum grows strictly with theta on (0, pi). *)
Theorem ng_max_gap_increasing (theta theta' : R) :
  0 < theta -> theta < theta' -> theta' < PI -> max_gap theta < max_gap theta'.
Proof.
  intros low less high. assert (range : 0 < theta < PI) by lra. assert (range' : 0 < theta' < PI) by lra.
  destruct (ng_max_gap_beta theta range) as [positive small].
  rewrite <- gap_at_best_beta by assumption. set (b := best_beta theta) in *.
  apply Rlt_le_trans with (gap_in_tangents b (t theta')).
  - apply increases with (fun s => b * (1 - b ^ 2) * integrand b s).
    + apply tan_increasing; lra.
    + intros. apply ng_gap_integral_derivative.
    + intros c inside. pose proof (t_positive theta range).
      apply Rmult_lt_0_compat; [nra |]. apply Rdiv_lt_0_compat; nra.
  - destruct (Req_dec b (best_beta theta')) as [-> |].
    + rewrite gap_at_best_beta by assumption. lra.
    + apply Rlt_le, gap_below_max; lra.
Qed.

(** With t = x (1 + q^2) the maximum depends on q alone. *)
Lemma max_gap_in_q (theta : R) :
  0 < theta < PI -> max_gap theta = atan (q theta) - q theta / (1 + q theta ^ 2).
Proof.
  intros range. destruct (q_positive theta range) as (_ & product).
  unfold max_gap. rewrite <- product. field. split; nra.
Qed.

(** ng-max-gap. For 0 < theta < pi the maximum is positive and below pi/2,
    and below t/sqrt 3: it tends to 0 with theta. *)
Theorem ng_max_gap_range (theta : R) :
  0 < theta < PI -> 0 < max_gap theta < PI / 2 /\ max_gap theta < t theta / sqrt 3.
Proof.
  intros range. destruct (q_positive theta range) as (q_pos & _).
  destruct (ng_max_gap_beta theta range) as [positive [_ small]].
  pose proof (t_positive theta range).
  assert (0 < q theta / (1 + q theta ^ 2)) by (apply Rdiv_lt_0_compat; nra).
  split; [split |].
  - replace 0 with (gap_in_tangents 0 (t theta)) by (unfold gap_in_tangents; rewrite Rmult_0_l, atan_0; ring).
    apply gap_below_max; lra.
  - rewrite max_gap_in_q by assumption. pose proof (atan_bound (q theta)). lra.
  - rewrite max_gap_in_q by assumption. pose proof (atan_less (q theta) q_pos).
    assert (root : 0 < sqrt 3) by (apply sqrt_lt_R0; lra). pose proof (pow2_sqrt 3).
    assert (best_beta theta * sqrt 3 < 1) by nra.
    assert (q theta < t theta / sqrt 3).
    { apply less_than_quotient; [assumption |]. rewrite <- best_beta_times_t by assumption. nra. }
    lra.
Qed.

(** ng-max-gap. The maximum comes as near to pi/2 as wanted: with
    [ng_max_gap_range], pi/2 is the supremum over theta, and is not
    attained. *)
Theorem ng_max_gap_supremum (eps : R) :
  0 < eps -> exists theta, 0 < theta < PI /\ PI / 2 - eps < max_gap theta.
Proof.
  intros eps_pos. set (s := 2 * (1 + (2 / eps) ^ 2)).
  assert (0 < 2 / eps) by (apply Rdiv_lt_0_compat; lra).
  pose proof (atan_bound s). assert (atan 0 < atan s) by (apply atan_increasing; unfold s; nra).
  rewrite atan_0 in *. assert (range : 0 < 2 * atan s < PI) by lra.
  exists (2 * atan s). split; [assumption |].
  destruct (q_positive _ range) as (q_pos & product). rewrite max_gap_in_q by assumption.
  unfold t in product. replace (2 * atan s / 2) with (atan s) in product by field.
  rewrite tan_atan in product.
  set (r := q (2 * atan s)) in *.
  assert (large : 2 / eps < r).
  { assert (s < 2 * (1 + r ^ 2)) by (pose proof PI_4; nra). unfold s in *. nra. }
  apply quotient_less_than in large; [| assumption].
  pose proof (Rinv_0_lt_compat r q_pos) as inverse_pos.
  assert (r / (1 + r ^ 2) < / r).
  { apply quotient_less_than; [nra |]. replace (/ r * (1 + r ^ 2)) with (/ r + r) by (field; lra). lra. }
  pose proof (atan_inv r q_pos). pose proof (atan_less (/ r) inverse_pos).
  assert (2 * / r < eps) by (apply (quotient_less_than 2); lra). lra.
Qed.
