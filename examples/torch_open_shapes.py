"""An encoder for any batch and any length: compiled for each shape that it meets, saved with all of them, beside eager PyTorch."""

import tempfile
from pathlib import Path

import torch
from torch.export import Dim

import hloom


def main() -> None:
    torch.manual_seed(0)
    model = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    sizes = {0: Dim("batch", min=0), 1: Dim("length", min=1)}
    exe = hloom.compile(model, torch.randn(2, 16, 32), dynamic_shapes=(sizes,), shapes=[{"batch": 1, "length": 7}])
    print(exe.signature.inputs[0], "compiled for", exe.shapes, "and soon for", exe.pending)
    exe.wait(progress=lambda done, of, shapes: print(f"{done} of {of}: {shapes}"))
    with tempfile.TemporaryDirectory() as folder:
        exe.save(Path(folder) / "encoder.hloom")
        loaded = hloom.load(Path(folder) / "encoder.hloom")
        for shape in ((2, 16, 32), (1, 7, 32)):
            x = torch.randn(shape)
            with torch.no_grad():
                torch.testing.assert_close(loaded(x), model(x), rtol=1e-4, atol=1e-4)
    print("torch_open_shapes: agrees with PyTorch, from a file of", len(loaded.shapes), "programs")


if __name__ == "__main__":
    main()
