/* What attention costs against the lengths: one layer's attention, in each of its three uses, at growing numbers of
 * queries and keys. */
#ifndef MEASURING_ATTENTION_COST_H
#define MEASURING_ATTENTION_COST_H

enum { COST_HEADS = 8, COST_WIDTH = 128, MOST_COSTS = 32 };

typedef enum AttentionUse { USE_SELF, USE_MASKED, USE_CROSS, ATTENTION_USES } AttentionUse;

extern const char *const attention_use_names[ATTENTION_USES];

/* Of one sentence, forward and backward. */
typedef struct AttentionCost {
    AttentionUse use;
    int queries, keys;
    double core_ms;        /* softmax(Q K' / sqrt K) V: grows with queries times keys */
    double projections_ms; /* to q, k, v and from the heads' outputs: grows with queries and with keys */
} AttentionCost;

/* Fills costs[0..MOST_COSTS) and returns how many there are. One thread; best of several runs. */
int attention_cost_measure(AttentionCost *costs);

#endif
