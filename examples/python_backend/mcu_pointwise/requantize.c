{
    /* The float product, clamped, rounded to nearest, ties to even: behind the addition of
     * 1.5 * 2^23 the integer stands in the low bits of the sum (docs/arithmetic.md, "Rounding"). */
    union {
        float real;
        int32_t bits;
    } number;
    const float scaled = (float)sum * factor;
    number.real = scaled > low ? scaled : low;
    number.real = number.real < high ? number.real : high;
    number.real += 12582912.0F;
    return number.bits - 0x4B400000;
}
