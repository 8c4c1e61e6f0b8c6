/* Updates whose loss or gradient is no number, and parameters that are none: said, counted, never saved. */
#include <inttypes.h>
#include <string.h>

#include "training/trainer.h"

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

bool trainer_bad_update(Trainer *t, const StepResult *r, Error *error) {
    char pairs[2048];
    t->state.bad_in_a_row++;
    name_pairs(pairs, sizeof pairs, t, &r->drawn);
    log_line(&t->log, "update %" PRId64 ": loss %g, gradient norm %g: skipped; its %d pairs: %s", t->state.update,
             r->loss.objective / (double)r->loss.tokens, r->grad_norm, r->drawn.pairs, pairs);
    if (t->state.bad_in_a_row < t->config.train.max_bad_updates) return true;
    return error_set(error,
                     "%s: %d updates in a row were not finite, the last of them update %" PRId64
                     "; the last state there is of before them: lower [train] lr and run again, or use --fresh with a "
                     "longer warmup or a smaller clip_norm",
                     t->run.path, t->state.bad_in_a_row, t->state.update);
}

bool trainer_check_finite(const Trainer *t, Error *error) {
    const char *part[] = {"parameters", "moments", "moments"};
    const real *slab[] = {t->slab, t->adam.m, t->adam.v};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < t->table.total; i++)
            if (!isfinite(slab[k][i]))
                return error_set(error,
                                 "%s: after update %" PRId64 " the %s are not finite, and are not saved; lower [train] "
                                 "lr and run again from the state before, or use --fresh",
                                 t->run.path, t->state.update, part[k]);
    return true;
}
