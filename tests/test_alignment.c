/* Alignments as text: words and pieces, hard, soft and above a threshold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "decoding/alignment.h"

static Tokenizer *characters(void) {
    Lines lines;
    const char text[] = "abc xyz abc xyz\nabc xyz\n";
    TokenizerOptions o = tokenizer_default_options();
    Error error = {""};
    o.type = TOKENIZER_CHAR;
    o.vocab_size = 300;
    lines_split(&lines, memory_text(text, strlen(text)), strlen(text));
    const Lines *texts[] = {&lines};
    Tokenizer *t = tokenizer_learn(texts, 1, &o, &error);
    if (t == NULL) fail_msg("%s", error.text);
    lines_free(&lines);
    return t;
}

static IdList encode(const Tokenizer *t, const char *text) {
    IdList ids = {0};
    TextEncoder *encoder = text_encoder_new(t);
    tokenizer_encode(encoder, text, strlen(text), &ids);
    text_encoder_free(encoder);
    return ids;
}

/* Words as digits, "-" for none. */
static void assert_words(const Tokenizer *t, const char *text, const char *expected) {
    IdList ids = encode(t, text);
    int word[64];
    char got[65] = "";
    alignment_words(word, t, ids.ids, (int)ids.count);
    for (size_t i = 0; i < ids.count; i++) got[i] = word[i] < 0 ? '-' : (char)('0' + word[i]);
    assert_string_equal(got, expected);
    id_list_free(&ids);
}

static void test_words(void **state) {
    (void)state;
    Tokenizer *t = characters();
    assert_words(t, "ab c", "00011");
    assert_words(t, "a", "00");
    assert_words(t, "  ab  c ",
                 "0000011"
                 "1"
                 "-");
    assert_words(t, " ", "--");
    assert_words(t, "a\xC3\xA4 b", "000011"); /* a letter in two bytes */
    tokenizer_free(t);
}

static void assert_alignment(AlignmentOptions o, const real *attention, const Tokenizer *t, const char *source,
                             const char *target, const char *expected) {
    IdList s = encode(t, source), g = encode(t, target);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    alignment_write(out, &o, attention, t, s.ids, (int)s.count, t, g.ids, (int)g.count);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
    id_list_free(&s);
    id_list_free(&g);
}

static void test_forms(void **state) {
    (void)state;
    Tokenizer *t = characters();
    /* Source "ab c": _ a b _ c </s>; target "x y": _ x _ y </s>. */
    const real attention[5][6] = {{(real)0.125, (real)0.5, (real)0.25, 0, (real)0.125, 0},
                                  {0, (real)0.375, (real)0.5, 0, (real)0.125, 0},
                                  {0, 0, 0, (real)0.125, (real)0.25, (real)0.625},
                                  {0, (real)0.25, 0, (real)0.5, (real)0.25, 0},
                                  {0, 0, 0, 0, 0, 1}};
    const real *a = &attention[0][0];
    assert_alignment((AlignmentOptions){ALIGNMENT_HARD, 0, false}, a, t, "ab c", "x y", "0-0 1-1");
    assert_alignment((AlignmentOptions){ALIGNMENT_HARD, 0, true}, a, t, "ab c", "x y", "1-0 2-1 3-3 4-2");
    assert_alignment((AlignmentOptions){ALIGNMENT_THRESHOLD, 0.2, false}, a, t, "ab c", "x y", "0-0 0-1 1-1");
    assert_alignment((AlignmentOptions){ALIGNMENT_THRESHOLD, 0.4, true}, a, t, "ab c", "x y", "1-0 2-1 3-3");
    assert_alignment((AlignmentOptions){ALIGNMENT_THRESHOLD, 0.5, true}, a, t, "ab c", "x y", "");
    assert_alignment((AlignmentOptions){ALIGNMENT_SOFT, 0, false}, a, t, "ab c", "x y",
                     "0.125,0.5,0.25,0,0.125,0 0,0.375,0.5,0,0.125,0 0,0,0,0.125,0.25,0.625 0,0.25,0,0.5,0.25,0 "
                     "0,0,0,0,0,1");
    tokenizer_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
