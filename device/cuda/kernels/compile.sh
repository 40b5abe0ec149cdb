#!/bin/sh
# Compiles every kernel to PTX, in this folder or in the folder given as the argument. It needs
# Debian's clang-16 and no tools of NVIDIA. Another compiler would write equivalent PTX with a
# different text. Contraction is off, so that only the operations written as fused are fused.
set -eu
cd "$(dirname "$0")"
to=${1:-.}
for kernel in *.cu; do
	"${CLANG:-clang-16}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -Xclang -target-feature -Xclang +ptx64 \
		-nocudainc -nocudalib -ffp-contract=off -std=c++17 -O3 -Wall -Werror -S -o "$to/${kernel%.cu}.ptx" "$kernel"
done
