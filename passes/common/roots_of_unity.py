"""The numbers that Fourier transforms multiply by, each correct to the last bit or nearly so, and the factors of their lengths."""

from __future__ import annotations

import numpy as np

_PI = np.longdouble("3.14159265358979323846264338327950288")


def roots_of_unity(length: int, powers: np.ndarray, bits: int = 64) -> np.ndarray:
    """exp(-2πi k / length) for each k of `powers`, in a type wider than floats of so many bits. Those of right angles are exact."""
    wide, least = (np.dtype(np.longdouble), 1e-18) if bits > 32 else (np.dtype(np.float64), 1e-14)
    angles = (np.asarray(powers, np.int64) % length).astype(wide) * np.asarray(2 * _PI / length, wide)
    parts = [np.where(np.abs(part) < least, 0, part) for part in (np.cos(angles), -np.sin(angles))]
    return parts[0] + 1j * parts[1]


def prime_factors(number: int) -> list[int]:
    """The primes whose product is `number`, ascending."""
    found, prime = [], 2
    while prime * prime <= number:
        while number % prime == 0:
            found.append(prime)
            number //= prime
        prime += 1
    return found + [number] * (number > 1)


def divisors(number: int) -> list[int]:
    """Ascending; for numbers of small prime factors."""
    found = {1}
    for prime in prime_factors(number):
        found |= {divisor * prime for divisor in found}
    return sorted(found)
