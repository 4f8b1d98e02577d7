"""A decoder that writes text in one compiled loop: two entries, `prefill` and `decode`, that share bound weights in one file.

python examples/generate_text.py

The model is Llama's, under the names of its public checkpoints. `decode` draws each token inside of its loop, so a call gives a whole text.
"""

import time
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import hloom


class Config(NamedTuple):
    """Names as in a checkpoint's config.json."""

    hidden_size: int = 128
    intermediate_size: int = 352
    num_hidden_layers: int = 4
    num_attention_heads: int = 8
    num_key_value_heads: int = 4
    vocab_size: int = 512
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    tie_word_embeddings: bool = False


PROMPT, LENGTH, TOP, END = 16, 64, 40, 2
"""Tokens of a prompt, tokens after which a text is full, how many tokens are drawn from, and the one that ends a text."""


def random_weights(config: Config) -> dict[str, np.ndarray]:
    # real ones: weights = {k: v.astype("f4") for k, v in safetensors.numpy.load_file("model.safetensors").items()}
    #            config = Config(**{k: v for k, v in json.load(open("config.json")).items() if k in Config._fields})
    rng = np.random.default_rng(0)
    width, head = config.hidden_size, config.hidden_size // config.num_attention_heads
    shapes = {"model.embed_tokens": (config.vocab_size, width), "lm_head": (config.vocab_size, width), "model.norm": (width,)}
    for number in range(config.num_hidden_layers):
        for name, out in (("q", config.num_attention_heads), ("k", config.num_key_value_heads), ("v", config.num_key_value_heads)):
            shapes[f"model.layers.{number}.self_attn.{name}_proj"] = (out * head, width)
        shapes[f"model.layers.{number}.self_attn.o_proj"] = (width, width)
        shapes |= {f"model.layers.{number}.mlp.{name}_proj": (config.intermediate_size, width) for name in ("gate", "up")}
        shapes[f"model.layers.{number}.mlp.down_proj"] = (width, config.intermediate_size)
        shapes |= {f"model.layers.{number}.{name}_layernorm": (width,) for name in ("input", "post_attention")}
    made = {name: rng.normal(0, 1.5 / np.sqrt(width), shape) if len(shape) > 1 else np.ones(shape) for name, shape in shapes.items()}
    return {f"{name}.weight": value.astype(np.float32) for name, value in made.items()}


def linear(weights: Any, name: str, x: jax.Array) -> jax.Array:
    return x @ weights[f"{name}.weight"].T


def norm(config: Config, weights: Any, name: str, x: jax.Array) -> jax.Array:
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + config.rms_norm_eps) * weights[f"{name}.weight"]


def rotated(config: Config, x: jax.Array, positions: jax.Array) -> jax.Array:
    """Heads of [tokens, heads, size], turned by their positions."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * config.rope_theta ** (-jnp.arange(half) / half)
    sine, cosine = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def attention(config: Config, weights: Any, number: int, x: jax.Array, cache: jax.Array, start: Any) -> tuple[jax.Array, jax.Array]:
    """`cache` holds keys and values of all tokens so far: [layers, 2, heads, length, size]."""
    name, positions = f"model.layers.{number}.self_attn", start + jnp.arange(len(x))
    keys = config.num_key_value_heads
    q, k, v = (linear(weights, f"{name}.{part}_proj", x).reshape(len(x), -1, cache.shape[-1]) for part in "qkv")
    q, k = rotated(config, q, positions), rotated(config, k, positions)
    new = jnp.stack([k, v]).transpose(0, 2, 1, 3)
    cache = lax.dynamic_update_slice(cache, new[None], (number, 0, 0, start, 0))
    q = q.reshape(len(x), keys, -1, cache.shape[-1]) / np.sqrt(cache.shape[-1])
    scores = jnp.einsum("tkgd,ksd->kgts", q, cache[number, 0])
    seen = jnp.arange(cache.shape[-2]) <= positions[:, None]
    found = jnp.einsum("kgts,ksd->tkgd", jax.nn.softmax(jnp.where(seen, scores, -jnp.inf)), cache[number, 1])
    return linear(weights, f"{name}.o_proj", found.reshape(len(x), -1)), cache


def forward(config: Config, weights: Any, tokens: jax.Array, cache: jax.Array, start: Any) -> tuple[jax.Array, jax.Array]:
    """The scores of what follows the last token, and the cache with these tokens, which stand at `start`."""
    x = weights["model.embed_tokens.weight"][tokens]
    for number in range(config.num_hidden_layers):
        layer = f"model.layers.{number}"
        found, cache = attention(config, weights, number, norm(config, weights, f"{layer}.input_layernorm", x), cache, start)
        x = x + found
        y = norm(config, weights, f"{layer}.post_attention_layernorm", x)
        gated = jax.nn.silu(linear(weights, f"{layer}.mlp.gate_proj", y)) * linear(weights, f"{layer}.mlp.up_proj", y)
        x = x + linear(weights, f"{layer}.mlp.down_proj", gated)
    head = "model.embed_tokens" if config.tie_word_embeddings else "lm_head"
    return linear(weights, head, norm(config, weights, "model.norm", x[-1])), cache


def drawn(scores: jax.Array, key: jax.Array, temperature: Any) -> jax.Array:
    """One of the best tokens; the best itself where the temperature is 0."""
    best, tokens = lax.top_k(scores, TOP)
    chosen = jax.random.categorical(key, best / jnp.maximum(temperature, 1e-6))
    return jnp.where(temperature > 0, tokens[chosen], tokens[0])


def prefill(config: Config, weights: Any, prompt: jax.Array) -> tuple[jax.Array, jax.Array]:
    head = config.hidden_size // config.num_attention_heads
    empty = jnp.zeros((config.num_hidden_layers, 2, config.num_key_value_heads, LENGTH, head))
    return forward(config, weights, prompt, empty, 0)


def decode(config: Config, weights: Any, scores: jax.Array, cache: jax.Array, key: jax.Array, temperature: Any) -> tuple[Any, Any]:
    """The tokens that follow a prompt, and how many they are: up to the end of the text."""

    def goes_on(state: Any) -> Any:
        number, tokens, *_ = state
        return (number < len(tokens)) & ((number == 0) | (tokens[number - 1] != END))

    def step(state: Any) -> Any:
        number, tokens, scores, cache = state
        token = drawn(scores, jax.random.fold_in(key, number), temperature)
        scores, cache = forward(config, weights, token[None], cache, PROMPT + number)
        return number + 1, tokens.at[number].set(token), scores, cache

    number, tokens, *_ = lax.while_loop(goes_on, step, (0, jnp.zeros(LENGTH - PROMPT, jnp.int32), scores, cache))
    return tokens, number


def eager(config: Config, weights: Any, prompt: Any, key: Any, temperature: Any) -> list[int]:
    """The same text, an op at a time."""
    scores, cache = prefill(config, weights, prompt)
    tokens: list[int] = []
    while len(tokens) < LENGTH - PROMPT and END not in tokens[-1:]:
        tokens.append(int(drawn(scores, jax.random.fold_in(key, len(tokens)), temperature)))
        scores, cache = forward(config, weights, jnp.array(tokens[-1:]), cache, PROMPT + len(tokens) - 1)
    return tokens


def compiled(config: Config, weights: dict[str, np.ndarray]) -> Any:
    """The arguments of a call tell shapes; the first, the weights, are bound."""
    prompt, key, temperature = np.zeros(PROMPT, np.int32), np.zeros(2, np.uint32), np.float32(0)
    of_prompt, of_text = partial(prefill, config), partial(decode, config)
    scores, cache = jax.eval_shape(of_prompt, weights, prompt)
    entries = {"prefill": (of_prompt, weights, prompt), "decode": (of_text, weights, scores, cache, key, temperature)}
    return hloom.compile(entries, bind={"arg0": weights})


def generate(exe: Any, prompt: np.ndarray, seed: int, temperature: float) -> list[int]:
    scores, cache = exe["prefill"](prompt)
    tokens, number = exe["decode"](scores, cache, np.array([0, seed], np.uint32), np.float32(temperature))
    return tokens[: int(number)].tolist()


def main() -> None:
    config = Config()
    weights = random_weights(config)
    with TemporaryDirectory() as folder:
        compiled(config, weights).save(f"{folder}/model.hloom")
        exe = hloom.load(f"{folder}/model.hloom")
        prompt = np.random.default_rng(1).integers(3, config.vocab_size, PROMPT).astype(np.int32)
        for seed, temperature in ((0, 0.0), (1, 0.8), (2, 1.0)):
            start = time.perf_counter()
            text = generate(exe, prompt, seed, temperature)
            seconds = time.perf_counter() - start
            expected = eager(config, weights, prompt, np.array([0, seed], np.uint32), temperature)
            assert text == expected, (text, expected)
            print(f"generate_text: {len(text)} tokens at temperature {temperature}, {len(text) / seconds:.0f} a second: {text[:8]} …")


if __name__ == "__main__":
    main()
