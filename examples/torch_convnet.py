"""A small PyTorch image network with pooling and batch norm, beside torch itself; `--write` writes torch_convnet.mlir."""

import sys
from pathlib import Path

import torch

import hloom
from hloom.compiler.frontend import load_program


def model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, stride=2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(32 * 7 * 7, 10),
    ).eval()  # fmt: skip


def main() -> None:
    x = torch.randn(1, 3, 32, 32)
    if "--write" in sys.argv:
        text = str(load_program(model(), (x,)).module).replace(" {hloom.bound}", "")
        Path(__file__).with_suffix(".mlir").write_text(text)
        return
    network = model()
    compiled = hloom.compile(network, x)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), network(x), rtol=1e-4, atol=1e-5)
    print("torch_convnet: agrees with torch")


if __name__ == "__main__":
    main()
