        #pragma unroll
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * $group;
$tail
        }
