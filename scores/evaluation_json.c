#include "scores/evaluation_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini.h"

/* The number that `value` is when it is printed with so many decimals. */
static json_t *rounded(double value, int width) {
    char text[METRIC_TEXT];
    snprintf(text, sizeof text, "%.*f", width, value);
    return json_real(strtod(text, NULL));
}

/* After name, score and signature come the signature's fields one by one. */
static json_t *evaluation_object(const Evaluation *e, int decimals) {
    int width = decimals < 0 ? metric_width(&e->metric) : decimals;
    const SystemScore *s = &e->hypothesis;
    char text[METRIC_TEXT], signature[METRIC_TEXT], *rest = NULL;
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(e->name));
    json_object_set_new(object, "score", rounded(s->score.value, width));
    if (e->signature[0] != '\0') json_object_set_new(object, "signature", json_string(e->signature));
    if (s->interval.mean > 0) {
        json_object_set_new(object, "confidence_mean", rounded(s->interval.mean, width));
        json_object_set_new(object, "confidence_var", rounded(s->interval.half, width));
        snprintf(text, sizeof text, "μ = %.*f ± %.*f", width, s->interval.mean, width, s->interval.half);
        json_object_set_new(object, "confidence", json_string(text));
    }
    score_details(text, &e->metric, &s->score);
    if (text[0] != '\0') json_object_set_new(object, "verbose_score", json_string(text));
    strcpy(signature, e->signature);
    for (char *field = strtok_r(signature, "|", &rest); field != NULL; field = strtok_r(NULL, "|", &rest)) {
        char *colon = strchr(field, ':');
        *colon = '\0';
        json_object_set_new(object, field, json_string(colon + 1));
    }
    return object;
}

static json_t *compared_object(const Evaluation *e, bool other) {
    const SystemScore *s = other ? &e->other : &e->hypothesis;
    json_t *object = json_object();
    json_object_set_new(object, "score", json_real(s->score.value));
    json_object_set_new(object, "p_value", other ? json_real(e->p_value) : json_null());
    json_object_set_new(object, "mean", json_real(s->interval.mean));
    json_object_set_new(object, "ci", json_real(s->interval.half));
    if (e->signature[0] != '\0') json_object_set_new(object, "signature", json_string(e->signature));
    return object;
}

static void print(json_t *value, size_t flags) {
    char *text = json_dumps(value, flags | JSON_REAL_PRECISION(15));
    puts(text);
    free(text);
    json_decref(value);
}

void evaluation_print_json_line(const Evaluation *e, int decimals) { print(evaluation_object(e, decimals), 0); }

void evaluations_print_json(const Evaluation *e, int count, int decimals) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, evaluation_object(&e[i], decimals));
    json_t *whole = count == 1 ? json_incref(json_array_get(list, 0)) : json_incref(list);
    print(whole, JSON_INDENT(1));
    json_decref(list);
}

void evaluations_print_compared_json(const Evaluation *e, int count, const char *name, const char *other_name) {
    const char *names[2] = {name, other_name};
    json_t *list = json_array();
    for (int i = 0; i < 2; i++) {
        json_t *system = json_object();
        char shown[80]; /* a path may have any bytes, JSON only text */
        json_t *path = json_string(names[i]);
        if (path == NULL) path = json_string(ini_quote(shown, names[i], strlen(names[i])));
        json_object_set_new(system, "system", path);
        for (int j = 0; j < count; j++) json_object_set_new(system, e[j].name, compared_object(&e[j], i == 1));
        json_array_append_new(list, system);
    }
    print(list, JSON_INDENT(4));
}
