#include "base/progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define CLEAR "\r\033[K"   /* to the start of the line, and erase it */
#define NO_WRAP "\033[?7l" /* a line that is too long ends at the edge: only so one CLEAR takes all of it away */
#define DO_WRAP "\033[?7h"

static bool off;
static volatile sig_atomic_t stands; /* a line is shown */
static _Atomic double drawn = -1;    /* when it was */
static atomic_flag drawing = ATOMIC_FLAG_INIT;

static bool on_terminal(void) {
    const char *term = getenv("TERM");
    return !off && isatty(STDERR_FILENO) == 1 && term != NULL && strcmp(term, "dumb") != 0;
}

/* What cannot be drawn is not missed. */
static void put(const char *text, size_t length) {
    if (write(STDERR_FILENO, text, length) < 0) return;
}

void progress_clear(void) {
    if (!stands) return;
    stands = false;
    put(CLEAR, sizeof CLEAR - 1);
}

void progress_die(int signal_number) {
    progress_clear();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void clean_up_on_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = progress_die}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

static void draw(const char *text) {
    static bool cleans_up;
    char line[640];
    if (!cleans_up) clean_up_on_signals();
    cleans_up = true;
    int length = snprintf(line, sizeof line, CLEAR NO_WRAP "%.512s" DO_WRAP, text);
    stands = true;
    put(line, (size_t)length);
    drawn = clock_seconds();
}

void progress_show(const char *format, ...) {
    if (!on_terminal()) return;
    char text[513];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    draw(text);
}

bool progress_due(void) { return on_terminal() && clock_seconds() - drawn >= 0.1; }

void progress_begin(Progress *p, const char *what, int64_t total) {
    *p = (Progress){.what = what, .total = total, .start = clock_seconds(), .shown = on_terminal()};
    if (p->shown) progress_show("%s ...", what);
}

/* One thread draws; the others have better things to do. */
void progress_add(Progress *p, int64_t more) {
    if (!p->shown) return;
    int64_t done = atomic_fetch_add(&p->done, more) + more;
    double now = clock_seconds();
    if (p->total == 0 || done <= 0 || now - drawn < 0.1 || atomic_flag_test_and_set(&drawing)) return;
    char left[32];
    double share = done < p->total ? (double)done / (double)p->total : 1;
    progress_duration(left, (now - p->start) * (1 - share) / share);
    progress_show("%s %.0f%%  %s left", p->what, 100 * share, left);
    atomic_flag_clear(&drawing);
}

void progress_end(Progress *p) {
    if (p->shown) progress_clear();
}

void progress_off(void) { off = true; }

const char *progress_duration(char out[32], double seconds) {
    long s = seconds > 0 ? (long)(seconds + 0.5) : 0;
    if (s < 60)
        snprintf(out, 32, "%lds", s);
    else if (s < 3600)
        snprintf(out, 32, "%ldm%02lds", s / 60, s % 60);
    else
        snprintf(out, 32, "%ldh%02ldm", s / 3600, s % 3600 / 60);
    return out;
}
