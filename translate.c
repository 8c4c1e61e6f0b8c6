/* ./translate RUN < in > out: one line out for each line in, in order. */
#include <stdio.h>

#include "base/version.h"
#include "decoding/translate_lines.h"
#include "model/matmul.h"
#include "run/loaded_run.h"

static bool translate(const LoadedRun *run, const TranslateOptions *o, Error *error) {
    Translator translator;
    Arena *arena = arenas_new(o->threads, "decoding (give fewer --threads, or a smaller --beam-size)");
    translator_init(&translator, &run->model, &run->positions, run->source, run->target, &run->config.decode,
                    o->threads, arena);
    bool good = translate_options_apply(&translator, o, error) &&
                translate_lines(&translator, o, run->config.data.max_length, error);
    translator_free(&translator);
    arenas_free(arena, o->threads);
    return good;
}

int main(int argc, char **argv) {
    Error error = {""};
    TranslateOptions o;
    if (!translate_options_parse(&o, argc, argv, &error)) {
        fprintf(stderr, "translate: %s\n", error.text);
        return 2;
    }
    if (o.help) translate_options_print_help(stdout);
    if (o.version) puts("translate (Tandem) " TANDEM_VERSION);
    if (o.help || o.version) return 0;
    matmul_serial_blas();
    LoadedRun run;
    bool good = loaded_run_open(&run, o.run[0], &error);
    if (good) {
        good = translate(&run, &o, &error);
        loaded_run_close(&run);
    }
    if (!good) fprintf(stderr, "translate: %s\n", error.text);
    return good ? 0 : 1;
}
