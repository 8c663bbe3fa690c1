# What --save and -o write to: devices and pipes stay what they are, links lead where they led.
$ cp "$ROOT/kernels/triton/add.py" . && echo add.py --arg x_ptr=arange:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --arg BLOCK_SIZE=8 > add
$ tilewright run $(cat add) --grid 1 --save output_ptr=/dev/full
error: /dev/full cannot be written: No space left on device
[1]
$ tilewright run $(cat add) --grid 1 --save output_ptr=/dev/null && [ -c /dev/null ] && [ -c /dev/full ] && echo devices
devices
$ tilewright run $(cat add) --grid 1 --save output_ptr=/dev/stdout | tail -c +2 | head -c 5
NUMPY
$ touch real.npy && ln -s real.npy link.npy && tilewright run $(cat add) --grid 1 --save output_ptr=link.npy && readlink link.npy && wc -c < real.npy
real.npy
160
$ mkdir out && ln -s /dev/null out/report.txt && tilewright emit $(cat add) -o out
error: out/report.txt cannot be written: it is no plain file
[1]
$ ls out
report.txt
$ tilewright run $(cat add) --grid 1 --set vector_bits=7
error: option vector_bits takes 0, 128, 256 or 512, not `7`
[1]
#! Output to a full disk: every command says so, and ends with 1.
$ cp $ROOT/kernels/triton/add.py . && arguments='--arg x_ptr=zeros:f32[64] --arg y_ptr=zeros:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64'; for command in "emit add.py $arguments" "emit add.py --target cuda $arguments" "ir add.py $arguments" "explain add.py $arguments" "list add.py" targets 'docs ops' 'docs options' version help 'help emit' "run add.py --grid 1 $arguments" "check add.py --grid 1 $arguments"; do tilewright $command 2>&1 >/dev/full; echo $?; done | sort | uniq -c | sed 's/^ *//'
13 1
13 error: the output could not be written
