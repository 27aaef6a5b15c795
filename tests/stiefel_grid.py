"""The shapes and scale modes on which the Stiefel functions are tested."""

MODES = ("unit_spectral_norm", "unit_rms_to_rms_norm")
SHAPES = [
    (1, 1),
    (8, 1),
    (1, 8),
    (5, 7),
    (7, 5),
    (33, 65),
    (65, 33),
    (64, 64),
    (33, 33),
    (127, 257),
    (257, 127),
    (127, 127),
    (256, 256),
    (300, 256),
    (256, 400),
]
SMALL = [shape for shape in SHAPES if max(shape) <= 65]
