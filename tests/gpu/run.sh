#!/bin/sh
# All that a machine with an NVIDIA GPU is to run: tests/gpu and the benchmarks, and a page of what they said, which is printed at the end.
#
#     sh tests/gpu/run.sh [DIR]     DIR: what `python -m benchmarks.gpu prepare --target=sm_90a -o DIR` wrote, here or elsewhere
#     sh DIR/run.sh                 the same with nothing but DIR
#
# Without DIR the programs are compiled here, which needs the compiler; with it Python, NumPy and cuda-python are enough. Whatever fails,
# the rest runs. $PYTHON names the interpreter, $OUT the folder for results, $SECONDS_LEFT bounds the whole: a third is for the tests.
set -u
code=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
failed=0
if [ $# -eq 0 ]; then
  folder=$code/build/gpu
  out=${OUT:-$code/build/gpu-results}
  (cd "$code" && "$python" -m benchmarks.gpu prepare -o "$folder") || exit 1
else
  folder=$(cd "$1" && pwd) || exit 1
  out=${OUT:-$folder/results}
fi
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
export PYTHONPATH="$code:$code/tests:$code/packages${PYTHONPATH:+:$PYTHONPATH}"
cd "$code" || exit 1
seconds=${SECONDS_LEFT:-100000}
"$python" -m benchmarks.gpu tests "$folder" -o "$out" --deadline=$((seconds / 3)) || failed=1
"$python" -m benchmarks.gpu run "$folder" -o "$out" --deadline=$((seconds * 2 / 3)) >"$out/benchmarks.txt" 2>&1 || failed=1
tail -n 1 "$out/benchmarks.txt"
"$python" -m benchmarks.gpu page "$out" || failed=1
exit $failed
