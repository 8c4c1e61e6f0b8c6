#!/bin/sh
# Installs what is missing, builds, and runs all fast tests; the last line counts them.
set -eu
cd "$(dirname "$0")/.."
scripts/install_packages.sh gcc make libc6-dev libopenblas-openmp-dev libutf8proc-dev libjansson-dev zlib1g-dev libcmocka-dev
make -j"$(nproc)" all tests
make test
