#!/bin/sh
# Usage: scripts/install_packages.sh PACKAGE...    Installs the Debian packages that are missing.
# As root, or through sudo. Where it cannot install, it fails if a header that the build needs is missing, and says which.
set -eu
missing=""
if command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
    for package in "$@"; do
        status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
        [ "$status" = "install ok installed" ] || missing="$missing $package"
    done
    [ -n "$missing" ] || exit 0
    root=""
    [ "$(id -u)" -eq 0 ] || root=sudo
    if [ -z "$root" ] || command -v sudo >/dev/null 2>&1; then
        echo "Installing:$missing"
        $root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
        # shellcheck disable=SC2086
        $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
        exit 0
    fi
    echo "Without root or sudo these packages cannot be installed:$missing" >&2
    echo "Going on with what is here; if that fails: apt-get install$missing" >&2
fi

# Another system, or another way of installing: look for what the build needs by compiling against it.
missing=""
check() { # what, header
    echo "#include <$2>" | ${CC:-gcc} -E - >/dev/null 2>&1 || missing="$missing $1"
}
command -v make >/dev/null 2>&1 || missing="$missing make"
command -v "${CC:-gcc}" >/dev/null 2>&1 || { echo "A C compiler (gcc or clang with OpenMP) is missing." >&2; exit 1; }
check "OpenBLAS(cblas.h)" cblas.h
check "utf8proc(utf8proc.h)" utf8proc.h
check "jansson(jansson.h)" jansson.h
check "zlib(zlib.h)" zlib.h
case " $* " in *" libcmocka-dev "*) printf '#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <cmocka.h>\n' |
    ${CC:-gcc} -E - >/dev/null 2>&1 || missing="$missing cmocka(cmocka.h)" ;; esac
[ -z "$missing" ] || {
    echo "Please install these libraries with their headers:$missing" >&2
    exit 1
}
