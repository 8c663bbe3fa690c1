# Tilewright: the compiler needs a C11 compiler and make; emulator and Tensix model also a C++ compiler at run time.
#
#   make          build/tilewright, build/libtilewright.a, build/libtilewright.so
#   make test     everything that can be tested here
#   make SAN=1 B=build/asan ...    the same with ASan + UBSan
B      ?= build
CC     ?= cc
CFLAGS ?= -O2 -g
WARN   := -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifdef SAN
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ALLCFLAGS := $(WARN) $(CFLAGS) $(SANFLAGS) -fPIC -fvisibility=hidden -Iinclude -Isrc -I$(B)/gen
LDLIBS := -lm -ldl -lpthread

LIB_SRC := $(sort $(filter-out src/cli/%,$(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/gen/embedded.o
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
UNIT    := $(patsubst tests/unit/%.c,$(B)/tests/%,$(sort $(wildcard tests/unit/test_*.c)))
# Files that the library carries inside itself, because the emitted code needs them at run time: every file below a
# folder named "prelude" or "include" under src/target.
EMBED   := $(sort $(shell find src/target -type f \( -path '*/prelude/*' -o -path '*/include/*' \) 2>/dev/null))

all: $(B)/libtilewright.a $(B)/libtilewright.so $(if $(CLI_SRC),$(B)/tilewright)

$(B)/libtilewright.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^
$(B)/libtilewright.so: $(LIB_OBJ)
	$(CC) $(SANFLAGS) -shared -o $@ $^ $(LDLIBS)
$(B)/tilewright: $(CLI_OBJ) $(B)/libtilewright.a
	$(CC) $(SANFLAGS) -rdynamic -o $@ $^ $(LDLIBS)

$(B)/%.o: %.c | gen
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -MMD -MP -c -o $@ $<
$(B)/tests/%: tests/unit/%.c $(B)/libtilewright.a
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -Itests/unit -MMD -MP -MF $@.d -o $@ $< $(B)/libtilewright.a $(LDLIBS)

.PHONY: gen
gen: $(B)/gen/embedded.c
$(B)/gen/embedded.c: tools/embed.c $(EMBED) Makefile
	@mkdir -p $(@D)
	$(CC) -std=c11 -O1 -o $(B)/gen/embed tools/embed.c
	$(B)/gen/embed src/target/ $(EMBED) > $@.tmp && mv $@.tmp $@
$(B)/gen/embedded.o: $(B)/gen/embedded.c
	$(CC) $(ALLCFLAGS) -c -o $@ $<

unit: $(UNIT)
	@for t in $(UNIT); do echo "== $$t"; $$t || exit 1; done

clean:
	rm -rf build
.PHONY: all unit clean
-include $(shell find $(B) -name '*.d' 2>/dev/null)
