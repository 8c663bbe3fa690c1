/* atomic.cuh: compare-and-swap of any number, on its bits, so the same on both sides.
 *
 *  tw_atomic_cas(p, expect, v)   *p = v where its bits are those of expect; the old value. 1, 2, 4 or 8 bytes
 *  tw_same(x, y)                 equal bits */
#ifndef TILEWRIGHT_ATOMIC_CUH
#define TILEWRIGHT_ATOMIC_CUH

template <class T, class U> TW_FN T tw_cas_as(T *p, T expect, T v) {
    return tw_bits<T>(tw_cas_bits((U *)p, tw_bits<U>(expect), tw_bits<U>(v)));
}
template <class T> TW_FN T tw_atomic_cas(T *p, T expect, T v) {
    if constexpr (sizeof(T) == 8) return tw_cas_as<T, u64>(p, expect, v);
    else if constexpr (sizeof(T) == 4) return tw_cas_as<T, u32>(p, expect, v);
    else if constexpr (sizeof(T) == 2) return tw_cas_as<T, u16>(p, expect, v);
    else return tw_cas_as<T, u8>(p, expect, v);
}
template <class T> TW_FN bool tw_same(T x, T y) {
    if constexpr (sizeof(T) == 8) return tw_bits<u64>(x) == tw_bits<u64>(y);
    else if constexpr (sizeof(T) == 4) return tw_bits<u32>(x) == tw_bits<u32>(y);
    else if constexpr (sizeof(T) == 2) return tw_bits<u16>(x) == tw_bits<u16>(y);
    else return tw_bits<u8>(x) == tw_bits<u8>(y);
}
#endif
