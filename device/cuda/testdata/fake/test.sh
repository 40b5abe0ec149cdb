#!/bin/sh
# Everything that can be said of package cuda without a device, given the folders of a toolkit's headers:
#
#	device/cuda/testdata/fake/test.sh /usr/local/cuda/include
#
# Headers of CUDA 13 want device/cuda/cuda13 before them. Further: a C and a C++ compiler; clang-16 to compare the PTX with its
# sources, which is skipped without.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
settings=$("$here/build.sh" "$room" "$@")
eval "$settings"
cd "$here/../.."
go vet -tags cuda .
go test -tags cuda .
FAKE_CUDA_BACKWARDS=1 go test -tags cuda -run 'Conformance|Agree' .
go test -tags cuda -race .
