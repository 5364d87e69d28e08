$place
        const uint at = place;
        if (row < peek_global(&table[at]))
            atomic_min(&table[at], row);
