"""Latent attention: keys and values of all heads are unpacked from one compressed vector per word.

Shapes: n words; d of an embedding; c of a compressed vector; r of the part that is turned by positions.
Source: DeepSeek-AI, "DeepSeek-V2" (2024), 2.1.2 and 2.1.3.
"""

from __future__ import annotations

from attn_xl.errors import InputError
from attn_xl.graph.functions import concat
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Step

from . import steps
from .attention import Attending, Weights, projected, scaled_dot_product_attention
from .multi_head import PerHead, mixed


def latent_attention(
    x: Matrix,
    memory: Matrix,
    weights: Weights,
    heads: int,
    *,
    latent: int,
    latent_queries: int | None = None,
    attending: Attending | None = None,
    part: Part = WHOLE,
    result: Step = steps.ATTENTION,
) -> Matrix:
    """Multi-head attention whose keys and values come from compressed vectors: C = memory W_DKV,
    K = C W_UK, V = C W_UV. With rotary positions, a part of each query (x W_QR) and one part of the
    keys that all heads share (memory W_KR) are turned, and stand beside the rest.

    Args:
        x: embeddings for the queries, (n, d).
        memory: embeddings for the keys and values, (m, d').
        weights: `W_DKV` (d', c), `W_UK` (c, heads · d_k), `W_UV` (c, heads · d_v), `W_Q`
            (d, heads · d_k), `W_O`; with rotary positions `W_KR` (d', r), `W_QR` (d, heads · r). With
            compressed queries, `W_DQ` (d, c'), whose result W_Q and W_QR take.
        latent, latent_queries: c and c'; queries are not compressed if c' is None.
        attending, part, result: as in `multi_head_attention`.

    Returns:
        (n, d).

    Raises:
        InputError: if a weight is missing or has the wrong shape.
    """
    how = (attending or Attending()).between(x.rows, memory.rows, part)
    d_k = max(1, len(x.columns) // heads)

    def compressed(y: Matrix, weight: Step, width: int, step: Step, normed: Step) -> Matrix:
        w = weights.matrix(weight, part, y.columns, width)
        if len(w.columns) != width:
            option = "latent" if weight is steps.W_DKV else "latent-queries"
            raise InputError(
                f"{part.name(weight.symbol)} has {len(w.columns)} columns, but --{option} is {width}. "
                "Make them the same."
            )
        c = projected(y, w, weights.row(steps.BIASES[weight], part, w.columns), step, part)
        return c if how.head_norm is None else how.head_norm(c, normed, part)

    def turned(
        y: Matrix, w: Matrix, b: Matrix | None, steps_of: tuple[Step, Step], there: Part
    ) -> Matrix:
        assert how.rotary is not None
        return how.rotary.rotated(projected(y, w, b, steps_of[0], there), steps_of[1], there, how.first)

    c = compressed(memory, steps.W_DKV, latent, steps.LATENT, steps.NORMED_LATENT)  # (m, c)
    source = x
    if latent_queries is not None:
        source = compressed(
            x, steps.W_DQ, latent_queries, steps.LATENT_QUERIES, steps.NORMED_LATENT_QUERIES
        )
    q_w = PerHead(steps.W_Q, part, weights, heads, source.columns, d_k)
    k_w, v_w = (
        PerHead(step, part, weights, heads, c.columns, d_k) for step in (steps.W_UK, steps.W_UV)
    )
    shared = None
    if how.rotary is not None:
        w_kr = weights.matrix(steps.W_KR, part, memory.columns, max(2, d_k // 4 * 2))
        b_kr = weights.row(steps.BIASES[steps.W_KR], part, w_kr.columns)
        shared = turned(memory, w_kr, b_kr, (steps.TURNING_KEYS, steps.ROTATED_KEYS), part)  # (m, r)
        r_w = PerHead(steps.W_QR, part, weights, heads, source.columns, len(w_kr.columns))
    if how.cache is not None and not how.first:
        how.cache.compressed += [c] if shared is None else [c, shared]
    outputs = []
    for h in range(1, heads + 1):
        head = part.of_head(h)
        v = projected(c, v_w.of(h), v_w.bias(h), steps.VALUES, head)  # (m, d_v)
        if shared is None:
            q = projected(source, q_w.of(h), q_w.bias(h), steps.QUERIES, head)  # (n, d_k)
            k = projected(c, k_w.of(h), k_w.bias(h), steps.KEYS, head)  # (m, d_k)
        else:
            q = projected(source, q_w.of(h), q_w.bias(h), steps.CONTENT_QUERIES, head)
            both = (steps.TURNING_QUERIES, steps.ROTATED_QUERIES)
            q_r = turned(source, r_w.of(h), r_w.bias(h), both, head)  # (n, r)
            q = concat([q, q_r]).as_step(steps.BOTH_QUERIES, head)  # (n, d_k + r)
            k = projected(c, k_w.of(h), k_w.bias(h), steps.CONTENT_KEYS, head)
            k = concat([k, shared]).as_step(steps.BOTH_KEYS, head)  # (m, d_k + r)
        if len(q.columns) != len(k.columns):
            raise InputError(
                f"Head {h} has queries of {len(q.columns)} dimensions, but keys of {len(k.columns)}. "
                f"Give {part.name('W_Q')} and {part.name('W_UK')} the same number of columns, and "
                f"{part.name('W_QR')} as many for each head as {part.name('W_KR')} has."
            )
        outputs.append(scaled_dot_product_attention(q, k, v, attending=how, part=head))
    return mixed(outputs, weights, len(x.columns), part, result)
