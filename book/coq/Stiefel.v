(** * The Stiefel manifold and the tangent projection

    For tall W of any size m x n: matrices are functions of a row and a
    column, of which the rows below m and the columns below n count. Wide W
    are the transposes, and not in Coq. *)

From Coq Require Import Reals Lra PeanoNat Lia.
From Ngeodesic Require Import Definitions.
Open Scope R_scope.

Definition matrix := nat -> nat -> R.

(** The entries (j, k) of X^T Y and of the identity; the product X S; the
    inner product tr(X^T Y). *)
Definition gram (m : nat) (X Y : matrix) (j k : nat) := sum m (fun i => X i j * Y i k).
Definition identity (j k : nat) := if Nat.eqb j k then 1 else 0.
Definition product (n : nat) (X S : matrix) (i k : nat) := sum n (fun j => X i j * S j k).
Definition inner (m n : nat) (X Y : matrix) := sum n (fun k => gram m X Y k k).

(** W^T W = sigma^2 I, and W^T V + V^T W = 0. *)
Definition on_manifold (m n : nat) (sigma : R) (W : matrix) :=
  forall j k, (j < n)%nat -> (k < n)%nat -> gram m W W j k = sigma ^ 2 * identity j k.
Definition tangent (m n : nat) (W V : matrix) :=
  forall j k, (j < n)%nat -> (k < n)%nat -> gram m W V j k + gram m V W j k = 0.

(** ** Finite sums *)

Lemma sum_ext (n : nat) (f g : nat -> R) : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [| n IH]; intros same; cbn; [reflexivity |].
  rewrite IH, same by auto. reflexivity.
Qed.

Lemma sum_plus (n : nat) (f g : nat -> R) : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [| n IH]; cbn; [ring | rewrite IH; ring]. Qed.

Lemma sum_scale (n : nat) (f : nat -> R) (c : R) : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [| n IH]; cbn; [ring | rewrite IH; ring]. Qed.

Lemma sum_exchange (m n : nat) (f : nat -> nat -> R) :
  sum m (fun i => sum n (fun j => f i j)) = sum n (fun j => sum m (fun i => f i j)).
Proof.
  induction m as [| m IH]; cbn; [| rewrite IH, <- sum_plus; reflexivity].
  induction n as [| n IH]; cbn; [ring | rewrite <- IH; ring].
Qed.

Lemma sum_identity (n j : nat) (f : nat -> R) : (j < n)%nat -> sum n (fun l => identity j l * f l) = f j.
Proof.
  induction n as [| n IH]; intros below; [lia |]. cbn.
  destruct (Nat.eq_dec j n) as [<- | different].
  - unfold identity at 2. rewrite Nat.eqb_refl.
    rewrite (sum_ext j _ (fun _ => 0 * 0)); [rewrite sum_scale; ring |].
    intros l less. unfold identity. replace (j =? l) with false by (symmetry; apply Nat.eqb_neq; lia). ring.
  - rewrite IH by lia. unfold identity.
    replace (j =? n) with false by (symmetry; now apply Nat.eqb_neq). ring.
Qed.

(** ** The tangent projection *)

(** P(G) = G - W sym(W^T G)/sigma^2, for tall W. *)
Definition symmetric_part (m : nat) (W G : matrix) : matrix :=
  fun j k => (gram m W G j k + gram m G W j k) / 2.
Definition project (m n : nat) (sigma : R) (W G : matrix) : matrix :=
  fun i k => G i k - / sigma ^ 2 * product n W (symmetric_part m W G) i k.

Lemma gram_transpose (m : nat) (X Y : matrix) (j k : nat) : gram m X Y j k = gram m Y X k j.
Proof. apply sum_ext. intros. ring. Qed.

(** X^T (W S) = (X^T W) S. *)
Lemma gram_product (m n : nat) (X W S : matrix) (j k : nat) :
  gram m X (product n W S) j k = sum n (fun l => gram m X W j l * S l k).
Proof.
  unfold gram, product.
  transitivity (sum m (fun i => sum n (fun l => S l k * (X i j * W i l)))).
  - apply sum_ext. intros i _. rewrite <- sum_scale. apply sum_ext. intros. ring.
  - rewrite sum_exchange. apply sum_ext. intros l _. rewrite sum_scale. ring.
Qed.

Lemma gram_project (m n : nat) (sigma : R) (X W G : matrix) (j k : nat) :
  gram m X (project m n sigma W G) j k
  = gram m X G j k - / sigma ^ 2 * sum n (fun l => gram m X W j l * symmetric_part m W G l k).
Proof.
  rewrite <- gram_product. unfold gram at 1. unfold project.
  transitivity (sum m (fun i => X i j * G i k
    + - / sigma ^ 2 * (X i j * product n W (symmetric_part m W G) i k))).
  - apply sum_ext. intros. ring.
  - rewrite sum_plus, sum_scale. unfold gram. ring.
Qed.

(** ng-tangent-projection. For tall W of any size with W^T W = sigma^2 I,
    sigma > 0, and every G, P(G) is tangent at W. *)
Theorem ng_tangent_projection (m n : nat) (sigma : R) (W G : matrix) :
  0 < sigma -> on_manifold m n sigma W -> tangent m n W (project m n sigma W G).
Proof.
  intros sigma_pos on j k j_below k_below. rewrite (gram_transpose m (project m n sigma W G)).
  assert (half : forall j k, (j < n)%nat ->
    gram m W (project m n sigma W G) j k = gram m W G j k - symmetric_part m W G j k).
  { intros j' k' below. rewrite gram_project.
    rewrite (sum_ext n _ (fun l => sigma ^ 2 * (identity j' l * symmetric_part m W G l k')))
      by (intros; rewrite on by assumption; ring).
    rewrite sum_scale, sum_identity by assumption. field. lra. }
  rewrite !half by assumption. unfold symmetric_part.
  rewrite (gram_transpose m G W j k), (gram_transpose m G W k j). field.
Qed.

(** ng-tangent-projection. It is the identity on tangents, so projecting
    twice is projecting once. This needs neither W^T W = sigma^2 I nor
    sigma > 0. *)
Theorem ng_tangent_projection_fixes (m n : nat) (sigma : R) (W V : matrix) (i k : nat) :
  tangent m n W V -> (k < n)%nat -> project m n sigma W V i k = V i k.
Proof.
  intros flat below. unfold project, product.
  rewrite (sum_ext n _ (fun _ => 0 * 0)); [rewrite sum_scale; ring |].
  intros j j_below. unfold symmetric_part. rewrite flat by assumption. field.
Qed.

(** ng-tangent-projection. What it removes is orthogonal to every tangent V:
    the projection is orthogonal. *)
Theorem ng_tangent_projection_normal (m n : nat) (sigma : R) (W G V : matrix) :
  tangent m n W V -> inner m n V (fun i k => G i k - project m n sigma W G i k) = 0.
Proof.
  intros flat.
  assert (removed : inner m n V (fun i k => G i k - project m n sigma W G i k)
    = / sigma ^ 2 * sum n (fun k => sum n (fun l => gram m V W k l * symmetric_part m W G l k))).
  { unfold inner. rewrite <- sum_scale. apply sum_ext. intros k _. rewrite <- gram_product.
    unfold gram. rewrite <- sum_scale. apply sum_ext. intros i _. unfold project. ring. }
  rewrite removed.
  assert (opposite : sum n (fun k => sum n (fun l => gram m V W k l * symmetric_part m W G l k))
    = -1 * sum n (fun k => sum n (fun l => gram m V W k l * symmetric_part m W G l k))).
  { rewrite sum_exchange at 1. rewrite <- sum_scale. apply sum_ext. intros k k_below.
    rewrite <- sum_scale. apply sum_ext. intros l l_below.
    specialize (flat l k l_below k_below). rewrite (gram_transpose m W V) in flat.
    unfold symmetric_part. rewrite (gram_transpose m G W l k), (gram_transpose m G W k l).
    replace (gram m V W l k) with (- gram m V W k l) by lra. field. }
  replace (sum n (fun k => sum n (fun l => gram m V W k l * symmetric_part m W G l k))) with 0 by lra. ring.
Qed.
