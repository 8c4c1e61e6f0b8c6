#include "training/dry_run.h"

#include <inttypes.h>

#include "base/file.h"
#include "base/memory.h"
#include "run/weights.h"
#include "training/corpora.h"
#include "training/init_from.h"
#include "training/schedule.h"

static void print_config(const Config *config, FILE *out) {
    char *text = config_text(config);
    fprintf(out, "%s\n", text);
    memory_free(text);
}

static const char *role_name(ParamRole role) {
    static const char *const names[] = {
        [PARAM_MATRIX] = "matrix", [PARAM_QKV_MATRIX] = "q, k, v matrix", [PARAM_EMBEDDING] = "embedding",
        [PARAM_BIAS] = "bias",     [PARAM_NORM_WEIGHT] = "norm weight",   [PARAM_NORM_BIAS] = "norm bias"};
    return names[role];
}

/* A tied tensor is one row, with its other names behind it. */
static void print_parameters(const Config *config, int source_vocab, int target_vocab, FILE *out) {
    ModelConfig m = weights_model_config(config, source_vocab, target_vocab);
    ParamTable table = transformer_table(&m);
    fprintf(out, "%-56s %14s  %-14s %10s\n", "parameter", "shape", "role", "elements");
    for (int i = 0; i < table.count; i++) {
        const Param *p = &table.param[i];
        char shape[32];
        if (p->rank == 1)
            snprintf(shape, sizeof shape, "%d", p->cols);
        else
            snprintf(shape, sizeof shape, "%d x %d", p->rows, p->cols);
        fprintf(out, "%-56s %14s  %-14s %10zu%s%s\n", p->name, shape, role_name(p->role), param_size(p),
                p->also[0] != '\0' ? "  also " : "", p->also);
    }
    fprintf(out, "%-56s %14s  %-14s %10zu in %d tensors\n\n", "total", "", "", table.total, table.count);
    param_table_free(&table);
}

/* Deals out the first epoch, as training would. */
static int64_t updates_of_epoch(Trainer *t) {
    const ConfigTrain *c = &t->config.train;
    int64_t updates = 0;
    Batcher batcher;
    Arena arena;
    batcher_init(&batcher, &t->train, c->seed, 0, 0);
    arena_init(&arena, "ids of an update (lower [train] batch_tokens)");
    while (batcher.epoch == 0) {
        batcher_next(&batcher, NULL, (int64_t)c->batch_tokens * c->accumulate, c->piece_rows, c->lanes, &arena);
        arena_release(&arena, (ArenaMark){0});
        updates++;
    }
    arena_free(&arena);
    batcher_free(&batcher);
    return updates;
}

/* Updates until [train] updates or epochs end the training; 0 where only time does. */
static int64_t planned_updates(const ConfigTrain *c, int64_t of_epoch) {
    int64_t by_epochs = c->epochs * of_epoch;
    return c->updates == 0 || (c->epochs > 0 && by_epochs < c->updates) ? by_epochs : c->updates;
}

/* from: the run whose tokenizer it is, or "". */
static void print_length(Trainer *t, const char *from, int64_t of_epoch, int64_t planned, FILE *out) {
    const ConfigTrain *c = &t->config.train;
    fprintf(out, "corpus     %d pairs of %d kept; vocabulary %d%s%d pieces, %s%s\n", t->train.pairs, t->train.lines,
            tokenizer_vocab_size(t->source), t->source == t->target ? " shared, " : " source and ",
            tokenizer_vocab_size(t->target), from[0] != '\0' ? "those of " : "learned for this look alone", from);
    fprintf(out, "epoch      %" PRId64 " updates of up to %" PRId64 " target tokens%s\n", of_epoch,
            (int64_t)c->batch_tokens * c->accumulate, t->config.tokenizer.dropout > 0 ? ", without BPE-dropout" : "");
    fprintf(out, "training  ");
    if (planned > 0) fprintf(out, " %" PRId64 " updates, %.1f epochs", planned, (double)planned / (double)of_epoch);
    if (c->minutes > 0) fprintf(out, "%s at most %g minutes", planned > 0 ? ", or" : "", c->minutes);
    fprintf(out, "\n\n");
}

enum { POINTS = 12, BAR = 50 };

/* Updates to show: the first, the middle and the end of warmup, and the rest in equal steps up to the last. */
static int choose_points(int64_t point[POINTS], int64_t warmup, int64_t last) {
    int chosen = 0, rising = warmup > 1 && warmup < last ? 3 : 1;
    int64_t start[3] = {1, (warmup + 1) / 2, warmup}, from = start[rising - 1];
    for (int i = 0; i < POINTS; i++) {
        int64_t u = i < rising ? start[i] : from + (last - from) * (i - rising + 1) / (POINTS - rising);
        if (chosen == 0 || u > point[chosen - 1]) point[chosen++] = u;
    }
    return chosen;
}

static void print_curve(const Config *config, int64_t planned, FILE *out) {
    const ConfigTrain *c = &config->train;
    int64_t last = planned > 0 ? planned : 10 * (int64_t)(c->warmup > 0 ? c->warmup : 100), point[POINTS];
    int points = choose_points(point, c->warmup, last);
    double highest = 0;
    for (int i = 0; i < points; i++) highest = fmax(highest, schedule_lr(config, 0, point[i]));
    if (planned == 0)
        fprintf(out, "Time alone ends the training; the curve is that of its first %" PRId64 " updates.\n", last);
    if (c->schedule == CONFIG_SCHEDULE_PLATEAU)
        fprintf(out, "The curve is that of a training in which validation never stalls: no reduction is in it.\n");
    fprintf(out, "%10s %13s\n", "update", "learning rate");
    for (int i = 0; i < points; i++) {
        double lr = schedule_lr(config, 0, point[i]);
        int length = (int)lround(BAR * lr / highest);
        fprintf(out, "%10" PRId64 " %13.4g  %.*s\n", point[i], lr, length,
                "##################################################");
    }
}

static void note_run(const Config *config, FILE *out) {
    char *path = run_path(config->output.dir, RUN_STATE);
    if (file_exists(path))
        fprintf(out, "note       %s holds a run; without --fresh a training goes on from its state and tokenizer\n",
                config->output.dir);
    memory_free(path);
}

/* The tokenizers of the run that the training would start from; without one they are still to be learned. */
static void take_tokenizers(Trainer *t, LoadedRun *from) {
    if (from->slab == NULL) return;
    init_from_adopt_keys(t, &from->config);
    t->source = from->source;
    t->target = from->target;
    from->source = from->target = NULL;
}

bool dry_run(Config *config, bool fresh, FILE *out, Error *error) {
    Trainer t = {.config = *config, .run.lock = -1}; /* no directory */
    ParallelText text = {0};
    LoadedRun from = {0};
    bool good = corpora_read(&text, &t.valid_text, &t.config, error) && init_from_read(&from, &t.config, fresh, error);
    if (good) {
        trainer_plan_threads(&t.config.train);
        take_tokenizers(&t, &from);
        good = corpora_learn(&t, &text, error);
    }
    if (good) {
        int64_t of_epoch = updates_of_epoch(&t), planned = planned_updates(&t.config.train, of_epoch);
        print_config(&t.config, out);
        print_parameters(&t.config, tokenizer_vocab_size(t.source), tokenizer_vocab_size(t.target), out);
        if (!fresh) note_run(&t.config, out);
        print_length(&t, from.slab != NULL ? t.config.train.init_from : "", of_epoch, planned, out);
        print_curve(&t.config, planned, out);
    }
    loaded_run_close(&from);
    parallel_text_free(&text);
    trainer_close(&t);
    return good;
}
