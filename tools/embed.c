/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c: turns files into one C table, so that the library carries its preludes inside itself.
 *
 *   embed PREFIX FILE...  > embedded.c
 *
 * Each FILE becomes a row of `embedded_files` (see base/embedded.h), named by its path without PREFIX; NAME=FILE is the row
 * NAME. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 2) return 1;
    printf("/* Made by tools/embed.c; do not edit. */\n#include \"base/embedded.h\"\n");
    for (int i = 2; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        FILE *in = fopen(equals ? equals + 1 : argv[i], "rb");
        if (!in) {
            perror(argv[i]);
            return 1;
        }
        printf("static const unsigned char file%d[] = {", i);
        int c;
        for (long n = 0; (c = fgetc(in)) != EOF; n++) printf("%s%d,", n % 24 ? "" : "\n", c);
        printf("0};\n");
        fclose(in);
    }
    printf("const EmbeddedFile embedded_files[] = {\n");
    size_t prefix = strlen(argv[1]);
    for (int i = 2; i < argc; i++) {
        const char *equals = strchr(argv[i], '='), *name = equals ? argv[i] : argv[i] + prefix;
        printf("    {\"%.*s\", (const char *)file%d, sizeof file%d - 1},\n", equals ? (int)(equals - name) : 1000, name, i, i);
    }
    printf("    {0, 0, 0}};\n");
    return 0;
}
