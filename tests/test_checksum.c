/* The checksum agrees with the reference implementation, in whatever parts the bytes come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/checksum.h"

static uint64_t checksum_of(const char *text, size_t size, size_t step) {
    Checksum c;
    checksum_start(&c);
    for (size_t i = 0; i < size; i += step) checksum_add(&c, text + i, size - i < step ? size - i : step);
    return checksum_finish(&c);
}

/* Values of the reference implementation (xxhsum -H1). */
static void test_checksum(void **state) {
    (void)state;
    assert_true(checksum_of("", 0, 1) == 0xEF46DB3751D8E999u);
    assert_true(checksum_of("abc", 3, 3) == 0x44BC2CF5AD770999u);
    const char *text = "Nobody inspects the spammish repetition";
    for (size_t step = 1; step < 45; step++) assert_true(checksum_of(text, 39, step) == 0xFBCEA83C8A378BF1u);
    char many[1000];
    for (size_t i = 0; i < sizeof many; i++) many[i] = (char)(i * 7);
    for (size_t step = 1; step < 100; step++)
        assert_true(checksum_of(many, sizeof many, step) == checksum_of(many, sizeof many, sizeof many));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_checksum)};
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
