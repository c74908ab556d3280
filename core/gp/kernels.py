"""Correlation functions of a Gaussian process, and their slopes.

Notation:
    A, B    points in the unit cube, shapes (n, width) and (m, width)
    ℓ       length scales, shape (width,)
    s       squared scaled distance Σ_j (a_j − b_j)² / ℓ_j², shape (n, m)
    R(s)    correlation, R(0) = 1
    R′(s)   its derivative by s (by s, not by the distance: finite at zero for all three kernels)

The kernel of Brofos (2013, eq. 4), α exp(−½ Σ Δ²/(2γ²)), is R_se with ℓ = √2 γ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int_]
KERNELS = ("se", "matern32", "matern52")


def squared_distances(A: Array, B: Array, lengths: Array) -> Array:
    """s_ij = Σ_k (a_ik − b_jk)² / ℓ_k², shape (n, m); 2 n m width flops.

    Formed as |a|² + |b|² − 2aᵀb around the cube's centre; what rounding leaves below zero is zero.
    """
    a, b = (A - 0.5) / lengths, (B - 0.5) / lengths
    s = a @ b.T
    s *= -2.0
    s += np.einsum("ij,ij->i", a, a)[:, None]
    s += np.einsum("ij,ij->i", b, b)[None, :]
    return np.maximum(s, 0.0, out=s)


def correlation(kernel: str, s: Array) -> Array:
    """R(s): se exp(−s/2); matern32 (1 + u) e⁻ᵘ, u = √(3s); matern52 (1 + u + u²/3) e⁻ᵘ, u = √(5s).

    Raises:
        ValueError: the kernel is none of `KERNELS`.
    """
    return correlation_and_slope(kernel, s)[0]


def correlation_and_slope(kernel: str, s: Array) -> tuple[Array, Array]:
    """R(s) and R′(s), each of the shape of s, sharing the one exponential.

    R′: se −½ R; matern32 −(3/2) e⁻ᵘ; matern52 −(5/6) (1 + u) e⁻ᵘ.

    Raises:
        ValueError: the kernel is none of `KERNELS`.
    """
    if kernel == "se":
        value = np.exp(-0.5 * s)
        return value, -0.5 * value
    if kernel == "matern32":
        u = np.sqrt(3.0 * s)
        decay = np.exp(-u)
        u += 1.0
        u *= decay
        decay *= -1.5
        return u, decay
    if kernel == "matern52":
        u = np.sqrt(5.0 * s)
        decay = np.exp(-u)
        u += 1.0
        u *= decay
        decay *= s
        decay *= 5.0 / 3.0
        decay += u
        u *= -5.0 / 6.0
        return decay, u
    raise ValueError(f"no kernel called {kernel}")
