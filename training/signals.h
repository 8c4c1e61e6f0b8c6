/* Signals that ask a training to stop. */
#ifndef TRAINING_SIGNALS_H
#define TRAINING_SIGNALS_H

/* From now on the first SIGINT, SIGTERM or SIGHUP is only noted; a second of the same kills. A closed pipe is a failed write. */
void signals_catch(void);

/* The signal that asked to stop, or 0. */
int signals_caught(void);

#endif
