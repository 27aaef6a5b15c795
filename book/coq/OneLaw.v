(** * One law for both: a tangent step, then the retraction *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions Preliminaries AngleLaw.
Open Scope R_scope.

(** The signed length of the tangent step, where [chord_x] is not 0: the
    chord point is [chord_x] times (1, eta). *)
Definition eta (alpha theta : R) := chord_y alpha theta / chord_x alpha theta.

(** ng-one-law. For real alpha, -pi < theta < pi and 1 - alpha + alpha cos
    theta > 0 the scalar step turns by arctan(eta), as the tangent step eta
    followed by the retraction to the circle does. *)
Theorem ng_one_law (alpha theta : R) :
  - PI < theta < PI -> 0 < chord_x alpha theta -> phi alpha theta = atan (eta alpha theta).
Proof.
  intros range forward. destruct (ng_angle_law alpha theta range) as (r & r_pos & X & Y).
  pose proof (ng_angle_law_range alpha theta).
  assert (cos_pos : 0 < cos (phi alpha theta)) by (rewrite X in forward; nra).
  replace (eta alpha theta) with (tan (phi alpha theta))
    by (unfold eta, tan; rewrite X, Y; field; lra).
  rewrite atan_tan; [reflexivity |]. split; apply Rnot_le_lt; intros beyond.
  - pose proof (cos_le_0 (- phi alpha theta)) as negative. rewrite cos_neg in negative. lra.
  - pose proof (cos_le_0 (phi alpha theta)). lra.
Qed.

(** ng-one-law. The condition holds for 0 <= alpha <= 1/2 and
    0 < theta < pi, and for 0 <= alpha <= 1 if theta < pi/2. *)
Theorem ng_one_law_forward (alpha theta : R) :
  0 < theta < PI -> 0 <= alpha <= 1 / 2 \/ 0 <= alpha <= 1 /\ theta < PI / 2 -> 0 < chord_x alpha theta.
Proof.
  intros range condition. unfold chord_x.
  assert (-1 < cos theta) by (rewrite <- cos_PI; apply cos_decreasing_1; lra).
  pose proof (COS_bound theta). destruct condition as [half | [unit acute]]; [nra |].
  assert (0 < cos theta) by (apply cos_gt_0; lra). nra.
Qed.

(** ng-one-law. For 0 < theta < pi, 0 < f < 1 and f theta < pi/2 exactly one
    real alpha satisfies the condition and has eta = tan(f theta): that of
    the matched step. *)
Theorem ng_one_law_matched (alpha f theta : R) :
  0 < theta < PI -> 0 < f < 1 -> f * theta < PI / 2 ->
  0 < chord_x alpha theta /\ eta alpha theta = tan (f * theta) <-> alpha = matching_alpha f theta.
Proof.
  intros range inside acute. assert (0 < f * theta < theta) by (split; nra).
  assert (small : Rabs ((1 - 2 * f) * theta) < PI) by (apply Rabs_def1; lra).
  rewrite <- (ng_matched_step alpha f theta range small). split.
  - intros [forward same]. rewrite ng_one_law, same by (assumption || lra). apply atan_tan. lra.
  - intros turn. destruct (ng_angle_law alpha theta) as (r & r_pos & X & Y); [lra |].
    assert (0 < cos (f * theta)) by (apply cos_gt_0; lra).
    unfold eta, tan. rewrite X, Y, turn. split; [nra | field; lra].
Qed.
