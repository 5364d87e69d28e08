$fetched
        int passed[$many];
        #pragma unroll
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * $group;
$fetch
        }
        #pragma unroll
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * $group;
$condition
$more
        }
        #pragma unroll
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * $group;
            if (passed[j]) {
$rest
            }
        }
