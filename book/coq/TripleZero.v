(** * The gap: its integral, its zeros and its sign *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions Preliminaries.
Open Scope R_scope.

(** ** The gap as an integral *)

(** ng-gap-integral. The gap in terms of beta and t, for every real alpha
    and -pi < theta < pi. *)
Theorem ng_gap_integral_tangents (alpha theta : R) :
  - PI < theta < PI -> gap alpha theta = gap_in_tangents (beta alpha) (t theta).
Proof.
  intros range. unfold gap, phi, gap_in_tangents. rewrite atan_t by assumption.
  unfold beta. field.
Qed.

(** ng-gap-integral. The derivative by t, factored, for every real beta and
    t. *)
Theorem ng_gap_integral_derivative (b s : R) :
  derivable_pt_lim (gap_in_tangents b) s (b * (1 - b ^ 2) * integrand b s).
Proof.
  unfold gap_in_tangents, integrand. differentiate.
  field. split; nra.
Qed.

(** ng-gap-integral. So the gap is a Riemann integral from 0 to t, for every
    real alpha and 0 < theta < pi. *)
Theorem ng_gap_integral (alpha theta : R) :
  0 < theta < PI ->
  exists integrable : Riemann_integrable
      (fun s => beta alpha * (1 - beta alpha ^ 2) * integrand (beta alpha) s) 0 (t theta),
    gap alpha theta = RiemannInt integrable.
Proof.
  intros range. rewrite ng_gap_integral_tangents by lra. set (b := beta alpha).
  pose (D := fun s => exist _ _ (ng_gap_integral_derivative b s) : derivable_pt (gap_in_tangents b) s).
  assert (C : continuity (fun s => b * (1 - b ^ 2) * integrand b s)).
  { intros s. apply derivable_continuous_pt. eexists. unfold integrand. differentiate; [nra | reflexivity]. }
  assert (integrable : Riemann_integrable (fun s => b * (1 - b ^ 2) * integrand b s) 0 (t theta)).
  { apply continuity_implies_RiemannInt; [now apply Rlt_le, t_positive | auto]. }
  exists integrable. rewrite (FTC_Riemann (@mkC1 (gap_in_tangents b) D C)). cbn.
  unfold gap_in_tangents. rewrite Rmult_0_r, atan_0. ring.
Qed.

(** ng-gap-integral. With the mean value theorem instead of the integral:
    for every real beta and t > 0 the gap is beta (1 - beta^2) t^3/3 divided
    by the denominator of the integrand at some c between 0 and t. *)
Theorem ng_gap_integral_mean (b s : R) :
  0 < s ->
  exists c, 0 < c < s
    /\ gap_in_tangents b s = b * (1 - b ^ 2) * (s ^ 3 / 3) / ((1 + b ^ 2 * c ^ 2) * (1 + c ^ 2)).
Proof.
  intros pos. set (G := gap_in_tangents b s).
  destruct (MVT_cor2 (fun c => gap_in_tangents b c * s ^ 3 - G * c ^ 3)
              (fun c => b * (1 - b ^ 2) * integrand b c * s ^ 3 - 3 * G * c ^ 2) 0 s pos)
    as (c & mean & inside).
  { intros. unfold gap_in_tangents, integrand. differentiate. field. split; nra. }
  exists c. split; [assumption |].
  fold G in mean. unfold gap_in_tangents in mean. rewrite Rmult_0_r, atan_0 in mean.
  assert (0 < c ^ 2) by nra. apply Rmult_eq_reg_r with (3 * c ^ 2 * s); [| nra].
  transitivity (b * (1 - b ^ 2) * integrand b c * s ^ 3 * s); [nra |].
  unfold integrand. field. split; nra.
Qed.

(** ** The triple zero *)

(** The gap has the zeros and the sign of the factor before the integral. *)
Lemma gap_factored (alpha theta : R) :
  0 < theta < PI ->
  exists k, 0 < k <= 4 / 3 * t theta ^ 3 /\ gap alpha theta = alpha * (1 - alpha) * (1 - 2 * alpha) * k.
Proof.
  intros range. pose proof (t_positive theta range) as pos. pose proof (pow_lt (t theta) 3 pos).
  rewrite ng_gap_integral_tangents by lra. set (b := beta alpha).
  destruct (ng_gap_integral_mean b (t theta) pos) as (c & _ & ->).
  set (d := (1 + b ^ 2 * c ^ 2) * (1 + c ^ 2)). assert (1 <= d) by (unfold d; nra).
  assert (0 < / d <= 1).
  { split; [apply Rinv_0_lt_compat; lra |]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  exists (4 / 3 * t theta ^ 3 * / d). split; [nra |].
  replace (b * (1 - b ^ 2)) with (4 * (alpha * (1 - alpha) * (1 - 2 * alpha))) by (unfold b, beta; ring).
  field. lra.
Qed.

(** ng-triple-zero. The gap is 0 if and only if alpha is 0, 1/2 or 1: for
    every real alpha and 0 < theta < pi. *)
Theorem ng_triple_zero (alpha theta : R) :
  0 < theta < PI ->
  gap alpha theta = 0 <-> alpha = 0 \/ alpha = 1 / 2 \/ alpha = 1.
Proof.
  intros range. destruct (gap_factored alpha theta range) as (k & [k_pos _] & ->). split.
  - intros zero. apply Rmult_integral in zero as [zero |]; [| lra].
    apply Rmult_integral in zero as [zero |]; [| lra].
    apply Rmult_integral in zero as [|]; lra.
  - intros [-> | [-> | ->]]; field.
Qed.

(** ng-triple-zero. The same, without the gap: for every real alpha and
    0 < theta < pi the step turns by alpha theta, as the geodesic step does,
    if and only if alpha is 0, 1/2 or 1. *)
Theorem ng_triple_zero_turn (alpha theta : R) :
  0 < theta < PI ->
  phi alpha theta = alpha * theta <-> alpha = 0 \/ alpha = 1 / 2 \/ alpha = 1.
Proof.
  intros range. rewrite <- (ng_triple_zero alpha theta range). unfold gap. lra.
Qed.

(** ng-triple-zero. The gap is odd about alpha = 1/2, for all real alpha and
    theta. *)
Theorem ng_triple_zero_odd (alpha theta : R) : gap (1 - alpha) theta = - gap alpha theta.
Proof.
  unfold gap, phi, beta.
  replace ((1 - 2 * (1 - alpha)) * t theta) with (- ((1 - 2 * alpha) * t theta)) by ring.
  rewrite atan_opp. field.
Qed.

(** ng-triple-zero. For 0 < theta < pi the step lags behind the geodesic
    (positive gap) for 0 < alpha < 1/2 and for alpha > 1. *)
Theorem ng_triple_zero_lags (alpha theta : R) :
  0 < theta < PI -> 0 < alpha < 1 / 2 \/ 1 < alpha -> 0 < gap alpha theta.
Proof.
  intros range side. destruct (gap_factored alpha theta range) as (k & [k_pos _] & ->).
  apply Rmult_lt_0_compat; [| assumption].
  assert (0 < alpha * ((1 - alpha) * (1 - 2 * alpha))) by (apply Rmult_lt_0_compat; destruct side; nra). lra.
Qed.

(** ng-triple-zero. It leads (negative gap) for 1/2 < alpha < 1 and for
    alpha < 0. *)
Theorem ng_triple_zero_leads (alpha theta : R) :
  0 < theta < PI -> 1 / 2 < alpha < 1 \/ alpha < 0 -> gap alpha theta < 0.
Proof.
  intros range side. pose proof (ng_triple_zero_lags (1 - alpha) theta range) as lags.
  rewrite ng_triple_zero_odd in lags. lra.
Qed.
