#include "run/run_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

static const char *const file_name[RUN_FILES] = {
    [RUN_CONFIG] = "config.ini",
    [RUN_TOKENIZER] = "tokenizer.json",
    [RUN_TOKENIZER_SOURCE] = "tokenizer.source.json",
    [RUN_TOKENIZER_TARGET] = "tokenizer.target.json",
    [RUN_MODEL] = "model.safetensors",
    [RUN_MODEL_BEST] = "model.best.safetensors",
    [RUN_MODEL_DAMAGED] = "model.damaged.safetensors",
    [RUN_DESCRIPTION] = "config.json",
    [RUN_STATE] = "state.safetensors",
    [RUN_STATE_PREVIOUS] = "state.prev.safetensors",
    [RUN_STATE_NEW] = "state.new.safetensors",
    [RUN_EPOCHS] = "epochs",
    [RUN_METRICS] = "metrics.jsonl",
    [RUN_LOG] = "train.log",
    [RUN_REPORT] = "report.html",
    [RUN_LOCK] = "lock",
    [RUN_CACHE] = "cache",
    [RUN_TENSORBOARD] = "tensorboard",
};

char *run_path(const char *directory, RunFile file) { return file_join(directory, file_name[file]); }

static bool has(const char *directory, RunFile file) {
    char *path = run_path(directory, file);
    bool there = file_exists(path);
    memory_free(path);
    return there;
}

static bool has_entries(const char *directory) {
    DIR *d = opendir(directory);
    bool found = false;
    for (struct dirent *e; d != NULL && !found && (e = readdir(d)) != NULL;)
        found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d != NULL) closedir(d);
    return found;
}

/* A directory with other people's files must neither be written into nor moved. */
static bool check_is_run(const char *path, Error *error) {
    static const RunFile marks[] = {RUN_LOCK, RUN_STATE, RUN_STATE_PREVIOUS, RUN_STATE_NEW, RUN_MODEL};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (has(path, marks[i])) return true;
    return !has_entries(path) || error_set(error, "%s: holds files, but no run; give [output] dir another name", path);
}

/* The process that holds the lock wrote its number into it. */
static bool refuse_locked(const char *path, int lock, Error *error) {
    char text[32] = "";
    ssize_t n = pread(lock, text, sizeof text - 1, 0);
    long pid = n > 0 ? strtol(text, NULL, 10) : 0;
    if (pid > 0)
        return error_set(error, "%s: process %ld is training there; wait for it, stop it, or give another [output] dir",
                         path, pid);
    return error_set(error, "%s: another process is training there; wait for it, or give another [output] dir", path);
}

/* True with *lock, or -1 in *lock if the directory was moved away meanwhile and the caller has to try again. */
static bool try_lock(int *lock, const char *path, Error *error) {
    char *name = run_path(path, RUN_LOCK);
    bool ok = true;
    struct stat held, named;
    *lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock < 0)
        ok = error_set(error, "%s: could not be opened: %s; check who may write there", name, strerror(errno));
    else if (flock(*lock, LOCK_EX | LOCK_NB) != 0)
        ok = errno == EWOULDBLOCK
                 ? refuse_locked(path, *lock, error)
                 : error_set(error, "%s: could not be locked: %s; use another file system", name, strerror(errno));
    else if (fstat(*lock, &held) != 0 || stat(name, &named) != 0 || held.st_ino != named.st_ino ||
             held.st_dev != named.st_dev) {
        close(*lock);
        *lock = -1;
    }
    if (!ok && *lock >= 0) close(*lock);
    memory_free(name);
    return ok;
}

static bool create_and_lock(int *lock, const char *path, Error *error) {
    *lock = -1;
    while (*lock < 0)
        if (!file_make_directories(path, error) || !check_is_run(path, error) || !try_lock(lock, path, error))
            return false;
    char pid[32];
    int length = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    /* The number only helps the message to the next process: the lock holds without it. */
    if (ftruncate(*lock, 0) == 0 && pwrite(*lock, pid, (size_t)length, 0) != length) (void)ftruncate(*lock, 0);
    return true;
}

/* Renames path to the first path.old.N that is free; the name, or NULL. */
static char *move_aside(const char *path, Error *error) {
    size_t size = strlen(path) + 32;
    char *aside = memory_alloc(size, 1, "path");
    int n = 1;
    do snprintf(aside, size, "%s.old.%d", path, n++);
    while (file_exists(aside));
    if (file_rename(path, aside, error)) return aside;
    memory_free(aside);
    return NULL;
}

static bool rename_file(const char *directory, RunFile from, RunFile to, Error *error) {
    char *old = run_path(directory, from), *new = run_path(directory, to);
    bool ok = file_rename(old, new, error);
    memory_free(old);
    memory_free(new);
    return ok;
}

/* Makes state.new.safetensors the state, and the state the previous one. */
static bool rotate(const char *directory, Error *error) {
    if (has(directory, RUN_STATE) && !rename_file(directory, RUN_STATE, RUN_STATE_PREVIOUS, error)) return false;
    return rename_file(directory, RUN_STATE_NEW, RUN_STATE, error);
}

/* Files whose name ends in .tmp, in a directory that is all ours. */
static void remove_temporaries_in(const char *directory, RunFile part) {
    char *path = run_path(directory, part);
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        size_t length = strlen(e->d_name);
        if (length < 4 || strcmp(e->d_name + length - 4, ".tmp") != 0) continue;
        char *name = file_join(path, e->d_name);
        unlink(name);
        memory_free(name);
    }
    if (d != NULL) closedir(d);
    memory_free(path);
}

/* A write that was cut off leaves its temporary file, which may be large. */
static void remove_temporaries(const char *directory) {
    remove_temporaries_in(directory, RUN_EPOCHS);
    remove_temporaries_in(directory, RUN_CACHE);
    for (int file = 0; file < RUN_FILES; file++) {
        char name[64];
        snprintf(name, sizeof name, "%s.tmp", file_name[file]);
        char *path = file_join(directory, name);
        unlink(path);
        memory_free(path);
    }
}

bool run_directory_open(RunDirectory *run, const char *path, bool fresh, Error *error) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    *run = (RunDirectory){.path = memory_text(path, length), .lock = -1};
    bool there = file_exists(run->path) && has_entries(run->path);
    bool ok = create_and_lock(&run->lock, run->path, error);
    if (ok && fresh && there) {
        int old_lock = run->lock; /* held until the directory has its new name */
        run->lock = -1;
        run->aside = move_aside(run->path, error);
        ok = run->aside != NULL && create_and_lock(&run->lock, run->path, error);
        close(old_lock);
    }
    if (ok) remove_temporaries(run->path);
    /* state.new.safetensors is complete: it got this name after its fsync. */
    if (ok && has(run->path, RUN_STATE_NEW)) ok = rotate(run->path, error);
    if (!ok) run_directory_close(run);
    return ok;
}

void run_directory_close(RunDirectory *run) {
    if (run->lock >= 0) close(run->lock);
    memory_free(run->path);
    memory_free(run->aside);
    *run = (RunDirectory){.lock = -1};
}

bool run_directory_has(const RunDirectory *run, RunFile file) { return has(run->path, file); }

bool run_directory_rename(const RunDirectory *run, RunFile from, RunFile to, Error *error) {
    return rename_file(run->path, from, to, error);
}

bool run_directory_has_state(const RunDirectory *run) {
    return has(run->path, RUN_STATE) || has(run->path, RUN_STATE_PREVIOUS);
}

/* A new state that a crash left unrenamed counts: opening the directory makes it the state. */
bool run_directory_would_resume(const char *path) {
    return has(path, RUN_STATE) || has(path, RUN_STATE_PREVIOUS) || has(path, RUN_STATE_NEW);
}

bool run_directory_save_state(const RunDirectory *run, const SafetensorsTensor *tensor, int tensors,
                              const SafetensorsPair *metadata, int pairs, Error *error) {
    char *path = run_path(run->path, RUN_STATE_NEW);
    bool ok = safetensors_write(path, tensor, tensors, metadata, pairs, error) && rotate(run->path, error);
    memory_free(path);
    return ok;
}

/* Adds to the error about `newest` whether `previous` could be used instead. */
static bool offer_previous(const char *newest, const char *previous, Error *error) {
    Safetensors state;
    Error other;
    if (!safetensors_read(&state, previous, &other)) return error_add(error, "%s", other.text);
    safetensors_free(&state);
    return error_add(error, "%s: the state before it is good; to go on from there: mv %s %s", previous, previous,
                     newest);
}

bool run_directory_load_state(const RunDirectory *run, Safetensors *state, Error *error) {
    char *newest = run_path(run->path, RUN_STATE), *previous = run_path(run->path, RUN_STATE_PREVIOUS);
    bool there = file_exists(newest), before = file_exists(previous);
    bool ok = safetensors_read(state, there || !before ? newest : previous, error);
    if (!ok && there && before) offer_previous(newest, previous, error);
    memory_free(newest);
    memory_free(previous);
    return ok;
}

bool run_directory_check(const char *path, Error *error) {
    static const RunFile needed[] = {RUN_CONFIG, RUN_MODEL};
    struct stat info;
    if (stat(path, &info) != 0)
        return error_set(error, "%s: %s; name the directory of a run ([output] dir)", path, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return error_set(error, "%s: is a file; name the directory of a run ([output] dir)", path);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!has(path, needed[i]))
            return error_set(error, "%s: has no %s; is it the directory of a run that has saved a model?", path,
                             file_name[needed[i]]);
    bool shared = has(path, RUN_TOKENIZER);
    if (shared || (has(path, RUN_TOKENIZER_SOURCE) && has(path, RUN_TOKENIZER_TARGET))) return true;
    return error_set(error, "%s: has no %s; copy it from where the run was trained", path, file_name[RUN_TOKENIZER]);
}
