#include "training/bad_update.h"

#include <inttypes.h>
#include <string.h>

enum { NAMED = 5 };

/* "a.en:17, a.en:201, ...": the places of an update's first pairs. */
static void name_pairs(char *out, size_t size, const Trainer *t, const Update *u) {
    int named = 0;
    out[0] = '\0';
    for (int p = 0; p < u->pieces; p++)
        for (int s = 0; s < u->piece[p].source.sentences && named < NAMED; s++) {
            int64_t number;
            const char *path = corpus_place(&number, &t->places, u->piece[p].index[s]);
            size_t used = strlen(out);
            snprintf(out + used, size - used, "%s%s:%" PRId64, named++ > 0 ? ", " : "", path, number);
        }
    if (u->pairs > named) strncat(out, ", ...", size - strlen(out) - 1);
}

bool trainer_count_bad_update(Trainer *t, const StepResult *r, Error *error) {
    char pairs[2048];
    t->state.bad_in_a_row++;
    name_pairs(pairs, sizeof pairs, t, &r->drawn);
    log_line(&t->log, "update %" PRId64 ": loss %g, gradient norm %g: skipped; its %d pairs: %s", t->state.update,
             r->loss.objective / (double)r->loss.tokens, r->grad_norm, r->drawn.pairs, pairs);
    if (t->state.bad_in_a_row < t->config.train.max_bad_updates) return true;
    return error_set(error,
                     "%s: %d updates in a row were not finite, the last of them update %" PRId64
                     "; the state on disk is of update %" PRId64 ", before them: lower [train] lr and run again, "
                     "or use --fresh with a longer warmup or a smaller clip_norm",
                     t->run.path, t->state.bad_in_a_row, t->state.update, t->saved_update);
}

static bool all_finite(const real *x, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* Parameters may be numbers and yet so large that no loss is one: the first pair tells. */
static bool loss_is_finite(Trainer *t) {
    Arena *arena = &t->lanes.arena[0];
    ArenaMark mark = arena_mark(arena);
    int pair = 0;
    Batch batch = corpus_batch(&t->train, &pair, 1, arena);
    LossSums loss = transformer_loss(NULL, &batch, &t->model, &t->positions, 0, NULL, arena);
    arena_release(arena, mark);
    return isfinite(loss.objective);
}

bool trainer_check_finite(Trainer *t, Error *error) {
    size_t size = t->table.total;
    const char *wrong = NULL;
    if (!all_finite(t->slab, size))
        wrong = "parameters are";
    else if (!all_finite(t->optimizer.m, size) || !all_finite(t->optimizer.v, t->optimizer.v ? size : 0))
        wrong = "optimizer's moments are";
    else if (!loss_is_finite(t))
        wrong = "loss is";
    return wrong == NULL ||
           error_set(error,
                     "%s: after update %" PRId64 " the %s not finite, and nothing of it is saved; the state on disk is "
                     "of update %" PRId64 ": lower [train] lr and run again, or use --fresh",
                     t->run.path, t->state.update, wrong, t->saved_update);
}
