    $load loadsheld[$items];
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        if (own + 32 * j < count) {
            const $place i = ($place)(first + own + 32 * j);
$readload
            loadsheld[j] = load;
        }
    }
