// Resampling to other spatial sizes: nearest, nearest-exact, linear to trilinear, bicubic, as separable weights per
// dimension.
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/planes.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

/// One output position of one dimension: source positions and their weights.
struct Taps {
  std::vector<std::pair<std::int64_t, double>> taps;
};

enum class Method : std::uint8_t { Nearest, NearestExact, Linear, Cubic, LinearAntialias, CubicAntialias };

bool isNearest(Method method) { return method == Method::Nearest || method == Method::NearestExact; }

double cubicNear(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
double cubicFar(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

struct Axis {
  std::int64_t in = 1, out = 1;
  std::optional<double> factor;  ///< the `scales` argument: output over input
  bool alignCorners = false;

  /// Input positions per output position.
  double step(Method method) const {
    if (alignCorners && !isNearest(method)) return out > 1 ? double(in - 1) / double(out - 1) : 0;
    return factor && *factor > 0 ? 1 / *factor : double(in) / double(out);
  }
};

/// How weights are computed: positions in float for everything but double; weights stored in the tensor's dtype where
/// PyTorch keeps them in a table (all forward kernels but the two-dimensional linear one).
struct Precision {
  bool single = true;
  DType weights = DType::Float64;
};

template <class T>
double sourcePosition(const Axis& axis, Method method, std::int64_t at) {
  const T step = static_cast<T>(axis.step(method)), position = static_cast<T>(at);
  if (method == Method::Nearest) return position * step;
  if (method == Method::NearestExact) return (position + T(0.5)) * step;
  const T source = axis.alignCorners ? position * step : (position + T(0.5)) * step - T(0.5);
  return method == Method::Linear ? std::max(source, T(0)) : source;
}

/// Triangle or Keys' cubic (a = -0.5) widened by the step when shrinking, as Pillow resamples; weights add up to 1.
Taps antialiasTaps(const Axis& axis, Method method, std::int64_t at) {
  const double step = axis.step(method), wide = std::max(step, 1.0);
  const double support = (method == Method::LinearAntialias ? 1 : 2) * wide;
  const double center = step * (double(at) + 0.5);
  const auto first = std::max<std::int64_t>(std::int64_t(center - support + 0.5), 0);
  const auto last = std::min<std::int64_t>(std::int64_t(center + support + 0.5), axis.in);
  Taps result;
  double total = 0;
  for (std::int64_t k = first; k < last; ++k) {
    const double x = std::abs((double(k) - center + 0.5) / wide);
    const double weight = method == Method::LinearAntialias ? std::max(0.0, 1 - x)
                          : x < 1                           ? cubicNear(x, -0.5)
                          : x < 2                           ? cubicFar(x, -0.5)
                                                            : 0.0;
    result.taps.emplace_back(k, weight);
    total += weight;
  }
  for (auto& tap : result.taps)
    if (total != 0) tap.second /= total;
  return result;
}

Taps tapsAt(const Axis& axis, Method method, std::int64_t at, Precision precision) {
  if (method == Method::LinearAntialias || method == Method::CubicAntialias) return antialiasTaps(axis, method, at);
  const double source =
      precision.single ? sourcePosition<float>(axis, method, at) : sourcePosition<double>(axis, method, at);
  const auto clampedIn = [&](std::int64_t x) { return std::clamp<std::int64_t>(x, 0, axis.in - 1); };
  const auto rounded = [&](double weight) { return roundedTo(precision.weights, weight); };
  const auto base = std::int64_t(std::floor(source));
  if (isNearest(method)) return {{{clampedIn(base), 1.0}}};
  if (method == Method::Linear) {
    if (axis.in == axis.out) return {{{clampedIn(at), 1.0}}};
    const std::int64_t low = clampedIn(base);
    const double weight = rounded(std::clamp(source - double(low), 0.0, 1.0));
    return {{{low, rounded(1 - weight)}, {clampedIn(low + 1), weight}}};
  }
  const double t = source - double(base);
  return {{{clampedIn(base - 1), rounded(cubicFar(t + 1, -0.75))},
           {clampedIn(base), rounded(cubicNear(t, -0.75))},
           {clampedIn(base + 1), rounded(cubicNear(1 - t, -0.75))},
           {clampedIn(base + 2), rounded(cubicFar(2 - t, -0.75))}}};
}

struct Plan {
  std::vector<Axis> axes;
  std::int64_t planes = 1;
  Sizes inSizes, outSizes;  ///< whole tensors
};

/// Sizes of the result; `output` are the spatial ones.
Result<SymSizes> resampledSizes(const BoundArguments& args, const SymSizes& input, const SymSizes& output) {
  if (input.size() != output.size() + 2)
    return mismatch(args, "expects {} dimensions, got {}", output.size() + 2, input.size());
  SymSizes sizes{input[0], input[1]};
  for (std::size_t d = 0; d < output.size(); ++d) {
    if (!guardOrTrue(output[d] > 0) || !guardOrTrue(input[d + 2] > 0))
      return mismatch(args, "sizes must be positive: input {}, output {}", input[d + 2], output[d]);
    sizes.push_back(output[d]);
  }
  for (const SymSizes* whole : {&input, static_cast<const SymSizes*>(&sizes)})
    if (!whole->isSymbolic()) KERF_CHECK(checkedNumel(whole->numbers()));
  return sizes;
}

Result<Plan> makePlan(const BoundArguments& args, const Sizes& input, const Sizes& output) {
  Plan plan{{}, 1, input, {}};
  KERF_TRY(plan.outSizes, resampledSizes(args, input, output));
  bool align = false;
  std::vector<std::optional<double>> scales;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    const std::string& name = args.op->schema.arguments[i].name;
    if (name == "align_corners") align = args.boolean(i);
    if (name.starts_with("scales")) scales.push_back(args.numberIf(i));
  }
  for (std::size_t d = 0; d < output.size(); ++d)
    plan.axes.push_back({input[d + 2], output[d], d < scales.size() ? scales[d] : std::nullopt, align});
  plan.planes = input[0] * input[1];
  return plan;
}

/// visit(flat output position in a plane, flat input position in a plane, weight) for all contributions.
template <class Visit>
void forTaps(const Plan& plan, Method method, Precision precision, Visit&& visit) {
  std::vector<std::vector<Taps>> tables;
  std::int64_t count = 1;
  for (const Axis& axis : plan.axes) {
    tables.emplace_back();
    for (std::int64_t at = 0; at < axis.out; ++at) tables.back().push_back(tapsAt(axis, method, at, precision));
    count *= axis.out;
  }
  const auto descend = [&](auto&& self, std::size_t d, std::int64_t out, std::int64_t in, double weight,
                           std::int64_t rest, std::int64_t block) -> void {
    if (d == plan.axes.size()) return visit(out, in, weight);
    block /= plan.axes[d].out;
    const auto at = std::size_t(rest / block);
    for (const auto& [source, own] : tables[d][at].taps)
      self(self, d + 1, out, in * plan.axes[d].in + source, weight * own, rest % block, block);
  };
  for (std::int64_t out = 0; out < count; ++out) descend(descend, 0, out, 0, 1.0, out, count);
}

std::int64_t planeSize(const Sizes& sizes) {
  std::int64_t size = 1;
  for (std::size_t d = 2; d < sizes.size(); ++d) size *= sizes[d];
  return size;
}

Result<Value> forwardShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(0);
  KERF_TRY(const SymSizes sizes, resampledSizes(args, input.symSizes(), args.symSizes(1)));
  return Value(planesMeta(input, sizes, input.dtype()));
}

/// Weights of one dimension in fixed point, `shift` bits of them behind the point.
struct FixedTaps {
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> taps;  ///< per output position
  int shift = 0;
};

/// As many bits as leave the largest weight below 2^15; positions that the edge holds are added up before rounding.
FixedTaps fixedTaps(const Axis& axis, Method method) {
  std::vector<std::map<std::int64_t, double>> weights(std::size_t(axis.out));
  double largest = 0;
  for (std::int64_t at = 0; at < axis.out; ++at)
    for (const auto& [source, weight] : tapsAt(axis, method, at, {false, DType::Float64}).taps) {
      double& sum = weights[std::size_t(at)][source];
      sum += weight;
      largest = std::max(largest, sum);
    }
  FixedTaps fixed;
  while (fixed.shift < 22 && 0.5 + largest * double(1LL << (fixed.shift + 1)) < 0x1p15) ++fixed.shift;
  for (const auto& own : weights) {
    fixed.taps.emplace_back();
    for (const auto& [source, weight] : own)
      fixed.taps.back().emplace_back(source, std::llround(weight * double(1LL << fixed.shift)));
  }
  return fixed;
}

/// Resamples the middle one of three dimensions; sums round to the nearest byte.
Doubles resampleBytes(const Doubles& x, std::int64_t before, const Axis& axis, std::int64_t after, Method method) {
  if (axis.in == axis.out) return x;
  const FixedTaps fixed = fixedTaps(axis, method);
  Doubles out;
  out.reserve(std::size_t(before * axis.out * after));
  for (std::int64_t b = 0; b < before; ++b)
    for (const auto& taps : fixed.taps)
      for (std::int64_t a = 0; a < after; ++a) {
        std::int64_t sum = fixed.shift > 0 ? 1LL << (fixed.shift - 1) : 0;
        for (const auto& [source, weight] : taps)
          sum += weight * std::int64_t(x[std::size_t((b * axis.in + source) * after + a)]);
        out.push_back(double(std::clamp<std::int64_t>(sum >> fixed.shift, 0, 255)));
      }
  return out;
}

/// Images of bytes are resampled along the width, then along the height, through bytes.
Doubles resampledBytes(const Plan& plan, Method method, const Doubles& x) {
  const Axis &height = plan.axes[0], &width = plan.axes[1];
  return resampleBytes(resampleBytes(x, plan.planes * height.in, width, 1, method), plan.planes, height, width.out,
                       method);
}

template <Method method>
Result<Value> forwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Plan plan, makePlan(args, args.tensor(0).sizes(), args.sizes(1)));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(0)));
  if (out.numel() == 0) return Value(std::move(out));
  if (out.dtype() == DType::UInt8 && plan.axes.size() == 2 && !isNearest(method)) {
    KERF_CHECK(writeValues(resampledBytes(plan, method, x), out));
    return Value(std::move(out));
  }
  Doubles values(std::size_t(out.numel()), 0.0);
  const std::int64_t inPlane = planeSize(plan.inSizes), outPlane = planeSize(plan.outSizes);
  const bool single = out.dtype() != DType::Float64, table = !(method == Method::Linear && plan.axes.size() == 2);
  const Precision precision{single, table ? out.dtype() : DType::Float64};
  forTaps(plan, method, precision, [&](std::int64_t to, std::int64_t from, double weight) {
    for (std::int64_t p = 0; p < plan.planes; ++p)
      values[std::size_t(p * outPlane + to)] += weight * x[std::size_t(p * inPlane + from)];
  });
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

Result<Value> backwardShape(const BoundArguments& args) {
  const Tensor& grad = args.tensor(0);
  KERF_TRY(const SymSizes sizes, resampledSizes(args, args.symSizes(2), args.symSizes(1)));
  if (!checkEqual(sizes, grad.symSizes())) return mismatch(args, "grad_output has the wrong shape");
  return Value(planesMeta(grad, args.symSizes(2), grad.dtype()));
}

template <Method method>
Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Plan plan, makePlan(args, args.sizes(2), args.sizes(1)));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  if (out.numel() == 0 || grad.empty()) return Value(std::move(out));
  Doubles sums(std::size_t(out.numel()), 0.0);
  const std::int64_t inPlane = planeSize(plan.inSizes), outPlane = planeSize(plan.outSizes);
  const Precision precision{out.dtype() != DType::Float64, DType::Float64};
  forTaps(plan, method, precision, [&](std::int64_t from, std::int64_t to, double weight) {
    for (std::int64_t p = 0; p < plan.planes; ++p)
      sums[std::size_t(p * inPlane + to)] += weight * grad[std::size_t(p * outPlane + from)];
  });
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

#define KERF_UPSAMPLE(name, n, m, extra, scales, method)                                                            \
  {"aten::" name "(Tensor self, SymInt[" n "] output_size" extra scales ") -> Tensor", OpTrait::None, forwardShape, \
   forwardKernel<method>},                                                                                          \
  {                                                                                                                 \
    "aten::" name "_backward(Tensor grad_output, SymInt[" n "] output_size, SymInt[" m "] input_size" extra scales  \
    ") -> Tensor",                                                                                                  \
        OpTrait::None, backwardShape, backwardKernel<method>                                                        \
  }
#define KERF_SCALES1 ", float? scales=None"
#define KERF_SCALES2 ", float? scales_h=None, float? scales_w=None"
#define KERF_SCALES3 ", float? scales_d=None, float? scales_h=None, float? scales_w=None"
#define KERF_ALIGN ", bool align_corners"

constexpr OpRow upsampleRows[] = {
    KERF_UPSAMPLE("upsample_nearest1d", "1", "3", "", KERF_SCALES1, Method::Nearest),
    KERF_UPSAMPLE("upsample_nearest2d", "2", "4", "", KERF_SCALES2, Method::Nearest),
    KERF_UPSAMPLE("upsample_nearest3d", "3", "5", "", KERF_SCALES3, Method::Nearest),
    KERF_UPSAMPLE("_upsample_nearest_exact1d", "1", "3", "", KERF_SCALES1, Method::NearestExact),
    KERF_UPSAMPLE("_upsample_nearest_exact2d", "2", "4", "", KERF_SCALES2, Method::NearestExact),
    KERF_UPSAMPLE("_upsample_nearest_exact3d", "3", "5", "", KERF_SCALES3, Method::NearestExact),
    KERF_UPSAMPLE("upsample_linear1d", "1", "3", KERF_ALIGN, KERF_SCALES1, Method::Linear),
    KERF_UPSAMPLE("upsample_bilinear2d", "2", "4", KERF_ALIGN, KERF_SCALES2, Method::Linear),
    KERF_UPSAMPLE("upsample_trilinear3d", "3", "5", KERF_ALIGN, KERF_SCALES3, Method::Linear),
    KERF_UPSAMPLE("upsample_bicubic2d", "2", "4", KERF_ALIGN, KERF_SCALES2, Method::Cubic),
    KERF_UPSAMPLE("_upsample_bilinear2d_aa", "2", "4", KERF_ALIGN, KERF_SCALES2, Method::LinearAntialias),
    KERF_UPSAMPLE("_upsample_bicubic2d_aa", "2", "4", KERF_ALIGN, KERF_SCALES2, Method::CubicAntialias),
};

const OpRegistration upsampleOps({.rows = upsampleRows});

}  // namespace

}  // namespace kerf::inline ops
