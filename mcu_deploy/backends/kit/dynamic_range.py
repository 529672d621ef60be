"""How TFLite's dynamic range quantizes by a range with a zero point, in C."""

# Of floats `low` and `high`, between which 0 is, `scale` and `zero`. Source: LiteRT's
# PortableAsymmetricQuantizeFloats.
SCALED_BY_RANGE = """\
        /* The input's range, with 0 in it, takes all bytes: in double, as LiteRT has it. */
        const double step = high > low ? ((double)high - (double)low) / 255.0 : 1.0;
        const double below = (double)low / step;
        const double above = (double)high / step;
        const double place = 128.0 - below < 127.0 + above ? -128.0 - below : 127.0 - above;
        const int32_t zero = high > low ? (int32_t)(place < 0.0 ? place - 0.5 : place + 0.5) : 0;
        const float scale = (float)step;
"""
