#!/bin/sh
# Builds libcuda.so.1, which simulates a device on the host, and prints the environment variables
# for a tagged build against it:
#
#	eval "$(device/cuda/testdata/fake/build.sh FOLDER INCLUDE...)"
#
# INCLUDE are folders with a toolkit's headers, including cuda.h (for CUDA 13, see the README). A
# function that the headers declare and the fake device does not implement returns
# CUDA_ERROR_NOT_SUPPORTED.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=$1
shift
mkdir -p "$to"
to=$(cd "$to" && pwd)
flags=
for folder in "$@"; do flags="$flags -I$folder"; done

names() { # every identifier in a header that has the form of a function name of the library
	for folder in "$@"; do cat "$folder/$header" 2>/dev/null || true; done | grep -oE "\b$prefix[A-Z][A-Za-z0-9_]*" | sort -u
}
stubs() {
	while read -r name; do echo "__attribute__((weak, visibility(\"default\"))) int $name(void) { return $refusal; }"; done
}

header=cuda.h prefix=cu refusal=801
names "$@" | stubs >"$to/stubs.c"
[ "$(wc -l <"$to/stubs.c")" -gt 300 ] || { echo "no headers in: $*" >&2; exit 1; }

${CC:-cc} -w -fPIC -fvisibility=hidden -c -o "$to/stubs.o" "$to/stubs.c"
${CXX:-c++} -std=c++17 -O2 -march=native -ffp-contract=off -Wall -fPIC -fvisibility=hidden -DFAKE_DEVICE -c -o "$to/fake.o" "$here/fake.cpp"
${CXX:-c++} -shared -Wl,-soname,libcuda.so.1 -o "$to/libcuda.so.1" "$to/fake.o" "$to/stubs.o"
ln -sf libcuda.so.1 "$to/libcuda.so"

echo "export CGO_ENABLED=1 CGO_CFLAGS='-O2 -g$flags' CGO_LDFLAGS='-L$to' LD_LIBRARY_PATH='$to'"
