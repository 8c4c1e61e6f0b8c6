#include "training/model_files.h"

#include "base/file.h"
#include "base/memory.h"
#include "run/weights.h"

bool trainer_has_model(const Trainer *t) {
    char *path = run_path(t->run.path, RUN_MODEL);
    bool there = file_exists(path) || owed_has(&t->owed, path);
    memory_free(path);
    return there;
}

bool trainer_forgives(Trainer *t, const Error *error) {
    if (t->config.output.on_write_error == CONFIG_STOP) return false;
    log_line(&t->log, "note       %s; training goes on, and the next save tries again", error->text);
    return true;
}

/* What was owed for this path is superseded. */
static bool write_weights(Trainer *t, const char *path, Error *error) {
    owed_drop(&t->owed, path);
    return weights_save(path, t->served, &t->table, weights_vocabulary(t->source, t->target), error);
}

bool trainer_save_weights(Trainer *t, const char *path, Error *error) {
    if (write_weights(t, path, error)) return true;
    if (!trainer_forgives(t, error)) return false;
    owed_add(&t->owed, path, t->served, t->table.total);
    return true;
}

bool trainer_save_model(Trainer *t, Error *error) {
    char *path = run_path(t->run.path, RUN_MODEL);
    bool good = trainer_save_weights(t, path, error);
    memory_free(path);
    return good;
}

bool trainer_must_save_model(Trainer *t, Error *error) {
    char *path = run_path(t->run.path, RUN_MODEL);
    bool good = write_weights(t, path, error);
    memory_free(path);
    return good;
}

bool trainer_write_owed(Trainer *t, Error *error) {
    return metrics_flush(&t->metrics, error) &&
           owed_write(&t->owed, &t->table, weights_vocabulary(t->source, t->target), error);
}
