(** * The per-dimension step

    Of the statement ng-off-plane, part (a), in every dimension d: vectors
    are functions on the indices, of which those below d count. The limits
    for large d, parts (b) and (c), are not in Coq. *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions.
Open Scope R_scope.

Definition dot (d : nat) (x y : nat -> R) := sum d (fun i => x i * y i).

(** The chord, and the point that the step reaches, before it is
    normalised. *)
Definition chord (h h_A : nat -> R) (i : nat) := h_A i - h i.
Definition point (h h_A alpha : nat -> R) (i : nat) := h i + alpha i * chord h h_A i.

(** ng-off-plane. The point, and with it the step, is in span {h, h_A} if
    and only if there are numbers p and q with (alpha_i - q) x_i = p h_i for
    every i, x the chord. *)
Theorem ng_off_plane_criterion (d : nat) (h h_A alpha : nat -> R) :
  (exists a b, forall i, (i < d)%nat -> point h h_A alpha i = a * h i + b * h_A i)
  <-> (exists p q, forall i, (i < d)%nat -> (alpha i - q) * chord h h_A i = p * h i).
Proof.
  unfold point, chord. split.
  - intros (a & b & inside). exists (a + b - 1), b. intros i below. specialize (inside i below). lra.
  - intros (p & q & inside). exists (p + 1 - q), q. intros i below. specialize (inside i below). lra.
Qed.

(** The sum of the products of two combinations of the same three
    vectors. *)
Lemma sum_of_products (d : nat) (x y z f : nat -> R) (u v w u' v' w' : R) :
  (forall i, f i = (u * x i + v * y i + w * z i) * (u' * x i + v' * y i + w' * z i)) ->
  sum d f = u * u' * dot d x x + v * v' * dot d y y + w * w' * dot d z z
    + (u * v' + v * u') * dot d x y + (u * w' + w * u') * dot d z x + (v * w' + w * v') * dot d z y.
Proof.
  intros product. unfold dot. induction d as [| d IH]; cbn; [ring |].
  rewrite IH, product. ring.
Qed.

(** ng-off-plane. For unit vectors h and h_A at the angle theta in (0, pi),
    C = 2 - 2 cos theta, and the weighted sums m, m_2 and kappa: the point
    is the sum of a vector in span {h, h_A} and of one that is orthogonal to
    both and has the squared length C (m_2 - m^2 - kappa^2); the squared
    length of the point is 1 - (m - m_2) C + 2 kappa sin theta. If the point
    is not 0, the squared length of the off-plane part after normalising is
    the quotient. *)
Theorem ng_off_plane (d : nat) (h h_A alpha : nat -> R) (theta : R) :
  0 < theta < PI -> dot d h h = 1 -> dot d h_A h_A = 1 -> dot d h h_A = cos theta ->
  let C := 2 - 2 * cos theta in
  let m := sum d (fun i => alpha i * (chord h h_A i ^ 2 / C)) in
  let m_2 := sum d (fun i => alpha i ^ 2 * (chord h h_A i ^ 2 / C)) in
  let kappa := sum d (fun i => alpha i * (h_A i ^ 2 - h i ^ 2)) / (2 * sin theta) in
  let r := point h h_A alpha in
  dot d r r = 1 - (m - m_2) * C + 2 * kappa * sin theta
  /\ exists a b, let off := fun i => r i - (a * h i + b * h_A i) in
    dot d off h = 0 /\ dot d off h_A = 0 /\ dot d off off = C * (m_2 - m ^ 2 - kappa ^ 2).
Proof.
  intros range unit_h unit_h_A angle C m m_2 kappa r.
  assert (sin_pos : 0 < sin theta) by (apply sin_gt_0; lra).
  assert (circle : sin theta ^ 2 = (1 - cos theta) * (1 + cos theta))
    by (generalize (sin2_cos2 theta); unfold Rsqr; lra).
  assert (0 < 1 - cos theta /\ 0 < 1 + cos theta) by (pose proof (COS_bound theta); split; nra).
  set (z := fun i => alpha i * chord h h_A i).
  pose proof (fun f => sum_of_products d h h_A z f) as expand. rewrite unit_h, unit_h_A, angle in expand.
  assert (m_is : m * C = dot d z h_A - dot d z h).
  { unfold m. rewrite (expand _ 0 0 1 (- / C) (/ C) 0) by (intros; unfold z, chord, C; field; lra).
    field. unfold C. lra. }
  assert (m_2_is : m_2 * C = dot d z z).
  { unfold m_2. rewrite (expand _ 0 0 1 0 0 (/ C)) by (intros; unfold z, chord, C; field; lra).
    field. unfold C. lra. }
  assert (kappa_is : 2 * kappa * sin theta = dot d z h + dot d z h_A).
  { unfold kappa. rewrite (expand _ 0 0 1 1 1 0) by (intros; unfold z, chord; ring). field. lra. }
  split.
  - unfold dot at 1. rewrite (expand _ 1 0 1 1 0 1) by (intros; unfold r, point, z; ring). lra.
  - set (s := kappa * sin theta / (1 + cos theta)).
    assert (s_is : s * (1 + cos theta) = kappa * sin theta) by (unfold s; field; lra).
    assert (s_square : s ^ 2 * (1 + cos theta) = kappa ^ 2 * (1 - cos theta)).
    { apply Rmult_eq_reg_r with (1 + cos theta); [| lra].
      transitivity ((s * (1 + cos theta)) ^ 2); [ring |]. rewrite s_is, Rpow_mult_distr, circle. ring. }
    assert (z_h : dot d z h = s * (1 + cos theta) - m * (1 - cos theta)) by (unfold C in *; lra).
    assert (z_h_A : dot d z h_A = s * (1 + cos theta) + m * (1 - cos theta)) by (unfold C in *; lra).
    rewrite z_h, z_h_A, <- m_2_is in expand.
    exists (1 - m + s), (m + s). intros off.
    unfold dot. rewrite (expand _ (m - s) (- (m + s)) 1 1 0 0) by (intros; unfold off, r, point, z; ring).
    rewrite (expand _ (m - s) (- (m + s)) 1 0 1 0) by (intros; unfold off, r, point, z; ring).
    rewrite (expand _ (m - s) (- (m + s)) 1 (m - s) (- (m + s)) 1)
      by (intros; unfold off, r, point, z; ring).
    unfold C. lra.
Qed.
