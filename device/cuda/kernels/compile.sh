#!/bin/sh
# Compiles every kernel to PTX beside it, or into the folder given. It needs Debian's clang-16 and nothing of NVIDIA's; another
# compiler's PTX would be as good, but not the same text. Contraction is off so that the only fused operations are those written.
set -eu
cd "$(dirname "$0")"
to=${1:-.}
for kernel in *.cu; do
	"${CLANG:-clang-16}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -Xclang -target-feature -Xclang +ptx64 \
		-nocudainc -nocudalib -ffp-contract=off -std=c++17 -O3 -Wall -Werror -S -o "$to/${kernel%.cu}.ptx" "$kernel"
done
