/* BLEU, chrF and resampling: figures that sacreBLEU 2.6.0 printed (scripts/check_scores.py compares at length). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/version.h"
#include "scores/evaluation.h"
#include "scores/tags.h"
#include "tests/support/probe.h"
#include "tokenizer/utf8.h"

enum { SENTENCES = 8 };
static const char *const HYPOTHESES[SENTENCES] = {"Ein kleines Mädchen klettert in ein Spielhaus aus Holz.",
                                                  "Der Mann, der 3,5 km läuft, ist müde!",
                                                  "Two men are are at the stove preparing food food.",
                                                  "He said &quot;no&quot; &amp;amp; left.",
                                                  "",
                                                  "Das kostet €20 – oder 10%.",
                                                  "日本語の文です。",
                                                  "ein HUND läuft 👍🏽 schnell"};
static const char *const REFERENCES[2][SENTENCES] = {
    {"Ein kleines Mädchen klettert in ein Spielhaus aus Holz.", "Ein Mann, der 3.5 km läuft, ist müde.",
     "Two men are at the stove preparing food.", "He said \"no\" & left.", "Nichts.", "Es kostet €20 — oder 10 %.",
     "これは日本語の文です。", "Ein Hund läuft schnell. 👍🏽"},
    {"Ein Mädchen klettert in ein kleines Holzhaus.", "Der Mann ist müde.", "Two men prepare food at the stove.",
     "He said &quot;no&quot; &amp;amp; went.", "", "Das kostet 20 € oder 10%.", "日本語の文",
     "Schnell läuft ein Hund."}};
static const char *const OTHERS[SENTENCES] = {"Ein Mädchen klettert in ein Haus aus Holz.",
                                              "Ein Mann, der läuft, ist müde.",
                                              "Two men are at the stove.",
                                              "He said no.",
                                              "Nichts.",
                                              "Es kostet €20.",
                                              "日本語です。",
                                              "Ein Hund läuft."};

static void to_lines(Line lines[SENTENCES], const char *const texts[SENTENCES]) {
    for (int i = 0; i < SENTENCES; i++) lines[i] = (Line){texts[i], strlen(texts[i])};
}

/* Compares all that sacreBLEU prints; the version is ours. */
static void check_line(const Evaluation *e, const char *expected) {
    char line[2048], details[METRIC_TEXT], interval[METRIC_TEXT] = "";
    const SystemScore *s = &e->hypothesis;
    score_details(details, &e->metric, &s->score);
    if (s->interval.mean > 0)
        snprintf(interval, sizeof interval, " (μ = %.1f ± %.1f)", s->interval.mean, s->interval.half);
    snprintf(line, sizeof line, "%s|%s = %.1f%s%s%s", e->name, e->signature, s->score.value, interval,
             details[0] ? " " : "", details);
    char *version = strstr(line, "tandem-" TANDEM_VERSION);
    assert_non_null(version);
    memmove(version, version + strlen("tandem-" TANDEM_VERSION),
            strlen(version + strlen("tandem-" TANDEM_VERSION)) + 1);
    assert_string_equal(line, expected);
}

static void check(Metric m, int references, int samples, const char *expected) {
    Line hypothesis[SENTENCES], reference[2][SENTENCES];
    to_lines(hypothesis, HYPOTHESES);
    for (int r = 0; r < 2; r++) to_lines(reference[r], REFERENCES[r]);
    Setting setting = {references, samples, BOOTSTRAP_SEED};
    Evaluation e;
    evaluation_run(&e, &m, hypothesis, NULL, (const Line *const[]){reference[0], reference[1]}, SENTENCES, &setting);
    check_line(&e, expected);
}

static Metric bleu(BleuTokenizer tokenizer, BleuSmoothing smoothing, double value, bool lowercase) {
    Metric m = metric_bleu();
    m.bleu = (BleuOptions){tokenizer, smoothing, value, lowercase, false};
    return m;
}

static Metric chrf(int word_order, bool lowercase) {
    Metric m = metric_chrf(word_order);
    m.chrf.lowercase = lowercase;
    return m;
}

static void test_bleu_corpus(void **state) {
    (void)state;
    check(metric_bleu(), 1, 0,
          "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version: = 59.1 78.6/67.3/53.5/43.2 (BP = 1.000 ratio = "
          "1.018 hyp_len = 56 ref_len = 55)");
    check(bleu(BLEU_INTL, BLEU_SMOOTH_ADD_K, 1, false), 1, 0,
          "BLEU|nrefs:1|case:mixed|eff:no|tok:intl|smooth:add-k[1.00]|version: = 46.3 69.2/54.2/40.4/30.4 (BP = 1.000 "
          "ratio = 1.121 hyp_len = 65 ref_len = 58)");
    check(bleu(BLEU_CHAR, BLEU_SMOOTH_FLOOR, 0.1, false), 1, 0,
          "BLEU|nrefs:1|case:mixed|eff:no|tok:char|smooth:floor[0.10]|version: = 73.5 80.6/75.8/71.1/67.2 (BP = 1.000 "
          "ratio = 1.081 hyp_len = 201 ref_len = 186)");
    check(bleu(BLEU_NONE, BLEU_SMOOTH_NONE, 0, false), 1, 0,
          "BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:none|version: = 45.6 68.2/51.4/38.7/32.0 (BP = 1.000 ratio = "
          "1.000 hyp_len = 44 ref_len = 44)");
    check(bleu(BLEU_13A, BLEU_SMOOTH_ADD_K, 0.25, false), 1, 0,
          "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:add-k[0.25]|version: = 59.4 78.6/67.5/53.8/43.6 (BP = 1.000 "
          "ratio = 1.018 hyp_len = 56 ref_len = 55)");
    check(metric_bleu(), 2, 0,
          "BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version: = 65.7 87.5/75.5/58.1/48.6 (BP = 1.000 ratio = "
          "1.037 hyp_len = 56 ref_len = 54)");
    check(bleu(BLEU_13A, BLEU_SMOOTH_EXP, 0, true), 2, 0,
          "BLEU|nrefs:2|case:lc|eff:no|tok:13a|smooth:exp|version: = 67.3 87.5/79.6/60.5/48.6 (BP = 1.000 ratio = "
          "1.037 hyp_len = 56 ref_len = 54)");
}

static void test_chrf_corpus(void **state) {
    (void)state;
    check(metric_chrf(0), 1, 0, "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version: = 75.2");
    check(metric_chrf(0), 2, 0, "chrF2|nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version: = 81.1");
    check(chrf(1, true), 1, 0, "chrF2+|nrefs:1|case:lc|eff:yes|nc:6|nw:1|space:no|version: = 78.2");
    check(metric_chrf(2), 1, 0, "chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version: = 72.3");
    check(chrf(2, true), 2, 0, "chrF2++|nrefs:2|case:lc|eff:yes|nc:6|nw:2|space:no|version: = 82.5");
}

/* BLEU by smoothing, then chrF2++, of each sentence. */
static const double SENTENCE_SCORES[5][SENTENCES] = {{100.0, 46.9, 60.8, 58.1, 0.0, 41.1, 0.0, 11.5},
                                                     {100.0, 46.9, 60.8, 58.1, 0.0, 41.1, 0.0, 5.8},
                                                     {100.0, 52.7, 65.0, 62.8, 0.0, 50.9, 0.0, 25.9},
                                                     {100.0, 46.9, 60.8, 58.1, 0.0, 41.1, 0.0, 0.0},
                                                     {100.0, 70.8, 94.7, 39.4, 0.0, 62.5, 58.5, 38.0}};

static void test_sentences(void **state) {
    (void)state;
    Line hypothesis[SENTENCES], reference[SENTENCES];
    to_lines(hypothesis, HYPOTHESES);
    to_lines(reference, REFERENCES[0]);
    for (int row = 0; row < 5; row++) {
        BleuSmoothing smoothing = (BleuSmoothing)(row % BLEU_SMOOTHINGS);
        Metric m = row == 4 ? metric_chrf(2) : bleu(BLEU_13A, smoothing, bleu_smooth_default(smoothing), false);
        m.bleu.effective_order = true;
        Counts c;
        counts_collect(&c, &m, hypothesis, (const Line *const[]){reference}, 1, SENTENCES);
        for (int i = 0; i < SENTENCES; i++) {
            char score[32], expected[32];
            snprintf(score, sizeof score, "%.1f", counts_sentence_score(&c, i).value);
            snprintf(expected, sizeof expected, "%.1f", SENTENCE_SCORES[row][i]);
            assert_string_equal(score, expected);
        }
        counts_free(&c);
    }
}

/* BLEU and chrF2++ of one sentence: which reference counts, fewer than four words, punctuation at either end. */
static void test_border_cases(void **state) {
    (void)state;
    static const struct {
        const char *hypothesis, *references[3];
        double bleu, chrf;
    } cases[] = {
        {"a b c d", {"a b c", "a b c d e"}, 100.000, 90.909}, {"a b c d", {"a b c d e", "a b c"}, 100.000, 90.909},
        {"the cat", {"the cat sat"}, 60.653, 57.764},         {"x (hi) ¡no! «a»", {"x (hi ¡no «a"}, 26.269, 32.096},
        {"(hi -x (a) ',", {"(hi x a) ',"}, 41.113, 45.020},   {"(a (b c", {"( a (x (b"}, 38.715, 41.327},
        {"ab", {"abc", "ab c", "ba"}, 100.000, 60.976}};
    static const int lengths[] = {3, 3, 0, 0, 0, 0, 0}; /* of the closest reference, where that is the question */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Line h = {cases[i].hypothesis, strlen(cases[i].hypothesis)}, reference[3];
        const Line *of_sentence[3] = {&reference[0], &reference[1], &reference[2]};
        int references = 0;
        for (; references < 3 && cases[i].references[references] != NULL; references++)
            reference[references] = (Line){cases[i].references[references], strlen(cases[i].references[references])};
        Metric bleu_metric = metric_bleu(), chrf_metric = metric_chrf(2);
        bleu_metric.bleu.effective_order = true;
        Counts c;
        counts_collect(&c, &bleu_metric, &h, of_sentence, references, 1);
        Score score = counts_score(&c);
        counts_free(&c);
        assert_true(fabs(score.value - cases[i].bleu) < 5.001e-4);
        if (lengths[i] > 0) assert_int_equal(score.bleu.ref_length, lengths[i]);
        counts_collect(&c, &chrf_metric, &h, of_sentence, references, 1);
        assert_true(fabs(counts_score(&c).value - cases[i].chrf) < 5.001e-4);
        counts_free(&c);
    }
}

/* As words with one space between. */
static void check_words(BleuTokenizer tokenizer, bool lowercase, const char *text, const char *expected) {
    Symbols s = {0}, scratch = {0};
    char words[512];
    size_t n = 0;
    symbols_read(&s, &scratch, (Line){text, strlen(text)}, lowercase);
    bleu_tokenize(&s, &scratch, tokenizer);
    for (size_t i = 0; i < s.count; i++) {
        if (!code_is_space(s.at[i]))
            n += utf8_put(words + n, s.at[i]);
        else if (n > 0 && words[n - 1] != ' ')
            words[n++] = ' ';
    }
    words[n > 0 && words[n - 1] == ' ' ? n - 1 : n] = '\0';
    assert_string_equal(words, expected);
    symbols_free(&s);
    symbols_free(&scratch);
}

static void test_tokenizers(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        /* text, 13a, intl */
        {"Hello, world! (3,5 km) 1999-2004.", "Hello , world ! ( 3,5 km ) 1999 - 2004 .",
         "Hello , world ! ( 3,5 km ) 1999-2004."},
        {"a.b,c.1.2,3,x ...,,.", "a . b , c . 1.2,3 , x . . . , , .", "a . b , c . 1.2,3 , x . . . , , ."},
        {"&quot;&amp;lt;&quot; &amp;amp; <skipped>x", "\" < \" & amp ; x",
         "& quot ; & amp ; lt ; & quot ; & amp ; amp ; < skipped > x"},
        {"«Ja» – 10% €5 x=1 №7 2020.", "«Ja» – 10 % €5 x = 1 №7 2020 .", "« Ja » – 10 % € 5 x = 1 № 7 2020."},
        {"don't stop-me 5-a a-5", "don't stop-me 5 - a a-5", "don ' t stop - me 5 - a a - 5"},
        {"日本語。１２，３", "日本語。１２，３", "日本語 。 １２，３"},
        {"&amp;quot; &amp;amp;lt;", "& quot ; & amp ; lt ;", "& amp ; quot ; & amp ; amp ; lt ;"},
        {"Ⅷ,5 ½.½ x.² 2,Ⅷ ,½", "Ⅷ , 5 ½ . ½ x . ² 2 , Ⅷ , ½", "Ⅷ,5 ½.½ x . ² 2,Ⅷ , ½"},
        {"2020.  \xC2\xA0", "2020 .", "2020."},
        {"a\xC2\xA0"
         "b \t c",
         "a b c", "a b c"},
        {"a\x1C"
         "b\x1F\x0B",
         "a b", "a b"},
        {"-5 - .5 5. ,", "-5 - . 5 5 . ,", "-5 - . 5 5 . ,"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_words(BLEU_13A, false, cases[i][0], cases[i][1]);
        check_words(BLEU_INTL, false, cases[i][0], cases[i][2]);
    }
    check_words(BLEU_CHAR, false, "日本 a.b", "日 本 a . b");
    check_words(BLEU_NONE, false, "a.b, &amp;", "a.b, &amp;");
    check_words(BLEU_13A, false, "<skipped", "< skipped");
    check_words(BLEU_13A, false, "\xFF\xE6\x97x", REPLACEMENT REPLACEMENT "x"); /* one for each invalid sequence */
}

/* As Python 3's str.lower(). */
static void test_lowercase(void **state) {
    (void)state;
    check_words(BLEU_NONE, true, "ÄÖÜ ẞ ǅ ＡＢ", "äöü ß ǆ ａｂ");
    check_words(BLEU_NONE, true, "İI", "i\xCC\x87i");
    check_words(BLEU_NONE, true, "ΟΔΥΣΣΕΥΣ Σ ΑΣ. Α'Σ'Β Σ.Β Ⅷ.Σ!", "οδυσσευς σ ας. α'σ'β σ.β ⅷ.ς!");
}

static void test_resampling(void **state) {
    (void)state;
    Draws d; /* NumPy 2.4: default_rng(seed).choice(n, size) */
    static const uint32_t eight[] = {5, 1, 6, 2, 1, 6, 5, 5, 7, 3, 6, 2},
                          thousand[] = {850, 636, 511, 269, 307, 40, 75, 16},
                          large[] = {2447423174, 812562296, 579702466, 1535117699, 1318252994, 2700075397};
    draws_init(&d, 12345);
    for (int i = 0; i < 12; i++) assert_int_equal(draws_below(&d, 8), eight[i]);
    draws_init(&d, 0);
    for (int i = 0; i < 8; i++) assert_int_equal(draws_below(&d, 1000), thousand[i]);
    draws_init(&d, 2147483647);
    for (int i = 0; i < 6; i++) assert_int_equal(draws_below(&d, 3000000000u), large[i]);

    check(metric_bleu(), 1, 1000,
          "BLEU|nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version: = 59.1 (μ = 56.9 ± 20.1) "
          "78.6/67.3/53.5/43.2 (BP = 1.000 ratio = 1.018 hyp_len = 56 ref_len = 55)");
    check(metric_chrf(2), 1, 1000,
          "chrF2++|nrefs:1|bs:1000|seed:12345|case:mixed|eff:yes|nc:6|nw:2|space:no|version: = 72.3 (μ = 70.6 ± 20.5)");
}

/* sacreBLEU's --paired-bs; a system compared with itself is no different. */
static void test_comparison(void **state) {
    (void)state;
    Line hypothesis[SENTENCES], other[SENTENCES], reference[SENTENCES];
    to_lines(hypothesis, HYPOTHESES);
    to_lines(other, OTHERS);
    to_lines(reference, REFERENCES[0]);
    Setting setting = {1, 1000, BOOTSTRAP_SEED};
    static const double expected[2][4] = {/* score, mean, half of the interval, p */
                                          {42.10639, 41.29047, 18.56399, 0.09490509},
                                          {59.42256, 59.06162, 10.10042, 0.02297702}};
    for (int i = 0; i < 2; i++) {
        Metric m = i == 0 ? metric_bleu() : metric_chrf(0);
        Evaluation e;
        evaluation_run(&e, &m, hypothesis, other, (const Line *const[]){reference}, SENTENCES, &setting);
        assert_near(e.other.score.value, expected[i][0], 1e-6);
        assert_near(e.other.interval.mean, expected[i][1], 1e-6);
        assert_near(e.other.interval.half, expected[i][2], 1e-6);
        assert_near(e.p_value, expected[i][3], 1e-6);
        evaluation_run(&e, &m, hypothesis, hypothesis, (const Line *const[]){reference}, SENTENCES, &setting);
        assert_true(e.p_value == 1);
    }
}

/* The other two metrics, which sacreBLEU does not have. */
static void test_exact_match_and_length(void **state) {
    (void)state;
    Line hypothesis[SENTENCES], reference[2][SENTENCES];
    to_lines(hypothesis, HYPOTHESES);
    for (int r = 0; r < 2; r++) to_lines(reference[r], REFERENCES[r]);
    Metric exact = {.kind = METRIC_EXACT_MATCH}, length = {.kind = METRIC_LENGTH_RATIO};
    Counts c;
    counts_collect(&c, &exact, hypothesis, (const Line *const[]){reference[0], reference[1]}, 2, SENTENCES);
    assert_int_equal(counts_score(&c).exact, 2); /* the first, and the empty one that the second reference has */
    assert_true(counts_score(&c).value == 25);
    counts_free(&c);
    counts_collect(&c, &length, hypothesis, (const Line *const[]){reference[0]}, 1, SENTENCES);
    assert_near(counts_score(&c).value, 56.0 / 55, 1e-12);
    counts_free(&c);
}

static void test_tags(void **state) {
    (void)state;
    Lines hypothesis, reference[2], tags;
    lines_split(&hypothesis, memory_text("a b\nc\nd", 7), 7);
    lines_split(&reference[0], memory_text("a b\nC\nd", 7), 7);
    lines_split(&reference[1], memory_text("a\nC\nc", 5), 5);
    lines_split(&tags, memory_text("y x\ny\n  x", 9), 9);
    TagCounts counts =
        tags_count(hypothesis.line, (const Line *const[]){reference[1].line, reference[0].line}, 2, &tags);
    assert_int_equal(counts.count, 2);
    assert_int_equal(counts.tag[0].tag.text[0], 'x');
    assert_int_equal(counts.tag[0].exact, 2);
    assert_int_equal(counts.tag[1].exact, 1);
    assert_int_equal(counts.tag[1].lines, 2);
    tags_free(&counts);
    lines_free(&hypothesis);
    for (int r = 0; r < 2; r++) lines_free(&reference[r]);
    lines_free(&tags);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bleu_corpus),
        cmocka_unit_test(test_chrf_corpus),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_border_cases),
        cmocka_unit_test(test_tokenizers),
        cmocka_unit_test(test_lowercase),
        cmocka_unit_test(test_resampling),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_exact_match_and_length),
        cmocka_unit_test(test_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
