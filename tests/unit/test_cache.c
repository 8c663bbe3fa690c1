/* SPDX-License-Identifier: Apache-2.0 */
/* test_cache.c: the cache on disk: found again, private, broken entries rebuilt, absent, read-only
 * and full directories, links and pipes in its place, directories of others, two processes at once,
 * one killed while it writes; the digest; other programs run without a shell and within their time.
 */
#include "check.h"
#include "runtime/compile/cache.h"
#include "runtime/compile/digest.h"
#include "runtime/host/process.h"
#include "tilewright.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
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
    ProcessResult r = process_run(echo, 10, NULL, output, sizeof output);
    CHECK(r.started && r.exit_code == 3 && !r.timed_out);
    CHECK_TEXT(output, "one\ntwo\n");
    const char *sleeper[] = {"sh", "-c", "sleep 60 & wait", NULL};
    r = process_run(sleeper, 1, NULL, output, sizeof output);
    CHECK(r.timed_out && r.exit_code == -1);
    const char *nobody[] = {"/no/such/program", NULL};
    r = process_run(nobody, 10, NULL, output, sizeof output);
    CHECK(!r.started || r.exit_code == 127);
    const char *loud[] = {"sh", "-c",
                          "i=0; while [ $i -lt 5000 ]; do echo 0123456789; i=$((i+1)); done", NULL};
    r = process_run(loud, 30, NULL, output, sizeof output);
    CHECK(r.exit_code == 0 && strlen(output) == sizeof output - 1);
    CHECK(process_find("sh", output, sizeof output) && output[0] == '/');
    CHECK(!process_find("no-such-program-here", output, sizeof output));
}

/* The compiler's own self-test is kept beside the kernels: it has this name in its symbols. */
static bool is_self_test(const char *path) {
    static char bytes[1 << 16];
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    return memmem(bytes, size, "tw_self_test", 12) != NULL;
}

/* What leads those without a compiler to an entry. */
static bool is_note(const char *path) {
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".last") == 0;
}

static int count_entries(const char *dir, char *one, size_t capacity) {
    int count = 0;
    DIR *list = opendir(dir);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char path[600];
        struct stat info;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
            count += count_entries(path, one, capacity);
        else if (is_self_test(path) || is_note(path))
            continue;
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

/* Links, pipes and folders where an entry or the directory should be; entries that others could have
 * written: none is loaded, nothing hangs, and what a link points to stays as it is. */
static void test_impostors(void) {
    char dir[200], entry[600], folder[600], elsewhere[200], link[300];
    struct stat info;
    snprintf(dir, sizeof dir, "%s/impostors", root);
    CHECK(use(dir, 6) >= 0);
    CHECK(count_entries(dir, entry, sizeof entry) == 1);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", root);
    snprintf(link, sizeof link, "%s/link", root);
    for (int way = 0; way < 5; way++) {
        if (way == 0) CHECK(rename(entry, elsewhere) == 0 && symlink(elsewhere, entry) == 0);
        if (way == 1) CHECK(unlink(entry) == 0 && mkfifo(entry, 0600) == 0);
        if (way == 2) CHECK(chmod(entry, 0666) == 0);
        if (way == 3) CHECK(unlink(entry) == 0 && symlink("/nowhere/at/all", entry) == 0);
        if (way == 4) CHECK(unlink(entry) == 0 && mkdir(entry, 0700) == 0);
        CHECK(use(dir, 6) >= 0);
        CHECK(lstat(entry, &info) == 0);
        if (way < 4) CHECK(S_ISREG(info.st_mode) && (info.st_mode & 0777) == 0600);
    }
    CHECK(stat(elsewhere, &info) == 0 && info.st_size > 0);
    CHECK(rmdir(entry) == 0);
    /* The folder of the entry, then the directory itself, as a link. */
    snprintf(folder, sizeof folder, "%s", entry);
    *strrchr(folder, '/') = 0;
    CHECK(rmdir(folder) == 0 && symlink(root, folder) == 0);
    CHECK(use(dir, 6) >= 0);
    CHECK(lstat(folder, &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(symlink(dir, link) == 0);
    CHECK(use(link, 7) >= 0);
    CHECK(unlink(folder) == 0 && count_entries(dir, NULL, 0) == 0);
    /* A folder below it that others may write. */
    CHECK(mkdir(folder, 0700) == 0 && chmod(folder, 0777) == 0);
    CHECK(use(dir, 6) >= 0 && count_entries(dir, NULL, 0) == 0);
    if (geteuid() != 0) {
        printf("skipped: directories of other users need root\n");
        return;
    }
    /* Somebody else's directory, folder and entry, all with the right modes. */
    CHECK(chmod(folder, 0700) == 0 && use(dir, 6) >= 0);
    CHECK(count_entries(dir, entry, sizeof entry) == 1);
    ino_t first = stat(entry, &info) == 0 ? info.st_ino : 0;
    CHECK(chown(dir, 65534, 65534) == 0 && use(dir, 7) >= 0 && count_entries(dir, NULL, 0) == 1);
    CHECK(chown(dir, 0, 0) == 0 && chown(folder, 65534, 65534) == 0 && use(dir, 6) >= 0);
    CHECK(stat(entry, &info) == 0 && info.st_ino == first);
    CHECK(chown(folder, 0, 0) == 0 && chown(entry, 65534, 65534) == 0 && use(dir, 6) >= 0);
    CHECK(stat(entry, &info) == 0 && info.st_uid == 0); /* made again */
}

enum { ANY = -1 };

/* In a child with a file system of its own at `dir`: how = options of a tmpfs. */
static void on_own_disk(const char *dir, unsigned long flags, const char *how, float add,
                        int entries) {
    enum { NO_MOUNT = 77 };
    mkdir(dir, 0700);
    uid_t user = geteuid();
    pid_t child = fork();
    if (child == 0) {
        char map[60];
        if (unshare(CLONE_NEWNS | (user ? CLONE_NEWUSER : 0)) != 0) _exit(NO_MOUNT);
        snprintf(map, sizeof map, "%u %u 1", (unsigned)user, (unsigned)user);
        int file = user ? open("/proc/self/uid_map", O_WRONLY) : -1;
        if (file >= 0 && write(file, map, strlen(map)) < 0) _exit(NO_MOUNT);
        if (file >= 0) close(file);
        if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("none", dir, "tmpfs", flags, how) != 0)
            _exit(NO_MOUNT);
        bool ok = use(dir, add) >= 0;
        ok = ok && (entries == ANY || count_entries(dir, NULL, 0) == entries) && use(dir, add) >= 0;
        _exit(ok ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MOUNT)
        printf("skipped: %s needs a mount\n", how);
    else if (status != 0)
        fprintf(stderr, "a disk of %s: status %d\n", how, status);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != NO_MOUNT)
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_disks(void) {
    char dir[200];
    snprintf(dir, sizeof dir, "%s/disk", root);
    on_own_disk(dir, 0, "size=4m,mode=700", 8, 1);
    on_own_disk(dir, 0, "size=4k,mode=700", 8, 0); /* no room for the text */
    /* From no room for what the compiler makes to just enough. */
    on_own_disk(dir, 0, "size=48k,mode=700", 8, ANY);
    on_own_disk(dir, 0, "size=80k,mode=700", 8, ANY);
    on_own_disk(dir, 0, "size=120k,mode=700", 8, ANY);
    on_own_disk(dir, 0, "size=4m,nr_inodes=2,mode=700", 8, 0); /* no more files */
    on_own_disk(dir, MS_RDONLY, "size=4m,mode=700", 8, 0);
}

/* Killed at any moment, the next one finds a sound entry or none. */
static void test_killed(void) {
    char dir[200], entry[600] = "";
    snprintf(dir, sizeof dir, "%s/killed", root);
    for (int wait = 1; wait <= 256; wait *= 2) {
        pid_t child = fork();
        if (child == 0) _exit(use(dir, 9) >= 0 ? 0 : 1);
        usleep((useconds_t)wait * 1000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        CHECK(use(dir, 9) >= 0);
    }
    /* What was left behind goes away after its time. */
    DIR *list = opendir(dir);
    char room[600];
    int rooms = 0;
    struct timeval old[2] = {{1000, 0}, {1000, 0}};
    snprintf(room, sizeof room, "%s/room-abcdef", dir);
    CHECK(mkdir(room, 0700) == 0 || errno == EEXIST);
    for (struct dirent *e; list && (e = readdir(list));) {
        snprintf(room, sizeof room, "%s/%s", dir, e->d_name);
        if (strncmp(e->d_name, "room-", 5) == 0) rooms++, utimes(room, old);
    }
    closedir(list);
    CHECK(rooms >= 1);
    CHECK(use(dir, 8) >= 0);
    list = opendir(dir);
    for (struct dirent *e; list && (e = readdir(list));)
        CHECK(strncmp(e->d_name, "room-", 5) != 0);
    closedir(list);
    CHECK(count_entries(dir, entry, sizeof entry) == 2);
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

/* Cuts all notes of a cache in half. */
static void break_notes(const char *dir) {
    char command[700];
    snprintf(command, sizeof command, "find %s -name '*.last' -exec truncate -s 40 {} +", dir);
    CHECK(system(command) == 0);
}

/* What a compiler has made runs without one; what it has not, or what is broken, does not. */
static void test_made_before(void) {
    char dir[200];
    char *old_path = strdup(getenv("PATH")), *old_cc = getenv("CC") ? strdup(getenv("CC")) : NULL;
    snprintf(dir, sizeof dir, "%s/before", root);
    CHECK(use(dir, 5) >= 0);
    unsetenv("CC");
    setenv("PATH", "/no/such/folder", 1);
    CHECK(use(dir, 5) >= 0);
    CHECK(use(dir, 4) < 0);
    setenv("PATH", old_path, 1);
    break_notes(dir);
    setenv("PATH", "", 1);
    CHECK(use(dir, 5) < 0);
    setenv("PATH", old_path, 1);
    CHECK(use(dir, 5) >= 0);
    if (old_cc) setenv("CC", old_cc, 1);
    free(old_cc);
    free(old_path);
}

/* What was used longest ago goes first, and only what has a name of ours. */
static void test_shrink(void) {
    static const int hours[] = {1, 3, 30, 100, 1000, 5000};
    enum { ENTRIES = sizeof hours / sizeof *hours, SIZE = 10000 };
    static char bytes[SIZE];
    char dir[200], file[300], path[ENTRIES][CACHE_PATH], stranger[300], hex[DIGEST_HEX];
    snprintf(dir, sizeof dir, "%s/shrink", root);
    CHECK(cache_make_dir(dir));
    snprintf(file, sizeof file, "%s/new", dir);
    for (int i = 0; i < ENTRIES; i++) {
        memset(hex, 'a' + i, DIGEST_HEX - 1);
        hex[DIGEST_HEX - 1] = 0;
        CHECK(file_write(file, bytes, sizeof bytes) && cache_keep(dir, hex, ".so", file, path[i]));
        struct timespec when[2] = {{time(NULL) - hours[i] * 3600, 0}, {time(NULL) - hours[i] * 3600, 0}};
        CHECK(utimensat(AT_FDCWD, path[i], when, 0) == 0);
    }
    snprintf(stranger, sizeof stranger, "%s/aa/notes.txt", dir);
    CHECK(file_write(stranger, bytes, sizeof bytes));
    cache_shrink(dir, 100 * SIZE);
    for (int i = 0; i < ENTRIES; i++) CHECK(access(path[i], F_OK) == 0);
    cache_shrink(dir, 4 * SIZE);
    for (int i = 0; i < ENTRIES; i++) CHECK((access(path[i], F_OK) == 0) == (i < 3));
    /* Finding an old one makes it a young one. */
    memset(hex, 'c', DIGEST_HEX - 1);
    CHECK(cache_find(dir, hex, ".so", file));
    cache_shrink(dir, 2 * SIZE);
    for (int i = 0; i < 3; i++) CHECK((access(path[i], F_OK) == 0) == (i == 2));
    cache_shrink(dir, 0);
    CHECK(access(path[2], F_OK) != 0 && access(stranger, F_OK) == 0);
    CHECK(tw_size_parse("500M") == 500 << 20 && tw_size_parse("1.5k") == 1536 && tw_size_parse("7") == 7);
    CHECK(tw_size_parse("") == -1 && tw_size_parse("-1") == -1 && tw_size_parse("1x") == -1 && tw_size_parse("inf") == -1);
    CHECK(tw_size_parse("99999999T") == INT64_MAX && tw_size_parse(NULL) == -1 && tw_size_parse("2GB") == -1);
}

static void test_no_compiler(void) {
    char *old_cc = getenv("CC") ? strdup(getenv("CC")) : NULL, *old_path = strdup(getenv("PATH"));
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_context_options options;
    tw_context_options_init(&options);
    options.cache_dir = "";
    CHECK(tw_context_create(&options, &cx) == TW_OK);
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
    test_impostors();
    test_disks();
    test_killed();
    test_together();
    test_shrink();
    test_no_compiler();
    test_made_before();
    const char *remove[] = {"rm", "-rf", root, NULL};
    char output[100];
    process_run(remove, 20, NULL, output, sizeof output);
    return check_done();
}
