"""The numbers that Fourier transforms multiply by, each correct to the last bit or nearly so, and the factors of their lengths."""

from __future__ import annotations

import numpy as np

_PI = np.longdouble("3.14159265358979323846264338327950288")


def roots_of_unity(length: int, powers: np.ndarray) -> np.ndarray:
    """exp(-2πi k / length) for each k of `powers`, in long double: what the sine or cosine of a right angle should be is exact."""
    angles = 2 * _PI * (np.asarray(powers, np.int64) % length).astype(np.longdouble) / length
    parts = [np.where(np.abs(part) < 1e-18, 0, part) for part in (np.cos(angles), -np.sin(angles))]
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
