"""A PyTorch MLP with its weights bound, beside torch itself; `--write` writes torch_mlp.mlir, the StableHLO as torch-mlir makes it."""

import sys
from pathlib import Path

import torch

import hloom
from hloom.compiler.frontend import load_program


def model() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.GELU(), torch.nn.Linear(128, 10)
    return torch.nn.Sequential(*layers).eval()


def main() -> None:
    x = torch.randn(16, 64)
    if "--write" in sys.argv:
        text = str(load_program(model(), (x,)).module).replace(" {hloom.bound}", "")
        Path(__file__).with_suffix(".mlir").write_text(text)
        return
    network = model()
    compiled = hloom.compile(network, x)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), network(x), rtol=1e-4, atol=1e-5)
    print("torch_mlp: agrees with torch")


if __name__ == "__main__":
    main()
