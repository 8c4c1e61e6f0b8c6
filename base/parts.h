/* Where the time of an update goes. Each thread adds up the time of the part it is in; `./bench` prints the sums.
 *
 *   part_begin(PART_NORM);
 *   ...
 *   part_end();
 *
 * Parts may nest: time belongs to the outermost one, so a product inside the loss counts as loss. A pair costs about
 * 50 ns, and is therefore put around whole matrices, never around rows. */
#ifndef BASE_PARTS_H
#define BASE_PARTS_H

typedef enum Part {
    PART_GEMM,
    PART_ATTENTION,
    PART_NORM,
    PART_ACTIVATION,
    PART_DROPOUT,
    PART_EMBEDDING,
    PART_LOSS,
    PART_SUM,
    PART_OPTIMIZER,
    PART_WAIT,
    PARTS
} Part;

void part_begin(Part part);
void part_end(void);

/* From now on `after` is called whenever an outermost part of this thread ends: study programs look on so, with no line
 * of their own in the layers. NULL: nobody looks on. */
typedef void PartWatch(void *context, Part part);
void part_watch(PartWatch *after, void *context);

/* Adds this thread's seconds to seconds[PARTS] and starts again from zero. Outside of any part. */
void parts_take(double *seconds);

#endif
