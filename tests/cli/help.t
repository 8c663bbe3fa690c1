# help of every command; unknown words.
$ tilewright help
tilewright: compiles tile kernels written in Triton's language, TileLang's, or Tile C

  tilewright run        FILE[:KERNEL] [options]    compile a kernel and run it
  tilewright check      FILE[:KERNEL] [options]    run a kernel and compare with the interpreter, or with given arrays; without --arg only compile
  tilewright emit       FILE[:KERNEL] [options]    print or write the generated source, plan and report
  tilewright ir         FILE[:KERNEL] [options]    print the IR
  tilewright explain    FILE[:KERNEL] [options]    say what the compiler proved and chose
  tilewright bench      FILE[:KERNEL] [options]    time a kernel over shapes and targets, beside what the machine can do
  tilewright tune       FILE[:KERNEL] [options]    find the fastest constants and options of a kernel
  tilewright build      FILE[:KERNEL] [options]    compile kernels into an object or archive and a C header, to be linked into programs
  tilewright cache                                 say what the cache of compiled kernels holds, or make it hold less
  tilewright list       FILE                       list the kernels of a file, their parameters and configurations
  tilewright targets                               list the targets, and what runs them here
  tilewright docs       [TOPIC]                    print a page of the manual: ops, options, triton, tilelang, tile-c
  tilewright man                                   print the man page: `tilewright man > tilewright.1`
  tilewright completion bash|zsh                   print what a shell needs to complete commands and options
  tilewright version                               print the version
  tilewright help       [COMMAND]                  print this, or the options of a command

`tilewright COMMAND --help` lists the options of a command.
Exit status: 0 it ran and matched, 1 a mismatch or a mistake, 2 a fault of Tilewright.
$ tilewright --help | head -n 1
tilewright: compiles tile kernels written in Triton's language, TileLang's, or Tile C
$ tilewright --version
tilewright 0.1.0
$ tilewright help run
tilewright run FILE[:KERNEL] [options]: compile a kernel and run it

  --target T              what to compile for (see `tilewright targets`); default cpu
  --emulate               run a GPU target's emitted text on the host
  -D NAME=VALUE           a definition: a constant of the source, or of the kernel's parameters
  -I FOLDER               a folder for headers and imported files, beside the source's own
  --include-anywhere      the source may include files of any folder
  --arg NAME=SPEC         an argument: a number, true, false, none, a string, Python in brackets ((64, 32), (relu)), or an array:
                          randn|rand|randint(N)|zeros|ones|empty|arange|full(V):DTYPE[EXTENTS], file:X.npy[:DTYPE];
                          where nothing is run also a type: '*f32' an array of them, i32 a number
  --config N              constants and options of the kernel's Nth configuration (see `tilewright list`)
  --set OPTION=VALUE      a compile option (see `tilewright docs options`)
  --grid X[,Y[,Z]]        the grid: numbers or expressions, as in 'cdiv(n, BLOCK)'
  --save NAME=FILE.npy    write an array after the run
  --seed N                seed of random arrays; default 0
  --sanitize              run on the interpreter and report wrong accesses and races
  --max-steps N           with --sanitize: stop after so many element operations; default 10^10
  --time                  print the median time of a launch
  --time-passes           print the time of every step of the compiler
  --tuned FILE            constants and options that `tilewright tune` chose; default: $TILEWRIGHT_TUNED
  --json                  print it as JSON, and what goes wrong too, an object a line
  --verify-each           check the IR after every pass
  --color WHEN            colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)
  --help                  print this
$ tilewright check --help
tilewright check FILE[:KERNEL] [options]: run a kernel and compare with the interpreter, or with given arrays; without --arg only compile

  --target T              what to compile for (see `tilewright targets`); default cpu
  --emulate               run a GPU target's emitted text on the host
  -D NAME=VALUE           a definition: a constant of the source, or of the kernel's parameters
  -I FOLDER               a folder for headers and imported files, beside the source's own
  --include-anywhere      the source may include files of any folder
  --arg NAME=SPEC         an argument: a number, true, false, none, a string, Python in brackets ((64, 32), (relu)), or an array:
                          randn|rand|randint(N)|zeros|ones|empty|arange|full(V):DTYPE[EXTENTS], file:X.npy[:DTYPE];
                          where nothing is run also a type: '*f32' an array of them, i32 a number
  --config N              constants and options of the kernel's Nth configuration (see `tilewright list`)
  --set OPTION=VALUE      a compile option (see `tilewright docs options`)
  --grid X[,Y[,Z]]        the grid: numbers or expressions, as in 'cdiv(n, BLOCK)'
  --save NAME=FILE.npy    write an array after the run
  --expect NAME=FILE.npy  compare with this array, not with the interpreter
  --tolerance T           largest error, relative to the array's largest magnitude (or 1)
  --seed N                seed of random arrays; default 0
  --sanitize              run on the interpreter and report wrong accesses and races
  --max-steps N           with --sanitize: stop after so many element operations; default 10^10
  --time                  print the median time of a launch
  --time-passes           print the time of every step of the compiler
  --tuned FILE            constants and options that `tilewright tune` chose; default: $TILEWRIGHT_TUNED
  --json                  print it as JSON, and what goes wrong too, an object a line
  --verify-each           check the IR after every pass
  --color WHEN            colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)
  --help                  print this
$ tilewright emit -h
tilewright emit FILE[:KERNEL] [options]: print or write the generated source, plan and report

  --target T              what to compile for (see `tilewright targets`); default cpu
  --emulate               run a GPU target's emitted text on the host
  -D NAME=VALUE           a definition: a constant of the source, or of the kernel's parameters
  -I FOLDER               a folder for headers and imported files, beside the source's own
  --include-anywhere      the source may include files of any folder
  --arg NAME=SPEC         an argument: a number, true, false, none, a string, Python in brackets ((64, 32), (relu)), or an array:
                          randn|rand|randint(N)|zeros|ones|empty|arange|full(V):DTYPE[EXTENTS], file:X.npy[:DTYPE];
                          where nothing is run also a type: '*f32' an array of them, i32 a number
  --config N              constants and options of the kernel's Nth configuration (see `tilewright list`)
  --set OPTION=VALUE      a compile option (see `tilewright docs options`)
  --time-passes           print the time of every step of the compiler
  --tuned FILE            constants and options that `tilewright tune` chose; default: $TILEWRIGHT_TUNED
  -o DIR                  write the files there
  --assembly              the assembler text too: PTX for target cuda (needs NVRTC, no device)
  --passes A,B            run just these passes
  --stop-after PASS       the last pass to run
  --verify-each           check the IR after every pass
  --color WHEN            colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)
  --help                  print this
$ tilewright ir --help
tilewright ir FILE[:KERNEL] [options]: print the IR

  --target T              what to compile for (see `tilewright targets`); default cpu
  --emulate               run a GPU target's emitted text on the host
  -D NAME=VALUE           a definition: a constant of the source, or of the kernel's parameters
  -I FOLDER               a folder for headers and imported files, beside the source's own
  --include-anywhere      the source may include files of any folder
  --arg NAME=SPEC         an argument: a number, true, false, none, a string, Python in brackets ((64, 32), (relu)), or an array:
                          randn|rand|randint(N)|zeros|ones|empty|arange|full(V):DTYPE[EXTENTS], file:X.npy[:DTYPE];
                          where nothing is run also a type: '*f32' an array of them, i32 a number
  --config N              constants and options of the kernel's Nth configuration (see `tilewright list`)
  --set OPTION=VALUE      a compile option (see `tilewright docs options`)
  --time-passes           print the time of every step of the compiler
  --tuned FILE            constants and options that `tilewright tune` chose; default: $TILEWRIGHT_TUNED
  --passes A,B            run just these passes
  --print-after[=PASS]    print the IR after this pass; without =PASS after each that changed it
  --stop-after PASS       the last pass to run
  --verify-each           check the IR after every pass
  --color WHEN            colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)
  --help                  print this
$ tilewright explain --help
tilewright explain FILE[:KERNEL] [options]: say what the compiler proved and chose

  --target T              what to compile for (see `tilewright targets`); default cpu
  --emulate               run a GPU target's emitted text on the host
  -D NAME=VALUE           a definition: a constant of the source, or of the kernel's parameters
  -I FOLDER               a folder for headers and imported files, beside the source's own
  --include-anywhere      the source may include files of any folder
  --arg NAME=SPEC         an argument: a number, true, false, none, a string, Python in brackets ((64, 32), (relu)), or an array:
                          randn|rand|randint(N)|zeros|ones|empty|arange|full(V):DTYPE[EXTENTS], file:X.npy[:DTYPE];
                          where nothing is run also a type: '*f32' an array of them, i32 a number
  --config N              constants and options of the kernel's Nth configuration (see `tilewright list`)
  --set OPTION=VALUE      a compile option (see `tilewright docs options`)
  --time-passes           print the time of every step of the compiler
  --tuned FILE            constants and options that `tilewright tune` chose; default: $TILEWRIGHT_TUNED
  --passes A,B            run just these passes
  --stop-after PASS       the last pass to run
  --json                  print the findings as a JSON array, and what goes wrong as JSON
  --html                  print a page with pictures, for a browser: `... --html > page.html`
  --verify-each           check the IR after every pass
  --color WHEN            colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)
  --help                  print this
$ tilewright help targets
tilewright targets: list the targets, and what runs them here

  --json                  print it as JSON, and what goes wrong too, an object a line
  --color WHEN            colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)
  --help                  print this
$ tilewright help docs
tilewright docs [TOPIC]: print a page of the manual: ops, options, triton, tilelang, tile-c

  --color WHEN            colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)
  --help                  print this
$ tilewright help version
tilewright version: print the version

  --help                  print this
$ tilewright help help
tilewright help [COMMAND]: print this, or the options of a command

  --help                  print this
$ tilewright help emmit
error: unknown command `emmit`; did you mean `emit`?
[1]
$ tilewright explian
error: unknown command `explian`; did you mean `explain`?
[1]
$ tilewright frobnicate
error: unknown command `frobnicate`; see `tilewright help`
[1]
$ tilewright targets now
error: `now` is one word too many
[1]
$ tilewright version --target cpu
error: `--target` does not go with `tilewright version`; it is an option of `run`, `check`, `emit`, `ir`, `explain`, `tune`, `build`
[1]
$ tilewright run a.py --frobnicate
error: unknown option `--frobnicate`; `tilewright run --help` lists them
[1]
$ tilewright run a.py b.py
error: `b.py` is one word too many
[1]
$ tilewright run
error: which file? tilewright run FILE[:KERNEL] [options]
[1]
$ tilewright run a.py --target
error: --target needs a value: --target T
[1]
$ tilewright run a.py --sanitize=yes
error: `--sanitize` takes no value
[1]
$ tilewright docs opts
error: there is no page `opts`; there are ops, options, triton, tilelang and tile-c
[1]
$ tilewright docs options
- `num_warps`: warps a program runs on (GPU targets), of 64 lanes 16 at most; default: the source's, else 4. Takes an integer from 1 to 32.
- `num_stages`: how many loads run ahead; never changes a bit of the result; default: the source's. Takes an integer from 0 to 16.
- `slots`: slots of the rings between load and compute, as far as they fit; 0: num_stages, and more on CUDA where memory is left and that hides the copies; never changes a bit of the result. Takes an integer from 0 to 16.
- `roles`: loads, compute and stores as processes of their own. Takes auto, on or off.
- `persist`: a worker runs many programs. Takes auto, on or off.
- `workers`: how many share the compute role; 0: the compiler chooses. Takes an integer from 0 to 8.
- `cluster`: CUDA: 2: pairs of blocks load the tiles that they share once, by multicast; 1: none; 0: the compiler chooses; never changes a bit of the result. Takes an integer from 0 to 2.
- `rotate`: of two products in a row, the second runs under the next trip's arithmetic; never changes a bit of the result. Takes auto, on or off.
- `gang`: programs that run side by side in a block of a GPU and share what their loops load; 0: the compiler chooses; never changes a bit of the result. Takes an integer from 0 to 4.
- `written`: threads that a kernel names, and the roles of a template, run as they are written, even where they would become operations on tiles; default off. Takes on or off.
- `unproved`: roles that run as they are written do so even if it is not proved that their barriers are right: a mistake in these is then a wrong result; default off: an error. Takes on or off.
- `fuse`: multiply-adds are rounded once; default on. Takes on or off.
- `asserts`: `assert` and `tl.device_assert` of Triton kernels stop a launch; default on, in Python off unless debug. Takes on or off.
- `overflow`: `+`, `-` and `*` of integers below 64 bits in Triton kernels stop a launch where the result does not fit its type, as asserts do; default off, in Python on with debug. Takes on or off.
- `lines`: CUDA: profilers (ncu) and debuggers show the kernel's own source; default off. Takes on or off.
- `variant`: how little is assumed of the arguments: 0 all that most launches keep (tested at each; one that does not runs the next variant), 5 nothing. Takes an integer from 0 to 5.
- `overlap`: arrays of a launch may overlap where one is written; off: that is tested at each launch, and one whose arrays do runs a variant of its own; default off. Takes on or off.
- `launch_pdl`: CUDA: a launch may begin before the one before it on its stream has ended (programmatic dependent launch), if the kernel waits for that itself (tl.extra.cuda.gdc_wait); default off. Takes on or off.
- `cooperative`: all programs of a launch run at once, so that they may wait for each other: on GPUs alone, and a launch of more than the GPU holds fails; default off. Takes on or off.
- `maxnreg`: CUDA: registers of a thread, at most; 0: the assembler chooses; other targets have none to count. Takes an integer from 0 to 255.
- `threads`: threads of a launch on the CPU, workers on the interpreter; 0: all. Takes an integer from 0 to 256.
- `vector_bits`: widest vectors of CPU code; 0: the machine's; changes no bit of a sum or product, but below 512 there are no bf16_pairs. Takes 0, 128, 256 or 512.
- `bf16_pairs`: matmul loops of bf16 on a CPU with AMX or AVX-512 BF16 use its products of pairs: many times as fast, but not bit for bit what other machines compute; default on. Takes on or off.
- `seed`: the interpreter's choice of all orders that the IR leaves open, and in which writes land on the model of Tenstorrent; 0: the plain ones. Takes an integer.
- `passes`: the interpreter runs the kernel behind the passes, in ring form where there is one, not as its language made it; default off. Takes on or off.
- `max_steps`: steps after which a simulated launch stops with a message: element operations of the interpreter (0: 10^10 when sanitized), steps of a block that writes nothing new on the CUDA emulator, of a launch on the model of Tenstorrent; 0: a generous default, with the interpreter a number of steps for each program. Takes an integer.
- `cores`: Tensix cores of a launch on Tenstorrent; 0: all; never changes a bit of the result. Takes an integer from 0 to 130.
- `fidelity`: passes of Tenstorrent's multiplier (LoFi, HiFi2, HiFi3, HiFi4); default 4. Takes an integer from 1 to 4.
- `model`: Tenstorrent: count: the model only checks and counts, results stay as they were, and a report says what was moved and how long it would take; default full. Takes auto, full or count.
- `report`: Tenstorrent: a launch says what was moved, who computed what, and how long it would take by the cost model; default off, on the command line on. Takes on or off.
- `multicast`: Tenstorrent: pages that all cores of a row or column of the grid need are read by one and sent to the others; auto: where tasks lie on a rectangle of cores; on: an error where nothing can be shared; never changes a bit of the result. Takes auto, on or off.
- `join`: Tenstorrent: so many neighbouring tasks become one, along the last index but one and the last, and load once what they share; 1x1: none do; default: those of a core in a launch, as far as they fit; sums are then rounded as those of larger blocks are. Takes rows x columns, each up to 8, as 4x4.
- `policy`: Tenstorrent: how tasks are dealt out to cores: stretches, every so-manieth, a rectangle of cores with a block each, blocks of `block` in turn; auto: rect where loads are shared, else contiguous; never changes a bit of the result. Takes auto, contiguous, strided, rect or block_linear.
- `order`: Tenstorrent: in which order tasks of two indices are numbered, on a rectangle those of each core, or with match_shard where the shards of a tensor lie; auto: row_major, or match_shard where nothing else is asked for and no load is shared; never changes a bit of the result. Takes auto, row_major, column_major, z_order or match_shard.
- `block`: Tenstorrent: tasks of a block of policy block_linear; default 1. Takes an integer from 1 to 1048576.
- `core_grid`: Tenstorrent: the rectangle of cores to be used, from the first one on; default: all. Takes columns x rows, as 8x8.
- `chunk`: Tenstorrent: tiles along K of a product's operands that are on their way at once: that many, divided by those of an item, are the slots of its ring; items are made no longer than half of it (nest). Takes an integer from 1 to 1024.
- `nest`: Tenstorrent: so many trips of a loop that adds up products or sums become one, at most; 1: none do; default 0: as many as cost least; sums are then rounded as those of larger blocks are. Takes an integer from 0 to 16.
- `cb_depths`: Tenstorrent: slots of the circular buffers of rings, by the names that explain shows; never changes a bit of the result. Takes ring:slots, separated by commas, as in:3,out:2.
- `sharding`: Tenstorrent: where tensors lie: interleaved over the banks of DRAM (dram, interleaved) or over the L1 of all cores (l1), or in parts in the L1 of cores: height, width or block, with grid=columns x rows of cores and order=row_major or column_major behind it; never changes a bit of the result. Takes parameter=layout, separated by commas, as A=l1,B=block;grid=4x2.
$ tilewright targets
cpu            C through the system's compiler, threads over the grid
...
interp         the IR interpreter, which defines what a kernel means; sanitized it is the safe way to run one
               here: built in
...
