/* ./translate RUN... < in > out: one line out for each line in, in order. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/version.h"
#include "decoding/translate_lines.h"
#include "model/matmul.h"
#include "run/loaded_run.h"

/* Models decide together token by token, so their tokens have to be the same. */
static bool same_vocabulary(const LoadedRun *first, const LoadedRun *other, char **name, Error *error) {
    const Tokenizer *a[2] = {first->source, first->target}, *b[2] = {other->source, other->target};
    for (int side = 0; side < 2; side++)
        if (tokenizer_hash(a[side]) != tokenizer_hash(b[side]))
            return error_set(error,
                             "%s: its %s vocabulary (%d entries) is not that of %s (%d entries); only models of one "
                             "vocabulary can translate together",
                             name[1], side == 0 ? "source" : "target", tokenizer_vocab_size(b[side]), name[0],
                             tokenizer_vocab_size(a[side]));
    return true;
}

/* Opens runs until one fails; returns how many are open. */
static int open_runs(LoadedRun *run, const TranslateOptions *o, Error *error) {
    for (int i = 0; i < o->runs; i++) {
        if (!loaded_run_open(&run[i], o->run[i], error)) return i;
        char *names[2] = {o->run[0], o->run[i]};
        if (!same_vocabulary(&run[0], &run[i], names, error)) return i + 1;
    }
    return o->runs;
}

static bool translate(const LoadedRun *run, const TranslateOptions *o, Error *error) {
    Translator t;
    Arena *arena = arenas_new(o->threads, "decoding (give fewer --threads, or a smaller --beam-size)");
    translator_init(&t, &run->model, &run->positions, run->source, run->target, &run->config.decode, o->threads, arena);
    for (int i = 1; i < o->runs; i++) translator_add_model(&t, &run[i].model, &run[i].positions);
    bool good = translate_options_apply(&t, o, error) && translate_lines(&t, o, run->config.data.max_length, error);
    translator_free(&t);
    arenas_free(arena, o->threads);
    return good;
}

/* Where standard error is closed, the next file opened would take its number, and with it the warnings. */
static void keep_stderr_apart(void) {
    if (fcntl(STDERR_FILENO, F_GETFD) >= 0) return;
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || nowhere == STDERR_FILENO) return;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

int main(int argc, char **argv) {
    Error error = {""};
    TranslateOptions o;
    cpu_flush_denormals();
    if (!translate_options_parse(&o, argc, argv, &error)) {
        fprintf(stderr, "translate: %s\n", error.text);
        return 2;
    }
    if (o.help) translate_options_print_help(stdout);
    if (o.version) puts("translate (Tandem) " TANDEM_VERSION);
    if (o.help || o.version) return options_finish("translate");
    keep_stderr_apart();
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a failed write, which says so */
    matmul_serial_blas();
    LoadedRun *run = memory_alloc((size_t)o.runs, sizeof *run, "runs");
    int open = open_runs(run, &o, &error);
    bool good = error.text[0] == '\0' && translate(run, &o, &error);
    for (int i = 0; i < open; i++) loaded_run_close(&run[i]);
    memory_free(run);
    if (!good) fprintf(stderr, "translate: %s\n", error.text);
    return good ? 0 : 1;
}
