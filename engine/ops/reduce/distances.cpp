// Pairwise p-norm distances between rows of two matrices (cdist) or of one (pdist), and their gradients.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/doubles.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

double distance(const double* a, const double* b, std::int64_t width, double p) {
  double sum = 0;
  for (std::int64_t c = 0; c < width; ++c) {
    const double x = std::abs(a[c] - b[c]);
    if (std::isinf(p))
      sum = std::isnan(x) || std::isnan(sum) ? std::nan("") : std::max(sum, x);
    else
      sum += p == 0 ? (x != 0 ? 1 : 0) : p == 1 ? x : p == 2 ? x * x : std::pow(x, p);
  }
  if (p == 0 || p == 1 || std::isinf(p)) return sum;
  return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
}

/// Derivative of the distance by one coordinate whose difference is `x`, 0 where the norm has a corner.
double distanceSlope(double x, double distance, double p) {
  const double sign = (x > 0) - (x < 0);
  if (p == 0) return 0;
  if (p == 1) return sign;
  if (std::isinf(p)) return std::abs(x) == distance ? sign : 0;
  if (distance == 0) return 0;
  if (p == 2) return x / distance;
  if (p < 1 && x == 0) return 0;
  if (p < 2) return sign * std::pow(std::abs(x), p - 1) / std::pow(distance, p - 1);
  return x * std::pow(std::abs(x), p - 2) / std::pow(distance, p - 1);
}

Result<void> checkNorm(const BoundArguments& args, double p) {
  if (p < 0 || std::isnan(p)) return mismatch(args, "argument 'p' must not be negative, got {}", p);
  return {};
}

/// Two stacks of rows with one broadcast batch shape.
struct Pairing {
  SymSizes batch;
  SymInt first = 0, second = 0, width = 0, batches = 1;
};

Result<Pairing> pairing(const BoundArguments& args, const Tensor& a, const Tensor& b) {
  if (!isFloating(a.dtype()) || !isFloating(b.dtype())) return mismatch(args, "x1 and x2 must be floating point");
  if (a.dim() < 2 || b.dim() < 2) return mismatch(args, "x1 and x2 need at least 2 dimensions");
  if (guardOrFalse(a.symSizes().back() != b.symSizes().back()))
    return mismatch(args, "x1 has {} columns, x2 has {}", a.symSizes().back(), b.symSizes().back());
  Pairing result;
  auto batch = broadcastSizes(SymSizes(a.symSizes().begin(), a.symSizes().end() - 2),
                              SymSizes(b.symSizes().begin(), b.symSizes().end() - 2));
  if (!batch) return mismatch(args, "{}", batch.error().message);
  result.batch = std::move(*batch);
  result.first = a.symSize(a.dim() - 2);
  result.second = b.symSize(b.dim() - 2);
  result.width = a.symSizes().back();
  KERF_TRY(result.batches, checkedCount(result.batch));
  return result;
}

SymSizes joined(SymSizes sizes, std::initializer_list<SymInt> more) {
  sizes.append(more.begin(), more.end());
  return sizes;
}

// _cdist_forward(x1, x2, p, compute_mode)

Result<Value> cdistShape(const BoundArguments& args) {
  KERF_TRY(const Pairing pair, pairing(args, args.tensor(0), args.tensor(1)));
  KERF_CHECK(checkNorm(args, args.number(2)));
  if (const auto mode = args.integerIf(3); mode && (*mode < 0 || *mode > 2))
    return mismatch(args, "argument 'compute_mode' must be 0, 1 or 2, got {}", *mode);
  return Value(metaTensor(args.tensor(0).dtype(), joined(pair.batch, {pair.first, pair.second})));
}

/// Euclidean distance through one matrix product, sqrt(|a|² + |b|² − 2ab), in the tensors' own precision.
Result<Tensor> euclidean(const Tensor& x1, const Tensor& x2) {
  const auto squares = [](const Tensor& x) -> Result<Tensor> {
    KERF_TRY(const Tensor square, callTensorOp("aten.pow.Tensor_Scalar"_op, {x, std::int64_t{2}}));
    return callTensorOp("aten.sum.dim_IntList"_op, {square, intList({-1}), true});
  };
  KERF_TRY(const Tensor norm1, squares(x1));
  KERF_TRY(const Tensor norm2, squares(x2));
  KERF_TRY(const Tensor ones1, callTensorOp("aten.ones_like.default"_op, {norm1}));
  KERF_TRY(const Tensor ones2, callTensorOp("aten.ones_like.default"_op, {norm2}));
  KERF_TRY(const Tensor scaled, callTensorOp("aten.mul.Scalar"_op, {x1, std::int64_t{-2}}));
  KERF_TRY(const Tensor left,
           callTensorOp("aten.cat.default"_op, {tensorList({scaled, norm1, ones1}), std::int64_t{-1}}));
  KERF_TRY(const Tensor right, callTensorOp("aten.cat.default"_op, {tensorList({x2, ones2, norm2}), std::int64_t{-1}}));
  KERF_TRY(const Tensor turned, callTensorOp("aten.transpose.int"_op, {right, std::int64_t{-2}, std::int64_t{-1}}));
  KERF_TRY(const Tensor product, callTensorOp("aten.bmm.default"_op, {left, turned}));
  KERF_TRY(const Tensor clamped, callTensorOp("aten.clamp_min.default"_op, {product, std::int64_t{0}}));
  return callTensorOp("aten.sqrt.default"_op, {clamped});
}

bool usesProduct(const Pairing& pair, double p, std::int64_t mode) {
  return p == 2 && pair.width > 0 && (mode == 1 || (mode == 0 && (pair.first > 25 || pair.second > 25)));
}

Result<Tensor> stacked(const Tensor& x, const Pairing& pair, SymInt rows) {
  const Sizes sizes = joined(pair.batch, {rows, pair.width});
  KERF_TRY(const Tensor flat, x.viewAs(sizes, broadcastStrides(x, sizes), x.offset()).contiguous());
  const Sizes three{pair.batches, rows, pair.width};
  return flat.viewAs(three, contiguousStrides(three), flat.offset());
}

Result<Value> cdistKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Pairing pair, pairing(args, args.tensor(0), args.tensor(1)));
  if (out.numel() == 0 || pair.width == 0) return Value(std::move(out));
  KERF_TRY(const Tensor a, stacked(args.tensor(0), pair, pair.first));
  KERF_TRY(const Tensor b, stacked(args.tensor(1), pair, pair.second));
  const double p = args.number(2);
  if (usesProduct(pair, p, args.integerIf(3).value_or(0))) {
    KERF_TRY(const Tensor result, euclidean(a, b));
    KERF_TRY(const Tensor flat, result.contiguous());
    return Value(flat.viewAs(out.sizes(), out.strides(), flat.offset()));
  }
  KERF_TRY(const Doubles x, doublesOf(a));
  KERF_TRY(const Doubles y, doublesOf(b));
  Doubles values;
  const std::int64_t batches = pair.batches, first = pair.first, second = pair.second, width = pair.width;
  for (std::int64_t n = 0; n < batches; ++n)
    for (std::int64_t i = 0; i < first; ++i)
      for (std::int64_t j = 0; j < second; ++j)
        values.push_back(distance(x.data() + (n * first + i) * width, y.data() + (n * second + j) * width, width, p));
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

// _cdist_backward(grad, x1, x2, p, cdist): gradient by x1, of x1's shape broadcast to the batch

Result<Value> cdistBackwardShape(const BoundArguments& args) {
  KERF_TRY(const Pairing pair, pairing(args, args.tensor(1), args.tensor(2)));
  KERF_CHECK(checkNorm(args, args.number(3)));
  const SymSizes expected = joined(pair.batch, {pair.first, pair.second});
  if (!checkEqual(args.tensor(0).symSizes(), expected) || !checkEqual(args.tensor(4).symSizes(), expected))
    return mismatch(args, "grad and cdist must have shape [{}]", fmt::join(expected, ", "));
  const bool empty = guardOrFalse(pair.first == 0) || guardOrFalse(pair.second == 0) || guardOrFalse(pair.width == 0) ||
                     guardOrFalse(pair.batches == 0);
  const Tensor& x1 = args.tensor(1);
  return Value(metaTensor(x1.dtype(), empty ? x1.symSizes() : joined(pair.batch, {pair.first, pair.width})));
}

Result<Value> cdistBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Pairing pair, pairing(args, args.tensor(1), args.tensor(2)));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles dist, doublesOf(args.tensor(4)));
  if (grad.empty() || pair.width == 0) return Value(std::move(out));
  KERF_TRY(const Tensor a, stacked(args.tensor(1), pair, pair.first));
  KERF_TRY(const Tensor b, stacked(args.tensor(2), pair, pair.second));
  KERF_TRY(const Doubles x, doublesOf(a));
  KERF_TRY(const Doubles y, doublesOf(b));
  Doubles sums(std::size_t(out.numel()), 0.0);
  const std::int64_t first = pair.first, second = pair.second, width = pair.width;
  for (std::int64_t k = 0; k < std::int64_t(grad.size()); ++k) {
    const std::int64_t row = k / second;
    const std::int64_t other = row / first * second + k % second;
    const auto at = std::size_t(k);
    for (std::int64_t c = 0; c < width; ++c) {
      const auto to = std::size_t(row * width + c);
      const double difference = x[to] - y[std::size_t(other * width + c)];
      sums[to] += grad[at] * distanceSlope(difference, dist[at], args.number(3));
    }
  }
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

Result<Value> euclideanShape(const BoundArguments& args) {
  KERF_TRY(const Pairing pair, pairing(args, args.tensor(0), args.tensor(1)));
  return Value(metaTensor(args.tensor(0).dtype(), joined(pair.batch, {pair.first, pair.second})));
}

Result<Value> euclideanKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Pairing pair, pairing(args, args.tensor(0), args.tensor(1)));
  KERF_TRY(const Tensor a, stacked(args.tensor(0), pair, pair.first));
  KERF_TRY(const Tensor b, stacked(args.tensor(1), pair, pair.second));
  KERF_TRY(const Tensor result, euclidean(a, b));
  KERF_TRY(const Tensor flat, result.contiguous());
  return Value(flat.viewAs(out.sizes(), out.strides(), flat.offset()));
}

// _pdist_forward(self, p), _pdist_backward(grad, self, p, pdist): pairs (i, j), i < j, row by row

Result<SymInt> pairCount(const BoundArguments& args, const Tensor& self) {
  if (self.dim() != 2 || !isFloating(self.dtype())) return mismatch(args, "argument 'self' must be a float matrix");
  if (const SymInt rows = self.symSize(0); !rows.isSymbolic() && rows > (1LL << 31))
    return fail(ErrorCode::TooLarge, "{}: {} rows", args.opName(), self.symSize(0));
  return floorDiv(self.symSize(0) * (self.symSize(0) - 1), 2);
}

Result<Value> pdistShape(const BoundArguments& args) {
  KERF_TRY(const SymInt pairs, pairCount(args, args.tensor(0)));
  KERF_CHECK(checkNorm(args, args.number(1)));
  return Value(metaTensor(args.tensor(0).dtype(), SymSizes{pairs}));
}

Result<Value> pdistKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(0)));
  const std::int64_t rows = args.tensor(0).size(0), width = args.tensor(0).size(1);
  Doubles values;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i + 1; j < rows; ++j)
      values.push_back(width == 0 ? 0 : distance(x.data() + i * width, x.data() + j * width, width, args.number(1)));
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

Result<Value> pdistBackwardShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(1);
  KERF_TRY(const SymInt pairs, pairCount(args, self));
  KERF_CHECK(checkNorm(args, args.number(2)));
  if (guardOrFalse(args.tensor(0).symNumel() != pairs) || guardOrFalse(args.tensor(3).symNumel() != pairs))
    return mismatch(args, "grad and pdist must have {} elements", pairs);
  return Value(metaTensor(self.dtype(), self.symSizes()));
}

Result<Value> pdistBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1)));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles dist, doublesOf(args.tensor(3)));
  const std::int64_t rows = args.tensor(1).size(0), width = args.tensor(1).size(1);
  Doubles sums(x.size(), 0.0);
  std::size_t pair = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i + 1; j < rows; ++j, ++pair)
      for (std::int64_t c = 0; c < width; ++c) {
        const auto a = std::size_t(i * width + c), b = std::size_t(j * width + c);
        const double share = grad[pair] * distanceSlope(x[a] - x[b], dist[pair], args.number(2));
        sums[a] += share;
        sums[b] -= share;
      }
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

constexpr OpRow distanceRows[] = {
    {"aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", none, cdistShape, cdistKernel},
    {"aten::_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor", none,
     cdistBackwardShape, cdistBackwardKernel},
    {"aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", none, euclideanShape, euclideanKernel},
    {"aten::_pdist_forward(Tensor self, float p=2) -> Tensor", none, pdistShape, pdistKernel},
    {"aten::_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor", none, pdistBackwardShape,
     pdistBackwardKernel},
};

const OpRegistration distanceOps({.rows = distanceRows});

}  // namespace

}  // namespace kerf::inline ops
