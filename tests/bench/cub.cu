// The benchmark's tasks as a CUDA programmer would write them with CUB, columns resident: what rql on a GPU is measured
// against (bench.py --gpu). It talks as hand.c does:
//
//     cub FOLDER      for each line "TASK THREADS": the time in nanoseconds, and the result; threads mean nothing here
//
// Measured is the wall clock from the call until the device has finished and a number is on the host. Memory of results
// and CUB's own comes from the device's pool, which keeps what is given back.
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static void need(cudaError_t code, const char *call)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "cub: %s: %s\n", call, cudaGetErrorString(code));
        exit(1);
    }
}
#define NEED(call) need((call), #call)

template <typename T> static T *allocate(size_t count)
{
    T *memory = nullptr;
    NEED(cudaMallocAsync(&memory, (count ? count : 1) * sizeof(T), 0));
    return memory;
}

static void release(void *memory)
{
    if (memory)
        NEED(cudaFreeAsync(memory, 0));
}

// Runs one of CUB's functions, which say first how much memory they need.
template <typename Function> static void with_memory(Function function)
{
    size_t bytes = 0;
    NEED(function(nullptr, bytes));
    char *memory = allocate<char>(bytes);
    NEED(function(memory, bytes));
    release(memory);
}

struct Run {
    size_t rows = 0;
    int32_t *ids = nullptr, *amounts = nullptr, *x = nullptr;

    bool scalar = false;
    int64_t number = 0;
    size_t result_rows = 0;
    int32_t *ints = nullptr;
    int64_t *longs = nullptr;
};

static int32_t *upload(const std::string &path, size_t &rows)
{
    FILE *file = fopen(path.c_str(), "rb");
    if (!file)
        return nullptr;
    fseek(file, 0, SEEK_END);
    rows = (size_t)ftell(file) / sizeof(int32_t);
    rewind(file);
    int32_t *column = nullptr;
    NEED(cudaMalloc(&column, (rows ? rows : 1) * sizeof *column));
    std::vector<int32_t> part(1 << 24);
    for (size_t at = 0, got; (got = fread(part.data(), sizeof(int32_t), part.size(), file)) > 0; at += got)
        NEED(cudaMemcpy(column + at, part.data(), got * sizeof(int32_t), cudaMemcpyHostToDevice));
    fclose(file);
    return column;
}

// ---- the questions ----

template <typename Value> static void sum_rows(Run &run, Value value)
{
    auto values = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), value);
    int64_t *sum = allocate<int64_t>(1);
    with_memory([&](void *memory, size_t &bytes) {
        return cub::DeviceReduce::Sum(memory, bytes, values, sum, (int64_t)run.rows);
    });
    NEED(cudaMemcpy(&run.number, sum, sizeof run.number, cudaMemcpyDeviceToHost));
    release(sum);
    run.scalar = true;
}

struct Q1 {
    const int32_t *ids;
    __device__ int64_t operator()(int64_t i) const { return ids[i] == 42; }
};
struct Q2 {
    const int32_t *ids, *amounts;
    __device__ int64_t operator()(int64_t i) const { return (ids[i] == 42) & (amounts[i] > 0); }
};
struct Q3 {
    const int32_t *ids, *amounts;
    __device__ int64_t operator()(int64_t i) const
    {
        int32_t id = ids[i], amount = amounts[i];
        return id == 42 ? amount : 0;
    }
};
struct Q4 {
    const int32_t *ids, *amounts;
    __device__ int64_t operator()(int64_t i) const
    {
        int32_t id = ids[i], amount = amounts[i];
        return id == 42 && amount < 0 && amount % 2 == 0 ? amount : 0;
    }
};
struct Q5 {
    const int32_t *ids, *amounts;
    __device__ int64_t operator()(int64_t i) const
    {
        int32_t id = ids[i], amount = amounts[i];
        return (id % 222 == 0) & (amount > 0) & (amount % 222 == 0);
    }
};

// ---- RubiCL's five, and the scan ----

struct Increment {
    const int32_t *from;
    int32_t *to;
    __device__ void operator()(int64_t i) const { to[i] = from[i] + 1; }
};
struct Next {
    __host__ __device__ int32_t operator()(int32_t x) const { return x + 1; }
};
struct Multiple {
    int32_t of;
    __host__ __device__ bool operator()(int32_t x) const { return x % of == 0; }
};
struct Wide {
    __host__ __device__ int64_t operator()(int64_t x) const { return x; }
};
struct Sum { // modulo 2^64
    __host__ __device__ int64_t operator()(int64_t a, int64_t b) const { return (int64_t)((uint64_t)a + (uint64_t)b); }
};

static void map(Run &run)
{
    run.ints = allocate<int32_t>(run.rows);
    run.result_rows = run.rows;
    NEED(cub::DeviceFor::Bulk((int64_t)run.rows, Increment{run.x, run.ints}));
}

template <typename Input> static void filter(Run &run, Input input, int32_t of)
{
    int64_t *count = allocate<int64_t>(1), kept = 0;
    run.ints = allocate<int32_t>(run.rows);
    with_memory([&](void *memory, size_t &bytes) {
        return cub::DeviceSelect::If(memory, bytes, input, run.ints, count, (int64_t)run.rows, Multiple{of});
    });
    NEED(cudaMemcpy(&kept, count, sizeof kept, cudaMemcpyDeviceToHost));
    release(count);
    run.result_rows = (size_t)kept;
}

static void sort(Run &run)
{
    run.ints = allocate<int32_t>(run.rows);
    run.result_rows = run.rows;
    with_memory([&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortKeys(memory, bytes, run.x, run.ints, (int64_t)run.rows, 0, 30);
    });
}

static void scan(Run &run)
{
    run.longs = allocate<int64_t>(run.rows);
    run.result_rows = run.rows;
    auto wide = thrust::make_transform_iterator(run.x, Wide{});
    with_memory([&](void *memory, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(memory, bytes, wide, run.longs, (int64_t)run.rows);
    });
}

static bool run_task(Run &run, const std::string &task)
{
    if (task == "q1")
        sum_rows(run, Q1{run.ids});
    else if (task == "q2")
        sum_rows(run, Q2{run.ids, run.amounts});
    else if (task == "q3")
        sum_rows(run, Q3{run.ids, run.amounts});
    else if (task == "q4")
        sum_rows(run, Q4{run.ids, run.amounts});
    else if (task == "q5")
        sum_rows(run, Q5{run.ids, run.amounts});
    else if (task == "map")
        map(run);
    else if (task == "dense")
        filter(run, run.x, 2);
    else if (task == "sparse")
        filter(run, run.x, 20);
    else if (task == "mapfilter")
        filter(run, thrust::make_transform_iterator(run.x, Next{}), 2);
    else if (task == "sort")
        sort(run);
    else if (task == "scan")
        scan(run);
    else
        return false;
    NEED(cudaDeviceSynchronize());
    return true;
}

static void forget(Run &run)
{
    release(run.ints);
    release(run.longs);
    run.ints = nullptr;
    run.longs = nullptr;
    run.scalar = false;
    run.result_rows = 0;
}

template <typename T> static int64_t value_at(const T *column, size_t row)
{
    T value;
    NEED(cudaMemcpy(&value, column + row, sizeof value, cudaMemcpyDeviceToHost));
    return (int64_t)value;
}

// Its rows, the sum of its values, and the first, the one after a third, and the last.
template <typename T> static void print_column(const T *column, size_t rows)
{
    printf(rows ? "%zu" : "%zu 0", rows);
    if (rows > 0) {
        auto wide = thrust::make_transform_iterator(column, Wide{});
        int64_t *sum = allocate<int64_t>(1), number = 0;
        with_memory([&](void *memory, size_t &bytes) {
            return cub::DeviceReduce::Reduce(memory, bytes, wide, sum, (int64_t)rows,
                                             Sum{}, (int64_t)0);
        });
        NEED(cudaMemcpy(&number, sum, sizeof number, cudaMemcpyDeviceToHost));
        release(sum);
        printf(" %llu %lld %lld %lld", (unsigned long long)number, (long long)value_at(column, 0),
               (long long)value_at(column, rows / 3), (long long)value_at(column, rows - 1));
    }
    printf("\n");
}

static void print_result(const Run &run)
{
    if (run.scalar)
        printf("%lld\n", (long long)run.number);
    else if (run.longs)
        print_column(run.longs, run.result_rows);
    else
        print_column(run.ints, run.result_rows);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: cub FOLDER\n");
        return 2;
    }
    std::string folder = argv[1];
    Run run;
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    NEED(cudaDeviceGetDefaultMemPool(&pool, 0));
    NEED(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    run.ids = upload(folder + "/ids.bin", run.rows);
    run.amounts = upload(folder + "/amounts.bin", run.rows);
    run.x = upload(folder + "/x.i32", run.rows);
    char task[32];
    int threads;
    while (scanf("%31s %d", task, &threads) == 2) {
        NEED(cudaDeviceSynchronize());
        auto began = std::chrono::steady_clock::now();
        forget(run);
        if (!run_task(run, task)) {
            fprintf(stderr, "cub: there is no task `%s`\n", task);
            return 2;
        }
        auto spent = std::chrono::steady_clock::now() - began;
        printf("%lld ", (long long)std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
        print_result(run);
    }
    return 0;
}
