#include "training/conclude.h"

#include <inttypes.h>

#include "base/file.h"
#include "base/memory.h"
#include "training/average.h"
#include "training/model_files.h"
#include "training/state.h"
#include "training/validate.h"

static bool model_is_good(const Trainer *t, Error *error) {
    Safetensors file;
    char *path = run_path(t->run.path, RUN_MODEL);
    bool good = safetensors_read(&file, path, error);
    if (good) safetensors_free(&file);
    memory_free(path);
    return good;
}

bool trainer_concluded(const Trainer *t) {
    Error ignored;
    return t->state.update > 0 && t->state.concluded == t->state.update && model_is_good(t, &ignored);
}

/* Best weights that nobody has any more are not the best: the search begins anew, and the last weights are the model until
 * then. A damaged file is kept aside. */
static bool check_model(Trainer *t, Error *error) {
    Error fault;
    if (model_is_good(t, &fault)) return true;
    bool damaged = trainer_has_model(t);
    if (damaged || t->state.best_update > 0) log_line(&t->log, "note       %s; it is written again", fault.text);
    if (t->state.best_update > 0)
        log_line(&t->log, "changed    the best so far, of update %" PRId64 ", is forgotten", t->state.best_update);
    t->state.best_update = 0;
    t->origin = (ModelOrigin){0};
    if (damaged && !run_directory_rename(&t->run, RUN_MODEL, RUN_MODEL_DAMAGED, error)) return false;
    return t->state.update == 0 || trainer_save(t, error);
}

static bool make_snapshot_folder(const Trainer *t, Error *error) {
    if (t->config.average.last + t->config.average.best == 0) return true;
    char *folder = run_path(t->run.path, RUN_EPOCHS);
    bool good = file_make_directories(folder, error);
    memory_free(folder);
    return good;
}

bool trainer_begin(Trainer *t, Error *error) {
    bool unscheduled = t->state.concluded > 0 && t->state.validated == 0; /* is the model what an end found? */
    t->origin = (ModelOrigin){t->state.best_update, t->state.best, t->state.best_nll, 0};
    /* From here on the directory can be resumed. Before there is a first state the disk is tried, too. */
    if (!run_directory_has_state(&t->run) || t->state.concluded > 0) {
        t->state.concluded = 0;
        if (!trainer_save_state(t, error)) return false;
    }
    /* Lines of a training that was killed, before its first state or after its last, are superseded. */
    if (file_exists(t->metrics.path) && !metrics_append_resume(&t->metrics, t->state.update, error)) return false;
    if (run_directory_has(&t->run, RUN_MODEL_BEST) && !run_directory_rename(&t->run, RUN_MODEL_BEST, RUN_MODEL, error))
        return false;
    return make_snapshot_folder(t, error) && check_model(t, error) && (!unscheduled || trainer_save_model(t, error));
}

bool trainer_keep_scheduled_model(Trainer *t, Error *error) {
    if (t->state.validated == 0 || run_directory_has(&t->run, RUN_MODEL_BEST) || !trainer_has_model(t)) return true;
    char *model = run_path(t->run.path, RUN_MODEL), *kept = run_path(t->run.path, RUN_MODEL_BEST);
    size_t size;
    char *bytes = file_read(model, SIZE_MAX / 4, &size, error);
    bool good = bytes != NULL && file_write(kept, bytes, size, error);
    memory_free(bytes);
    memory_free(kept);
    memory_free(model);
    return good;
}

static bool find_best(Trainer *t, Error *error) {
    bool comparable = trainer_has_best(t) && t->state.validated == t->state.update;
    if (t->valid.pairs > 0 && !comparable && !trainer_validate(t, (ValidMetrics){.closing = true}, error)) return false;
    if (!trainer_has_model(t) && !trainer_save_model(t, error)) return false;
    return trainer_average(t, error);
}

bool trainer_conclude(Trainer *t, Error *error) {
    const TrainState scheduled = t->state;
    bool good = trainer_write_owed(t, error) && find_best(t, error);
    double seconds = t->state.seconds;
    t->state = scheduled;
    t->state.seconds = seconds;
    t->state.concluded = t->state.update;
    return good && trainer_save_state(t, error);
}
