(** * What the proofs need and the standard library does not have in this
    form *)

From Coq Require Import Reals Lra.
From Ngeodesic Require Import Definitions.
Open Scope R_scope.

(** ** The half angle and its tangent *)

Lemma t_positive (theta : R) : 0 < theta < PI -> 0 < t theta.
Proof. intros range. apply tan_gt_0; lra. Qed.

Lemma atan_t (theta : R) : - PI < theta < PI -> atan (t theta) = theta / 2.
Proof. intros range. apply atan_tan; lra. Qed.

(** ** Quotients *)

Lemma less_than_quotient (a b c : R) : 0 < c -> a < b / c <-> a * c < b.
Proof.
  intros pos. replace b with (b / c * c) at 2 by (field; lra).
  split; [now apply Rmult_lt_compat_r | now apply Rmult_lt_reg_r].
Qed.

Lemma quotient_less_than (a b c : R) : 0 < c -> a / c < b <-> a < b * c.
Proof.
  intros pos. replace a with (a / c * c) at 2 by (field; lra).
  split; [now apply Rmult_lt_compat_r | now apply Rmult_lt_reg_r].
Qed.

(** ** Derivatives

    The rules of the standard library are about sums, products, ... of
    functions; here they are again for expressions in a variable. *)

Section Rules.
  Variables (f g : R -> R) (x f' g' : R).
  Hypotheses (Df : derivable_pt_lim f x f') (Dg : derivable_pt_lim g x g').

  Lemma derivative_plus : derivable_pt_lim (fun x => f x + g x) x (f' + g').
  Proof. exact (derivable_pt_lim_plus f g x f' g' Df Dg). Qed.

  Lemma derivative_minus : derivable_pt_lim (fun x => f x - g x) x (f' - g').
  Proof. exact (derivable_pt_lim_minus f g x f' g' Df Dg). Qed.

  Lemma derivative_mult : derivable_pt_lim (fun x => f x * g x) x (f' * g x + f x * g').
  Proof. exact (derivable_pt_lim_mult f g x f' g' Df Dg). Qed.

  Lemma derivative_div :
    g x <> 0 -> derivable_pt_lim (fun x => f x / g x) x ((f' * g x - g' * f x) / Rsqr (g x)).
  Proof. exact (derivable_pt_lim_div f g x f' g' Df Dg). Qed.

  Lemma derivative_pow (n : nat) : derivable_pt_lim (fun x => f x ^ n) x (INR n * f x ^ pred n * f').
  Proof. exact (derivable_pt_lim_comp f (fun y => y ^ n) x _ _ Df (derivable_pt_lim_pow (f x) n)). Qed.

  Lemma derivative_atan : derivable_pt_lim (fun x => atan (f x)) x (/ (1 + f x ^ 2) * f').
  Proof. exact (derivable_pt_lim_comp f atan x _ _ Df (derivable_pt_lim_atan (f x))). Qed.
End Rules.

Lemma derivative_is (f : R -> R) (x d e : R) : derivable_pt_lim f x d -> d = e -> derivable_pt_lim f x e.
Proof. now intros D <-. Qed.

(** Differentiates the expression of the goal by the rules; what is left to
    show is that no denominator is 0, and that the derivative found is the
    derivative stated. *)
Ltac differentiate :=
  eapply derivative_is;
  [ repeat first
      [ apply derivable_pt_lim_const | apply derivable_pt_lim_id
      | eapply derivative_minus | eapply derivative_plus
      | eapply derivative_pow | eapply derivative_div | eapply derivative_mult | eapply derivative_atan ]
  | cbn [INR pred] ].

(** A function grows over an interval if its derivative is positive inside:
    by the mean value theorem. *)
Lemma increases (f f' : R -> R) (a b : R) :
  a < b ->
  (forall c, a <= c <= b -> derivable_pt_lim f c (f' c)) ->
  (forall c, a < c < b -> 0 < f' c) ->
  f a < f b.
Proof.
  intros ab D pos. destruct (MVT_cor2 f f' a b ab D) as (c & E & inside).
  specialize (pos c inside). nra.
Qed.

(** ** Bounds of arctan

    Each is a function that is 0 at 0 and grows. *)

Lemma atan_less (s : R) : 0 < s -> atan s < s.
Proof.
  intros pos.
  assert (grows : 0 - atan 0 < s - atan s).
  { apply (increases (fun s => s - atan s) (fun s => s ^ 2 / (1 + s ^ 2))); [assumption | |].
    - intros. differentiate. field. nra.
    - intros. apply Rdiv_lt_0_compat; nra. }
  rewrite atan_0 in grows. lra.
Qed.

Lemma atan_below (s : R) : 0 < s -> atan s * (15 + 9 * s ^ 2) < s * (15 + 4 * s ^ 2).
Proof.
  intros pos. apply less_than_quotient; [nra |].
  assert (grows : 0 * (15 + 4 * 0 ^ 2) / (15 + 9 * 0 ^ 2) - atan 0
    < s * (15 + 4 * s ^ 2) / (15 + 9 * s ^ 2) - atan s).
  { apply (increases (fun s => s * (15 + 4 * s ^ 2) / (15 + 9 * s ^ 2) - atan s)
      (fun s => 36 * s ^ 6 / ((1 + s ^ 2) * Rsqr (15 + 9 * s ^ 2)))); [assumption | |].
    - intros. differentiate; [nra |]. unfold Rsqr. field. split; nra.
    - intros. pose proof (pow_lt c 6). apply Rdiv_lt_0_compat; [lra |].
      apply Rmult_lt_0_compat; [| apply Rlt_0_sqr]; nra. }
  rewrite atan_0 in grows. lra.
Qed.

Lemma atan_above (s : R) : 0 < s -> 3 * s < atan s * (3 + s ^ 2).
Proof.
  intros pos. apply quotient_less_than; [nra |].
  assert (grows : atan 0 - 3 * 0 / (3 + 0 ^ 2) < atan s - 3 * s / (3 + s ^ 2)).
  { apply (increases (fun s => atan s - 3 * s / (3 + s ^ 2))
      (fun s => 4 * s ^ 4 / ((1 + s ^ 2) * Rsqr (3 + s ^ 2)))); [assumption | |].
    - intros. differentiate; [nra |]. unfold Rsqr. field. split; nra.
    - intros. pose proof (pow_lt c 4). apply Rdiv_lt_0_compat; [lra |].
      apply Rmult_lt_0_compat; [| apply Rlt_0_sqr]; nra. }
  rewrite atan_0 in grows. lra.
Qed.
