// Layers without weights, apart from the windows.

static void NAME(add)(const float *a, ptrdiff_t aStep, const float *b, ptrdiff_t bStep, float *destination,
                      ptrdiff_t count, CKActivation activation) {
    for (ptrdiff_t i = 0; i < count; i++)
        NAME(store)(destination + i * LANES,
                    NAME(activate)(NAME(load)(a + i * aStep) + NAME(load)(b + i * bStep), activation));
}

static void NAME(multiply)(const float *a, ptrdiff_t aStep, const float *b, ptrdiff_t bStep, float *destination,
                           ptrdiff_t count, CKActivation activation) {
    for (ptrdiff_t i = 0; i < count; i++)
        NAME(store)(destination + i * LANES,
                    NAME(activate)(NAME(load)(a + i * aStep) * NAME(load)(b + i * bStep), activation));
}

// Four running sums hide the latency of the additions. They are added up every 1024 vectors, so that the mean of a large
// map keeps its digits: a value rounds away beside a sum of very many.
static void NAME(mean)(const float *source, ptrdiff_t count, float *destination, CKActivation activation) {
    V total = (V)0.0f;
    for (ptrdiff_t first = 0; first < count; first += 1024) {
        const ptrdiff_t end = count - first < 1024 ? count : first + 1024;
        V sum[4] = {(V)0.0f, (V)0.0f, (V)0.0f, (V)0.0f};
        ptrdiff_t i = first;
        for (; i + 4 <= end; i += 4)
            UNROLL for (int j = 0; j < 4; j++) sum[j] += NAME(load)(source + (i + j) * LANES);
        for (; i < end; i++) sum[0] += NAME(load)(source + i * LANES);
        total += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    NAME(store)(destination, NAME(activate)(total / (float)count, activation));
}

static void NAME(resizeRow)(const float *a, const float *b, float rowShare, const CKTap *taps, ptrdiff_t count,
                            float *destination, CKActivation activation) {
    for (ptrdiff_t i = 0; i < count; i++) {
        const ptrdiff_t first = (ptrdiff_t)taps[i].first * LANES, second = (ptrdiff_t)taps[i].second * LANES;
        const V share = NAME(splat)(taps[i].share);
        V above = NAME(load)(a + first), below = NAME(load)(b + first);
        above = NAME(madd)(NAME(load)(a + second) - above, share, above);
        below = NAME(madd)(NAME(load)(b + second) - below, share, below);
        NAME(store)(destination + i * LANES,
                    NAME(activate)(NAME(madd)(below - above, NAME(splat)(rowShare), above), activation));
    }
}

INLINE V NAME(laneNumbers)(void) {
    V lanes;
    UNROLL for (int i = 0; i < LANES; i++) lanes[i] = (float)i;
    return lanes;
}

// Lanes from `count` on become `filler`.
INLINE V NAME(firstLanes)(V x, ptrdiff_t count, float filler) {
    return NAME(laneNumbers)() < (V)(float)count ? x : (V)filler;
}

static void NAME(softmax)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t channels, ptrdiff_t pixels,
                          float *destination, ptrdiff_t destinationBlock) {
    for (ptrdiff_t p = 0; p < pixels; p++) {
        const float *from = source + p * LANES;
        float *to = destination + p * LANES;
        V top = (V)-INFINITY;
        for (ptrdiff_t c = 0; c < channels; c += LANES)
            top = NAME(atLeast)(NAME(firstLanes)(NAME(load)(from + c / LANES * sourceBlock), channels - c, -INFINITY), top);
        const V largest = NAME(splat)(NAME(largest)(top));
        V sum = (V)0.0f;
        for (ptrdiff_t c = 0; c < channels; c += LANES) {
            V e = NAME(exponential)(NAME(load)(from + c / LANES * sourceBlock) - largest);
            e = NAME(firstLanes)(e, channels - c, 0.0f);
            NAME(store)(to + c / LANES * destinationBlock, e);
            sum += e;
        }
        const V share = NAME(splat)(1.0f / NAME(total)(sum));
        for (ptrdiff_t c = 0; c < channels; c += LANES) {
            float *lanes = to + c / LANES * destinationBlock;
            NAME(store)(lanes, NAME(load)(lanes) * share);
        }
    }
}

static void NAME(argMax)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t channels, ptrdiff_t pixels,
                         float *destination) {
    for (ptrdiff_t p = 0; p < pixels; p++) {
        ptrdiff_t best = 0;
        float largest = source[p * LANES];
        for (ptrdiff_t c = 1; c < channels; c++) {
            const float value = source[c / LANES * sourceBlock + p * LANES + c % LANES];
            if (value > largest) largest = value, best = c;
        }
        V out = (V)0.0f;
        out[0] = (float)best;
        NAME(store)(destination + p * LANES, out);
    }
}

static void NAME(sigmoid)(const float *source, float *destination, ptrdiff_t count) {
    ptrdiff_t i = 0;
    for (; i + LANES <= count; i += LANES)
        NAME(store)(destination + i, NAME(activate)(NAME(load)(source + i), CKActivationSigmoid));
    for (; i < count; i++) {
        V x = (V)source[i];
        destination[i] = NAME(activate)(x, CKActivationSigmoid)[0];
    }
}
