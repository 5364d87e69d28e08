$images
$hash
        uint at = (uint)h & mask;
        for (;;) {
            uint there = peek_global(&table[at]);
            if (there == 0xffffffffu) {
                there = atomic_cmpxchg(&table[at], 0xffffffffu, row);
                if (there == 0xffffffffu)
                    break;
            }
            if ($same) {
                if (row < there)
                    atomic_min(&table[at], row);
                break;
            }
            at = (at + 1) & mask;
        }
