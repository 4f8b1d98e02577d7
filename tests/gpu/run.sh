#!/bin/sh
# All that a machine with an NVIDIA GPU is to run, from the root of a checkout; results go to $OUT (build/gpu-results).
#
#     sh tests/gpu/run.sh [DIR]     DIR: what `python -m benchmarks.gpu prepare --target=sm_90a -o DIR` wrote elsewhere
#
# Without DIR the programs are compiled here, and tests/gpu runs too: both need the compiler. $SECONDS_LEFT bounds the benchmarks.
set -u
out=${OUT:-build/gpu-results}
python=${PYTHON:-python3}
failed=0
mkdir -p "$out"
if "$python" -c "import torch_mlir" 2>/dev/null; then
  "$python" -m pytest -q tests/gpu >"$out/tests.txt" 2>&1 || failed=1
  tail -n 5 "$out/tests.txt"
else
  echo "tests/gpu is not run: it compiles its programs, and torch-mlir is not installed" | tee "$out/tests.txt"
fi
if [ $# -eq 0 ]; then
  "$python" -m benchmarks.gpu prepare -o build/gpu || exit 1
  set -- build/gpu
fi
"$python" -m benchmarks.gpu run "$1" -o "$out" --deadline="${SECONDS_LEFT:-100000}" || failed=1
exit $failed
