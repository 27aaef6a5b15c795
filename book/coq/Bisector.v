(** * Half a step moves exactly half the angle *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions.
Open Scope R_scope.

(** ng-bisector. phi(1/2, theta) = theta/2 for every real theta. (That phi
    is the angle of the step is [ng_angle_law], for -pi < theta < pi.) *)
Theorem ng_bisector (theta : R) : phi (1 / 2) theta = theta / 2.
Proof.
  unfold phi, beta. replace ((1 - 2 * (1 / 2)) * t theta) with 0 by field.
  rewrite atan_0. ring.
Qed.

(** ng-bisector. So k such steps towards the same target leave theta/2^k, by
    induction. For 0 < theta < pi each of the angles is in (0, pi), where
    [ng_angle_law] applies. *)
Theorem ng_bisector_halving (k : nat) (theta : R) :
  0 < theta < PI ->
  remaining_after k (1 / 2) theta = theta / 2 ^ k /\ 0 < remaining_after k (1 / 2) theta < PI.
Proof.
  intros range. induction k as [| k [IH bounds]].
  - cbn. lra.
  - cbn [remaining_after]. unfold remaining. rewrite ng_bisector. split; [| lra].
    rewrite IH. cbn. field. apply pow_nonzero. lra.
Qed.
