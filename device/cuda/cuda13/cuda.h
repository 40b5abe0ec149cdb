// This header is for toolkits of CUDA 13. gorgonia.org/cu v0.9.6 calls five functions with the
// signatures that they had up to CUDA 12. Put this folder before the toolkit's own headers:
//
//	CGO_CFLAGS="-I$PWD/device/cuda/cuda13 -I/usr/local/cuda/include" go build -tags cuda …
//
// Package cuda itself calls none of these functions.
#ifndef PRIVGEN_CUDA13_H
#define PRIVGEN_CUDA13_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000

static inline CUmemLocation privgen_location(CUdevice device) {
	CUmemLocation l = {CU_MEM_LOCATION_TYPE_DEVICE, device};
	if (device < 0) {
		l.type = CU_MEM_LOCATION_TYPE_HOST;
		l.id = 0;
	}
	return l;
}

static inline CUresult privgen_cuCtxCreate(CUcontext *made, unsigned int flags, CUdevice device) {
	return cuCtxCreate(made, NULL, flags, device);
}

static inline CUresult privgen_cuMemAdvise(CUdeviceptr at, size_t count, CUmem_advise advice, CUdevice device) {
	return cuMemAdvise(at, count, advice, privgen_location(device));
}

static inline CUresult privgen_cuMemPrefetchAsync(CUdeviceptr at, size_t count, CUdevice device, CUstream stream) {
	return cuMemPrefetchAsync(at, count, privgen_location(device), 0, stream);
}

static inline CUresult privgen_cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
	size_t count) {
	return cuGraphAddDependencies(g, from, to, NULL, count);
}

static inline CUresult privgen_cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *count) {
	return cuGraphGetEdges(g, from, to, NULL, count);
}

#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuCtxCreate privgen_cuCtxCreate
#define cuMemAdvise privgen_cuMemAdvise
#define cuMemPrefetchAsync privgen_cuMemPrefetchAsync
#define cuGraphAddDependencies privgen_cuGraphAddDependencies
#define cuGraphGetEdges privgen_cuGraphGetEdges

#endif
#endif
