/* The arena: marks nest, pointers stay, records tell what was taken, and a warm arena stops growing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"

enum { MEGABYTE = 1 << 20 };

static void test_marks_and_records(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, "test");
    real *a = arena_reals(&arena, "a", 3, 5);
    for (int i = 0; i < 15; i++) a[i] = (real)i;
    ArenaMark outer = arena_mark(&arena);
    for (int i = 0; i < 40; i++) arena_array(&arena, int, "many", MEGABYTE / 8);
    ArenaMark inner = arena_mark(&arena);
    arena_reals(&arena, "b", 1000000, 2);
    assert_string_equal(arena.last->name, "b");
    assert_string_equal(arena.last->function, "test_marks_and_records");
    assert_int_equal(arena.last->rows * arena.last->cols, 2000000);
    arena_release(&arena, inner);
    assert_string_equal(arena.last->name, "many");
    arena_release(&arena, outer);
    assert_string_equal(arena.last->name, "a");
    assert_null(arena.last->previous);
    assert_int_equal((uintptr_t)arena_reals(&arena, "c", 1, 1) % 64, 0);
    for (int i = 0; i < 15; i++) assert_true(a[i] == (real)i);
    arena_free(&arena);
}

/* Marks of the empty arena stay good when the chain is replaced. */
static void test_nested_marks_of_an_empty_arena(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, "test");
    arena_release(&arena, arena_mark(&arena));
    arena_array(&arena, char, "small", 1);
    arena_release(&arena, (ArenaMark){0});
    ArenaMark outer = arena_mark(&arena), inner = arena_mark(&arena);
    for (int i = 0; i < 9; i++) memset(arena_array(&arena, char, "many", 3 * MEGABYTE), i, 3 * MEGABYTE);
    arena_release(&arena, inner);
    memset(arena_array(&arena, char, "again", 26 * MEGABYTE), 1, 26 * MEGABYTE);
    arena_release(&arena, outer);
    assert_null(arena.last);
    assert_int_equal(arena.used, 0);
    arena_free(&arena);
}

/* Passes that take like amounts in varying order and size, as pieces of an update do. */
static void test_a_warm_arena_stops_growing(void **state) {
    (void)state;
    Arena arena;
    Rng rng = {1};
    arena_init(&arena, "test");
    for (int pass = 0; pass < 60; pass++) {
        int large = (int)rng_below(&rng, 30);
        ArenaMark mark = arena_mark(&arena);
        for (int i = 0; i < 30; i++) {
            arena_array(&arena, char, "small", 3 * MEGABYTE + rng_below(&rng, MEGABYTE));
            if (i == large) arena_array(&arena, char, "large", 100 * MEGABYTE);
        }
        arena_release(&arena, mark);
    }
    assert_true(arena_capacity(&arena) >= arena.peak);
    assert_true(arena_capacity(&arena) <= arena.peak + arena.peak / 10);
    assert_true(arena.peak > ARENA_BLOCK_BYTES && arena.peak <= 221 * MEGABYTE);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_and_records),
        cmocka_unit_test(test_nested_marks_of_an_empty_arena),
        cmocka_unit_test(test_a_warm_arena_stops_growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
