// The parts of a training step that PyTorch is slow at on a CPU: depthwise 3x3 convolutions with bias and activation,
// the gradient of an activation together with that of the bias before it, and the distance between two maps together
// with its gradient. Maps are N x H x W x C, float32, and C is a multiple of 16: one vector of 16 channels is carried
// through a whole map, its nine weights and their gradients in registers. operators.py compiles and calls this.

#include <cstdint>

namespace {

typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int64_t width = 16;

struct Shape {
  int64_t pictures, height, width, channels, stride, dilation, outHeight, outWidth;
};

inline Vector load(const float* at) { return *reinterpret_cast<const Vector*>(at); }
inline void store(float* at, Vector value) { *reinterpret_cast<Vector*>(at) = value; }

inline Vector clamp(Vector value, float limit) {
  const Vector zero = {}, most = zero + limit;
  value = value > zero ? value : zero;
  return value < most ? value : most;
}

// The gradient before the activation: nothing where it gave one of its limits.
inline Vector through(Vector gradient, Vector result, float limit) {
  const Vector zero = {}, most = zero + limit;
  return (result > zero) & (result < most) ? gradient : zero;
}

// Calls `interior(input offset)` for points whose nine neighbours all lie in the map, `edge` for the others.
template <typename Interior, typename Edge>
inline void walk(const Shape& s, Interior interior, Edge edge) {
  for (int64_t n = 0; n < s.pictures; n++) {
    for (int64_t y = 0; y < s.outHeight; y++) {
      const int64_t row = y * s.stride;
      const bool inside = row >= s.dilation && row + s.dilation < s.height;
      for (int64_t x = 0; x < s.outWidth; x++) {
        const int64_t column = x * s.stride;
        const int64_t in = ((n * s.height + row) * s.width + column) * s.channels;
        const int64_t out = ((n * s.outHeight + y) * s.outWidth + x) * s.channels;
        if (inside && column >= s.dilation && column + s.dilation < s.width) {
          interior(in, out);
        } else {
          edge(in, out, row, column);
        }
      }
    }
  }
}

}  // namespace

// result: pictures x outHeight x outWidth x channels, each sum plus its bias, from 0 to `limit`; weights: 9 x channels.
// The padding is the dilation.
extern "C" void depthwise(const Shape* shape, const float* from, const float* weights, const float* biases, float limit,
                          float* to) {
  const Shape& s = *shape;
  const int64_t down = s.dilation * s.width * s.channels, right = s.dilation * s.channels;
  for (int64_t c = 0; c < s.channels; c += width) {
    Vector w[9];
    for (int tap = 0; tap < 9; tap++) w[tap] = load(weights + tap * s.channels + c);
    const Vector b = load(biases + c);
    walk(
        s,
        [&](int64_t in, int64_t out) {
          const float* at = from + in + c;
          Vector sum = b;
          for (int tap = 0; tap < 9; tap++) sum += w[tap] * load(at + (tap / 3 - 1) * down + (tap % 3 - 1) * right);
          store(to + out + c, clamp(sum, limit));
        },
        [&](int64_t in, int64_t out, int64_t row, int64_t column) {
          const float* at = from + in + c;
          Vector sum = b;
          for (int tap = 0; tap < 9; tap++) {
            const int64_t r = row + (tap / 3 - 1) * s.dilation, q = column + (tap % 3 - 1) * s.dilation;
            if (r < 0 || r >= s.height || q < 0 || q >= s.width) continue;
            sum += w[tap] * load(at + (tap / 3 - 1) * down + (tap % 3 - 1) * right);
          }
          store(to + out + c, clamp(sum, limit));
        });
  }
}

// From the gradient by `results`, what `depthwise` gave: those by the map (`to`, zero before), the weights and biases.
extern "C" void depthwiseBackward(const Shape* shape, const float* given, const float* results, const float* from,
                                  const float* weights, float limit, float* to, float* weightsBack, float* biasesBack) {
  const Shape& s = *shape;
  const int64_t down = s.dilation * s.width * s.channels, right = s.dilation * s.channels;
  for (int64_t c = 0; c < s.channels; c += width) {
    Vector w[9], sums[9], bias = {};
    for (int tap = 0; tap < 9; tap++) w[tap] = load(weights + tap * s.channels + c), sums[tap] = Vector{};
    const auto add = [&](Vector g, const float* at, float* target, int tap) {
      const int64_t offset = (tap / 3 - 1) * down + (tap % 3 - 1) * right;
      sums[tap] += g * load(at + offset);
      store(target + offset, load(target + offset) + g * w[tap]);
    };
    walk(
        s,
        [&](int64_t in, int64_t out) {
          const Vector g = through(load(given + out + c), load(results + out + c), limit);
          bias += g;
          for (int tap = 0; tap < 9; tap++) add(g, from + in + c, to + in + c, tap);
        },
        [&](int64_t in, int64_t out, int64_t row, int64_t column) {
          const Vector g = through(load(given + out + c), load(results + out + c), limit);
          bias += g;
          for (int tap = 0; tap < 9; tap++) {
            const int64_t r = row + (tap / 3 - 1) * s.dilation, q = column + (tap % 3 - 1) * s.dilation;
            if (r >= 0 && r < s.height && q >= 0 && q < s.width) add(g, from + in + c, to + in + c, tap);
          }
        });
    for (int tap = 0; tap < 9; tap++) store(weightsBack + tap * s.channels + c, sums[tap]);
    store(biasesBack + c, bias);
  }
}

// rows x channels: from the gradient by `results` that by what was before the activation, and its sum over all rows
// (`sums`, zero before).
extern "C" void activationBackward(int64_t rows, int64_t channels, const float* given, const float* results,
                                   float limit, float* to, float* sums) {
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t c = 0; c < channels; c += width) {
      const int64_t at = row * channels + c;
      const Vector g = through(load(given + at), load(results + at), limit);
      store(to + at, g);
      store(sums + c, load(sums + c) + g);
    }
  }
}

// rows x channels: the sum of (one - other)^2 * factors, and half its gradient by `one`.
extern "C" double distance(int64_t rows, int64_t channels, const float* one, const float* other, const float* factors,
                           float* to) {
  double sum = 0;
  for (int64_t row = 0; row < rows; row++) {
    Vector part = {};
    for (int64_t c = 0; c < channels; c += width) {
      const int64_t at = row * channels + c;
      const Vector difference = load(one + at) - load(other + at), scaled = difference * load(factors + c);
      store(to + at, scaled);
      part += difference * scaled;
    }
    float total = 0;
    for (int64_t lane = 0; lane < width; lane++) total += part[lane];
    sum += total;
  }
  return sum;
}
