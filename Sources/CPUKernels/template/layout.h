// Moving values: between layouts, and to and from the tiles of convolutions that are no plain matrix product.

static void NAME(gather)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t blocks, const int32_t *index,
                         ptrdiff_t count, float *destination, ptrdiff_t destinationBlock) {
    for (ptrdiff_t b = 0; b < blocks; b++)
        for (ptrdiff_t i = 0; i < count; i++)
            NAME(store)(destination + b * destinationBlock + i * LANES,
                        index[i] < 0 ? (V)0.0f : NAME(load)(source + b * sourceBlock + (ptrdiff_t)index[i] * LANES));
}

static void NAME(scatter)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t blocks, const int32_t *index,
                          ptrdiff_t count, float *destination, ptrdiff_t destinationBlock) {
    for (ptrdiff_t b = 0; b < blocks; b++)
        for (ptrdiff_t i = 0; i < count; i++)
            NAME(store)(destination + b * destinationBlock + (ptrdiff_t)index[i] * LANES,
                        NAME(load)(source + b * sourceBlock + i * LANES));
}

static void NAME(block)(const float *source, ptrdiff_t channels, ptrdiff_t pixels, float *destination,
                        ptrdiff_t destinationBlock) {
    for (ptrdiff_t c = 0; c < channels; c += LANES) {
        const size_t count = (size_t)(channels - c < LANES ? channels - c : LANES);
        float *to = destination + c / LANES * destinationBlock;
        for (ptrdiff_t p = 0; p < pixels; p++) {
            float *lanes = to + p * LANES;
            memcpy(lanes, source + p * channels + c, count * sizeof(float));
            if (count < LANES) memset(lanes + count, 0, (LANES - count) * sizeof(float));
        }
    }
}

static void NAME(unblock)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t channels, ptrdiff_t pixels,
                          float *destination) {
    for (ptrdiff_t c = 0; c < channels; c += LANES) {
        const size_t count = (size_t)(channels - c < LANES ? channels - c : LANES);
        const float *from = source + c / LANES * sourceBlock;
        for (ptrdiff_t p = 0; p < pixels; p++)
            memcpy(destination + p * channels + c, from + p * LANES, count * sizeof(float));
    }
}
