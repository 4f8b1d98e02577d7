"""A training loop of PyTorch's whose model hloom compiles: one line is changed. Its losses beside those of the loop without it."""

import copy

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.0))
        self.head = nn.Linear(8 * 8 * 8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x).flatten(1))


def batches(count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Images of noise with a bright quarter, and which quarter it is."""
    generator = torch.Generator().manual_seed(0)
    made = []
    for _ in range(count):
        labels = torch.randint(4, (32,), generator=generator)
        images = torch.randn(32, 1, 2, 8, 2, 8, generator=generator)
        images[torch.arange(32), 0, labels // 2, :, labels % 2] += 1.0
        made.append((images.reshape(32, 1, 16, 16), labels))
    return made


def train(model: nn.Module) -> list[float]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for images, labels in batches(20):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    torch.manual_seed(0)
    model = Classifier()
    eager = copy.deepcopy(model)
    model = torch.compile(model, backend="hloom")  # the line
    losses, expected = train(model), train(eager)
    torch.testing.assert_close(losses, expected, rtol=1e-2, atol=1e-3)
    assert losses[-1] < 0.5 * losses[0]
    print(f"train_torch: from {losses[0]:.3f} to {losses[-1]:.3f} in {len(losses)} steps, as PyTorch's ({expected[-1]:.3f})")


if __name__ == "__main__":
    main()
