# What a file is called is no code: not in comments of emitted texts, not in #line, not in what compilers are told.
$ cp "$ROOT/kernels/triton/add.py" "$(printf 'a\n#error no name.py')"; cp "$ROOT/kernels/triton/add.py" 'b"\.py'; cp "$ROOT/kernels/triton/add.py" 'c\.py'; cp "$ROOT/kernels/triton/add.py" './-d $(touch e).py'; ls | wc -l
5
$ for file in *; do for target in interp cpu cuda-emulated tenstorrent; do tilewright check --target $target --grid 4 --arg x_ptr=randn:f32[1000] --arg y_ptr=ones:f32[1000] --arg output_ptr=zeros:f32[1000] --arg n_elements=1000 --arg BLOCK_SIZE=256 -- "$file" 2>&1 | grep -c 'max error.*: ok'; done; done | uniq -c
     16 3
$ for file in *; do tilewright check --target cuda-emulated --set lines=on --grid 4 --arg x_ptr=randn:f32[1000] --arg y_ptr=ones:f32[1000] --arg output_ptr=zeros:f32[1000] --arg n_elements=1000 --arg BLOCK_SIZE=256 -- "$file" 2>&1 | grep -c 'max error.*: ok'; done | uniq -c; ls | wc -l
      4 3
5
