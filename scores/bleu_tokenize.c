#include "scores/bleu_tokenize.h"

#include <string.h>
#include <utf8proc.h>

const char *bleu_tokenizer_name(BleuTokenizer tokenizer) {
    static const char *const names[BLEU_TOKENIZERS] = {"13a", "none", "char", "intl"};
    return names[tokenizer];
}

static bool is_any(int32_t code) { return code >= 0; }
static bool is_digit(int32_t code) { return code >= '0' && code <= '9'; }
static bool is_no_digit(int32_t code) { return !is_digit(code); }
static bool is_dash(int32_t code) { return code == '-'; }
static bool is_period_or_comma(int32_t code) { return code == '.' || code == ','; }

/* ASCII's punctuation without the four that depend on their neighbours or stay in words: ' , - . */
static bool is_separator(int32_t code) {
    return (code >= '{' && code <= '~') || (code >= '[' && code <= '`') || (code >= ' ' && code <= '&') ||
           (code >= '(' && code <= '+') || (code >= ':' && code <= '@') || code == '/';
}

/* Unicode's general categories N, P and S, by utf8proc's tables. */
static bool is_no_number(int32_t code) {
    utf8proc_category_t c = utf8proc_category(code);
    return c < UTF8PROC_CATEGORY_ND || c > UTF8PROC_CATEGORY_NO;
}
static bool is_punctuation(int32_t code) {
    utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO;
}
static bool is_symbol(int32_t code) {
    utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_SM && c <= UTF8PROC_CATEGORY_SO;
}

/* A rule finds one character, or two side by side, and puts spaces before, between and behind them. A character found
 * by a rule is not found again by the same rule, as with a regular expression's substitution. */
typedef struct Rule {
    bool (*first)(int32_t), (*second)(int32_t); /* second NULL: one character alone */
    bool before, behind;                        /* between two there is always one */
} Rule;

static void apply(Symbols *out, const Symbols *in, const Rule *rule) {
    symbols_begin(out, 3 * in->count);
    size_t width = rule->second ? 2 : 1;
    for (size_t i = 0; i < in->count;) {
        const int32_t *code = in->at + i;
        bool found = rule->first(code[0]) && (rule->second == NULL || (i + 1 < in->count && rule->second(code[1])));
        if (found && rule->before) symbols_push(out, ' ');
        symbols_push(out, code[0]);
        if (found && width == 2) {
            symbols_push(out, ' ');
            symbols_push(out, code[1]);
        }
        if (found && rule->behind) symbols_push(out, ' ');
        i += found ? width : 1;
    }
}

static bool starts_with(const Symbols *s, size_t i, const char *word) {
    size_t n = 0;
    while (word[n] != '\0' && i + n < s->count && s->at[i + n] == word[n]) n++;
    return word[n] == '\0';
}

/* Every `from` becomes the character `to`, or nothing where that is 0. Never longer, so in place. */
static void replace(Symbols *s, const char *from, int32_t to) {
    size_t written = 0, length = strlen(from);
    for (size_t i = 0; i < s->count;) {
        bool found = s->at[i] == from[0] && starts_with(s, i, from);
        if (!found || to != 0) s->at[written++] = found ? to : s->at[i];
        i += found ? length : 1;
    }
    s->count = written;
}

static void surround_by_spaces(Symbols *text, Symbols *scratch) {
    symbols_begin(scratch, text->count + 2);
    symbols_push(scratch, ' ');
    for (size_t i = 0; i < text->count; i++) symbols_push(scratch, text->at[i]);
    symbols_push(scratch, ' ');
    symbols_swap(text, scratch);
}

/* What mteval-v13a.pl undoes before it cuts, one after the other: so `&amp;lt;` ends as `<`. */
static void undo_markup(Symbols *text) {
    replace(text, "<skipped>", 0);
    replace(text, "&quot;", '"');
    replace(text, "&amp;", '&');
    replace(text, "&lt;", '<');
    replace(text, "&gt;", '>');
}

void bleu_tokenize(Symbols *text, Symbols *scratch, BleuTokenizer tokenizer) {
    static const Rule rules_13a[] = {{is_separator, NULL, true, true},
                                     {is_no_digit, is_period_or_comma, false, true},
                                     {is_period_or_comma, is_no_digit, true, false},
                                     {is_digit, is_dash, false, true},
                                     {0}};
    static const Rule rules_intl[] = {{is_no_number, is_punctuation, false, true},
                                      {is_punctuation, is_no_number, true, false},
                                      {is_symbol, NULL, true, true},
                                      {0}};
    static const Rule rules_char[] = {{is_any, NULL, true, true}, {0}};
    static const Rule rules_none[] = {{0}};
    static const Rule *const rules[BLEU_TOKENIZERS] = {rules_13a, rules_none, rules_char, rules_intl};
    if (tokenizer == BLEU_13A) {
        undo_markup(text);
        surround_by_spaces(text, scratch);
    }
    for (const Rule *rule = rules[tokenizer]; rule->first != NULL; rule++) {
        apply(scratch, text, rule);
        symbols_swap(text, scratch);
    }
}
