(** * Repeated steps towards a fixed target *)

From Coq Require Import Reals Lra Lia.
From Ngeodesic Require Import Definitions Preliminaries AngleLaw TripleZero CubicLaw.
Open Scope R_scope.

(** ng-contraction. theta - phi(alpha) = phi(1 - alpha), for all real alpha
    and theta; for |theta| < pi it is the same chord, seen from the other
    end. *)
Theorem ng_contraction_swap (alpha theta : R) : remaining alpha theta = phi (1 - alpha) theta.
Proof.
  pose proof (ng_triple_zero_odd alpha theta). unfold remaining, gap in *. lra.
Qed.

(** ng-contraction. For 0 < alpha < 1 and 0 < theta < pi the step leaves
    less than theta, and more than 0. *)
Theorem ng_contraction_inside (alpha theta : R) :
  0 < theta < PI -> 0 < alpha < 1 -> 0 < remaining alpha theta < theta.
Proof.
  intros range inside. rewrite ng_contraction_swap.
  destruct (ng_angle_law_ends theta) as [start arrival]; [lra |].
  pose proof (ng_angle_law_increasing 0 (1 - alpha) theta range).
  pose proof (ng_angle_law_increasing (1 - alpha) 1 theta range). lra.
Qed.

Definition cot (x : R) := cos x / sin x.

(** ng-contraction. The recursion, for 0 < theta < pi and 0 < alpha < 1:
    cot theta' = cot theta + (alpha/(1 - alpha))/sin theta. *)
Theorem ng_contraction (alpha theta : R) :
  0 < theta < PI -> 0 < alpha < 1 ->
  cot (remaining alpha theta) = cot theta + alpha / (1 - alpha) / sin theta.
Proof.
  intros range inside. unfold cot. rewrite ng_contraction_swap.
  destruct (ng_angle_law (1 - alpha) theta) as (r & r_pos & X & Y); [lra |].
  assert (0 < sin theta) by (apply sin_gt_0; lra).
  transitivity (chord_x (1 - alpha) theta / chord_y (1 - alpha) theta).
  - rewrite X, Y. field. split; [| lra]. intros zero.
    unfold chord_y in Y. rewrite zero, Rmult_0_r in Y. nra.
  - unfold chord_x, chord_y. field. lra.
Qed.

(** ng-contraction. The ratio theta'/theta is above 1 - alpha for
    0 < alpha < 1/2, equal to it for alpha = 1/2, and below it for
    1/2 < alpha < 1, for every theta in (0, pi). *)
Theorem ng_contraction_ratio (alpha theta : R) :
  0 < theta < PI ->
  (0 < alpha < 1 / 2 -> remaining alpha theta / theta > 1 - alpha)
  /\ (alpha = 1 / 2 -> remaining alpha theta / theta = 1 - alpha)
  /\ (1 / 2 < alpha < 1 -> remaining alpha theta / theta < 1 - alpha).
Proof.
  intros range.
  assert (ratio : remaining alpha theta / theta = 1 - alpha + gap alpha theta * / theta)
    by (unfold remaining, gap; field; lra).
  assert (0 < / theta) by (apply Rinv_0_lt_compat; lra).
  rewrite ratio. repeat split; intros side.
  - assert (0 < gap alpha theta) by (apply ng_triple_zero_lags; lra). nra.
  - replace (gap alpha theta) with 0; [ring |]. symmetry. apply ng_triple_zero; lra.
  - assert (gap alpha theta < 0) by (apply ng_triple_zero_leads; lra). nra.
Qed.

(** ng-contraction. The rate: for 0 < theta <= pi/2 and every real alpha the
    ratio differs from 1 - alpha by at most (4/3) |alpha (1 - alpha)(1 - 2
    alpha)| theta^2. *)
Theorem ng_contraction_rate (alpha theta : R) :
  0 < theta <= PI / 2 ->
  Rabs (remaining alpha theta / theta - (1 - alpha)) <= 4 / 3 * Rabs (kappa_3 alpha) * theta ^ 2.
Proof.
  intros small. assert (range : 0 < theta < PI) by lra.
  destruct (t_small theta small) as (_ & _ & half & full).
  destruct (gap_factored alpha theta range) as (k & [k_pos k_small] & factored).
  fold (kappa_3 alpha) in factored.
  replace (remaining alpha theta / theta - (1 - alpha)) with (kappa_3 alpha * (k / theta)).
  - assert (0 < k / theta) by (apply Rdiv_lt_0_compat; lra).
    assert (k <= 4 / 3 * theta ^ 3).
    { assert (t theta ^ 3 <= theta ^ 3) by (apply pow_incr; lra). lra. }
    assert (k / theta <= 4 / 3 * theta ^ 2).
    { apply Rmult_le_reg_r with theta; [lra |]. field_simplify; lra. }
    rewrite Rabs_mult, (Rabs_pos_eq (k / theta)) by lra.
    pose proof (Rabs_pos (kappa_3 alpha)). nra.
  - transitivity (gap alpha theta / theta); [rewrite factored | unfold remaining, gap]; field; lra.
Qed.

(** ** Repeated steps *)

(** For 0 < theta < pi and 0 < alpha < 1 every angle of the sequence is in
    (0, pi). *)
Lemma remaining_after_inside (k : nat) (alpha theta : R) :
  0 < theta < PI -> 0 < alpha < 1 -> 0 < remaining_after k alpha theta < PI.
Proof.
  intros range inside. induction k as [| k IH]; [assumption |].
  pose proof (ng_contraction_inside alpha _ IH inside). cbn [remaining_after]. lra.
Qed.

(** In every step the cotangent grows by at least alpha/(1 - alpha). *)
Lemma cot_grows (k : nat) (alpha theta : R) :
  0 < theta < PI -> 0 < alpha < 1 ->
  cot theta + INR k * (alpha / (1 - alpha)) <= cot (remaining_after k alpha theta).
Proof.
  intros range inside. assert (gain : 0 < alpha / (1 - alpha)) by (apply Rdiv_lt_0_compat; lra).
  induction k as [| k IH]; [cbn; lra |].
  pose proof (remaining_after_inside k alpha theta range inside) as range'.
  cbn [remaining_after]. rewrite ng_contraction, S_INR by assumption.
  set (x := remaining_after k alpha theta) in *. set (c := alpha / (1 - alpha)) in *.
  assert (0 < sin x <= 1) by (split; [apply sin_gt_0 | apply SIN_bound]; lra).
  assert (c <= c / sin x).
  { apply Rmult_le_reg_r with (sin x); [lra |]. field_simplify; nra. }
  lra.
Qed.

Lemma cot_decreasing (x y : R) : 0 < x < PI -> 0 < y < PI -> cot y < cot x -> x < y.
Proof.
  intros x_range y_range less.
  assert (0 < sin x) by (apply sin_gt_0; lra). assert (0 < sin y) by (apply sin_gt_0; lra).
  assert (0 < sin (y - x)).
  { rewrite sin_minus. replace (sin y * cos x - cos y * sin x) with ((cot x - cot y) * (sin x * sin y))
      by (unfold cot; field; lra).
    apply Rmult_lt_0_compat; [lra | now apply Rmult_lt_0_compat]. }
  apply Rnot_le_lt. intros not_less.
  pose proof (sin_ge_0 (x - y)) as nonneg. replace (x - y) with (- (y - x)) in nonneg at 3 by ring.
  rewrite sin_neg in nonneg. lra.
Qed.

Lemma natural_above (x : R) : exists n, x < INR n.
Proof.
  exists (Z.to_nat (up x)). rewrite INR_IZR_INZ.
  apply Rlt_le_trans with (IZR (up x)); [apply archimed | apply IZR_le; lia].
Qed.

(** ng-contraction. Repeated steps towards a fixed target, 0 < alpha < 1 the
    same in every step: for 0 < theta < pi the angle tends to 0. *)
Theorem ng_contraction_converges (alpha theta : R) :
  0 < theta < PI -> 0 < alpha < 1 -> Un_cv (fun k => remaining_after k alpha theta) 0.
Proof.
  intros range inside eps eps_pos.
  set (e := Rmin eps (PI / 2)).
  assert (0 < e <= eps /\ e < PI) by (unfold e, Rmin; destruct Rle_dec; lra).
  pose proof (fun k => cot_grows k alpha theta range inside) as grows. set (c := alpha / (1 - alpha)) in *.
  assert (0 < c) by (apply Rdiv_lt_0_compat; lra).
  destruct (natural_above ((cot e - cot theta) / c)) as [n large].
  apply quotient_less_than in large; [| assumption].
  exists n. intros k later. apply le_INR in later. specialize (grows k).
  pose proof (remaining_after_inside k alpha theta range inside).
  assert (remaining_after k alpha theta < e) by (apply cot_decreasing; [assumption | lra | nra]).
  unfold R_dist. rewrite Rabs_pos_eq; lra.
Qed.

(** ng-contraction. And the ratio of two successive angles tends to
    1 - alpha, for 0 < theta < pi and 0 < alpha < 1. *)
Theorem ng_contraction_limit_ratio (alpha theta : R) :
  0 < theta < PI -> 0 < alpha < 1 ->
  Un_cv (fun k => remaining_after (S k) alpha theta / remaining_after k alpha theta) (1 - alpha).
Proof.
  intros range inside eps eps_pos.
  set (c := 4 / 3 * Rabs (kappa_3 alpha)).
  assert (0 <= c) by (pose proof (Rabs_pos (kappa_3 alpha)); unfold c; lra).
  destruct (ng_contraction_converges alpha theta range inside (Rmin 1 (eps / (1 + c)))) as [n small].
  { apply Rmin_glb_lt; [lra |]. apply Rdiv_lt_0_compat; lra. }
  exists n. intros k later. specialize (small k later). unfold R_dist in *.
  pose proof (remaining_after_inside k alpha theta range inside).
  cbn [remaining_after].
  set (x := remaining_after k alpha theta) in *.
  rewrite Rminus_0_r, Rabs_pos_eq in small by lra.
  assert (x < 1) by (eapply Rlt_le_trans, Rmin_l; eassumption).
  assert (x * (1 + c) < eps)
    by (apply less_than_quotient; [| eapply Rlt_le_trans, Rmin_r; eassumption]; lra).
  eapply Rle_lt_trans; [apply ng_contraction_rate; pose proof PI2_1; lra |]. fold c. nra.
Qed.
