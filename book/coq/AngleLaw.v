(** * The angle law and the matched step *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions Preliminaries.
Open Scope R_scope.

(** ** The angle law *)

(** ng-angle-law. For every real alpha and -pi < theta < pi the chord point
    is a positive multiple of (cos phi, sin phi),
    phi = theta/2 - atan((1 - 2 alpha) tan(theta/2)): the step is defined,
    and turns the state by phi. *)
Theorem ng_angle_law (alpha theta : R) :
  - PI < theta < PI ->
  exists r, 0 < r
    /\ chord_x alpha theta = r * cos (phi alpha theta)
    /\ chord_y alpha theta = r * sin (phi alpha theta).
Proof.
  intros range. unfold chord_x, chord_y, phi, t.
  set (x := theta / 2). replace theta with (2 * x) by (unfold x; field).
  assert (cos_x : 0 < cos x) by (apply cos_gt_0; unfold x; lra).
  assert (one : sin x ^ 2 = 1 - cos x ^ 2) by (generalize (sin2_cos2 x); unfold Rsqr; lra).
  set (a := atan (beta alpha * tan x)).
  assert (cos_a : 0 < cos a)
    by (apply cos_gt_0; pose proof (atan_bound (beta alpha * tan x)); unfold a; lra).
  assert (sin_a : sin a = beta alpha * tan x * cos a).
  { transitivity (tan a * cos a); [unfold tan; field; lra | unfold a; now rewrite tan_atan]. }
  rewrite cos_minus, sin_minus, cos_2a_cos, sin_2a, sin_a.
  exists (cos x / cos a). split; [| split].
  - now apply Rdiv_lt_0_compat.
  - transitivity (cos x ^ 2 + beta alpha * sin x ^ 2).
    + rewrite one. unfold beta. ring.
    + unfold tan. field. lra.
  - unfold beta, tan. field. lra.
Qed.

(** ng-angle-law. phi is within pi/2 of theta/2, for every real alpha and
    theta. *)
Theorem ng_angle_law_range (alpha theta : R) :
  theta / 2 - PI / 2 < phi alpha theta < theta / 2 + PI / 2.
Proof. unfold phi. pose proof (atan_bound (beta alpha * t theta)). lra. Qed.

(** ng-angle-law. For 0 < theta < pi the turn grows strictly with alpha,
    over all real alpha. *)
Theorem ng_angle_law_increasing (alpha alpha' theta : R) :
  0 < theta < PI -> alpha < alpha' -> phi alpha theta < phi alpha' theta.
Proof.
  intros range less. pose proof (t_positive theta range).
  assert (atan (beta alpha' * t theta) < atan (beta alpha * t theta))
    by (apply atan_increasing; unfold beta; nra).
  unfold phi. lra.
Qed.

(** ng-angle-law. No step at alpha = 0, and arrival at alpha = 1, for
    -pi < theta < pi. *)
Theorem ng_angle_law_ends (theta : R) :
  - PI < theta < PI -> phi 0 theta = 0 /\ phi 1 theta = theta.
Proof.
  intros range. unfold phi, beta.
  replace ((1 - 2 * 0) * t theta) with (t theta) by ring.
  replace ((1 - 2 * 1) * t theta) with (- t theta) by ring.
  rewrite atan_opp, atan_t by assumption. lra.
Qed.

(** ng-angle-law. The arccos form of the paper: for every real alpha and
    0 < theta < pi it is the absolute value of phi. By the two theorems
    above, phi >= 0 exactly if alpha >= 0. *)
Theorem ng_angle_law_arccos (alpha theta : R) :
  0 < theta < PI ->
  acos ((1 - alpha + alpha * cos theta)
        / sqrt ((1 - alpha) ^ 2 + alpha ^ 2 + 2 * alpha * (1 - alpha) * cos theta))
  = Rabs (phi alpha theta).
Proof.
  intros range. destruct (ng_angle_law alpha theta) as (r & r_pos & X & Y); [lra |].
  pose proof (ng_angle_law_range alpha theta).
  unfold chord_x, chord_y in X, Y.
  replace ((1 - alpha) ^ 2 + alpha ^ 2 + 2 * alpha * (1 - alpha) * cos theta) with (Rsqr r).
  - rewrite sqrt_Rsqr, X by lra.
    replace (r * cos (phi alpha theta) / r) with (cos (Rabs (phi alpha theta))).
    + apply acos_cos. split; [apply Rabs_pos | apply Rabs_le; lra].
    + unfold Rabs. destruct Rcase_abs; rewrite ?cos_neg; field; lra.
  - transitivity ((r * cos (phi alpha theta)) ^ 2 + (r * sin (phi alpha theta)) ^ 2).
    + pose proof (sin2_cos2 (phi alpha theta)). unfold Rsqr in *. nra.
    + rewrite <- X, <- Y. pose proof (sin2_cos2 theta). unfold Rsqr in *. nra.
Qed.

(** ** The matched step *)

Definition matching_alpha (f theta : R) := sin (f * theta) / (sin (f * theta) + sin ((1 - f) * theta)).

(** With x = theta/2 and v = (1 - 2 f) theta/2 the two sines are sin(x - v)
    and sin(x + v). *)
Lemma matching_tangents (f theta : R) :
  0 < theta < PI -> Rabs ((1 - 2 * f) * theta) < PI ->
  0 < sin (f * theta) + sin ((1 - f) * theta)
  /\ beta (matching_alpha f theta) * t theta = tan ((1 - 2 * f) * theta / 2).
Proof.
  intros range small. apply Rabs_def2 in small.
  unfold matching_alpha, beta, t.
  set (x := theta / 2). set (v := (1 - 2 * f) * theta / 2).
  replace (f * theta) with (x - v) by (unfold x, v; field).
  replace ((1 - f) * theta) with (x + v) by (unfold x, v; field).
  rewrite sin_minus, sin_plus.
  assert (0 < sin x) by (apply sin_gt_0; unfold x; lra).
  assert (0 < cos x) by (apply cos_gt_0; unfold x; lra).
  assert (0 < cos v) by (apply cos_gt_0; unfold v; lra).
  assert (0 < sin x * cos v) by nra.
  split; [lra |]. unfold tan. field. lra.
Qed.

(** ng-matched-step. Exactly one real alpha turns the state by f theta, for
    0 < theta < pi and every real f with |1 - 2 f| theta < pi; every f in
    [0, 1] is such. *)
Theorem ng_matched_step (alpha f theta : R) :
  0 < theta < PI -> Rabs ((1 - 2 * f) * theta) < PI ->
  phi alpha theta = f * theta <-> alpha = matching_alpha f theta.
Proof.
  intros range small. destruct (matching_tangents f theta range small) as [_ matched].
  pose proof (t_positive theta range). apply Rabs_def2 in small.
  unfold phi. split.
  - intros turned.
    assert (beta alpha * t theta = tan ((1 - 2 * f) * theta / 2)).
    { rewrite <- (tan_atan (beta alpha * t theta)). f_equal. lra. }
    unfold beta in *. nra.
  - intros ->. rewrite matched, atan_tan; lra.
Qed.

(** ng-matched-step. The matched alpha is between 0 and 1, for 0 < f < 1 and
    0 < theta < pi. *)
Theorem ng_matched_step_between (f theta : R) :
  0 < theta < PI -> 0 < f < 1 -> 0 < matching_alpha f theta < 1.
Proof.
  intros range inside.
  assert (0 < sin (f * theta)) by (apply sin_gt_0; nra).
  assert (0 < sin ((1 - f) * theta)) by (apply sin_gt_0; nra).
  unfold matching_alpha. split.
  - apply Rdiv_lt_0_compat; lra.
  - apply quotient_less_than; lra.
Qed.

(** ng-matched-step. It is 0 for f = 0 and 1 for f = 1, for
    0 < theta < pi. *)
Theorem ng_matched_step_ends (theta : R) :
  0 < theta < PI -> matching_alpha 0 theta = 0 /\ matching_alpha 1 theta = 1.
Proof.
  intros range. assert (0 < sin theta) by (apply sin_gt_0; lra). unfold matching_alpha.
  replace ((1 - 0) * theta) with theta by ring. replace ((1 - 1) * theta) with 0 by ring.
  rewrite Rmult_0_l, Rmult_1_l, sin_0. split; field; lra.
Qed.

(** ng-matched-step. The chord point of the matched step is a positive
    multiple of the SLERP point at the fraction f: its two coefficients are
    those of SLERP, but for one factor. For 0 < theta < pi and every real f
    with |1 - 2 f| theta < pi. *)
Theorem ng_matched_step_slerp (f theta : R) :
  0 < theta < PI -> Rabs ((1 - 2 * f) * theta) < PI ->
  exists r, 0 < r
    /\ 1 - matching_alpha f theta = r * (sin ((1 - f) * theta) / sin theta)
    /\ matching_alpha f theta = r * (sin (f * theta) / sin theta).
Proof.
  intros range small. destruct (matching_tangents f theta range small) as [sum_pos _].
  assert (0 < sin theta) by (apply sin_gt_0; lra).
  exists (sin theta / (sin (f * theta) + sin ((1 - f) * theta))). split.
  - apply Rdiv_lt_0_compat; assumption.
  - unfold matching_alpha. split; field; lra.
Qed.
