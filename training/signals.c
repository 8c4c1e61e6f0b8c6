#include "training/signals.h"

#include <signal.h>
#include <stddef.h>

#include "base/progress.h"

static volatile sig_atomic_t caught;

/* The first signal asks to save and stop; a second one kills at once. */
static void catch_signal(int signal_number) {
    caught = signal_number;
    signal(signal_number, progress_die);
}

/* A signal that our parent had us ignore (nohup, a background job of a script) stays ignored. */
void signals_catch(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = catch_signal}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* the reader of our messages may be gone; the run is not */
}

int signals_caught(void) { return caught; }
