/* The fast learner and the fast encoder against slow ones that are written straight from the definition:
 * count all pairs of neighbours again for every merge; search a word for its lowest merge again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <utf8proc.h>

#include "base/batch.h"
#include "base/memory.h"
#include "base/rng.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary.h"

/* Letters, a mark, digits and punctuation, of 1 to 4 bytes each; frequent ones first. */
static const char *const characters[] = {"a", "a", "a", "a",  "b", "b",        "b", " ", " ", ",",
                                         "1", "c", "é", "日", ".", "\xCC\x81", "😀", "d", "-", "\xF0\x90\x8E\xA0"};
enum { CHARACTERS = sizeof characters / sizeof *characters, MOST_IDS = 340, MOST_SYMBOLS = 4000 };

static size_t random_text(Rng *rng, char *text, int length, int kinds) {
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        const char *character = characters[rng_below(rng, (uint64_t)kinds)];
        memcpy(text + used, character, strlen(character));
        used += strlen(character);
    }
    return used;
}

/* Random lines, in memory of their own. */
static Lines random_lines(Rng *rng, int count, int kinds) {
    char *text = memory_alloc(20000, 1, "text");
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        used += random_text(rng, text + used, 1 + (int)rng_below(rng, 30), kinds);
        text[used++] = '\n';
    }
    Lines lines;
    lines_split(&lines, text, used);
    return lines;
}

/* ---- the slow learner ---- */

typedef struct Naive {
    char piece[MOST_IDS][256];
    int pieces;
    int symbol[MOST_SYMBOLS]; /* ids, with -1 wherever no merge may join */
    int symbols;
    Merge merge[MOST_IDS];
    int merges;
} Naive;

static int naive_find(const Naive *n, const char *piece) {
    for (int id = 0; id < n->pieces; id++)
        if (strcmp(n->piece[id], piece) == 0) return id;
    return -1;
}

/* 'L' for letters, 'O' for other characters, 0 for those that go with any. */
static char kind_of(int32_t code) {
    const char *category = utf8proc_category_string(code);
    if (code == CODE_WORD_MARK || category[0] == 'M' || strcmp(category, "Cf") == 0) return 0;
    return category[0] == 'L' ? 'L' : 'O';
}

/* A line with "▁" in front and for spaces; -1 before every "▁", where the kind changes, and for characters that
 * have no piece. */
static void naive_add_line(Naive *n, Line line) {
    char marked[400] = WORD_MARK, character[5];
    size_t used = 3;
    for (size_t i = 0; i < line.length; i++) {
        if (line.text[i] == ' ')
            used += strlen(strcpy(marked + used, WORD_MARK));
        else
            marked[used++] = line.text[i];
    }
    char kind = 0;
    int32_t code;
    for (size_t i = 0, length; i < used; i += length) {
        length = utf8_next(marked + i, used - i, &code);
        memcpy(character, marked + i, length);
        character[length] = '\0';
        char next = kind_of(code);
        if (code == CODE_WORD_MARK || (kind && next && kind != next)) n->symbol[n->symbols++] = -1;
        if (code == CODE_WORD_MARK) kind = 0;
        if (next) kind = next;
        n->symbol[n->symbols++] = naive_find(n, character);
        assert_in_range(n->symbols, 0, MOST_SYMBOLS - 3);
    }
    n->symbol[n->symbols++] = -1;
}

/* The most frequent pair; the first in order of (left, right) among equals. */
static int naive_best(const Naive *n, Merge *best) {
    static int count[MOST_IDS][MOST_IDS];
    memset(count, 0, sizeof count);
    for (int i = 0; i + 1 < n->symbols; i++)
        if (n->symbol[i] >= 0 && n->symbol[i + 1] >= 0) count[n->symbol[i]][n->symbol[i + 1]]++;
    int most = 0;
    for (int left = 0; left < n->pieces; left++)
        for (int right = 0; right < n->pieces; right++)
            if (count[left][right] > most) {
                most = count[left][right];
                *best = (Merge){left, right, -1};
            }
    return most;
}

static void naive_apply(Naive *n, Merge m) {
    int kept = 0;
    for (int i = 0; i < n->symbols; i++) {
        int joins = i + 1 < n->symbols && n->symbol[i] == m.left && n->symbol[i + 1] == m.right;
        n->symbol[kept++] = joins ? m.result : n->symbol[i];
        i += joins;
    }
    n->symbols = kept;
}

/* Continues from the alphabet that `learned` has. */
static void naive_learn(Naive *n, const Lines *lines, const Tokenizer *learned, int vocab_size, int min_frequency) {
    memset(n, 0, sizeof *n);
    while (n->pieces < tokenizer_vocab_size(learned)) {
        const char *piece = tokenizer_piece(learned, n->pieces);
        int32_t code;
        if (n->pieces >= ID_FIRST_PIECE && utf8_next(piece, strlen(piece), &code) < strlen(piece)) break;
        strcpy(n->piece[n->pieces++], piece);
    }
    for (size_t i = 0; i < lines->count; i++) naive_add_line(n, lines->line[i]);
    Merge m;
    while (n->pieces < vocab_size && naive_best(n, &m) >= min_frequency) {
        char joined[512];
        snprintf(joined, sizeof joined, "%s%s", n->piece[m.left], n->piece[m.right]);
        assert_in_range(strlen(joined), 0, sizeof n->piece[0] - 1);
        assert_int_equal(naive_find(n, joined), -1);
        strcpy(n->piece[m.result = n->pieces++], joined);
        n->merge[n->merges++] = m;
        naive_apply(n, m);
    }
}

static void check_learner(Rng *rng, int lines_count, int kinds, int min_frequency) {
    static Naive naive;
    Lines lines = random_lines(rng, lines_count, kinds);
    const Lines *texts[] = {&lines};
    TokenizerOptions options = tokenizer_default_options();
    options.vocab_size = 261 + (int)rng_below(rng, MOST_IDS - 261);
    options.min_frequency = min_frequency;
    Error error;
    Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, &error);
    assert_non_null(tokenizer);
    naive_learn(&naive, &lines, tokenizer, options.vocab_size, min_frequency);
    assert_int_equal(tokenizer_vocab_size(tokenizer), naive.pieces);
    for (int id = 0; id < naive.pieces; id++) assert_string_equal(tokenizer_piece(tokenizer, id), naive.piece[id]);
    assert_int_equal(tokenizer->merge_count, naive.merges);
    assert_memory_equal(tokenizer->merges, naive.merge, (size_t)naive.merges * sizeof *naive.merge);
    tokenizer_free(tokenizer);
    lines_free(&lines);
}

static void test_learner_against_naive(void **state) {
    (void)state;
    Rng rng = {11};
    for (int i = 0; i < 100; i++)
        check_learner(&rng, 1 + (int)rng_below(&rng, 60), 5 + (int)rng_below(&rng, CHARACTERS - 4), 1 + i % 3);
    for (int i = 0; i < 30; i++) check_learner(&rng, 30, 7, 1); /* "a" and "b" only: overlaps, runs, ties */
}

/* ---- the slow encoder ---- */

static void naive_encode(const Tokenizer *t, const char *word, size_t length, IdList *out) {
    size_t start = out->count;
    for (size_t i = 0, n; i < length; i += n) {
        int32_t code;
        n = utf8_next(word + i, length - i, &code);
        int id = string_map_find(&t->pieces, word + i, n);
        if (id >= 0) id_list_push(out, id);
        for (size_t b = 0; id < 0 && b < n; b++) id_list_push(out, ID_FIRST_BYTE + (unsigned char)word[i + b]);
    }
    for (;;) {
        int lowest = t->merge_count;
        size_t place = 0;
        for (size_t i = start; i + 1 < out->count; i++)
            for (int rank = 0; rank < lowest; rank++)
                if (t->merges[rank].left == out->ids[i] && t->merges[rank].right == out->ids[i + 1]) {
                    lowest = rank;
                    place = i;
                }
        if (lowest == t->merge_count) return;
        out->ids[place] = t->merges[lowest].result;
        out->count--;
        memmove(out->ids + place + 1, out->ids + place + 2, (out->count - place - 1) * sizeof *out->ids);
    }
}

static void check_encoder(Rng *rng, const Tokenizer *tokenizer, TextEncoder *encoder) {
    char text[400], word[1300];
    size_t length = random_text(rng, text, 1 + (int)rng_below(rng, 60), CHARACTERS), used = 0;
    IdList fast = {0}, slow = {0};
    tokenizer_encode(encoder, text, length, &fast);
    used += strlen(strcpy(word, WORD_MARK));
    for (size_t i = 0; i <= length; i++) { /* by words, the last one ended by the text's end */
        if (i < length && text[i] != ' ') {
            word[used++] = text[i];
            continue;
        }
        naive_encode(tokenizer, word, used, &slow);
        used = strlen(WORD_MARK);
    }
    assert_int_equal(fast.count, slow.count);
    assert_memory_equal(fast.ids, slow.ids, fast.count * sizeof *fast.ids);
    id_list_free(&fast);
    id_list_free(&slow);
}

static void test_encoder_against_naive(void **state) {
    (void)state;
    Rng rng = {12};
    for (int i = 0; i < 20; i++) {
        Lines lines = random_lines(&rng, 60, 8 + i % (CHARACTERS - 7));
        const Lines *texts[] = {&lines};
        TokenizerOptions options = tokenizer_default_options();
        options.vocab_size = 280 + i * 10;
        Error error;
        Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, &error);
        TextEncoder *encoder = text_encoder_new(tokenizer);
        for (int k = 0; k < 80; k++) check_encoder(&rng, tokenizer, encoder);
        text_encoder_free(encoder);
        tokenizer_free(tokenizer);
        lines_free(&lines);
    }
}

/* ---- what learning promises ---- */

/* The same text gives the same vocabulary, in whatever order its lines stand and however it is cut in files. */
static void test_deterministic(void **state) {
    (void)state;
    Rng rng = {13};
    Lines lines = random_lines(&rng, 80, CHARACTERS), first = lines, second = lines;
    first.count = 30;
    second.line += 30;
    second.count -= 30;
    const Lines *whole[] = {&lines}, *parts[] = {&second, &first};
    TokenizerOptions options = tokenizer_default_options();
    options.vocab_size = 330;
    Error error;
    Tokenizer *a = tokenizer_learn(whole, 1, &options, &error), *b = tokenizer_learn(parts, 2, &options, &error);
    assert_true(tokenizer_hash(a) == tokenizer_hash(b));
    options.vocab_size--;
    Tokenizer *c = tokenizer_learn(whole, 1, &options, &error);
    assert_true(tokenizer_hash(a) != tokenizer_hash(c));
    tokenizer_free(a);
    tokenizer_free(b);
    tokenizer_free(c);
    lines_free(&lines);
}

static void test_letters_stay_apart(void **state) {
    (void)state;
    Rng rng = {14};
    Lines lines = random_lines(&rng, 200, CHARACTERS);
    const Lines *texts[] = {&lines};
    TokenizerOptions options = tokenizer_default_options();
    options.vocab_size = 5000;
    Error error;
    Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, &error);
    assert_in_range(tokenizer_vocab_size(tokenizer), 400, 5000);
    for (int id = ID_FIRST_PIECE; id < tokenizer_vocab_size(tokenizer); id++) {
        const char *piece = tokenizer_piece(tokenizer, id);
        int letters = 0, others = 0;
        int32_t code;
        for (size_t i = 0; piece[i] != '\0'; letters += kind_of(code) == 'L', others += kind_of(code) == 'O')
            i += utf8_next(piece + i, strlen(piece) - i, &code);
        assert_true(letters == 0 || others == 0);
    }
    tokenizer_free(tokenizer);
    lines_free(&lines);
}

/* A character below min_frequency stays out, and so do NUL and those beyond the share of the alphabet. */
static void test_rare_characters(void **state) {
    (void)state;
    static const char text[] = "aaaa bbb cc d\0\0\0\0";
    Lines lines;
    lines_split(&lines, memory_text(text, sizeof text - 1), sizeof text - 1);
    const Lines *texts[] = {&lines};
    TokenizerOptions options = tokenizer_default_options();
    Error error;
    Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, &error);
    assert_true(tokenizer_id(tokenizer, "c") > 0 && tokenizer_id(tokenizer, "d") < 0);
    assert_string_equal(tokenizer_piece(tokenizer, ID_FIRST_PIECE), "a"); /* by code point, and not NUL */
    tokenizer_free(tokenizer);
    options.vocab_size = ID_FIRST_PIECE + 6; /* three characters: ▁ and the two most frequent */
    tokenizer = tokenizer_learn(texts, 1, &options, &error);
    assert_true(tokenizer_id(tokenizer, "b") > 0 && tokenizer_id(tokenizer, "c") < 0);
    tokenizer_free(tokenizer);
    lines_free(&lines);
}

/* Enough strings of one length that some have equal hashes: they stay apart all the same. */
static void test_many_strings(void **state) {
    (void)state;
    StringMap map = {0};
    char string[8];
    for (int repeat = 0; repeat < 2; repeat++)
        for (int i = 0; i < 300000; i++) {
            snprintf(string, sizeof string, "%06x", (unsigned)i);
            assert_int_equal(string_map_add(&map, string, 6), i);
            assert_string_equal(string_map_text(&map, i), string);
        }
    assert_int_equal(string_map_find(&map, "abcxyz", 6), -1);
    string_map_free(&map);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learner_against_naive), cmocka_unit_test(test_encoder_against_naive),
        cmocka_unit_test(test_deterministic),         cmocka_unit_test(test_letters_stay_apart),
        cmocka_unit_test(test_rare_characters),       cmocka_unit_test(test_many_strings),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
