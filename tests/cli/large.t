# Kernels of many statements: none takes a time that grows with their square (some once took minutes).
# requires: python3
$ for name in $(python3 "$ROOT/tests/large_kernels.py" .); do timeout 30 tilewright emit $name.py --target cpu --arg x=zeros:f32[4096] --arg y=zeros:f32[4096] --arg n=4 --arg B=64 >/dev/null && echo $name; done
loads
stores
many_stores
many_copies
copies
steps
twice
indices
reduces
loops
ifs
