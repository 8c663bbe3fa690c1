# --set, --grid, -D, --tolerance.
$ cp -r "$ROOT/kernels" .
$ echo kernels/triton/add.py --arg x_ptr=arange:f32[1000] --arg y_ptr=ones:f32[1000] --arg output_ptr=zeros:f32[1000] --arg n_elements=1000 --arg BLOCK_SIZE=256 > add
$ tilewright run $(cat add) --grid 2
output_ptr: f32[1000], 512 of 1000 elements changed
$ tilewright run $(cat add) --grid 4,1,1
output_ptr: f32[1000], 1000 of 1000 elements changed
$ tilewright run $(cat add) --grid=1+3
output_ptr: f32[1000], 1000 of 1000 elements changed
$ tilewright run $(cat add) --grid 0
warning: no program runs: the grid is 0 x 1 x 1
no array changed
$ tilewright run $(cat add) --grid -D BLOCKS=4
error: `BLOCKS=4` is one word too many
[1]
$ tilewright run $(cat add) --grid BLOCKS -DBLOCKS=4
warning: the definition of `BLOCKS` is not used by kernel `add_kernel` [unused-definition]
output_ptr: f32[1000], 1000 of 1000 elements changed
$ tilewright run $(cat add) --grid 'min(7, 2 * 2), max(1, 0), next_power_of_2(1)'
output_ptr: f32[1000], 1000 of 1000 elements changed
$ tilewright run $(cat add) --grid 1,2,3,4
error: --grid 1,2,3,4: a grid has at most 3 extents
[1]
$ tilewright run $(cat add) --grid ''
error: --grid : a number or a name is expected
[1]
$ tilewright run $(cat add) --grid '(4'
error: --grid (4: `)` is missing
[1]
$ tilewright run $(cat add) --grid '4 4'
error: --grid 4 4: an operator, `,` or the end is expected
[1]
$ tilewright run $(cat add) --grid -1
error: the grid of kernel `add_kernel` is -1 x 1 x 1; each extent must lie in 0 .. 2^31-1
[1]
$ tilewright run $(cat add) --grid 'n_elements / 0'
error: --grid n_elements / 0: a division by zero
[1]
$ tilewright run $(cat add) --grid 9999999999999999999999
error: --grid 9999999999999999999999: a number that does not fit 64 bits
[1]
$ tilewright run $(cat add) --grid 2147483648
error: the grid of kernel `add_kernel` is 2147483648 x 1 x 1; each extent must lie in 0 .. 2^31-1
[1]
$ tilewright run $(cat add) --grid 'cdiv(n_element, 4)'
error: --grid cdiv(n_element, 4): `n_element` is not an integer argument; did you mean `n_elements`?
[1]
$ tilewright run $(cat add) --grid "$(printf '(%.0s' {1..10000})" 2>&1 | tail -c 40
(((((((((((((`: it is nested too deeply
$ tilewright run kernels/tilec/micro_add.tile.c --arg g.x=ones:f32[16,32] --arg g.o=zeros:f32[16,32] --grid 1
g.o: f32[16, 32], 512 of 512 elements changed
$ for s in num_stages=0 num_stages=4 roles=on roles=off persist=on persist=off threads=1 threads=2 num_warps=8 fuse=off; do tilewright run $(cat add) --grid 4 --set $s; done
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
output_ptr: f32[1000], 1000 of 1000 elements changed
$ tilewright run $(cat add) --grid 4 --set num_stage=3
error: there is no option `num_stage`; did you mean `num_stages`?
[1]
$ tilewright run $(cat add) --grid 4 --set frobnicate=3
error: there is no option `frobnicate`; the page `options` lists them
hint: `tilewright docs options` prints that page
[1]
$ tilewright run $(cat add) --grid 4 --set num_stages=17
error: option num_stages takes an integer from 0 to 16, not `17`
[1]
$ tilewright run $(cat add) --grid 4 --set num_stages=
error: option num_stages takes an integer from 0 to 16, not ``
[1]
$ tilewright run $(cat add) --grid 4 --set roles=maybe
error: option roles takes auto, on or off, not `maybe`
[1]
$ tilewright run $(cat add) --grid 4 --set threads=1e3
error: option threads takes an integer from 0 to 256, not `1e3`
[1]
$ tilewright run $(cat add) --grid 4 --set roles
error: --set takes OPTION=VALUE, not `roles`
[1]
$ tilewright run $(cat add) --grid 4 --seed x
error: --seed takes an integer, not `x`
[1]
$ tilewright run $(cat add) --grid 4 --emulate
error: target cpu is not emulated: it runs on the host as it is
[1]
$ tilewright check $(cat add) --grid 4 --tolerance=-1
error: --tolerance takes a number, not `-1`
[1]
$ tilewright run $(cat add) --grid 4 --save output_ptr=good.npy; tilewright run $(cat add) --grid 4 --set fuse=off --arg 2>&1
error: --arg needs a value: --arg NAME=SPEC
[1]
$ sed 's/x + y/x - y/' kernels/triton/add.py > sub.py; sed 's|kernels/triton/add.py|sub.py|' add > sub
$ tilewright check $(cat sub) --grid 4 --expect output_ptr=good.npy
output_ptr: f32[1000], max error 2 at [0] (-1, expected 1): MISMATCH in 1000 of 1000 elements, allowed is 0.02
[1]
$ tilewright check $(cat sub) --grid 4 --expect output_ptr=good.npy --tolerance 1
output_ptr: f32[1000], max error 2 at [0] (-1, expected 1): ok
$ tilewright check $(cat add) --grid 4 --expect output=good.npy
error: kernel `add_kernel` has no argument `output`; it has x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE
[1]
$ tilewright check $(cat add) --grid 4 --expect n_elements=good.npy
error: --expect n_elements: it is not an array
[1]
$ tilewright check $(cat add) --grid 4 --expect output_ptr=bad.npy
error: --expect output_ptr=bad.npy: it cannot be read: No such file or directory
[1]
$ tilewright run $(cat add) --grid 4 --save outptr=x.npy
error: kernel `add_kernel` has no argument `outptr`; it has x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE
[1]
$ tilewright run $(cat add) --grid 4 --save n_elements=x.npy
error: --save n_elements: it is not an array
[1]
$ tilewright run kernels/triton/add.py --arg x_ptr=zeros:f32[3] --arg y_ptr=zeros:f32[3] --arg output_ptr=zeros:f32[3] --arg n_elements=3 --arg BLOCK_SIZE=4 --grid 1 --save output_ptr=three.npy; tilewright check $(cat add) --grid 4 --expect output_ptr=three.npy
output_ptr: f32[1000], and three.npy holds f32[3]: MISMATCH of the shapes
[1]
$ ls
add
good.npy
kernels
sub
sub.py
three.npy
$ tilewright explain $(cat add) --target cuda --set roles=off --set gang=3 --set cluster=2 --set persist=on --set slots=4 --set workers=2 | grep -o 'execution: .*'
execution: flat: no loop loads boxes for a dot that could run ahead of it
execution: without effect here: workers, cluster=2, gang, persist=on, slots
execution: flat, 128 threads, 0 bytes of shared memory
