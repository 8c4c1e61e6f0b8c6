#!/bin/sh
# Each single write of a small run fails, stays failing, is forgiven, or is where a kill hits: one of these in turn.
EVERY=1 TURN=1 exec sh tests/cli_failing_writes.sh
