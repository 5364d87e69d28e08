/* NVIDIA's warps of 32 work-items, which exchange bits without local memory: OpenCL there has no words for it. */
uint warp_shuffle_up(uint value, uint distance)
{
    uint other;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(other) : "r"(value), "r"(distance));
    return other;
}

void warp_barrier(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}

/* Those of some lanes that have the same bits under the mask as this one. */
uint warp_same(uint lanes, uint value, uint mask)
{
    uint same;
    asm volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0;"
                 " vote.sync.ballot.b32 t, p, 0xffffffff; @!p not.b32 t, t; and.b32 %0, %3, t; }"
                 : "=r"(same)
                 : "r"(value), "r"(mask), "r"(lanes));
    return same;
}

/* The lanes with the same digit of eight bits. */
uint warp_peers(uint digit)
{
    uint peers = 0xffffffffu;
    #pragma unroll
    for (uint b = 0; b < 8; ++b)
        peers = warp_same(peers, digit, 1u << b);
    return peers;
}

uint warp_sum_before(uint value, uint lane)
{
    uint sum = value;
    #pragma unroll
    for (uint distance = 1; distance < 32; distance <<= 1) {
        const uint other = warp_shuffle_up(sum, distance);
        sum += lane >= distance ? other : 0;
    }
    return sum - value;
}
