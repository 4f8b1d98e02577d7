"""The examples that are programs in Python: each runs and checks itself."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

EXAMPLE_NEEDS = [
    ("train_torch", "torch"), ("train_jax", "optax"), ("torch_open_shapes", "torch"), ("generate_text", "jax"), ("physics", "jax"),
]  # fmt: skip


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(("name", "needs"), EXAMPLE_NEEDS)
def test_example(name, needs):
    pytest.importorskip(needs)
    assert f"{name}: " in run(str(EXAMPLES / f"{name}.py"))


def test_a_file_is_served_without_a_framework(tmp_path):
    torch = pytest.importorskip("torch")
    path = str(tmp_path / "classifier.hloom")
    run(str(EXAMPLES / "serve_classifier.py"), "compile", path)
    load = f"import sys; sys.path.insert(0, {str(EXAMPLES)!r}); import serve_classifier as s; s.server({path!r}, 0)"
    loaded = run("-c", load + "; print(sorted({'torch', 'jax', 'torch_mlir'} & set(sys.modules)))")
    assert loaded.strip() == "[]"
    sys.path.insert(0, str(EXAMPLES))
    import serve_classifier

    server = serve_classifier.server(path, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    image = torch.randn(3, 64, 64).numpy()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}", image.tobytes()) as answer:
        told = json.load(answer)
    server.shutdown()
    assert 0 <= told["class"] < 10 and np.isfinite(told["score"])


def test_generated_text_is_that_of_transformers(transformers):
    import torch

    sys.path.insert(0, str(EXAMPLES))
    import generate_text as example

    config = example.Config(num_hidden_layers=2)
    given = transformers.LlamaConfig(**config._asdict(), max_position_embeddings=example.LENGTH, attn_implementation="eager")
    model = transformers.LlamaForCausalLM(given).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(5)  # so that the best token is far from the next
    prompt = np.random.default_rng(3).integers(3, config.vocab_size, example.PROMPT).astype(np.int32)
    exe = example.compiled(config, {name: value.detach().numpy() for name, value in model.named_parameters()})
    text = example.generate(exe, prompt, 0, 0.0)
    new = example.LENGTH - example.PROMPT
    ends = {"max_new_tokens": new, "eos_token_id": example.END, "pad_token_id": 0}
    expected = model.generate(torch.tensor(prompt[None]).long(), do_sample=False, **ends)
    assert text == expected[0, example.PROMPT :].tolist()
