"""Speed, memory and compile time of hloom beside its peers. Run from the root of the repository:

python -m benchmarks                    run times and compile times of all rows and peers; writes docs/benchmarks.md
python -m benchmarks softmax --quick    one row, one short round, printed only
python -m benchmarks.layers             single layers of well-known models, with % of the machine's peak; --help says what else
python -m benchmarks.models             whole models with random weights, likewise
python -m benchmarks.functions          JAX functions, likewise
python -m benchmarks.memory             arenas beside live bytes, 100,000 calls, two threads
python -m benchmarks.gpu                correctness and speed on an NVIDIA GPU
python -m benchmarks.compile_time       hloom's compile time a pass at a time, and of long chains
"""
