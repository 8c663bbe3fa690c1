# Tilewright: the compiler needs a C11 compiler and make; emulator and Tensix model also a C++ compiler at run time.
#
#   make              build/tilewright, build/libtilewright.a, build/libtilewright.so
#   make demo         the kernels of kernels/ on every target that is present, with errors and times
#   make test         everything that can be tested here; lists what it skipped
#   make bench        the CPU target against C loops, OpenBLAS, oneDNN and torch, as far as they are here
#   make python       build/python: the Python package, for PYTHONPATH (`pip install .` installs it)
#   make bless        rewrites expected outputs and generated pages; look at the diff
#   make measures     memory and time of the compiler itself
#   make check-gpu    the numeric matrix, all operations, options drawn at random and random programs, on a device
#   make check-gpu-faults      kernels that trap, stray and do not end, on a device
#   make check-gpu-sanitizer   the numeric tests on a device under compute-sanitizer: memcheck and racecheck
#   make bench-gpu    the CUDA target against Triton, torch, cuBLAS and cuDNN on a device
#   make install PREFIX=/usr/local      command, library, header, files for pkg-config and CMake; `make uninstall` takes them away
#   make clean        removes what make has made; `make distclean` also what the tests have fetched
#   make SAN=1 B=build/asan ...    the same with ASan + UBSan
B      ?= build
CC     ?= cc
HOST_CC ?= $(CC)# for what runs while building: make CC=aarch64-linux-gnu-gcc HOST_CC=cc OBJCOPY=aarch64-linux-gnu-objcopy
CFLAGS ?= -O2 -g
WERROR ?=# tests/all.sh sets -Werror: a warning of a compiler that we have not seen stops nobody's build
WARN   := -std=c11 -D_GNU_SOURCE -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat-security
# The tests see inside the library, by an archive of the plain objects. Under the sanitizers those are ten times as large,
# and eighty programs share a library of them instead.
INSIDE  := $(B)/libinside.a
VISIBLE := hidden
ifdef SAN
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
INSIDE   := $(B)/libinside.so
VISIBLE  := default
endif
# What is built does not say in which folder: the same sources make the same bytes.
PLACELESS := -ffile-prefix-map=$(CURDIR)=.
ALLCFLAGS := $(WARN) $(CFLAGS) $(SANFLAGS) $(PLACELESS) -fPIC -fvisibility=$(VISIBLE) -Iinclude -Isrc -I$(B)/gen
TESTFLAGS := $(ALLCFLAGS) -O0 -Itests/unit # the time of tests is that of the library, and of compiling them; those of numbers have references, too
LDLIBS := -lm -ldl -lpthread
COMMA  := ,
BESIDE := $(if $(SAN),-Wl$(COMMA)-rpath$(COMMA)'$$ORIGIN/..')# where a test finds libinside.so
LINK := $(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS)# -fsanitize=, -flto and their like are for the linker too
OBJCOPY ?= objcopy
LTO_TO_CODE = $(if $(findstring clang,$(shell $(CC) --version)),,-flinker-output=nolto-rel)

LIB_SRC := $(sort $(filter-out src/cli/%,$(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/gen/embedded.o
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
UNIT    := $(patsubst tests/unit/%.c,$(B)/tests/%,$(sort $(wildcard tests/unit/test_*.c)))
NUMERIC := $(patsubst tests/numeric/%.c,$(B)/tests/%,$(sort $(filter-out %/prelude_check.c,$(wildcard tests/numeric/*.c))))
# Files that the library carries inside itself, because the emitted code needs them at run time: every file below a
# folder named "prelude" or "include" under src/target.
EMBED   := $(sort $(shell find src/target -type f \( -path '*/prelude/*' -o -path '*/include/*' \) 2>/dev/null))

all: $(B)/libtilewright.a $(B)/libtilewright.so $(if $(CLI_SRC),$(B)/tilewright)

# A program that links the archive has names of its own (file_size, eval, ...): the archive is one object whose hidden
# names are local to it. With -flto the compiler makes machine code of it first.
$(B)/libtilewright.a: $(LIB_OBJ)
	@rm -f $@
	$(CC) $(CFLAGS) $(if $(findstring -flto,$(CFLAGS)),$(LTO_TO_CODE)) -r -nostdlib -o $(B)/tilewright.o $^
	$(OBJCOPY) --localize-hidden $(B)/tilewright.o
	$(AR) rcs $@ $(B)/tilewright.o
$(B)/libinside.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^
# Numbers and meanings of the interface stay within a major version: it is the one in the name that programs look for.
VERSION := $(shell sed -n 's/^.define TW_VERSION_[A-Z]* //p' include/tilewright.h | paste -sd.)
SONAME  := libtilewright.so.$(firstword $(subst ., ,$(VERSION)))
SOFILE  := libtilewright.so.$(VERSION)
$(B)/libinside.so: $(LIB_OBJ)
	$(LINK) -shared -Wl,-soname,libinside.so -o $@ $^ $(LDLIBS)
$(B)/libtilewright.so: $(LIB_OBJ)
	$(LINK) -shared -Wl,-soname,$(SONAME) -o $(B)/$(SOFILE) $^ $(LDLIBS)
	ln -sf $(SOFILE) $(B)/$(SONAME)
	ln -sf $(SONAME) $@
$(B)/tilewright: $(CLI_OBJ) $(B)/libtilewright.a
	$(LINK) -rdynamic -o $@ $^ $(LDLIBS)

$(B)/%.o: %.c | gen
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -MMD -MP -c -o $@ $<
$(B)/tests/%: tests/unit/%.c $(INSIDE)
	@mkdir -p $(@D)
	$(CC) $(TESTFLAGS) -MMD -MP -MF $@.d -o $@ $< $(filter %.o,$^) $(INSIDE) $(BESIDE) $(LDLIBS)
# The command line but for its table of commands, which the manual prints.
$(B)/tests/test_fuzz: $(filter-out %/main.o %/command_manual.o,$(CLI_OBJ))
$(B)/tests/test_layout_text: | $(B)/tilewright

.PHONY: gen
gen: $(B)/gen/embedded.c
# Texts of the library itself go along too: the special functions, and
# those of a kernel that is built ahead of time: its pool, and what its numbers mean.
OWN_TEXTS := $(addprefix base/,allocator.h fiber.c fiber.h scalar_ops.h speech_line.h) \
  $(addprefix runtime/,launch/pool.c launch/pool.h target/cpu_beside.c target/cpu_beside.h)
$(B)/gen/embedded.c: tools/embed.c $(EMBED) src/base/special.h $(OWN_TEXTS:%=src/%) Makefile
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O1 -o $(B)/gen/embed tools/embed.c
	$(B)/gen/embed src/target/ $(EMBED) $(foreach at,cpu/prelude simt/include,$(at)/special.h=src/base/special.h) $(foreach at,$(OWN_TEXTS),cpu/include/$(at)=src/$(at)) hip/prelude/vmath.h=src/target/cpu/prelude/vmath.h hip/prelude/special.h=src/base/special.h > $@.tmp && mv $@.tmp $@
$(B)/gen/embedded.o: $(B)/gen/embedded.c
	$(CC) $(ALLCFLAGS) -c -o $@ $<

units: $(UNIT)
unit: units
	@printf '%s\n' $(UNIT) | xargs -P $${JOBS:-$$(nproc)} -n 1 tests/run_unit.sh
tests: $(UNIT) $(NUMERIC) $(B)/tests/pytree

# Threads of the runtime under ThreadSanitizer. The rest of the library has none, and is as it is.
TSAN_OBJ := $(patsubst %.c,$(B)/tsan/%.o,$(filter src/runtime/% src/base/cancel.c src/base/arena.c,$(LIB_SRC)))
$(B)/tsan/%.o: %.c | gen
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -O1 -g1 -fsanitize=thread -Wno-tsan -MMD -MP -c -o $@ $<
$(B)/tsan/test_threads: tests/unit/test_threads.c $(TSAN_OBJ) $(B)/libinside.a
	$(CC) $(TESTFLAGS) -fsanitize=thread -MMD -MP -MF $@.d -o $@ $^ $(LDLIBS)

$(B)/tests/pytree: tests/syntax/pytree.c $(INSIDE)
	@mkdir -p $(@D)
	$(CC) $(TESTFLAGS) -MMD -MP -MF $@.d -o $@ $< $(INSIDE) $(BESIDE) $(LDLIBS)
$(NUMERIC): $(B)/tests/%: tests/numeric/%.c $(INSIDE)
	@mkdir -p $(@D)
	$(CC) $(TESTFLAGS) -O1 -MMD -MP -MF $@.d -o $@ $< $(INSIDE) $(BESIDE) $(LDLIBS)

# The Python package, as `pip install .` makes it, but from the tree: PYTHONPATH=build/python.
PYTHON    ?= python3
PY_MODULE := $(B)/python/tilewright/_native.abi3.so
PY_OBJ    := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard python/native/*.c)))
PY_FILES  := $(shell find python/tilewright -name '*.py' 2>/dev/null)
$(PY_OBJ): ALLCFLAGS += -I$(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
$(PY_MODULE): $(PY_OBJ) $(B)/libtilewright.a
	@mkdir -p $(@D)
	$(LINK) -shared -Wl,--exclude-libs,ALL -o $@ $^ $(LDLIBS)
$(B)/python/.copied: $(PY_FILES)
	@mkdir -p $(B)/python
	@cd python && find tilewright -name '*.py' | cpio -pdmu --quiet $(abspath $(B))/python 2>/dev/null || \
	  { cd .. && cp -R python/tilewright $(B)/python/; }
	@touch $@
python: $(PY_MODULE) $(B)/python/.copied

test:
	@tests/all.sh
# The whole products, over all processors.
test-long: all $(NUMERIC) $(B)/tests/test_access $(B)/tests/test_sweep $(B)/tests/test_layout_text
	tests/all.sh
	tests/random_long.sh 20000
	$(B)/tests/test_sweep --all
	tests/shards.sh 0 $(B)/tests/matrix --targets interp,cpu,emulated,tenstorrent --random 20
	tests/shards.sh 0 $(B)/tests/matrix --targets hip,rdna --random 4
	for arch in gfx90a gfx942 gfx1100; do tests/shards.sh 0 $(B)/tests/ops --target hip-emulated:$$arch || exit 1; done
	tests/shards.sh 0 $(B)/tests/random_triton --count 400 --seed $${TILEWRIGHT_SEED:-1} --targets hip-emulated --also hip-emulated:gfx1100 --every 2
	tests/shards.sh 0 $(B)/tests/property --targets interp,cpu --all
	tests/shards.sh 0 $(B)/tests/ops --all
	tests/shards.sh 0 python3 tests/metalium/kernels.py
	tests/shards.sh 0 $(B)/tests/tilec_products --targets interp,cpu,emulated,tenstorrent
	tests/shards.sh 0 $(B)/tests/tilec_kernels --targets interp,cpu,emulated,tenstorrent
	python3 tests/wild/run.py --every
	for plan in "cuda" "cuda --set num_warps=8" "cuda --set num_warps=1" "cuda --set roles=off" "cuda:sm_80 --set num_stages=3" "cuda --set variant=1"; do python3 tests/wild/scheduled.py --plans "$$plan" || exit 1; done
	python3 tests/emu/deletions.py
	tests/cross/whole.sh
	for flags in -O0 -Og -Os -O3 "-O2 -flto=auto" "-O1 -fsanitize=thread"; do $(MAKE) -s WERROR=-Werror B=build/flags CFLAGS="$$flags" all && rm -rf build/flags || exit 1; done
	$(MAKE) -s $(B)/tests/pytree && python3.11 tests/syntax/compare_ast.py $(B)/tests/pytree
	TILEWRIGHT_CASES=10000 $(B)/tests/test_access
	TILEWRIGHT_WHOLE=1 $(B)/tests/test_layout_text
demo:
	@$(MAKE) -s -j$$(nproc) all $(B)/tests/matrix
	@CXX_PRESENT=$$(command -v $${CXX:-g++} || command -v clang++ || command -v c++); \
	  GPU=$$(test -e /dev/nvidia0 && echo ,cuda); \
	  $(B)/tests/matrix --demo --seed 1 --bin $(B) --targets interp,cpu$${CXX_PRESENT:+,emulated,tenstorrent}$$GPU
check-gpu: all $(B)/tests/matrix $(B)/tests/ops $(B)/tests/property $(B)/tests/random_triton
	tests/shards.sh 0 $(B)/tests/matrix --bin $(B) --targets cuda --random 1
	tests/shards.sh 0 $(B)/tests/ops --target cuda
	tests/shards.sh 0 $(B)/tests/property --targets cuda --draws 5
	tests/shards.sh 0 $(B)/tests/random_triton --targets cuda --count 100 --seed $${TILEWRIGHT_SEED:-1} --out $(B)/random
	sh tests/gpu/check_prelude.sh $(B)
	python3 tests/wild/run.py --targets device --every --bin $(B)
	python3 tests/wild/run.py --targets device --kernels tests/gpu/kernels.txt --bin $(B)
	@if $(MAKE) -s python && $(PYTHON) -c 'import torch, pytest'; then \
	  PYTHONPATH=$(B)/python $(PYTHON) -m pytest -q -p no:cacheprovider tests/python/test_cuda.py; \
	else echo "skipped: CUDA tensors in Python (needs Python's headers, torch and pytest)"; fi
check-gpu-faults: all
	python3 tests/run.py --bin $(B) tests/gpu/faults.t
check-gpu-sanitizer: all $(B)/tests/matrix $(B)/tests/ops $(B)/tests/property $(B)/tests/random_triton
	tests/gpu/sanitizer.sh $(B)
measures: all
	@tests/measures.sh $(B)
fuzz:
	$(MAKE) B=build/asan SAN=1 CFLAGS="-O1 -g" build/asan/tests/test_fuzz
	tests/shards.sh 0 build/asan/tests/test_fuzz --seconds $${SECONDS_TO_FUZZ:-600} --seed $$(date +%s)
BENCH := $(patsubst %.c,$(B)/%.o,$(sort $(filter-out bench/gpu_% bench/launch.c,$(wildcard bench/*.c))))
$(B)/bench/hand.o $(B)/bench/hand_moves.o: ALLCFLAGS += -O3 -march=native
$(B)/bench_cpu: $(BENCH) $(B)/libtilewright.a
	$(LINK) -o $@ $^ $(LDLIBS)
bench: $(B)/bench_cpu
	$(B)/bench_cpu $(BENCHFLAGS)
$(B)/bench_launch: $(B)/bench/launch.o $(B)/libtilewright.a
	$(LINK) -o $@ $^ $(LDLIBS)
$(B)/bench_gpu_launch: $(B)/bench/gpu_launch.o $(B)/libtilewright.a
	$(LINK) -o $@ $^ $(LDLIBS)
# Kernels built ahead of time, beside the driver's own launch of the same; --wrap: the program sees what they ask of the driver.
$(B)/bench/built_add.o: kernels/triton/add.py | $(B)/tilewright
	@mkdir -p $(@D)
	$(B)/tilewright build $< --name built_add $(foreach a,x_ptr y_ptr output_ptr,--arg '$a=*f32') --arg n_elements=i32 -D BLOCK_SIZE=1024 --target cuda --isa sm_90a -o $(@:.o=)
$(B)/bench/built_matmul.o: kernels/triton/matmul.py | $(B)/tilewright
	@mkdir -p $(@D)
	$(B)/tilewright build $< --name built_matmul $(foreach a,a b c,--arg '$a_ptr=*bf16') $(foreach n,M N K stride_am stride_ak stride_bk stride_bn stride_cm stride_cn,--arg $n=i32) -D BM=128 -D BN=128 -D BK=64 --target cuda --isa sm_90a -o $(@:.o=)
$(B)/bench_gpu_built: bench/gpu_built.c $(B)/bench/built_add.o $(B)/bench/built_matmul.o
	$(CC) $(ALLCFLAGS) -I$(B)/bench -Wl,--wrap=dlsym -o $@ $^ -ldl -lpthread
bench-gpu: all $(B)/bench_gpu_launch $(B)/bench_gpu_built
	-@$(MAKE) -s python
	$(PYTHON) bench/gpu.py $(BENCHFLAGS)
bless: all
	python3 tests/run.py --bless
	python3 tests/golden/cuda.py --bless
	for page in ops options triton tilelang tile-c; do $(B)/tilewright docs $$page > docs/$$page.md; done
	python3 tools/file_table.py

PREFIX ?= /usr/local
INSTALLED := bin/tilewright share/man/man1/tilewright.1 share/bash-completion/completions/tilewright \
  share/zsh/site-functions/_tilewright include/tilewright.h lib/pkgconfig/tilewright.pc \
  lib/cmake/tilewright/tilewright-config.cmake lib/cmake/tilewright/tilewright-config-version.cmake \
  $(addprefix lib/,libtilewright.a libtilewright.so $(SONAME) $(SOFILE))
install: all
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include lib/pkgconfig lib/cmake/tilewright \
  share/man/man1 share/bash-completion/completions share/zsh/site-functions)
	install -m 755 $(B)/tilewright $(DESTDIR)$(PREFIX)/bin
	$(B)/tilewright man > $(DESTDIR)$(PREFIX)/share/man/man1/tilewright.1
	$(B)/tilewright completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tilewright
	$(B)/tilewright completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_tilewright
	install -m 644 $(B)/libtilewright.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(B)/$(SOFILE) $(DESTDIR)$(PREFIX)/lib
	ln -sf $(SOFILE) $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libtilewright.so
	install -m 644 include/tilewright.h $(DESTDIR)$(PREFIX)/include
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' tools/tilewright.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/tilewright.pc
	for file in config config-version; do sed 's|@VERSION@|$(VERSION)|' tools/tilewright-$$file.cmake.in > \
	  $(DESTDIR)$(PREFIX)/lib/cmake/tilewright/tilewright-$$file.cmake || exit 1; done
# Files of these names, and folders of ours that are empty then; nothing else.
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(INSTALLED))
	-rmdir $(DESTDIR)$(PREFIX)/lib/cmake/tilewright 2>/dev/null

clean:
	rm -rf build
distclean: clean
	rm -rf .venv *.egg-info python/*.egg-info
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
.PHONY: check-gpu-faults all unit units tests python test test-long measures fuzz demo check-gpu check-gpu-sanitizer bench bench-gpu bless install uninstall clean distclean
-include $(shell find $(B) -name '*.d' 2>/dev/null)
