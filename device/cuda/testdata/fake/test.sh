#!/bin/sh
# Runs all tests of package cuda that are possible without a device. The arguments are the folders
# of a toolkit's headers:
#
#	device/cuda/testdata/fake/test.sh /usr/local/cuda/include
#
# For headers of CUDA 13, put device/cuda/cuda13 before them. The script needs a C and a C++
# compiler. If clang-16 is installed, it also compares the PTX with its sources, and with GCC's
# address sanitizer it also checks the bounds of all memory that kernels use.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
settings=$("$here/build.sh" "$room" "$@")
eval "$settings"
cd "$here/../.."
go vet -tags cuda .
go test -tags cuda .
FAKE_CUDA_BACKWARDS=1 go test -tags cuda -run 'Conformance|Agree|Bits|Stay' .
go test -tags cuda -race .
asan=$(${CXX:-c++} -print-file-name=libasan.so)
if [ -f "$asan" ]; then # checks the bounds of what kernels read and write
	settings=$(CXX="${CXX:-c++} -fsanitize=address" "$here/build.sh" "$room/bounds" "$@")
	eval "$settings"
	go test -tags cuda -c -o "$room/bounds/cuda.test" . 2>/dev/null
	ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:handle_segv=0 LD_PRELOAD=$asan \
		"$room/bounds/cuda.test" -test.run 'Conformance|Agree|Bits|Stay'
fi
