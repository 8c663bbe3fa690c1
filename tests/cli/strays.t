# A newcomer's first mistake: more elements are told than the arrays have.
$ cp "$ROOT/kernels/triton/add.py" .
$ echo add.py --arg x_ptr=randn:f32[1000] --arg y_ptr=ones:f32[1000] --arg output_ptr=zeros:f32[1000] --arg BLOCK_SIZE=128 > rest
$ tilewright run $(cat rest) --arg n_elements=10000 --grid 79
error: kernel `add_kernel` touched memory outside of `...`, ... bytes behind its last element; run with --sanitize to see where
[1]
#! Too few bytes to meet a page: what was written there is seen.
$ tilewright run $(cat rest) --arg n_elements=1004 --grid 8
error: kernel `add_kernel` wrote outside of `output_ptr`, behind its last element; run with --sanitize to see where
[1]
$ tilewright check $(cat rest) --arg n_elements=10000 --grid 79
add.py:24:9: error: this access is out of bounds: index 1000 of `x_ptr`, which has 1000 elements (program (7, 0, 0), element [104]); mask it, or pass a larger buffer [out-of-bounds]
   24 |     x = tl.load(x_ptr + offsets, mask=mask)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright check $(cat rest) --arg n_elements=1000 --grid 8
x_ptr: f32[1000], max error 0: ok
y_ptr: f32[1000], max error 0: ok
output_ptr: f32[1000], max error 0: ok
