{
    /* For each pixel four filters at once: an element of x is loaded once for four products. The
     * weights lie in the order in which they are read: filters by four, channels, the four. */
    for (int32_t pixel = 0; pixel < @PIXELS@; pixel++, x += @CHANNELS@) {
        const int8_t *w = weights;
        for (int32_t m = 0; m < @FILTERS@; m += 4) {
            int32_t sum0 = bias[m];
            int32_t sum1 = bias[m + 1];
            int32_t sum2 = bias[m + 2];
            int32_t sum3 = bias[m + 3];
            for (int32_t c = 0; c < @CHANNELS@; c += @STEP@, w += @STEP@ * 4) {
                /* @STEP@ channels in one turn of the loop */
@PRODUCTS@
            }
            *y++ = (int8_t)($requantize(sum0, factor[m], @LOW@, @HIGH@) + @ZERO@);
            *y++ = (int8_t)($requantize(sum1, factor[m + 1], @LOW@, @HIGH@) + @ZERO@);
            *y++ = (int8_t)($requantize(sum2, factor[m + 2], @LOW@, @HIGH@) + @ZERO@);
            *y++ = (int8_t)($requantize(sum3, factor[m + 3], @LOW@, @HIGH@) + @ZERO@);
        }
    }
}
