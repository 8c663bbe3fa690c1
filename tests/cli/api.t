# requires: cc c++ nm
# The public header stands alone in C99 and C++11, the library exports what it declares and nothing else, the example runs.
$ cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc "$ROOT/include/tilewright.h"
$ c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc++ "$ROOT/include/tilewright.h"
$ B=$(dirname "$(command -v tilewright)"); nm -D --defined-only "$B/libtilewright.so" | sed 's/.* //' | sort > exported; grep -o '^TW_API [^;]*(' "$ROOT/include/tilewright.h" | sed 's/(.*//; s/.*[ *]//' | sort > declared; diff exported declared && test -s declared && echo equal
equal
#! The static archive too: a program may have any other name for itself.
$ B=$(dirname "$(command -v tilewright)"); nm -g --defined-only "$B/libtilewright.a" | awk 'NF == 3 { print $3 }' | sort | diff - declared && echo equal
equal
$ cp $ROOT/kernels/triton/add.py .
$ cat > names.c <<'END'
> #include <stdio.h>
> #include <tilewright.h>
> long file_size(const char *path) { return path ? 7 : 8; }
> long file_read(const char *path, void *bytes, long size) { return path && bytes ? size : 9; }
> void *arena_alloc(size_t size) { return size ? (void *)&file_size : NULL; }
> int eval(int x) { return x + 1; }
> int ir_print = 3, ice = 4, diag_emit = 5;
> int main(void) {
>     tw_context *context = NULL;
>     tw_module *module = NULL;
>     int status = tw_context_create(NULL, &context);
>     if (!status) status = tw_module_load_file(context, "add.py", NULL, &module);
>     printf("%s: %d kernel, %d, %ld\n", tw_status_text(status), (int)tw_module_kernel_count(module),
>            eval(ir_print), arena_alloc(1) ? file_size("") : file_read(0, 0, 0));
>     tw_module_destroy(module);
>     tw_context_destroy(context);
>     return status;
> }
> END
$ B=$(dirname "$(command -v tilewright)"); cc -I"$ROOT/include" names.c "$B/libtilewright.a" -lm -ldl -lpthread -o names && ./names
success: 1 kernel, 4, 7
$ test $(wc -l < "$ROOT/examples/vector_add.c") -lt 40 && echo short
short
$ B=$(dirname "$(command -v tilewright)"); cc -I"$ROOT/include" "$ROOT/examples/vector_add.c" "$B/libtilewright.a" -lm -ldl -lpthread -o add && ./add
999 + 1000 = 1999

$ B=$(dirname "$(command -v tilewright)"); cc -I"$ROOT/include" "$ROOT/examples/tile_c.c" "$B/libtilewright.a" -lm -ldl -lpthread -o tile_c && ./tile_c "$ROOT/kernels/tilec" && ./tile_c "$ROOT/kernels/tilec" interp
matmul 200x130x100: right
attention of 150 queries: right
matmul 200x130x100: right
attention of 150 queries: right