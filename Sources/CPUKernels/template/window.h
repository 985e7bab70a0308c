// Windows that slide over each channel on its own: depthwise convolution and the pools.

// Columns of the output for which tap kx lies inside the source: [*first, *end).
INLINE void NAME(insideColumns)(const CKWindow *w, ptrdiff_t kx, ptrdiff_t *first, ptrdiff_t *end) {
    const ptrdiff_t shift = kx * w->dilationWidth - w->left;  // source column at output column 0
    const ptrdiff_t low = shift >= 0 ? 0 : (-shift + w->strideWidth - 1) / w->strideWidth;
    const ptrdiff_t last = w->sourceWidth - 1 - shift;
    const ptrdiff_t high = last < 0 ? 0 : last / w->strideWidth + 1;
    *first = low < w->destinationWidth ? low : w->destinationWidth;
    *end = high < w->destinationWidth ? high : w->destinationWidth;
}

INLINE V NAME(finish)(const CKWindow *w, V sum, ptrdiff_t at) {
    if (w->residual) sum += NAME(load)(w->residual + at);
    return NAME(activate)(sum, w->activation);
}

// Any kernel, one output pixel, every tap checked.
INLINE void NAME(depthwisePixel)(const CKWindow *w, ptrdiff_t y, ptrdiff_t x) {
    V sum = NAME(load)(w->bias);
    for (ptrdiff_t ky = 0; ky < w->kernelHeight; ky++) {
        const ptrdiff_t sy = y * w->strideHeight + ky * w->dilationHeight - w->top;
        if (sy < 0 || sy >= w->sourceHeight) continue;
        for (ptrdiff_t kx = 0; kx < w->kernelWidth; kx++) {
            const ptrdiff_t sx = x * w->strideWidth + kx * w->dilationWidth - w->left;
            if (sx < 0 || sx >= w->sourceWidth) continue;
            sum = NAME(madd)(NAME(load)(w->source + (sy * w->sourceWidth + sx) * LANES),
                             NAME(load)(w->weights + (ky * w->kernelWidth + kx) * LANES), sum);
        }
    }
    const ptrdiff_t at = (y * w->destinationWidth + x) * LANES;
    NAME(store)(w->destination + at, NAME(finish)(w, sum, at));
}

// 3x3, `count` neighbouring outputs whose taps all lie inside the source's columns.
INLINE void NAME(depthwise3)(const CKWindow *w, const float *const rows[3], const V weights[9], V bias, ptrdiff_t y,
                             ptrdiff_t x, const int count) {
    V sum[8];
    UNROLL for (int i = 0; i < count; i++) sum[i] = bias;
    const ptrdiff_t column = (x * w->strideWidth - w->left) * LANES;
    const ptrdiff_t stride = w->strideWidth * LANES, dilation = w->dilationWidth * LANES;
    UNROLL for (int ky = 0; ky < 3; ky++)
        UNROLL for (int kx = 0; kx < 3; kx++)
            UNROLL for (int i = 0; i < count; i++)
                sum[i] = NAME(madd)(NAME(load)(rows[ky] + column + kx * dilation + i * stride), weights[ky * 3 + kx], sum[i]);
    const ptrdiff_t at = (y * w->destinationWidth + x) * LANES;
    if (w->activation == CKActivationRelu6 && !w->residual) {
        UNROLL for (int i = 0; i < count; i++)
            NAME(store)(w->destination + at + i * LANES, NAME(atMost)(NAME(atLeast)(sum[i], (V)0.0f), (V)6.0f));
    } else {
        UNROLL for (int i = 0; i < count; i++)
            NAME(store)(w->destination + at + i * LANES, sum[i]);
        for (int i = 0; i < count; i++) {
            float *value = w->destination + at + i * LANES;
            NAME(store)(value, NAME(finish)(w, NAME(load)(value), at + i * LANES));
        }
    }
}

static void NAME(depthwise)(const CKWindow *w) {
    ptrdiff_t first, last, end, ignored;
    NAME(insideColumns)(w, 0, &first, &ignored);
    NAME(insideColumns)(w, w->kernelWidth - 1, &ignored, &last);
    end = last > first ? last : first;
    const bool three = w->kernelHeight == 3 && w->kernelWidth == 3;
    V weights[9];
    const V bias = NAME(load)(w->bias);
    if (three)
        UNROLL for (int i = 0; i < 9; i++) weights[i] = NAME(load)(w->weights + i * LANES);
    for (ptrdiff_t y = w->firstRow; y < w->endRow; y++) {
        if (!three) {
            for (ptrdiff_t x = 0; x < w->destinationWidth; x++) NAME(depthwisePixel)(w, y, x);
            continue;
        }
        const float *rows[3];
        UNROLL for (int ky = 0; ky < 3; ky++) {
            const ptrdiff_t sy = y * w->strideHeight + ky * w->dilationHeight - w->top;
            rows[ky] = sy < 0 || sy >= w->sourceHeight ? w->zeros : w->source + sy * w->sourceWidth * LANES;
        }
        ptrdiff_t x = 0;
        for (; x < first; x++) NAME(depthwisePixel)(w, y, x);
        for (; x + 8 <= end; x += 8) NAME(depthwise3)(w, rows, weights, bias, y, x, 8);
        for (; x + 4 <= end; x += 4) NAME(depthwise3)(w, rows, weights, bias, y, x, 4);
        for (; x < end; x++) NAME(depthwise3)(w, rows, weights, bias, y, x, 1);
        for (; x < w->destinationWidth; x++) NAME(depthwisePixel)(w, y, x);
    }
}

INLINE ptrdiff_t NAME(clip)(ptrdiff_t x, ptrdiff_t low, ptrdiff_t high) { return x < low ? low : x > high ? high : x; }

static void NAME(averagePool)(const CKWindow *w) {
    for (ptrdiff_t y = w->firstRow; y < w->endRow; y++)
        for (ptrdiff_t x = 0; x < w->destinationWidth; x++) {
            const ptrdiff_t top = y * w->strideHeight - w->top, left = x * w->strideWidth - w->left;
            const ptrdiff_t y0 = NAME(clip)(top, 0, w->sourceHeight), x0 = NAME(clip)(left, 0, w->sourceWidth);
            const ptrdiff_t y1 = NAME(clip)(top + w->kernelHeight, y0, w->sourceHeight);
            const ptrdiff_t x1 = NAME(clip)(left + w->kernelWidth, x0, w->sourceWidth);
            V sum = (V)0.0f;
            // Row by row, so that a window over a whole map keeps its digits.
            for (ptrdiff_t sy = y0; sy < y1; sy++) {
                V row = (V)0.0f;
                for (ptrdiff_t sx = x0; sx < x1; sx++)
                    row += NAME(load)(w->source + (sy * w->sourceWidth + sx) * LANES);
                sum += row;
            }
            const ptrdiff_t count = w->countsPadding ? w->kernelHeight * w->kernelWidth : (y1 - y0) * (x1 - x0);
            const ptrdiff_t at = (y * w->destinationWidth + x) * LANES;
            NAME(store)(w->destination + at, NAME(finish)(w, sum / (float)count, at));
        }
}

static void NAME(maxPool)(const CKWindow *w) {
    for (ptrdiff_t y = w->firstRow; y < w->endRow; y++)
        for (ptrdiff_t x = 0; x < w->destinationWidth; x++) {
            const ptrdiff_t top = y * w->strideHeight - w->top, left = x * w->strideWidth - w->left;
            const ptrdiff_t y0 = NAME(clip)(top, 0, w->sourceHeight), x0 = NAME(clip)(left, 0, w->sourceWidth);
            const ptrdiff_t y1 = NAME(clip)(top + w->kernelHeight, y0, w->sourceHeight);
            const ptrdiff_t x1 = NAME(clip)(left + w->kernelWidth, x0, w->sourceWidth);
            V best = (V)-INFINITY;
            for (ptrdiff_t sy = y0; sy < y1; sy++)
                for (ptrdiff_t sx = x0; sx < x1; sx++)
                    best = NAME(atLeast)(NAME(load)(w->source + (sy * w->sourceWidth + sx) * LANES), best);
            const ptrdiff_t at = (y * w->destinationWidth + x) * LANES;
            NAME(store)(w->destination + at, NAME(finish)(w, best, at));
        }
}
