"""An image classifier as one file, and a server of ten lines that needs no framework and no compiler: numpy and hloom's runtime.

python examples/serve_classifier.py compile classifier.hloom
python examples/serve_classifier.py serve classifier.hloom 8000
curl --data-binary @image.f32 localhost:8000            # 3 x 64 x 64 floats
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np

import hloom


def compile_to(path: str) -> None:
    import torch
    from torch import nn

    torch.manual_seed(0)
    blocks = [nn.Sequential(nn.Conv2d(a, b, 3, 2, 1), nn.BatchNorm2d(b), nn.ReLU()) for a, b in ((3, 16), (16, 32), (32, 64))]
    model = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10), nn.Softmax(1)).eval()
    # a real one: model = torchvision.models.resnet18(weights="DEFAULT").eval(), and images of 224 x 224
    hloom.compile(model, torch.zeros(1, 3, 64, 64)).save(path)


def server(path: str, port: int) -> HTTPServer:
    classify = hloom.load(path)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            image = np.frombuffer(self.rfile.read(int(self.headers["Content-Length"])), np.float32).reshape(1, 3, 64, 64)
            scores = classify(image)[0]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"class": int(scores.argmax()), "score": float(scores.max())}).encode())

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return HTTPServer(("127.0.0.1", port), Handler)


def main(command: str, path: str, port: str = "8000") -> None:
    if command == "compile":
        compile_to(path)
    else:
        server(path, int(port)).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
