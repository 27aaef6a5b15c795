(** * The cubic law *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions Preliminaries TripleZero.
Open Scope R_scope.

(** ** The two-sided bound *)

Definition upper_bound (b s : R) := b * (1 - b ^ 2) * s ^ 3 / 3.
Definition lower_bound (b s : R) := b * (1 - b ^ 2) * s ^ 3 / (3 * (1 + s ^ 2) * (1 + b ^ 2 * s ^ 2)).

(** ng-cubic-law. For 0 < theta < pi and 0 <= alpha <= 1/2 the gap is at
    most beta (1 - beta^2) t^3/3, and at least this divided by
    (1 + t^2)(1 + beta^2 t^2). *)
Theorem ng_cubic_law (alpha theta : R) :
  0 < theta < PI -> 0 <= alpha <= 1 / 2 ->
  lower_bound (beta alpha) (t theta) <= gap alpha theta <= upper_bound (beta alpha) (t theta).
Proof.
  intros range half. pose proof (t_positive theta range) as pos.
  rewrite ng_gap_integral_tangents by lra.
  set (b := beta alpha) in *. set (s := t theta) in *.
  destruct (ng_gap_integral_mean b s pos) as (c & inside & ->).
  assert (0 <= b * (1 - b ^ 2) * (s ^ 3 / 3)).
  { pose proof (pow_lt s 3 pos). apply Rmult_le_pos; [apply Rmult_le_pos |]; unfold b, beta; nra. }
  assert (0 <= b ^ 2 * c ^ 2 <= b ^ 2 * s ^ 2) by (split; [| apply Rmult_le_compat_l]; nra).
  unfold lower_bound, upper_bound. split.
  - replace (b * (1 - b ^ 2) * s ^ 3 / (3 * (1 + s ^ 2) * (1 + b ^ 2 * s ^ 2)))
      with (b * (1 - b ^ 2) * (s ^ 3 / 3) * / ((1 + b ^ 2 * s ^ 2) * (1 + s ^ 2))) by (field; split; nra).
    apply Rmult_le_compat_l; [assumption |]. apply Rinv_le_contravar; [nra |].
    apply Rmult_le_compat; nra.
  - replace (b * (1 - b ^ 2) * s ^ 3 / 3) with (b * (1 - b ^ 2) * (s ^ 3 / 3) * / 1) by field.
    apply Rmult_le_compat_l; [assumption |]. apply Rinv_le_contravar; nra.
Qed.

(** ng-cubic-law. For 1/2 <= alpha <= 1 the same holds for -G with beta
    replaced by -beta. *)
Theorem ng_cubic_law_mirrored (alpha theta : R) :
  0 < theta < PI -> 1 / 2 <= alpha <= 1 ->
  lower_bound (- beta alpha) (t theta) <= - gap alpha theta <= upper_bound (- beta alpha) (t theta).
Proof.
  intros range half. rewrite <- ng_triple_zero_odd.
  replace (- beta alpha) with (beta (1 - alpha)) by (unfold beta; ring).
  apply ng_cubic_law; lra.
Qed.

(** ** The leading term *)

Definition kappa_3 (alpha : R) := alpha * (1 - alpha) * (1 - 2 * alpha).

(** ng-cubic-law. On [0, 1] the coefficient kappa_3/6 of theta^3 is at most
    sqrt 3/108, and equal to it only at alpha = (3 - sqrt 3)/6. *)
Theorem ng_cubic_law_amplitude (alpha : R) :
  0 <= alpha <= 1 ->
  kappa_3 alpha / 6 <= sqrt 3 / 108 /\ (kappa_3 alpha / 6 = sqrt 3 / 108 <-> alpha = (3 - sqrt 3) / 6).
Proof.
  intros inside. set (r := sqrt 3).
  assert (square : r ^ 2 = 3) by (apply pow2_sqrt; lra).
  assert (r_pos : 0 < r) by (apply sqrt_lt_R0; lra).
  assert (factored : r / 108 - kappa_3 alpha / 6
    = Rsqr (alpha - (3 - r) / 6) * ((1 - 2 * alpha + 2 * r / 3) / 6)) by (unfold kappa_3, Rsqr; nra).
  assert (3 / 2 < r) by nra.
  pose proof (Rle_0_sqr (alpha - (3 - r) / 6)).
  split; [nra |]. split; intros equal.
  - assert (alpha - (3 - r) / 6 = 0) by (apply Rsqr_0_uniq; nra). lra.
  - replace (alpha - (3 - r) / 6) with 0 in factored by lra. rewrite Rsqr_0 in factored. lra.
Qed.

(** For 0 < theta <= pi/2, t is between theta/2 and theta, and at most 1. *)
Lemma t_small (theta : R) :
  0 < theta <= PI / 2 ->
  t theta <= 1 /\ 3 * t theta < theta / 2 * (3 + t theta ^ 2) /\ theta / 2 < t theta < theta.
Proof.
  intros small. assert (range : 0 < theta < PI) by lra.
  pose proof (t_positive theta range) as pos.
  assert (t theta <= 1).
  { rewrite <- tan_PI4. destruct (proj2 small) as [less | ->].
    - apply Rlt_le, tan_increasing; lra.
    - right. unfold t. f_equal. field. }
  pose proof (atan_above (t theta) pos) as above. pose proof (atan_less (t theta) pos) as below.
  rewrite atan_t in above, below by lra. repeat split; nra.
Qed.

(** ng-cubic-law. The leading term: for 0 < theta <= pi/2 and
    0 <= alpha <= 1 the gap differs from kappa_3 theta^3/6 by at most
    |kappa_3| theta^5/3. *)
Theorem ng_cubic_law_leading_term (alpha theta : R) :
  0 < theta <= PI / 2 -> 0 <= alpha <= 1 ->
  Rabs (gap alpha theta - kappa_3 alpha * (theta ^ 3 / 6)) <= Rabs (kappa_3 alpha) * (theta ^ 5 / 3).
Proof.
  intros small inside. destruct (t_small theta small) as (t_le_1 & above & half & full).
  rewrite ng_gap_integral_tangents by lra. set (b := beta alpha). set (s := t theta) in *.
  destruct (ng_gap_integral_mean b s) as (c & between & ->); [lra |].
  set (x := theta / 2) in *. replace theta with (2 * x) in * by (unfold x; field).
  (* the gap is 4/3 kappa_3 s^3/d: to show that s^3/d is between x^3 (1 - 8
     x^2) and x^3 (1 + 8 x^2) *)
  set (d := (1 + b ^ 2 * c ^ 2) * (1 + c ^ 2)).
  assert (0 < c ^ 2 <= s ^ 2) by (split; nra).
  assert (-1 <= b <= 1) by (unfold b, beta; lra). assert (0 <= b ^ 2 <= 1) by (split; nra).
  assert (1 <= d <= (1 + s ^ 2) * (1 + s ^ 2)) by (unfold d; split; [| apply Rmult_le_compat]; nra).
  assert (upper : / d <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (lower : 1 - 2 * s ^ 2 <= / d).
  { apply Rle_trans with (/ ((1 + s ^ 2) * (1 + s ^ 2))); [| apply Rinv_le_contravar; lra].
    apply Rmult_le_reg_r with ((1 + s ^ 2) * (1 + s ^ 2)); [nra |]. rewrite Rinv_l; nra. }
  replace (b * (1 - b ^ 2) * (s ^ 3 / 3) / d - kappa_3 alpha * ((2 * x) ^ 3 / 6))
    with (kappa_3 alpha * (4 / 3 * (s ^ 3 * / d - x ^ 3)))
    by (unfold kappa_3, b, beta; field; lra).
  rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos |].
  assert (x_pos : 0 < x) by lra. pose proof (pow_lt x 3 x_pos).
  assert (s ^ 2 <= 4 * x ^ 2) by nra.
  assert (x ^ 3 <= s ^ 3) by (apply pow_incr; lra).
  assert (s ^ 3 <= x ^ 3 * (1 + 8 * x ^ 2)).
  { apply Rle_trans with ((x * (1 + s ^ 2 / 3)) ^ 3); [apply pow_incr; lra |].
    rewrite Rpow_mult_distr. apply Rmult_le_compat_l; [lra |].
    assert (0 < s ^ 2 <= 1) by (split; nra). set (e := s ^ 2) in *.
    apply Rle_trans with (1 + 2 * e); [nra | lra]. }
  assert (s ^ 3 * / d <= s ^ 3 * 1) by (apply Rmult_le_compat_l; lra).
  assert (x ^ 3 * (1 - 8 * x ^ 2) <= x ^ 3 * / d) by (apply Rmult_le_compat_l; lra).
  assert (x ^ 3 * / d <= s ^ 3 * / d) by (apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat |]; lra).
  replace ((2 * x) ^ 5 / 3) with (4 / 3 * (x ^ 3 * (8 * x ^ 2))) by field.
  apply Rabs_le. lra.
Qed.
