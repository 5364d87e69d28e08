#!/bin/sh
# Kernel times of two queries on columns resident on a GPU (rql --timing), against the bandwidth of a copy and of a kernel
# that only reads. Their GB/s count the bytes read; few rows of the second column are (src/cl/codegen/filter_order.h).
#
#   bench_gpu.sh DIRECTORY     with ids.bin and amounts.bin (build/generate --rows 1000000000 --dir DIRECTORY)
#
# RQL and MEMORY name the two programs; build/rql and build/bench_memory by default. The GPU is named by its number:
# `--device gpu` would compute on the host while its programs are built.
set -eu
rql=${RQL:-build/rql}
memory=${MEMORY:-build/bench_memory}
data=$1
rounds=11

both="load '$data/ids.bin' | zip '$data/amounts.bin'"
set --
for _ in $(seq "$rounds"); do
    set -- "$@" -c "$both | select id==42 && amt>0 | snds | sum" -c "$both | count id % 222 == 0 && amt > 0 && amt % 222 == 0"
done
speeds=$("$memory")
gpu=$("$rql" -c .devices | sed -n '/(GPU)/{s/:.*//p;q;}')
report=$(mktemp)
trap 'rm -f "$report"' EXIT
answers=$("$rql" --device "${gpu:-gpu}" --timing "$@" 2>"$report" | sort -u)
[ "$(printf '%s\n' "$answers" | wc -l)" -eq 2 ] || { echo "bench_gpu: different answers: $answers" >&2; exit 1; }

# The first round uploads and builds; the others are what a second question costs.
awk -v speeds="$speeds" '
    function least(old, new) { return old == "" || new < old ? new : old }
    function line(name, ms, gbs) { printf "%-34s %10.3f ms %9.1f GB/s %7.2f of read\n", name, ms, gbs, gbs / speed[2] }
    BEGIN { split(speeds, speed, " ") }
    $1 == "uploaded" { uploads++; ms += $2; gbs = $4 }
    $1 == "kernel" { spent = $2; rate = $4 }
    $1 == "total" {
        query = rounds++ % 2
        if (rounds > 2) {
            if (least(kernel[query], spent) == spent) { kernel[query] = spent; rates[query] = rate }
            total[query] = least(total[query], $2)
        }
    }
    END {
        printf "uploads: %d, %.1f ms, %.1f GB/s; %d rounds on resident columns\n", uploads, ms, gbs, rounds / 2 - 1
        line("main query, kernel (best)", kernel[0], rates[0])
        line("question 5, kernel (best)", kernel[1], rates[1])
        printf "%-34s %10.3f ms\n", "main query, whole (best)", total[0]
        printf "%-34s %10.3f ms\n", "question 5, whole (best)", total[1]
        printf "%-34s %13s %9.1f GB/s\n", "copy on the device (best)", "", speed[1]
        printf "%-34s %13s %9.1f GB/s\n", "only reading (best)", "", speed[2]
    }' "$report"
