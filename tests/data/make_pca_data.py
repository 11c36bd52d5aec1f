"""Reference numbers by scikit-learn's PCA, which tests/tables/test_vectors.py holds against attn_xl.

    python tests/data/make_pca_data.py

writes pca.npz beside this file: for each case the rows `x`, what `PCA(k).fit_transform` makes of them,
the components, the explained variances and their shares. It needs scikit-learn and numpy, and nothing
of attn_xl.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

CASES = {  # words, dimensions, components
    "few": (5, 8, 2),
    "plane": (6, 2, 2),
    "line": (9, 4, 1),
    "all": (12, 7, 7),
    "many": (14, 60, 3),
    "wide": (6, 300, 4),
}


def rows(number: int, n: int, d: int) -> np.ndarray:
    """Correlated, off the centre, five decimals, as in files of vectors."""
    draw = np.random.default_rng(number)
    return (draw.normal(size=(n, d)) @ draw.normal(size=(d, d)) / np.sqrt(d) + 0.3).round(5)


def reference(x: np.ndarray, k: int) -> dict[str, np.ndarray]:
    """What scikit-learn makes of it."""
    from sklearn.decomposition import PCA

    pca = PCA(k, svd_solver="full")
    return {
        "x": x,
        "projected": pca.fit_transform(x),
        "components": pca.components_,
        "variance": pca.explained_variance_,
        "share": pca.explained_variance_ratio_,
    }


def make() -> dict[str, np.ndarray]:
    """All cases, each array as `case.name`."""
    return {
        f"{case}.{name}": array
        for number, (case, (n, d, k)) in enumerate(CASES.items())
        for name, array in reference(rows(number, n, d), k).items()
    }


if __name__ == "__main__":
    np.savez_compressed(Path(__file__).with_name("pca.npz"), **make())
