#!/bin/sh
# Runs all tests of package cuda that are possible without a device. The arguments are the folders
# of a toolkit's headers:
#
#	device/cuda/testdata/fake/test.sh /usr/local/cuda/include
#
# For headers of CUDA 13, put device/cuda/cuda13 before them. The script needs a C and a C++
# compiler. If clang-16 is installed, it also compares the PTX with its sources.
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
