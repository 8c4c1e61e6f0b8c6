/* tokenizer.json: what is saved is what is loaded, and a file of any bytes gives one clear error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "tests/support/scratch.h"
#include "tokenizer/tokenizer.h"

static Tokenizer *learn(Normalization normalization, bool lowercase) {
    const char *text = "the cat, the hat, that bat\nThe \"quoted\\ one\", \x01\x01 ÄÄÄ ▁ 日本 日本\nthe the cat cat\n";
    Lines lines;
    lines_split(&lines, memory_text(text, strlen(text)), strlen(text));
    const Lines *texts[] = {&lines};
    TokenizerOptions options = tokenizer_default_options();
    options.vocab_size = 300;
    options.normalization = normalization;
    options.lowercase = lowercase;
    Error error;
    Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, &error);
    assert_non_null(tokenizer);
    lines_free(&lines);
    return tokenizer;
}

static void save(const Tokenizer *tokenizer, const char *path) {
    Error error;
    if (!tokenizer_save(tokenizer, path, &error)) fail_msg("%s", error.text);
}

static Tokenizer *load(const char *path) {
    Error error;
    Tokenizer *tokenizer = tokenizer_load(path, &error);
    if (tokenizer == NULL) fail_msg("%s", error.text);
    return tokenizer;
}

static void check_same_ids(const Tokenizer *a, const Tokenizer *b, const char *text) {
    TextEncoder *x = text_encoder_new(a), *y = text_encoder_new(b);
    IdList p = {0}, q = {0};
    tokenizer_encode(x, text, strlen(text), &p);
    tokenizer_encode(y, text, strlen(text), &q);
    assert_int_equal(p.count, q.count);
    assert_memory_equal(p.ids, q.ids, p.count * sizeof *p.ids);
    id_list_free(&p);
    id_list_free(&q);
    text_encoder_free(x);
    text_encoder_free(y);
}

static void test_save_and_load(void **state) {
    (void)state;
    const char *first = scratch_path("first.json"), *second = scratch_path("second.json");
    for (int setting = 0; setting < 6; setting++) {
        Tokenizer *saved = learn((Normalization)(setting / 2), setting % 2);
        save(saved, first);
        Tokenizer *loaded = load(first);
        save(loaded, second);
        assert_true(tokenizer_hash(saved) == tokenizer_hash(loaded));
        check_same_ids(saved, loaded, "The \"cat\"  that ﬁt Ä\\e\xCC\x81 日本 </s>\x01");
        size_t a_size, b_size;
        char *a = scratch_read(first, &a_size), *b = scratch_read(second, &b_size);
        assert_int_equal(a_size, b_size);
        assert_memory_equal(a, b, a_size);
        free(a);
        free(b);
        tokenizer_free(saved);
        tokenizer_free(loaded);
    }
}

static void test_settings_change_the_hash(void **state) {
    (void)state;
    Tokenizer *a = learn(NORMALIZATION_NONE, false), *b = learn(NORMALIZATION_NFC, false);
    assert_true(tokenizer_hash(a) != tokenizer_hash(b));
    tokenizer_free(a);
    tokenizer_free(b);
}

static void test_save_errors(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn(NORMALIZATION_NONE, false);
    const char *path = scratch_path("no/such/tokenizer.json");
    Error error;
    assert_false(tokenizer_save(tokenizer, path, &error));
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, "No such file"));
    if (access("/dev/full", W_OK) == 0) { /* a full disk: the temporary file cannot be written */
        const char *full = scratch_path("full.json"), *link = scratch_path("full.json.tmp");
        assert_int_equal(symlink("/dev/full", link), 0);
        assert_false(tokenizer_save(tokenizer, full, &error));
        assert_non_null(strstr(error.text, "No space left"));
        assert_int_not_equal(access(full, F_OK), 0);
        assert_int_not_equal(access(link, F_OK), 0); /* no rubbish left */
    }
    tokenizer_free(tokenizer);
}

/* ---- malformed files ---- */

/* The file with the first `find` replaced; find "" replaces all of it. */
static void write_changed(const char *path, const char *json, const char *find, const char *replace) {
    const char *at = strstr(json, find);
    if (at == NULL) fail_msg("the file has no %s", find);
    size_t before = (size_t)(at - json), skip = find[0] ? strlen(find) : strlen(json);
    size_t size = before + strlen(replace) + strlen(at + skip);
    char *changed = memory_alloc(size + 1, 1, "changed file");
    sprintf(changed, "%.*s%s%s", (int)before, json, replace, at + skip);
    scratch_write(path, changed, size);
    memory_free(changed);
}

static void check_refused(const char *path, const char *wanted) {
    Error error = {""};
    Tokenizer *tokenizer = tokenizer_load(path, &error);
    if (tokenizer != NULL) fail_msg("loaded, instead of: %s", wanted);
    if (strstr(error.text, wanted) == NULL) fail_msg("\"%s\" does not say: %s", error.text, wanted);
    assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
    assert_null(strchr(error.text, '\n'));
}

static const struct {
    const char *find, *replace, *error;
} changes[] = {
    {"", "", "line 1"},
    {"", "nonsense", "not valid JSON"},
    {"", "[1, 2]", "no JSON object"},
    {"", "{}", "no object model"},
    {"", "{\"model\": []}", "no object model"},
    {"\"version\": \"1.0\",", "\"version\": \"1.0\", \"version\": \"1.0\",", "duplicate"},
    {"\"truncation\": null", "\"truncation\": {}", "truncation is set"},
    {"\"padding\": null", "\"padding\": {}", "padding is set"},
    {"\"post_processor\": null", "\"post_processor\": {}", "post_processor is set"},
    {"\"added_tokens\": []", "\"added_tokens\": [{\"id\": 2}]", "added_tokens is not an empty list"},
    {"\"added_tokens\": []", "\"added_tokens\": 3", "added_tokens is not an empty list"},
    {"\"normalizer\": {", "\"normalizer\": null, \"other\": {", "normalizer is null"},
    {"\"normalizer\": {", "\"other\": {", "normalizer is missing"},
    {"\"type\": \"NFC\"", "\"type\": \"NFD\"", "normalizer.normalizers[0] is {\"type\":\"NFD\"}"},
    {"\"type\": \"NFC\"\n      },", "\"type\": \"NFC\"}, {\"type\": \"Strip\"},", "normalizer.normalizers[1]"},
    {"\"prepend\": \"▁\"", "\"prepend\": \"_\"", "normalizer.normalizers[1] is {\"type\":\"Prepend\""},
    {"\"never\"", "\"always\"", "pre_tokenizer is {\"type\":\"Metaspace\""},
    {"\"split\": true", "\"split\": false", "pre_tokenizer is"},
    {"\"Metaspace\"", "\"ByteLevel\"", "pre_tokenizer is {\"type\":\"ByteLevel\""},
    {"\"ByteFallback\"", "\"Metaspace\"", "decoder.decoders[1] is {\"type\":\"Metaspace\"}"},
    {"\"start\": 1", "\"start\": 0", "decoder.decoders[3] is"},
    {"\"decoder\": {", "\"decoder\": 1, \"other\": {", "decoder is 1"},
    {"\"BPE\"", "\"Unigram\"", "model.type is \"Unigram\""},
    {"\"dropout\": null", "\"dropout\": 0.1", "model.dropout is 0.1"},
    {"\"unk_token\": \"<unk>\"", "\"unk_token\": \"unk\"", "model.unk_token is \"unk\""},
    {"\"byte_fallback\": true", "\"byte_fallback\": false", "model.byte_fallback is false"},
    {"\"byte_fallback\": true,", "", "model.byte_fallback is missing"},
    {"\"ignore_merges\": false", "\"ignore_merges\": 1", "model.ignore_merges is 1"},
    {"\"end_of_word_suffix\": null", "\"end_of_word_suffix\": \"</w>\"", "model.end_of_word_suffix"},
    {"\"vocab\": {", "\"vocab\": 0, \"other\": {", "model.vocab is not an object"},
    {"\"vocab\": {", "\"vocab\": {\"<s>\": 0}, \"other\": {", "at least 261 pieces"},
    {"\"<s>\": 0", "\"<bos>\": 0", "id 0 is not <s>"},
    {"\"<0x41>\": 69", "\"<0x4a>\": 69", "id 69 is not <0x41>"},
    {"\"<s>\": 0,\n      \"<pad>\": 1", "\"<s>\": 1, \"<pad>\": 0", "id 0 is not <s>"},
    {"\"▁\": ", "\"_\": ", "the piece \"▁\" is missing"},
    {"\"<pad>\": 1", "\"<pad>\": 0", "two pieces have id 0"},
    {"\"<pad>\": 1", "\"<pad>\": 1000000000000", "without a gap"},
    {"\"<pad>\": 1", "\"<pad>\": -1", "without a gap"},
    {"\"<pad>\": 1", "\"<pad>\": 1.0", "without a gap"},
    {"\"<pad>\": 1", "\"<pad>\": \"1\"", "without a gap"},
    {"\"<pad>\": 1", "\"<s>\": 1", "duplicate"},
    {"\"<pad>\": 1", "\"\\u0000\": 1", "NUL"},
    {"\"<pad>\": 1", "\"\\ud800\": 1", "line"},
    {"\"hat\": ", "\"\": ", "is empty"},
    {"\"hat\": ", "\"<0xaB>\": ", "reads as a byte token"},
    {"\"hat\": ", "\"hats\": ", "its result is not in model.vocab"},
    {"\"merges\": [", "\"merges\": {}, \"other\": [", "model.merges is not a list"},
    {"\"merges\": [", "\"merges\": [\"the\",", "model.merges[0] is not"},
    {"\"merges\": [", "\"merges\": [\"t h e\",", "model.merges[0] is not"},
    {"\"merges\": [", "\"merges\": [[\"a\", \"t\", \"e\"],", "model.merges[0] is not"},
    {"\"merges\": [", "\"merges\": [[\"t\", 5],", "model.merges[0] is not"},
    {"\"merges\": [", "\"merges\": [\"a t\",", "is there twice"},
    {"\"merges\": [", "\"merges\": [\"zzz h\",", "model.merges[0]: its left part"},
    {"\"merges\": [", "\"merges\": [\"t zzz\",", "model.merges[0]: its right part"},
};

static char *valid_file(const char *path, size_t *size) {
    Tokenizer *tokenizer = learn(NORMALIZATION_NFC, false);
    save(tokenizer, path);
    tokenizer_free(tokenizer);
    return scratch_read(path, size);
}

static void test_malformed(void **state) {
    (void)state;
    size_t size;
    const char *path = scratch_path("changed.json");
    char *json = valid_file(path, &size);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        write_changed(path, json, changes[i].find, changes[i].replace);
        check_refused(path, changes[i].error);
    }
    free(json);
}

static void test_no_file(void **state) {
    (void)state;
    check_refused(scratch_path("nothing.json"), "No such file");
    check_refused(scratch_path("."), "it is no regular file");
}

/* Merges as "a b" mean the same. */
static void test_merges_as_strings(void **state) {
    (void)state;
    size_t size;
    const char *path = scratch_path("strings.json");
    char *json = valid_file(path, &size);
    Tokenizer *pairs = load(path);
    write_changed(path, json, "[\n        \"a\",\n        \"t\"\n      ]", "\"a t\"");
    Tokenizer *strings = load(path);
    assert_true(tokenizer_hash(pairs) == tokenizer_hash(strings));
    tokenizer_free(pairs);
    tokenizer_free(strings);
    free(json);
}

/* Whatever bytes a file has, it is refused with its name, or it works. */
static void check_survives(const char *path) {
    Error error = {""};
    Tokenizer *tokenizer = tokenizer_load(path, &error);
    if (tokenizer == NULL) {
        assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
        return;
    }
    check_same_ids(tokenizer, tokenizer, "the cat, </s> that 日本\xFF");
    tokenizer_free(tokenizer);
}

static void test_damaged_bytes(void **state) {
    (void)state;
    size_t size;
    const char *path = scratch_path("damaged.json");
    char *json = valid_file(path, &size);
    Rng rng = {21};
    for (size_t length = 0; length < size; length += 1 + rng_below(&rng, 40)) {
        scratch_write(path, json, length);
        check_survives(path);
    }
    static const char likely[] = "\"\\{}[],:0123456789 \n\0u\xFF";
    for (int i = 0; i < 2000; i++) {
        char *damaged = memory_alloc(size, 1, "damaged file");
        memcpy(damaged, json, size);
        for (uint64_t n = 1 + rng_below(&rng, 3); n > 0; n--)
            damaged[rng_below(&rng, size)] = likely[rng_below(&rng, sizeof likely - 1)];
        scratch_write(path, damaged, size);
        check_survives(path);
        memory_free(damaged);
    }
    memset(json, '[', size); /* nested too deep */
    scratch_write(path, json, size);
    check_refused(path, "not valid JSON");
    free(json);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_save_and_load), cmocka_unit_test(test_settings_change_the_hash),
        cmocka_unit_test(test_save_errors),   cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_no_file),       cmocka_unit_test(test_merges_as_strings),
        cmocka_unit_test(test_damaged_bytes),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    scratch_create();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failures != 0;
}
