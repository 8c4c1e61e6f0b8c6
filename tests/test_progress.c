/* The progress line, on a pseudo terminal: what is drawn, and that it is taken away, by a signal too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"

#define CLEAR "\r\033[K"
#define LINE(text) CLEAR "\033[?7l" text "\033[?7h"

/* A pseudo terminal in the place of stderr. */
typedef struct Terminal {
    int screen, keyboard, before;
} Terminal;

static Terminal terminal_open(void) {
    Terminal t = {.screen = posix_openpt(O_RDWR | O_NOCTTY), .before = dup(STDERR_FILENO)};
    assert_true(t.screen >= 0 && grantpt(t.screen) == 0 && unlockpt(t.screen) == 0);
    t.keyboard = open(ptsname(t.screen), O_RDWR | O_NOCTTY);
    assert_true(t.keyboard >= 0 && dup2(t.keyboard, STDERR_FILENO) == STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    return t;
}

static void terminal_close(Terminal *t) {
    dup2(t->before, STDERR_FILENO);
    close(t->before);
    close(t->keyboard);
    close(t->screen);
}

/* What was drawn since the last call. */
static const char *drawn(const Terminal *t) {
    static char text[4096];
    size_t size = 0;
    struct pollfd ready = {.fd = t->screen, .events = POLLIN};
    while (poll(&ready, 1, 20) == 1 && size < sizeof text - 1) {
        ssize_t got = read(t->screen, text + size, sizeof text - 1 - size);
        if (got <= 0) break;
        size += (size_t)got;
    }
    text[size] = '\0';
    return text;
}

static void wait_for_next(void) {
    struct timespec rest = {.tv_nsec = 110000000};
    nanosleep(&rest, NULL);
}

static void test_line(void **state) {
    (void)state;
    Terminal t = terminal_open();
    Progress p;
    progress_begin(&p, "counting", 200);
    assert_string_equal(drawn(&t), LINE("counting ..."));
    p.start -= 10; /* seconds ago */
    wait_for_next();
    progress_add(&p, 50);
    assert_string_equal(drawn(&t), LINE("counting 25%  30s left"));
    int draws = 0;
    for (int i = 0; i < 100; i++) progress_add(&p, 1);
    for (const char *at = drawn(&t); (at = strchr(at, '%')) != NULL; at++) draws++;
    assert_true(draws < 50); /* too soon, if this machine is not very busy */
    wait_for_next();
    progress_add(&p, 50);
    assert_string_equal(drawn(&t), LINE("counting 100%  0s left"));
    progress_end(&p);
    assert_string_equal(drawn(&t), CLEAR);
    progress_clear();
    assert_string_equal(drawn(&t), ""); /* there is nothing to take away */
    progress_begin(&p, "reading", 0);
    wait_for_next();
    progress_add(&p, 1); /* of how many is not known */
    progress_end(&p);
    assert_string_equal(drawn(&t), LINE("reading ...") CLEAR);
    terminal_close(&t);
}

static void test_no_terminal(void **state) {
    (void)state;
    Terminal t = terminal_open();
    Progress p;
    setenv("TERM", "dumb", 1);
    progress_begin(&p, "counting", 2);
    progress_show("text");
    wait_for_next();
    progress_add(&p, 1);
    progress_end(&p);
    assert_false(progress_due());
    setenv("TERM", "xterm", 1);
    assert_true(progress_due());
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    progress_show("text");
    assert_false(progress_due());
    assert_string_equal(drawn(&t), "");
    terminal_close(&t);
    struct pollfd ready = {.fd = pipes[0], .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 0), 0);
    close(pipes[0]);
    close(pipes[1]);
}

/* The line goes before the program dies of the signal. */
static void test_signal(void **state) {
    (void)state;
    Terminal t = terminal_open();
    pid_t child = fork();
    if (child == 0) {
        progress_show("working");
        raise(SIGTERM);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_string_equal(drawn(&t), LINE("working") CLEAR);
    terminal_close(&t);
}

static void test_duration(void **state) {
    (void)state;
    char out[32];
    assert_string_equal(progress_duration(out, -1), "0s");
    assert_string_equal(progress_duration(out, 59.4), "59s");
    assert_string_equal(progress_duration(out, 59.6), "1m00s");
    assert_string_equal(progress_duration(out, 3599), "59m59s");
    assert_string_equal(progress_duration(out, 7620), "2h07m");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_no_terminal),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
