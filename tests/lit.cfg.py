"""lit configuration: `lit tests/passes tests/tools`. FILECHECK=/path names another FileCheck binary."""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
import importlib.util
import os
import sys

import lit.formats

config.name = "hloom"

config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Output"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
config.environment.pop("HLOOM_DEBUG", None)
config.environment["HLOOM_TARGET"] = "cpu"
config.environment["HLOOM_CACHE_DIR"] = os.path.join(os.path.dirname(config.test_source_root), "build", "cache")
config.substitutions.append(("%python", sys.executable))
if filecheck := os.environ.get("FILECHECK"):
    config.substitutions.append((r"\bfilecheck\b", filecheck))

for package in ("torch", "jax"):
    if importlib.util.find_spec(package):
        config.available_features.add(package)
if importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.core"):
    config.available_features.add("cubin")
if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("cuda")
