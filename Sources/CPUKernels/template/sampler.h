// Scores at another size: arg-max without ever holding all scores, and single rows of them.
//
// Weights are not negative and add up to one, so a sampled score lies between the smallest and the largest of the scores it is
// made of. A class whose largest score in a cell is below some other class's smallest cannot win anywhere in it: where one class
// is left, the whole cell is filled, and elsewhere only the few that are left are compared.

// The classes that can win somewhere in a cell; gives their number. `high` holds classStride floats.
// The margin is many times the rounding error of a weighted sum, so that no class that rounding might favour is left out.
INLINE ptrdiff_t NAME(candidates)(const CKSampler *s, const CKRun *rows, const CKRun *columns, float *high,
                                  int32_t *classes) {
    V best = (V)-INFINITY;
    for (ptrdiff_t c = 0; c < s->classStride; c += LANES) {
        V lowest = (V)INFINITY, highest = (V)-INFINITY;
        for (ptrdiff_t y = 0; y < rows->taps; y++) {
            const float *row = s->scores + ((rows->source + y) * s->width + columns->source) * s->classStride + c;
            for (ptrdiff_t x = 0; x < columns->taps; x++) {
                const V value = NAME(load)(row + x * s->classStride);
                lowest = NAME(atMost)(value, lowest);
                highest = NAME(atLeast)(value, highest);
            }
        }
        NAME(store)(high + c, highest);
        best = NAME(atLeast)(lowest, best);
    }
    float bar = NAME(largest)(best);
    bar -= 1e-5f * fabsf(bar) + 1e-6f;
    ptrdiff_t count = 0;
    for (ptrdiff_t c = 0; c < s->classes; c++) {
        classes[count] = (int32_t)c;
        count += high[c] >= bar;
    }
    return count;
}

static void NAME(categories)(const CKSampler *s, const CKRun *rows, const CKRun *columns, ptrdiff_t columnRuns,
                             float *scratch, uint8_t *destination) {
    float *high = scratch;
    int32_t *classes = (int32_t *)(scratch + s->classStride);
    float *values = scratch + 2 * s->classStride;  // [tap][candidate], of one output row
    for (ptrdiff_t run = 0; run < columnRuns; run++) {
        const CKRun *cell = columns + run;
        const ptrdiff_t count = NAME(candidates)(s, rows, cell, high, classes);
        uint8_t *corner = destination + (ptrdiff_t)rows->output * s->outputWidth + cell->output;
        if (count < 2) {
            const int only = count == 1 ? classes[0] : 0;
            for (ptrdiff_t y = 0; y < rows->count; y++)
                memset(corner + y * s->outputWidth, only, (size_t)cell->count);
            continue;
        }
        for (ptrdiff_t y = 0; y < rows->count; y++) {
            const float *rowWeights = s->rowWeights + (rows->output + y) * s->rowTaps;
            for (ptrdiff_t t = 0; t < cell->taps; t++)
                for (ptrdiff_t i = 0; i < count; i++) {
                    const float *score =
                        s->scores + (rows->source * s->width + cell->source + t) * s->classStride + classes[i];
                    float sum = rowWeights[0] * score[0];
                    for (ptrdiff_t r = 1; r < rows->taps; r++)
                        sum += rowWeights[r] * score[r * s->width * s->classStride];
                    values[t * s->classStride + i] = sum;
                }
            for (ptrdiff_t x = 0; x < cell->count; x += LANES) {
                V best = (V)-INFINITY, winner = (V)0.0f;
                const float *columnWeights = s->columnWeights + cell->output + x;
                for (ptrdiff_t i = 0; i < count; i++) {
                    V sum = NAME(load)(columnWeights) * values[i];
                    for (ptrdiff_t t = 1; t < cell->taps; t++)
                        sum = NAME(madd)(NAME(load)(columnWeights + t * s->columnWeightStride),
                                         NAME(splat)(values[t * s->classStride + i]), sum);
                    winner = sum > best ? (V)(float)classes[i] : winner;
                    best = sum > best ? sum : best;
                }
                uint8_t labels[LANES];
                for (int i = 0; i < LANES; i++) labels[i] = (uint8_t)winner[i];
                const ptrdiff_t left = cell->count - x;
                memcpy(corner + y * s->outputWidth + x, labels, (size_t)(left < LANES ? left : LANES));
            }
        }
    }
}

static void NAME(scoreRow)(const CKSampler *s, ptrdiff_t row, const CKRun *rows, const CKRun *columns,
                           ptrdiff_t columnRuns, float *scratch, float *destination) {
    const float *rowWeights = s->rowWeights + row * s->rowTaps;
    const ptrdiff_t rowStride = s->width * s->classStride;
    const float *source = s->scores + rows->source * rowStride;
    for (ptrdiff_t i = 0; i < rowStride; i += LANES) {
        V sum = NAME(load)(source + i) * rowWeights[0];
        for (ptrdiff_t r = 1; r < rows->taps; r++)
            sum = NAME(madd)(NAME(load)(source + r * rowStride + i), NAME(splat)(rowWeights[r]), sum);
        NAME(store)(scratch + i, sum);
    }
    for (ptrdiff_t run = 0; run < columnRuns; run++) {
        const CKRun *cell = columns + run;
        for (ptrdiff_t x = cell->output; x < cell->output + cell->count; x++)
            for (ptrdiff_t c = 0; c < s->classStride; c += LANES) {
                const float *values = scratch + cell->source * s->classStride + c;
                V sum = NAME(load)(values) * s->columnWeights[x];
                for (ptrdiff_t t = 1; t < cell->taps; t++)
                    sum = NAME(madd)(NAME(load)(values + t * s->classStride),
                                     NAME(splat)(s->columnWeights[t * s->columnWeightStride + x]), sum);
                NAME(store)(destination + x * s->classStride + c, sum);
            }
    }
}

static void NAME(softmaxRows)(float *values, ptrdiff_t classes, ptrdiff_t classStride, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++) {
        // One pixel whose blocks of channels follow one another.
        float *row = values + i * classStride;
        NAME(softmax)(row, LANES, classes, 1, row, LANES);
    }
}
