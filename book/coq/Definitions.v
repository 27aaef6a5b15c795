(** * The shared definitions

    The notation of the book: a state at angle [theta] to its target takes
    one step [alpha] along the chord between them. All angles are in
    radians, and signed: positive counterclockwise; for theta > 0 that is
    from the state towards the target.

    Coordinates in the plane of the two unit vectors: the state is (1, 0),
    the target is (cos theta, sin theta). *)

From Coq Require Import Reals.
Open Scope R_scope.

(** The point that the step reaches on the chord, before it is pulled back
    to the circle. *)
Definition chord_x (alpha theta : R) := 1 - alpha + alpha * cos theta.
Definition chord_y (alpha theta : R) := alpha * sin theta.

Definition beta (alpha : R) := 1 - 2 * alpha.
Definition t (theta : R) := tan (theta / 2).

(** The angle by which the step turns the state. That it is the angle of the
    chord point is [ng_angle_law], for -pi < theta < pi. *)
Definition phi (alpha theta : R) := theta / 2 - atan (beta alpha * t theta).

(** By how much the step stays behind the step [alpha] along the geodesic,
    which turns by [alpha * theta]. *)
Definition gap (alpha theta : R) := alpha * theta - phi alpha theta.

(** The angle that the step leaves. *)
Definition remaining (alpha theta : R) := theta - phi alpha theta.

(** The angle left by [k] steps towards the same target. *)
Fixpoint remaining_after (k : nat) (alpha theta : R) :=
  match k with
  | O => theta
  | S k => remaining alpha (remaining_after k alpha theta)
  end.

(** The gap in terms of beta and t ([ng_gap_integral_tangents]), and the
    integrand of [ng_gap_integral], without its constant factor. *)
Definition gap_in_tangents (b s : R) := atan (b * s) - b * atan s.
Definition integrand (b s : R) := s ^ 2 / ((1 + b ^ 2 * s ^ 2) * (1 + s ^ 2)).

(** Finite sums, over the indices below [n]. *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S n => sum n f + f n
  end.
