// Matrix products: the register tile that nearly all of the network's arithmetic runs in.

// `pixels` x `vectors` accumulators, both known when compiled, so that they live in registers. So is `sourcePixel` for the
// sources that matter, so that it becomes part of the addresses.
INLINE void NAME(tile)(const CKProduct *product, ptrdiff_t at, const ptrdiff_t sourcePixel, const int vectors,
                       const int pixels) {
    V sum[TILE1 > TILE2 * 2 ? (TILE1 > TILE3 * 3 ? TILE1 : TILE3 * 3) : (TILE2 * 2 > TILE3 * 3 ? TILE2 * 2 : TILE3 * 3)];
    float *destination = product->destination + at * LANES;
    const ptrdiff_t destinationBlock = product->destinationBlock;
    if (product->continues) {
        UNROLL for (int p = 0; p < pixels; p++)
            UNROLL for (int v = 0; v < vectors; v++)
                sum[p * vectors + v] = NAME(load)(destination + v * destinationBlock + p * LANES);
    } else {
        UNROLL for (int v = 0; v < vectors; v++) {
            V bias = NAME(load)(product->bias + v * LANES);
            UNROLL for (int p = 0; p < pixels; p++) sum[p * vectors + v] = bias;
        }
    }

    const float *weights = product->weights;
    const float *source = product->source + at * sourcePixel;
    ptrdiff_t left = product->channels;
    while (left > 0) {
        const ptrdiff_t channels = left < LANES ? left : LANES;
        for (ptrdiff_t k = 0; k < channels; k++) {
            V w[3];
            UNROLL for (int v = 0; v < vectors; v++) w[v] = NAME(load)(weights + v * LANES);
            weights += vectors * LANES;
            UNROLL for (int p = 0; p < pixels; p++) {
                V x = NAME(splat)(source[p * sourcePixel + k]);
                UNROLL for (int v = 0; v < vectors; v++)
                    sum[p * vectors + v] = NAME(madd)(x, w[v], sum[p * vectors + v]);
            }
        }
        source += product->sourceBlock;
        left -= channels;
    }

    if (!product->unfinished) {
        if (product->residual) {
            const float *residual = product->residual + at * LANES;
            UNROLL for (int p = 0; p < pixels; p++)
                UNROLL for (int v = 0; v < vectors; v++)
                    sum[p * vectors + v] += NAME(load)(residual + v * product->residualBlock + p * LANES);
        }
        // One comparison for the usual cases; the others are too rare to unroll for.
        if (product->activation == CKActivationRelu6) {
            UNROLL for (int i = 0; i < pixels * vectors; i++)
                sum[i] = NAME(atMost)(NAME(atLeast)(sum[i], (V)0.0f), (V)6.0f);
        } else if (product->activation == CKActivationRelu) {
            UNROLL for (int i = 0; i < pixels * vectors; i++) sum[i] = NAME(atLeast)(sum[i], (V)0.0f);
        }
    }
    UNROLL for (int p = 0; p < pixels; p++)
        UNROLL for (int v = 0; v < vectors; v++)
            NAME(store)(destination + v * destinationBlock + p * LANES, sum[p * vectors + v]);
    if (!product->unfinished && product->activation > CKActivationRelu6) {
        for (int v = 0; v < vectors; v++)
            for (int p = 0; p < pixels; p++) {
                float *value = destination + v * destinationBlock + p * LANES;
                NAME(store)(value, NAME(activate)(NAME(load)(value), product->activation));
            }
    }
}

// Full tiles, then ever smaller ones.
INLINE void NAME(panel)(const CKProduct *product, const ptrdiff_t sourcePixel, const int vectors, const int full) {
    ptrdiff_t at = 0;
    const ptrdiff_t end = product->pixels;
    for (; at + full <= end; at += full) NAME(tile)(product, at, sourcePixel, vectors, full);
    for (; full > 8 && at + 8 <= end; at += 8) NAME(tile)(product, at, sourcePixel, vectors, 8);
    for (; full > 4 && at + 4 <= end; at += 4) NAME(tile)(product, at, sourcePixel, vectors, 4);
    for (; full > 2 && at + 2 <= end; at += 2) NAME(tile)(product, at, sourcePixel, vectors, 2);
    for (; at < end; at += 1) NAME(tile)(product, at, sourcePixel, vectors, 1);
}

INLINE void NAME(panels)(const CKProduct *product, const ptrdiff_t sourcePixel, int vectors) {
    switch (vectors) {
    case 1: NAME(panel)(product, sourcePixel, 1, TILE1); break;
    case 2: NAME(panel)(product, sourcePixel, 2, TILE2); break;
    default: NAME(panel)(product, sourcePixel, 3, TILE3); break;
    }
}

static void NAME(product)(const CKProduct *product, int vectors) {
    switch (product->sourcePixel) {
    case LANES: NAME(panels)(product, LANES, vectors); break;
    case 6: NAME(panels)(product, 6, vectors); break;  // a first convolution of three channels at stride 2
    default: NAME(panels)(product, product->sourcePixel, vectors); break;
    }
}
