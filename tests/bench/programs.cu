/* Programs of tests/bench/programs_gpu.py as a CUDA programmer writes them. A library for Python's ctypes: arrays are on
   the device and the caller's; each function returns when its kernels are done. Rounds without a condition are launched
   as CUDA graphs of GRAPH_ROUNDS; with one, kernels read a flag, and the host looks at it after each graph. */

#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>

namespace {

constexpr int GROUP = 256, GRAPH_ROUNDS = 100;

int groups_for(int64_t rows)
{
    return (int)((rows + GROUP - 1) / GROUP);
}

bool wait()
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    return error == cudaSuccess;
}

/* Calls round(stream, number) for `count` rounds, in graphs of an even number, until stop() says so. Each call
 * makes its graph, in some 0.2 ms. */
template <typename Round, typename Stop> int64_t run_rounds(int64_t count, Round round, Stop stop)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    int64_t done = 0;

    cudaStreamCreate(&stream);
    if (count >= GRAPH_ROUNDS) {
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        for (int k = 0; k < GRAPH_ROUNDS; k++)
            round(stream, k);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&ready, graph, 0);
        for (; done + GRAPH_ROUNDS <= count && !stop(stream); done += GRAPH_ROUNDS)
            cudaGraphLaunch(ready, stream);
        cudaGraphExecDestroy(ready);
        cudaGraphDestroy(graph);
    }
    for (; done < count && !stop(stream); done++)
        round(stream, (int)(done & 1));
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    wait();
    return done;
}

bool never(cudaStream_t)
{
    return false;
}

__global__ void mandelbrot_kernel(int n, int32_t *grey)
{
    const int col = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (col >= n || row >= n)
        return;
    const double cx = ((double)col / n - 0.5) * 3 - 0.7, cy = ((double)row / n - 0.5) * 3;
    double x = 0, y = 0;
    int k = 0;
    while (k < 257 && x * x + y * y <= 100) {
        const double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        k++;
    }
    grey[row * n + col] = 255 - (k - 1) % 256;
}

__global__ void collatz_kernel(int64_t n, unsigned long long *best)
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x + 1;
    unsigned long long found = 0;
    if (i <= n) {
        unsigned steps = 0;
        for (uint64_t a = (uint64_t)i; a != 1; steps++)
            a = (a & 1 ? 3 * a + 1 : a) >> 1;
        found = ((unsigned long long)steps << 32) | (uint32_t)(n - i);
    }
    for (int lane = 16; lane > 0; lane /= 2)
        found = max(found, __shfl_xor_sync(~0U, found, lane));
    if (threadIdx.x % 32 == 0)
        atomicMax(best, found);
}

__global__ void diffusion_kernel(int n, const double *from, double *to)
{
    const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1)
        return;
    const double *p = from + i * n + j;
    to[i * n + j] = *p + 0.1 * (p[-n] + p[n] + p[-1] + p[1] - 4 * *p);
}

/* All rounds in one group, the field in its shared memory. */
__global__ void __launch_bounds__(1024) diffusion_group_kernel(int n, int rounds, double *u)
{
    extern __shared__ double field[];
    double *from = field, *to = field + n * n;
    for (int k = (int)threadIdx.x; k < n * n; k += 1024)
        from[k] = to[k] = u[k];
    __syncthreads();
    for (int round = 0; round < rounds; round++) {
        for (int k = (int)threadIdx.x; k < (n - 2) * n; k += 1024) {
            const int col = k % n;
            const double *p = from + n + k;
            if (col > 0 && col < n - 1)
                to[n + k] = *p + 0.1 * (p[-n] + p[n] + p[-1] + p[1] - 4 * *p);
        }
        __syncthreads();
        double *swap = from;
        from = to;
        to = swap;
    }
    for (int k = (int)threadIdx.x; k < n * n; k += 1024)
        u[k] = from[k];
}

/* `change` is the largest one of the round, as bits. */
__global__ void jacobi_kernel(int n, const double *from, double *to, const int *ended, unsigned long long *change)
{
    if (*ended)
        return;
    const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    double by = 0;
    if (i >= 1 && j >= 1 && i < n - 1 && j < n - 1) {
        const double *p = from + i * n + j;
        const double mean = (p[-n] + p[n] + p[-1] + p[1]) / 4;
        by = fabs(mean - *p);
        to[i * n + j] = mean;
    }
    for (int lane = 16; lane > 0; lane /= 2)
        by = fmax(by, __shfl_xor_sync(~0U, by, lane));
    if (threadIdx.x % 32 == 0)
        atomicMax(change, __double_as_longlong(by));
}

__global__ void jacobi_decide_kernel(double bound, int *ended, unsigned long long *change, int *rounds)
{
    if (*ended)
        return;
    *ended = __longlong_as_double((long long)*change) < bound;
    *change = 0;
    ++*rounds;
}

__global__ void life_kernel(int n, const uint8_t *from, uint8_t *to)
{
    const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i >= n || j >= n)
        return;
    const uint8_t *up = from + (i == 0 ? n - 1 : i - 1) * n, *here = from + i * n,
                  *down = from + (i == n - 1 ? 0 : i + 1) * n;
    const int left = j == 0 ? n - 1 : j - 1, right = j == n - 1 ? 0 : j + 1;
    const int around = up[left] + up[j] + up[right] + here[left] + here[right] + down[left] + down[j] + down[right];
    to[i * n + j] = around == 3 || (around == 2 && here[j]);
}

template <typename T, typename S> __global__ void product_kernel(int n, const T *a, const T *b, S *c)
{
    constexpr int TILE = 32, STEP = 8; /* a thread has TILE / STEP rows of a column */
    __shared__ T left[TILE][TILE + 1], right[TILE][TILE + 1];
    const int x = (int)threadIdx.x, y = (int)threadIdx.y, col = (int)blockIdx.x * TILE + x, row = (int)blockIdx.y * TILE;
    S sums[TILE / STEP] = {};
    for (int at = 0; at < n; at += TILE) {
        for (int k = y; k < TILE; k += STEP) {
            left[k][x] = row + k < n && at + x < n ? a[(row + k) * n + at + x] : 0;
            right[k][x] = at + k < n && col < n ? b[(at + k) * n + col] : 0;
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int s = 0; s < TILE / STEP; s++)
                sums[s] += (S)left[y + s * STEP][k] * right[k][x];
        __syncthreads();
    }
    for (int s = 0; s < TILE / STEP; s++)
        if (row + y + s * STEP < n && col < n)
            c[(row + y + s * STEP) * n + col] = sums[s];
}

__global__ void traffic_kernel(int agents, int ticks, const int8_t *kind, const double *top, const double *fastest,
                               const double *length, const int64_t *dice, const int64_t *first, const int64_t *degree,
                               const int64_t *to, int64_t *street, double *progress)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= agents)
        return;
    for (int tick = 0; tick < ticks; tick++) { /* no agent sees another */
        const int64_t s = street[i];
        double p = progress[i];
        p += (kind[i] == 0 ? fmin(top[i], fastest[s]) * 0.9 : (double)(dice[(int64_t)(p * p) % 20] % 7 - 2)) / 60;
        const bool end = p >= length[s];
        street[i] = end ? to[first[s] + dice[s] % degree[s]] : s;
        progress[i] = end ? 0.0 : p;
    }
}

/* A warp a node: popular ones have many edges. */
__global__ void page_rank_kernel(int64_t n, const int64_t *first, const int32_t *from, const double *share,
                                 const double *old, double *rank, const int *ended, double *change)
{
    const int64_t node = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32;
    const int lane = (int)threadIdx.x % 32;
    if (*ended || node >= n)
        return;
    double sum = 0;
    for (int64_t e = first[node] + lane; e < first[node + 1]; e += 32)
        sum += share[from[e]];
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_xor_sync(~0U, sum, by);
    if (lane == 0) {
        const double now = 0.15 / (double)n + 0.85 * sum;
        rank[node] = now;
        atomicAdd(change + node % 1024, fabs(now - old[node]));
    }
}

__global__ void share_kernel(int64_t n, const double *rank, const int32_t *degree, double *share, const int *ended)
{
    const int64_t node = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (!*ended && node < n)
        share[node] = rank[node] / degree[node];
}

__global__ void page_rank_decide_kernel(double bound, int *ended, double *change, int *rounds)
{
    if (*ended)
        return;
    __shared__ double parts[1024];
    parts[threadIdx.x] = change[threadIdx.x];
    change[threadIdx.x] = 0;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if ((int)threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *ended = parts[0] < bound;
        ++*rounds;
    }
}

__global__ void paths_kernel(int n, int k, int64_t *d)
{
    const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = (int)blockIdx.y;
    if (j < n)
        d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

/* What the device says of the end of a loop: read after each graph. */
struct verdict {
    int ended, rounds;
};

} // namespace

extern "C" {

void mandelbrot(int64_t n, int32_t *grey)
{
    const dim3 group(32, 8), groups((unsigned)(n + 31) / 32, (unsigned)(n + 7) / 8);
    mandelbrot_kernel<<<groups, group>>>((int)n, grey);
    wait();
}

/* best: steps << 32 | n - start */
void collatz(int64_t n, unsigned long long *best)
{
    cudaMemset(best, 0, sizeof *best);
    collatz_kernel<<<groups_for(n), GROUP>>>(n, best);
    wait();
}

/* other: as u at first; the result is in u after an even number of rounds. */
void diffusion(int64_t n, int64_t rounds, double *u, double *other)
{
    const dim3 group(32, 8), groups((unsigned)(n + 31) / 32, (unsigned)(n + 7) / 8);
    run_rounds(rounds, [&](cudaStream_t stream, int k) {
        diffusion_kernel<<<groups, group, 0, stream>>>((int)n, k % 2 ? other : u, k % 2 ? u : other);
    }, never);
}

void diffusion_group(int64_t n, int64_t rounds, double *u)
{
    const int bytes = (int)(2 * n * n * (int64_t)sizeof *u);
    cudaFuncSetAttribute(diffusion_group_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    diffusion_group_kernel<<<1, 1024, bytes>>>((int)n, (int)rounds, u);
    wait();
}

/* other: as u at first. Returns the rounds. */
int64_t jacobi(int64_t n, int64_t most, double bound, double *u, double *other)
{
    const dim3 group(32, 8), groups((unsigned)(n + 31) / 32, (unsigned)(n + 7) / 8);
    verdict *on_device, here = {0, 0};
    unsigned long long *change;
    cudaMalloc((void **)&on_device, sizeof here);
    cudaMalloc((void **)&change, sizeof *change);
    cudaMemset(on_device, 0, sizeof here);
    cudaMemset(change, 0, sizeof *change);
    run_rounds(most, [&](cudaStream_t stream, int k) {
        jacobi_kernel<<<groups, group, 0, stream>>>((int)n, k % 2 ? other : u, k % 2 ? u : other, &on_device->ended, change);
        jacobi_decide_kernel<<<1, 1, 0, stream>>>(bound, &on_device->ended, change, &on_device->rounds);
    }, [&](cudaStream_t stream) {
        cudaMemcpyAsync(&here, on_device, sizeof here, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        return here.ended != 0;
    });
    cudaFree(on_device);
    cudaFree(change);
    return here.rounds;
}

/* The result is in u after an even number of rounds. */
void life(int64_t n, int64_t rounds, uint8_t *u, uint8_t *other)
{
    const dim3 group(32, 8), groups((unsigned)(n + 31) / 32, (unsigned)(n + 7) / 8);
    run_rounds(rounds, [&](cudaStream_t stream, int k) {
        life_kernel<<<groups, group, 0, stream>>>((int)n, k % 2 ? other : u, k % 2 ? u : other);
    }, never);
}

void product_integers(int64_t n, const int32_t *a, const int32_t *b, int64_t *c)
{
    const dim3 group(32, 8), groups((unsigned)(n + 31) / 32, (unsigned)(n + 31) / 32);
    product_kernel<<<groups, group>>>((int)n, a, b, c);
    wait();
}

void product_floats(int64_t n, const double *a, const double *b, double *c)
{
    const dim3 group(32, 8), groups((unsigned)(n + 31) / 32, (unsigned)(n + 31) / 32);
    product_kernel<<<groups, group>>>((int)n, a, b, c);
    wait();
}

void traffic(int64_t agents, int64_t ticks, const int8_t *kind, const double *top, const double *fastest,
             const double *length, const int64_t *dice, const int64_t *first, const int64_t *degree, const int64_t *to,
             int64_t *street, double *progress)
{
    traffic_kernel<<<groups_for(agents), GROUP>>>((int)agents, (int)ticks, kind, top, fastest, length, dice, first,
                                                  degree, to, street, progress);
    wait();
}

/* Two arrays of ranks, the first of them the start; returns the rounds, after an odd number of which the ranks are in
 * the second. share: n doubles. */
int64_t page_rank(int64_t n, double bound, const int64_t *first, const int32_t *from, const int32_t *degree,
                  double *rank, double *other, double *share)
{
    verdict *on_device, here = {0, 0};
    double *change;
    cudaMalloc((void **)&on_device, sizeof here);
    cudaMalloc((void **)&change, 1024 * sizeof *change);
    cudaMemset(on_device, 0, sizeof here);
    cudaMemset(change, 0, 1024 * sizeof *change);
    for (int round = 0; round < 1000 && !here.ended; round++) {
        const int *ended = &on_device->ended;
        share_kernel<<<groups_for(n), GROUP>>>(n, rank, degree, share, ended);
        page_rank_kernel<<<groups_for(n * 32), GROUP>>>(n, first, from, share, rank, other, ended, change);
        page_rank_decide_kernel<<<1, 1024>>>(bound, &on_device->ended, change, &on_device->rounds);
        cudaMemcpy(&here, on_device, sizeof here, cudaMemcpyDeviceToHost);
        std::swap(rank, other);
    }
    cudaFree(on_device);
    cudaFree(change);
    wait();
    return here.rounds;
}

void shortest_paths(int64_t n, int64_t *d)
{
    const dim3 groups((unsigned)(n + 127) / 128, (unsigned)n);
    for (int k = 0; k < n; k++)
        paths_kernel<<<groups, 128>>>((int)n, k, d);
    wait();
}
}
