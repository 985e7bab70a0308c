// Scores at another size: labels and rows of scores.

#include "check.h"

#include <math.h>
#include <string.h>

enum { mostRuns = 64, mostOutputs = 256 };

// What the scores of a picture look like.
typedef enum Scene {
    Noise,      // any class may win anywhere
    Patches,    // one class far ahead in each cell, as in a real picture
    Flat,       // all classes equal
    Twins,      // each class has the scores of the one below it or above it: the lower wins
    Far,        // large scores, with differences near their last digits
    sceneCount
} Scene;

// One axis: runs of outputs with random weights.
typedef struct Axis {
    int source, outputs, taps, runCount;
    CKRun runs[mostRuns];
    float weights[mostOutputs][3];
    int runOf[mostOutputs];
} Axis;

static void makeAxis(Axis *axis, int source, int mostCount) {
    memset(axis, 0, sizeof *axis);
    axis->source = source;
    for (int at = 0; at < source && axis->runCount < mostRuns; at += 1 + randomBelow(2)) {
        CKRun *run = &axis->runs[axis->runCount];
        const int left = source - at;
        *run = (CKRun){axis->outputs, 1 + randomBelow(mostCount), at, 1 + randomBelow(left < 3 ? left : 3)};
        if (axis->outputs + run->count > mostOutputs) break;
        for (int i = 0; i < run->count; i++) {
            float *weights = axis->weights[axis->outputs];
            axis->runOf[axis->outputs++] = axis->runCount;
            // Some outputs lie on an input.
            const int only = randomBelow(2 * run->taps);
            float sum = 0;
            for (int t = 0; t < run->taps; t++) {
                weights[t] = only < run->taps ? (t == only ? 1 : 0) : randomBetween(0.01f, 1);
                sum += weights[t];
            }
            for (int t = 0; t < run->taps; t++) weights[t] /= sum;
        }
        axis->taps = run->taps > axis->taps ? run->taps : axis->taps;
        axis->runCount++;
    }
}

static void fillScores(float *scores, ptrdiff_t pixels, ptrdiff_t classes, ptrdiff_t stride, Scene scene) {
    ptrdiff_t winner = 0;
    for (ptrdiff_t p = 0; p < pixels; p++) {
        if (randomBelow(4) == 0) winner = randomBelow((int)classes);
        for (ptrdiff_t c = 0; c < stride; c++) {
            float *score = scores + p * stride + c;
            switch (scene) {
            case Noise: *score = randomBetween(-9, 9); break;
            case Patches: *score = randomBetween(-9, 2) + (c == winner ? 12 : 0); break;
            case Flat: *score = -3.3f; break;
            case Twins: *score = c % 2 == 1 ? score[-1] : randomBetween(-9, 9); break;
            default: *score = 1e6f + randomBetween(-1, 1); break;
            }
            if (c >= classes) *score = -INFINITY;
        }
    }
}

typedef struct Scores {
    CKSampler sampler;
    Axis rows, columns;
} Scores;

static double expectedScore(const Scores *s, int row, int column, ptrdiff_t class) {
    const CKRun *rows = &s->rows.runs[s->rows.runOf[row]], *columns = &s->columns.runs[s->columns.runOf[column]];
    double sum = 0;
    for (int y = 0; y < rows->taps; y++)
        for (int x = 0; x < columns->taps; x++)
            sum += (double)s->rows.weights[row][y] * s->columns.weights[column][x] *
                   s->sampler.scores[((rows->source + y) * s->sampler.width + columns->source + x) *
                                     s->sampler.classStride + class];
    return sum;
}

static void makeScores(Scores *s, int height, int width, ptrdiff_t classes, Scene scene) {
    makeAxis(&s->rows, height, 5);
    makeAxis(&s->columns, width, 2 * (int)lanes + 3);
    const ptrdiff_t stride = blocksOf(classes) * lanes, columnStride = s->columns.outputs + lanes;
    float *scores = takeFloats(height * width * stride);
    fillScores(scores, height * width, classes, stride, scene);
    float *rowWeights = takeFloats(s->rows.outputs * s->rows.taps);
    for (int row = 0; row < s->rows.outputs; row++)
        memcpy(rowWeights + row * s->rows.taps, s->rows.weights[row], (size_t)floatBytes(s->rows.taps));
    // Past the last column: NaN.
    float *columnWeights = takeFloats(s->columns.taps * columnStride);
    for (int tap = 0; tap < s->columns.taps; tap++)
        for (int column = 0; column < s->columns.outputs; column++)
            columnWeights[tap * columnStride + column] = s->columns.weights[column][tap];
    s->sampler = (CKSampler){
        .scores = scores, .width = width, .classes = classes, .classStride = stride, .rowTaps = s->rows.taps,
        .rowWeights = rowWeights, .columnWeights = columnWeights, .columnWeightStride = columnStride,
        .outputWidth = s->columns.outputs};
}

// The label is the class of the largest score, or of one that no float can tell from it; of twins, the lower.
static void expectLabel(const Scores *s, int row, int column, int label, Scene scene) {
    const ptrdiff_t classes = s->sampler.classes;
    if (label >= classes) {
        fail("row %d column %d is %d of %td classes", row, column, label, classes);
        return;
    }
    double largest = -INFINITY;
    for (ptrdiff_t c = 0; c < classes; c++) largest = fmax(largest, expectedScore(s, row, column, c));
    const double score = expectedScore(s, row, column, label);
    if (largest - score > 2e-6 * fmax(1, fabs(largest)))
        fail("row %d column %d is %d with %.9g, but the largest is %.9g", row, column, label, score, largest);
    if ((scene == Twins && label % 2 == 1) || (scene == Flat && label != 0))
        fail("row %d column %d is %d, not the lowest of equals", row, column, label);
}

static void checkCategories(int height, int width, ptrdiff_t classes, Scene scene) {
    static Scores s;
    beginCase("categories height=%d width=%d classes=%td scene=%d", height, width, classes, scene);
    makeScores(&s, height, width, classes, scene);
    const ptrdiff_t outputWidth = s.columns.outputs, bytes = s.rows.outputs * outputWidth;
    uint8_t *labels = take(bytes);
    float *scratch = takeFloats((2 + s.columns.taps) * s.sampler.classStride);
    for (int run = s.rows.runCount - 1; run >= 0; run--) {
        const CKRun *rows = &s.rows.runs[run];
        kernels->categories(&s.sampler, rows, s.columns.runs, s.columns.runCount, scratch, labels);
        expectUntouched(labels, rows->output * outputWidth, "rows of another run");
        for (int y = rows->output; y < rows->output + rows->count; y++)
            for (int x = 0; x < outputWidth; x++) expectLabel(&s, y, x, labels[y * outputWidth + x], scene);
        endCase();
    }
}

static void checkScoreRow(int height, int width, ptrdiff_t classes, Scene scene) {
    static Scores s;
    beginCase("scoreRow height=%d width=%d classes=%td scene=%d", height, width, classes, scene);
    makeScores(&s, height, width, classes, scene);
    const ptrdiff_t stride = s.sampler.classStride;
    float *scratch = takeFloats(width * stride), *scores = takeFloats(s.columns.outputs * stride);
    for (int y = 0; y < s.rows.outputs; y++) {
        const CKRun *rows = &s.rows.runs[s.rows.runOf[y]];
        kernels->scoreRow(&s.sampler, y, rows, s.columns.runs, s.columns.runCount, scratch, scores);
        for (int x = 0; x < s.columns.outputs; x++)
            for (ptrdiff_t c = 0; c < classes; c++)
                expectNear(scores[x * stride + c], expectedScore(&s, y, x, c), "column", x);
        endCase();
    }
}

void checkSampler(void) {
    const ptrdiff_t classCounts[] = {1, 2, 3, 8, 21, 80, 256};
    for (int i = 0; i < 7; i++)
        for (Scene scene = 0; scene < sceneCount; scene++) {
            const int side = classCounts[i] > 21 ? 3 : 5;
            checkCategories(side, side + 2, classCounts[i], scene);
            checkCategories(1, 4, classCounts[i], scene);
            checkCategories(4, 1, classCounts[i], scene);
            checkScoreRow(side, 3, classCounts[i], scene);
        }
}
