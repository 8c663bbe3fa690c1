# Door and passes stay under 5 ms for each kernel of the table, on every target that emits (the best of five).
$ cp -r "$ROOT/kernels" .
$ cat > fast <<'END'
> for target in cpu cuda tenstorrent; do
>     case "$1 $target" in *softmax*tenstorrent) continue ;; esac
>     for try in 1 2 3 4 5; do
>         tilewright emit "$@" --target $target --time-passes -o out 2>/dev/null | awk '/^total/ {print $2}'
>     done | sort -n | awk -v t=$target 'NR == 1 {print t, $1 < 5 ? "fast" : $1 " ms"}'
> done
> END
$ echo --arg M=4096 --arg N=4096 --arg K=4096 --arg stride_am=4096 --arg stride_ak=1 --arg stride_bk=4096 --arg stride_bn=1 --arg stride_cm=4096 --arg stride_cn=1 --arg BM=128 --arg BN=128 --arg BK=64 > sizes
$ sh fast kernels/triton/add.py --arg x_ptr=zeros:f32[64] --arg y_ptr=zeros:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=1024
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/triton/fma.py --arg x_ptr=zeros:f32[64] --arg y_ptr=zeros:f32[64] --arg z_ptr=zeros:f32[64] --arg out_ptr=zeros:f32[64] --arg n=64 --arg BLOCK=1024
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/triton/softmax.py --arg out_ptr=zeros:f32[64,1024] --arg in_ptr=zeros:f32[64,1024] --arg in_stride=1024 --arg out_stride=1024 --arg n_cols=1024 --arg BLOCK=1024
cpu fast
cuda fast
$ sh fast kernels/triton/matmul.py --arg a_ptr=zeros:f16[64,64] --arg b_ptr=zeros:f16[64,64] --arg c_ptr=zeros:f16[64,64] $(cat sizes)
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/tilelang/gemm.py -D M=4096 -D N=4096 -D K=4096
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/tilelang/gemm_elements.py -D M=4096 -D N=4096 -D K=4096 -D dtype=float16
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/tilelang/seed_gemm.py -D M=4096 -D N=4096 -D K=4096
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/tilelang/seed_add.py -D M=4096 -D N=4096
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/tilelang/seed_row_sum.py -D M=4096 -D N=4096
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/tilec/matmul.tile.c
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/tilec/micro_add.tile.c
cpu fast
cuda fast
tenstorrent fast
$ sh fast kernels/tilec/micro_add_grid.tile.c
cpu fast
cuda fast
tenstorrent fast
