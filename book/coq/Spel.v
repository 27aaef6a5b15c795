(** * The arctan law of SPEL's step *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions Preliminaries Stiefel.
Open Scope R_scope.

(** The curve cos(phi) W - sigma sin(phi) O, and its velocity. *)
Definition turned (sigma phi : R) (W O : matrix) : matrix :=
  fun i j => cos phi * W i j + - sigma * sin phi * O i j.
Definition velocity (sigma phi : R) (W O : matrix) : matrix :=
  fun i j => -1 * sin phi * W i j + - sigma * cos phi * O i j.

(** The Gram matrix of a W + b O, for O tangent at W and with orthonormal
    columns. *)
Lemma gram_combination (m n : nat) (sigma a b : R) (W O : matrix) (j k : nat) :
  on_manifold m n sigma W -> on_manifold m n 1 O -> tangent m n W O -> (j < n)%nat -> (k < n)%nat ->
  gram m (fun i j => a * W i j + b * O i j) (fun i j => a * W i j + b * O i j) j k
  = (a ^ 2 * sigma ^ 2 + b ^ 2) * identity j k.
Proof.
  intros on orthonormal flat j_below k_below.
  specialize (on j k j_below k_below). specialize (orthonormal j k j_below k_below).
  specialize (flat j k j_below k_below).
  transitivity (a ^ 2 * gram m W W j k + a * b * (gram m W O j k + gram m O W j k) + b ^ 2 * gram m O O j k).
  - clear. unfold gram. induction m as [| m IH]; cbn; [ring | rewrite IH; ring].
  - rewrite on, orthonormal, flat. ring.
Qed.

(** ng-arctan-law. For tall matrices of any size, W^T W = sigma^2 I, O
    tangent at W with O^T O = I, sigma > 0 and real eta: the Gram matrix of
    W - eta O is (sigma^2 + eta^2) I; so the retraction is the division
    sigma (W - eta O)/sqrt(sigma^2 + eta^2), and this is W turned by
    phi = arctan(eta/sigma). *)
Theorem ng_arctan_law (m n : nat) (sigma eta : R) (W O : matrix) (i j k : nat) :
  0 < sigma -> on_manifold m n sigma W -> on_manifold m n 1 O -> tangent m n W O ->
  (j < n)%nat -> (k < n)%nat ->
  let step := fun i j => 1 * W i j + - eta * O i j in
  gram m step step j k = (sigma ^ 2 + eta ^ 2) * identity j k
  /\ sigma * step i k / sqrt (sigma ^ 2 + eta ^ 2) = turned sigma (atan (eta / sigma)) W O i k.
Proof.
  intros sigma_pos on orthonormal flat j_below k_below step. split.
  - unfold step. rewrite (gram_combination m n sigma) by assumption. ring.
  - unfold step, turned. rewrite cos_atan, sin_atan.
    replace (sigma ^ 2 + eta ^ 2) with (sigma ^ 2 * (1 + (eta / sigma) ^ 2)) by (field; lra).
    assert (0 < 1 + (eta / sigma) ^ 2) by nra.
    rewrite sqrt_mult, sqrt_pow2 by nra. unfold Rsqr.
    replace (1 + eta / sigma * (eta / sigma)) with (1 + (eta / sigma) ^ 2) by ring.
    pose proof (sqrt_lt_R0 (1 + (eta / sigma) ^ 2)). field. lra.
Qed.

(** ng-arctan-law. The curve is a geodesic of the Euclidean metric: it stays
    on the manifold, and with P the point and Q the velocity its
    acceleration is -P = -P Q^T Q/sigma^2, as Q^T Q = sigma^2 I. *)
Theorem ng_arctan_law_geodesic (m n : nat) (sigma phi : R) (W O : matrix) :
  on_manifold m n sigma W -> on_manifold m n 1 O -> tangent m n W O ->
  on_manifold m n sigma (turned sigma phi W O)
  /\ on_manifold m n sigma (velocity sigma phi W O)
  /\ forall i j, derivable_pt_lim (fun phi => turned sigma phi W O i j) phi (velocity sigma phi W O i j)
    /\ derivable_pt_lim (fun phi => velocity sigma phi W O i j) phi (- turned sigma phi W O i j).
Proof.
  intros on orthonormal flat.
  assert (stays : forall a b, a * a + b * b = 1 ->
    on_manifold m n sigma (fun i j => b * W i j + - sigma * a * O i j)).
  { intros a b one j k j_below k_below. rewrite (gram_combination m n sigma) by assumption.
    transitivity (sigma ^ 2 * (a * a + b * b) * identity j k); [| rewrite one]; ring. }
  pose proof (sin2_cos2 phi) as one. unfold Rsqr in one. split; [| split].
  - now apply stays.
  - apply stays. lra.
  - intros i j. unfold turned, velocity.
    split; differentiate; try apply derivable_pt_lim_cos; try apply derivable_pt_lim_sin; ring.
Qed.

(** ng-arctan-law. The lag: y - arctan(y) is between y^3/3 - y^5/5 and
    y^3/3, y = eta/sigma > 0. *)
Theorem ng_arctan_law_lag (y : R) : 0 < y -> y ^ 3 / 3 - y ^ 5 / 5 < y - atan y < y ^ 3 / 3.
Proof.
  intros pos. split.
  - assert (grows : 0 - atan 0 - (0 ^ 3 / 3 - 0 ^ 5 / 5) < y - atan y - (y ^ 3 / 3 - y ^ 5 / 5)).
    { apply (increases (fun y => y - atan y - (y ^ 3 / 3 - y ^ 5 / 5)) (fun y => y ^ 6 / (1 + y ^ 2)));
        [assumption | |].
      - intros. differentiate; try lra. unfold Rsqr. field. nra.
      - intros. pose proof (pow_lt c 6). apply Rdiv_lt_0_compat; nra. }
    rewrite atan_0 in grows. lra.
  - assert (grows : 0 ^ 3 / 3 - (0 - atan 0) < y ^ 3 / 3 - (y - atan y)).
    { apply (increases (fun y => y ^ 3 / 3 - (y - atan y)) (fun y => y ^ 4 / (1 + y ^ 2))); [assumption | |].
      - intros. differentiate; try lra. unfold Rsqr. field. nra.
      - intros. pose proof (pow_lt c 4). apply Rdiv_lt_0_compat; nra. }
    rewrite atan_0 in grows. lra.
Qed.
