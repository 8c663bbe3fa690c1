# requires: cc c++ nm
# The public header stands alone in C99 and C++11, the library exports what it declares and nothing else, the example runs.
$ cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc "$ROOT/include/tilewright.h"
$ c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc++ "$ROOT/include/tilewright.h"
$ B=$(dirname "$(command -v tilewright)"); nm -D --defined-only "$B/libtilewright.so" | sed 's/.* //' | sort > exported; grep -o '^TW_API [^;]*(' "$ROOT/include/tilewright.h" | sed 's/(.*//; s/.*[ *]//' | sort > declared; diff exported declared && test -s declared && echo equal
equal
$ test $(wc -l < "$ROOT/examples/vector_add.c") -lt 40 && echo short
short
$ B=$(dirname "$(command -v tilewright)"); cc -I"$ROOT/include" "$ROOT/examples/vector_add.c" "$B/libtilewright.a" -lm -ldl -lpthread -o add && ./add
999 + 1000 = 1999
