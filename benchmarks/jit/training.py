"""Training steps of models as flax's examples have them, and steps of optax's optimizers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .program import Made, Program, integers, normal, table

WIDTHS = [64, 64, 64, 256, 64]


def _step(model: Any, loss: Any, *batch: Any) -> Made:
    """A step of Adam: parameters, the optimizer's state and the loss."""
    import optax

    parameters = model.init(jax.random.key(0), batch[0])
    optimizer = optax.adam(1e-3, eps=1e-4)  # a gradient that is rounding alone moves nothing

    def step(parameters, state, *batch):
        value, gradients = jax.value_and_grad(lambda p: loss(model.apply(p, batch[0]), *batch))(parameters)
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), value

    return step, (parameters, optimizer.init(parameters), *batch)


def _entropy(logits, _, labels):
    import optax

    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def _mnist() -> Made:
    """The convolutional network of flax's mnist."""
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for features in (32, 64):
                x = nn.avg_pool(nn.relu(nn.Conv(features, (3, 3))(x)), (2, 2), strides=(2, 2))
            return nn.Dense(10)(nn.relu(nn.Dense(256)(x.reshape(len(x), -1))))

    return _step(Net(), _entropy, normal(32, 28, 28, 1), integers(10, 32))


def _perceptron() -> Made:
    from flax import linen as nn

    net = nn.Sequential([nn.Dense(256), nn.gelu, nn.LayerNorm(), nn.Dense(256), nn.gelu, nn.Dense(10)])
    return _step(net, _entropy, normal(256, 784), integers(10, 256))


def _autoencoder() -> Made:
    """The variational autoencoder of flax's vae, its noise given."""
    from flax import linen as nn

    class Vae(nn.Module):
        @nn.compact
        def __call__(self, x):
            hidden = nn.relu(nn.Dense(500)(x))
            mean, spread = nn.Dense(20)(hidden), nn.Dense(20)(hidden)
            noise = jax.random.normal(jax.random.key(1), mean.shape)
            z = mean + noise * jnp.exp(0.5 * spread)
            return nn.Dense(784)(nn.relu(nn.Dense(500)(z))), mean, spread

    def loss(found, x):
        import optax

        logits, mean, spread = found
        apart = optax.sigmoid_binary_cross_entropy(logits, jax.nn.sigmoid(x)).sum(1)
        return (apart - 0.5 * (1 + spread - mean**2 - jnp.exp(spread)).sum(1)).mean()

    return _step(Vae(), loss, normal(128, 784))


def _sequences() -> Made:
    """Recurrent cells over texts, as flax's sst2 and seq2seq."""
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(1000, 64)(tokens)
            return nn.Dense(2)(nn.RNN(nn.OptimizedLSTMCell(64))(x)[:, -1])

    return _step(Net(), _entropy, integers(1000, 16, 32), integers(2, 16))


def _language() -> Made:
    """A decoder of two layers, as flax's lm1b."""
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(1000, 128)(tokens) + self.param("places", nn.initializers.normal(0.02), (tokens.shape[1], 128))
            mask = nn.make_causal_mask(tokens)
            for _ in range(2):
                x = x + nn.SelfAttention(4, use_bias=False)(nn.LayerNorm()(x), mask)
                x = x + nn.Dense(128)(nn.gelu(nn.Dense(512)(nn.LayerNorm()(x))))
            return nn.Dense(1000)(nn.LayerNorm()(x))

    return _step(Net(), _entropy, integers(1000, 4, 64), integers(1000, 4, 64, seed=1))


def _actor_critic() -> Made:
    """The loss of flax's ppo, of states that are vectors."""
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Dense(256)(nn.relu(nn.Dense(256)(x))))
            return nn.log_softmax(nn.Dense(4)(x)), nn.Dense(1)(x)[:, 0]

    def loss(found, _, actions, old, gains, returns):
        scores, values = found
        ratio = jnp.exp(jnp.take_along_axis(scores, actions[:, None], 1)[:, 0] - old)
        policy = jnp.minimum(ratio * gains, jnp.clip(ratio, 0.9, 1.1) * gains).mean()
        return ((returns - values) ** 2).mean() / 2 - policy - 0.01 * -(jnp.exp(scores) * scores).sum(1).mean()

    return _step(Net(), loss, normal(256, 8), integers(4, 256), normal(256) - 1.4, normal(256, seed=1), normal(256, seed=2))


def _graph() -> Made:
    """Two rounds of messages along edges, as flax's ogbg_molpcba."""
    from flax import linen as nn

    edges = integers(512, 2, 2048)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(2):
                sent = nn.relu(nn.Dense(64)(x))[edges[0]]
                x = nn.LayerNorm()(nn.Dense(64)(x) + jax.ops.segment_sum(sent, edges[1], 512))
            return nn.Dense(10)(x)

    return _step(Net(), _entropy, normal(512, 32), integers(10, 512))


def _optimizer(name: str, **options: Any) -> Any:
    def make() -> Made:
        import optax

        optimizer = getattr(optax, name)(1e-3, **options)
        parameters = {f"w{i}": normal(a, b, seed=i) for i, (a, b) in enumerate(zip(WIDTHS * 4, WIDTHS[1:] * 5))}
        parameters |= {f"b{i}": normal(a) for i, a in enumerate(WIDTHS * 4)}
        gradients = jax.tree.map(lambda p: 0.1 * p + 0.01, parameters)

        def step(parameters, state, gradients):
            updates, state = optimizer.update(gradients, state, parameters)
            return optax.apply_updates(parameters, updates), state

        return step, (parameters, optimizer.init(parameters), gradients)

    return make


PROGRAMS: list[Program] = [
    *table(
        "flax",
        {
            "mnist_step": _mnist,
            "perceptron_step": _perceptron,
            "vae_step": _autoencoder,
            "lstm_step": _sequences,
            "language_model_step": _language,
            "ppo_step": _actor_critic,
            "graph_network_step": _graph,
        },
        needs=("flax", "optax"),
        tolerance=5e-3,
    ),
    *table(
        "optimizers",
        {
            "sgd_momentum": _optimizer("sgd", momentum=0.9),
            "adam": _optimizer("adam"),
            "adamw": _optimizer("adamw"),
            "lion": _optimizer("lion"),
            "rmsprop": _optimizer("rmsprop"),
            "adafactor": _optimizer("adafactor"),
            "lamb": _optimizer("lamb"),
        },
        needs=("optax",),
    ),
]
