// Decomposition of grid sampling: one gather by index a corner.
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

enum class Sampling : std::int64_t { Bilinear, Nearest, Bicubic };
enum class Outside : std::int64_t { Zeros, Border, Reflection };

/// grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners).
class GridSampler {
 public:
  GridSampler(const BoundArguments& args, const OpRunner& run)
      : p(args, run),
        m_input(args.tensor(0)),
        m_sampling(Sampling(args.integer(2))),
        m_outside(Outside(args.integer(3))),
        m_aligned(args.boolean(4)) {
    // Inductor leaves the grid as it is where a kernel for the CPU is faster so
    m_expands = !(m_sampling == Sampling::Bilinear && isContiguousAs(m_input, MemoryFormat::Contiguous));
  }

  Result<Value> sample() {
    const SymInt n = m_input.symSize(0), channels = m_input.symSize(1);
    const Tensor& given = p.args.tensor(1);
    m_shape = {n, m_expands ? channels : SymInt(1), given.symSize(1), given.symSize(2)};
    Formula grid = p[1];
    if (m_expands) {
      const SymInt h = given.symSize(1), w = given.symSize(2);
      grid = p(expand(view(grid, {n, 1, h, w, 2}), {n, channels, h, w, 2}));
    }
    m_batch = p(view(arange(n, DType::Int64, m_input.device()), {n, 1, 1, 1}));
    m_channel = p(view(arange(channels, DType::Int64, m_input.device()), {1, channels, 1, 1}));
    const Formula x = p(select(grid, m_expands ? 4 : 3, 0)), y = p(select(grid, m_expands ? 4 : 3, 1));
    if (m_sampling == Sampling::Bicubic) return p.done(bicubic(x, y));
    const Formula column = inside(pixels(x, width()), width()), row = inside(pixels(y, height()), height());
    if (m_sampling == Sampling::Nearest) {
      const Formula nearColumn = p(round(column)), nearRow = p(round(row));
      return p.done(weighted(nearColumn, nearRow, 1));
    }
    return p.done(bilinear(column, row));
  }

 private:
  std::int64_t width() const { return m_input.symSize(3); }
  std::int64_t height() const { return m_input.symSize(2); }

  /// [-1, 1] as places between pixels.
  Formula pixels(const Formula& x, std::int64_t size) {
    const double half = double(size) * 0.5;
    return p(x * (m_aligned ? half - 0.5 : half) + (half - 0.5));
  }
  Formula reflected(const Formula& x, double twiceLow, double twiceHigh) {
    if (twiceLow == twiceHigh) return p(zerosLike(x));
    const double low = twiceLow / 2, span = (twiceHigh - twiceLow) / 2;
    const Formula distance = p(abs(x - low));
    const Formula rest = p({"aten.fmod.Scalar"_op, {distance, span}});
    const Formula flips = p(to(floor(distance / span), DType::Int8));
    return p(where(equals(flips & Formula(1), 0), rest + low, (span + low) - rest));
  }
  Formula inside(const Formula& x, std::int64_t size) {
    if (m_outside == Outside::Zeros) return x;
    if (m_outside == Outside::Border) return p(clamp(x, std::int64_t{0}, size - 1));
    const double whole = 2 * double(size);
    const Formula within = m_aligned ? reflected(x, 0, whole - 2) : reflected(x, -1, whole - 1);
    return p(clamp(within, std::int64_t{0}, size - 1));
  }
  /// The pixels at whole places, times a weight; nothing outside of the image.
  Formula weighted(const Formula& column, const Formula& row, const Formula& weight) {
    const auto both = [](const Formula& a, const Formula& b) { return Formula("aten.logical_and.default"_op, {a, b}); };
    const Formula valid = p(both(column >= 0, both(column < width(), both(row >= 0, row < height()))));
    const Formula at = p(view(where(valid, to(column, DType::Int64), 0), m_shape));
    const Formula of = p(view(where(valid, to(row, DType::Int64), 0), m_shape));
    const Formula counted = p(view(where(valid, weight, 0), m_shape));
    return p(index(p[0], {m_batch, m_channel, of, at}) * counted);
  }
  Formula bilinear(const Formula& x, const Formula& y) {
    const Formula west = p(floor(x)), north = p(floor(y));
    const Formula east = p(west + 1), south = p(north + 1);
    const Formula northWest = p((east - x) * (south - y)), northEast = p((x - west) * (south - y));
    const Formula southWest = p((east - x) * (y - north)), southEast = p((x - west) * (y - north));
    Formula sum = weighted(west, north, northWest);
    sum = p(sum + weighted(east, north, northEast));
    sum = p(sum + weighted(west, south, southWest));
    return sum + weighted(east, south, southEast);
  }
  /// Keys' kernel with a = -0.75: weights of the four places around t.
  std::array<Formula, 4> cubicWeights(const Formula& t) {
    constexpr double a = -0.75;
    const auto near = [&](const Formula& d) { return p((d * (a + 2) - (a + 3)) * d * d + 1); };
    const auto far = [&](const Formula& d) { return p(((d * a - 5 * a) * d + 8 * a) * d - 4 * a); };
    return {far(p(t + 1.0)), near(t), near(p(1.0 - t)), far(p(2.0 - t))};
  }
  Formula blended(const std::array<Formula, 4>& values, const Formula& t) {
    const std::array<Formula, 4> weights = cubicWeights(t);
    Formula sum = p(values[0] * weights[0]);
    for (std::size_t i = 1; i < 4; ++i) sum = p(sum + values[i] * weights[i]);
    return sum;
  }
  Formula bicubic(const Formula& x, const Formula& y) {
    const Formula column = pixels(x, width()), row = pixels(y, height());
    const Formula west = p(floor(column)), north = p(floor(row));
    const Formula across = p(column - west), down = p(row - north);
    std::array<Formula, 4> rows;
    for (std::int64_t i = 0; i < 4; ++i) {
      const Formula at = p(north + (i - 1));
      std::array<Formula, 4> values;
      for (std::int64_t k = 0; k < 4; ++k) {
        const Formula of = inside(p(west + (k - 1)), width());
        values[std::size_t(k)] = weighted(of, inside(at, height()), 1);
      }
      rows[std::size_t(i)] = blended(values, across);
    }
    return blended(rows, down);
  }

  Formulas p;
  const Tensor& m_input;
  Sampling m_sampling;
  Outside m_outside;
  bool m_aligned;
  bool m_expands = true;
  SymSizes m_shape;
  Formula m_batch, m_channel;
};

Result<Value> gridSampler(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dim() != 4 || args.tensor(1).dim() != 4) return mismatch(args, "input and grid need 4 dimensions");
  return GridSampler(args, run).sample();
}

constexpr OpFacts samplingDecompositionsTable[] = {
    decomposes("aten::grid_sampler_2d", inOpMath<gridSampler>),
};

const OpRegistration samplingDecompositions({.facts = samplingDecompositionsTable});

}  // namespace

}  // namespace kerf::inline ops
