#!/bin/sh
# Usage: scripts/install_packages.sh PACKAGE...    Installs the Debian packages that are missing.
# As root, or through sudo. On systems without apt it says which are missing, and fails if a header is.
set -eu
missing=""
if command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
    for package in "$@"; do
        status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
        [ "$status" = "install ok installed" ] || missing="$missing $package"
    done
    [ -n "$missing" ] || exit 0
    root=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 || {
            echo "These packages are missing:$missing" >&2
            echo "Install them as root: apt-get install$missing" >&2
            exit 1
        }
        root=sudo
    fi
    echo "Installing:$missing"
    export DEBIAN_FRONTEND=noninteractive
    $root apt-get update -qq
    # shellcheck disable=SC2086
    $root apt-get install -y -qq --no-install-recommends $missing >/dev/null
    exit 0
fi

# Another system: look for what the build needs by compiling against it.
check() { # what, header
    echo "#include <$2>" | ${CC:-cc} -E - >/dev/null 2>&1 || missing="$missing $1"
}
command -v make >/dev/null 2>&1 || missing="$missing make"
command -v "${CC:-cc}" >/dev/null 2>&1 || { echo "A C compiler (gcc or clang with OpenMP) is missing." >&2; exit 1; }
check "OpenBLAS(cblas.h)" cblas.h
check "utf8proc(utf8proc.h)" utf8proc.h
check "jansson(jansson.h)" jansson.h
check "zlib(zlib.h)" zlib.h
case " $* " in *" libcmocka-dev "*) printf '#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <cmocka.h>\n' |
    ${CC:-cc} -E - >/dev/null 2>&1 || missing="$missing cmocka(cmocka.h)" ;; esac
[ -z "$missing" ] || {
    echo "This system has no apt. Please install these libraries with their headers:$missing" >&2
    exit 1
}
