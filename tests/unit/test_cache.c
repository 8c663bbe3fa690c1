/* test_cache.c: the cache on disk: found again, private, broken entries rebuilt, absent and
 * read-only directories, two processes at once; the digest; other programs run without a shell
 * and within their time. */
#include "check.h"
#include "runtime/cache.h"
#include "runtime/digest.h"
#include "runtime/process.h"
#include "tilewright.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "/tmp/tilewright-cache-XXXXXX";

static void test_digest(void) {
    char hex[DIGEST_HEX];
    Digest d;
    digest_begin(&d);
    digest_end_hex(&d, hex);
    CHECK_TEXT(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_begin(&d);
    digest_add(&d, "abc", 3);
    digest_end_hex(&d, hex);
    CHECK_TEXT(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_begin(&d);
    for (int i = 0; i < 1000000 / 50; i++)
        digest_add(&d, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 50);
    digest_end_hex(&d, hex);
    CHECK_TEXT(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_process(void) {
    char output[100];
    const char *echo[] = {"sh", "-c", "echo one; echo two >&2; exit 3", NULL};
    ProcessResult r = process_run(echo, 10, output, sizeof output);
    CHECK(r.started && r.exit_code == 3 && !r.timed_out);
    CHECK_TEXT(output, "one\ntwo\n");
    const char *sleeper[] = {"sh", "-c", "sleep 60 & wait", NULL};
    r = process_run(sleeper, 1, output, sizeof output);
    CHECK(r.timed_out && r.exit_code == -1);
    const char *nobody[] = {"/no/such/program", NULL};
    r = process_run(nobody, 10, output, sizeof output);
    CHECK(!r.started || r.exit_code == 127);
    const char *loud[] = {"sh", "-c",
                          "i=0; while [ $i -lt 5000 ]; do echo 0123456789; i=$((i+1)); done", NULL};
    r = process_run(loud, 30, output, sizeof output);
    CHECK(r.exit_code == 0 && strlen(output) == sizeof output - 1);
    CHECK(process_find("sh", output, sizeof output) && output[0] == '/');
    CHECK(!process_find("no-such-program-here", output, sizeof output));
}

static int count_entries(const char *dir, char *one, size_t capacity) {
    int count = 0;
    DIR *list = opendir(dir);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char path[600];
        struct stat info;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            count += count_entries(path, one, capacity);
        else if (one) {
            snprintf(one, capacity, "%s", path);
            count++;
        } else
            count++;
    }
    if (list) closedir(list);
    return count;
}

static const char text[] = "kernel @k(%x: *f32) { %i = iota<0, 16> ; %p = ptr_add %x, %i ; %a = "
                           "load %p ; %b = add %a, 1.0\n"
                           "  store %p, %b ; return }\n";

/* Compiles and runs; gives the seconds that building took, or -1. */
static double use(const char *dir, float add) {
    tw_context_options options;
    tw_context_options_init(&options);
    options.cache_dir = dir;
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_buffer *b = NULL;
    double seconds = -1;
    int64_t n = 16, grid[3] = {1, 1, 1};
    char changed[300];
    snprintf(changed, sizeof changed, "%s", text);
    char *number = strstr(changed, "1.0");
    number[0] = (char)('0' + (int)add);
    bool ok = tw_context_create(&options, &cx) == TW_OK &&
              tw_module_load_text(cx, "k.ir", changed, strlen(changed), NULL, &m) == TW_OK &&
              tw_kernel_compile(m, NULL, NULL, &k) == TW_OK &&
              tw_buffer_create(cx, TW_F32, 1, &n, NULL, &b) == TW_OK;
    if (ok) {
        tw_arg arg = {TW_ARG_BUFFER, 0, {.buffer = b}};
        ok = tw_kernel_launch(k, NULL, grid, &arg, 1) == TW_OK &&
             ((float *)tw_buffer_data(b))[15] == add;
        tw_pass_info info = {.struct_size = sizeof info};
        for (size_t i = 0; tw_kernel_pass_at(k, i, &info) == TW_OK; i++)
            if (strcmp(info.name, "build") == 0) seconds = info.seconds;
    } else
        fprintf(stderr, "%s\n", tw_context_message(cx));
    tw_buffer_destroy(b);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_context_destroy(cx);
    return ok ? seconds : -1;
}

static void test_found_again(void) {
    char dir[200], entry[600];
    struct stat info;
    snprintf(dir, sizeof dir, "%s/deep/er", root);
    CHECK(use(dir, 1) >= 0);
    CHECK(count_entries(dir, entry, sizeof entry) == 1);
    CHECK(stat(dir, &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK(stat(entry, &info) == 0 && (info.st_mode & 0777) == 0600);
    time_t made = info.st_mtime;
    long number = (long)info.st_ino;
    CHECK(use(dir, 1) >= 0);
    CHECK(stat(entry, &info) == 0 && info.st_mtime == made && (long)info.st_ino == number);
    CHECK(use(dir, 2) >= 0); /* another text, another entry */
    CHECK(count_entries(dir, NULL, 0) == 2);
}

/* Truncated, altered, emptied, replaced by garbage: made again each time, and right. */
static void test_broken(void) {
    char dir[200], entry[600];
    struct stat info;
    snprintf(dir, sizeof dir, "%s/broken", root);
    CHECK(use(dir, 3) >= 0);
    CHECK(count_entries(dir, entry, sizeof entry) == 1);
    CHECK(stat(entry, &info) == 0);
    for (int way = 0; way < 4; way++) {
        int file = open(entry, O_RDWR);
        if (way == 0)
            CHECK(ftruncate(file, info.st_size / 2) == 0);
        else if (way == 1)
            CHECK(pwrite(file, "x", 1, info.st_size / 2) == 1);
        else if (way == 2)
            CHECK(ftruncate(file, 0) == 0);
        else
            CHECK(ftruncate(file, 0) == 0 && write(file, "garbage", 7) == 7);
        close(file);
        CHECK(use(dir, 3) >= 0);
        CHECK(count_entries(dir, NULL, 0) == 1);
        struct stat again;
        CHECK(stat(entry, &again) == 0 && again.st_size == info.st_size);
    }
}

/* A directory that others may write is never loaded from, nor written to. */
static void test_private(void) {
    char dir[200];
    snprintf(dir, sizeof dir, "%s/open", root);
    CHECK(mkdir(dir, 0700) == 0 && chmod(dir, 0777) == 0);
    CHECK(use(dir, 4) >= 0);
    CHECK(count_entries(dir, NULL, 0) == 0);
    chmod(dir, 0700);
    CHECK(use("", 4) >= 0); /* no cache at all */
    CHECK(use("/proc/nowhere", 4) >= 0);
    snprintf(dir, sizeof dir, "%s/readonly", root);
    CHECK(mkdir(dir, 0500) == 0);
    CHECK(use(dir, 4) >= 0);
}

/* Many processes that want the same entry. */
static void test_together(void) {
    char dir[200];
    snprintf(dir, sizeof dir, "%s/together", root);
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) _exit(use(dir, 5) >= 0 ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        waitpid(children[i], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK(count_entries(dir, NULL, 0) == 1);
}

static void test_no_compiler(void) {
    char *old_cc = getenv("CC") ? strdup(getenv("CC")) : NULL, *old_path = strdup(getenv("PATH"));
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_module_load_text(cx, "k.ir", text, strlen(text), NULL, &m) == TW_OK);
    unsetenv("CC");
    setenv("PATH", "/no/such/folder", 1);
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) == TW_ERROR_UNAVAILABLE);
    CHECK(strstr(tw_context_message(cx), "gcc, clang, cc") != NULL);
    setenv("PATH", old_path, 1);
    setenv("CC", "no-such-cc", 1);
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) == TW_ERROR_UNAVAILABLE);
    CHECK(strstr(tw_context_message(cx), "`no-such-cc`") != NULL);
    setenv("CC", "false", 1);
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) == TW_ERROR_TOOL);
    if (old_cc)
        setenv("CC", old_cc, 1);
    else
        unsetenv("CC");
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) == TW_OK);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_context_destroy(cx);
    free(old_cc);
    free(old_path);
}

int main(void) {
    if (!mkdtemp(root)) return 1;
    test_digest();
    test_process();
    test_found_again();
    test_broken();
    test_private();
    test_together();
    test_no_compiler();
    const char *remove[] = {"rm", "-rf", root, NULL};
    char output[100];
    process_run(remove, 20, output, sizeof output);
    return check_done();
}
