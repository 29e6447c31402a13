// Random choices: Bernoulli draws by tensor, dropout, permutations and multinomial samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/random/draws.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

bool onCuda(const Tensor& tensor) { return tensor.device().type == "cuda"; }
Tensor lineOf(const Tensor& dense) {
  return Tensor(dense.storage(), dense.dtype(), {dense.numel()}, {1}, dense.offset());
}

Result<Value> likeFirstShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (args.op->schema.overload.empty()) return Value(metaTensor(self.dtype(), self.symSizes()));  // never strided
  KERF_TRY(SymSizes strides, likeStrides(self, {}));
  return Value(metaTensor(self.dtype(), self.symSizes(), std::move(strides)));
}

/// One uniform per element of a CUDA tensor as ATen's apply kernels take them: four neighbours share a thread's call.
std::vector<float> cudaApplyUniforms(std::int64_t count, std::uint64_t increment, std::int64_t threads) {
  RandomState& state = randomState();
  const std::uint64_t offset = state.takeCudaOffset(increment);
  auto values = std::vector<float>(std::size_t(count));
  const std::int64_t active = std::min(threads, (count + 3) / 4);
  for (std::int64_t thread = 0; thread < active; ++thread) {
    PhiloxStream stream(state.cudaSeed, std::uint64_t(thread), offset);
    for (std::int64_t first = thread * 4; first < count; first += threads * 4) {
      const PhiloxWords words = stream.next();
      for (std::int64_t i = 0; i < 4 && first + i < count; ++i)
        values[std::size_t(first + i)] = curandUniform(words[std::size_t(i)]);
    }
  }
  return values;
}

// bernoulli(p): self holds the probabilities; bernoulli.Tensor(self, p): p broadcasts to self

Result<Value> bernoulliKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& p = args.op->schema.arguments.size() > 2 ? args.tensor(1) : args.tensor(0);
  if (!isFloating(p.dtype())) return mismatch(args, "expected probabilities tensor to have floating type");
  KERF_TRY(const Tensor spread, Tensor::zerosStrided(DType::Float64, out.sizes(), out.strides()));
  KERF_CHECK(copyElements(p.viewAs(out.sizes(), broadcastStrides(p, out.sizes()), p.offset()), spread));
  const double* odds = spread.data<double>();
  Doubles values(std::size_t(out.numel()));
  const std::vector<float> draws = onCuda(out) ? cudaApplyUniforms(out.numel(), 10, out.numel()) : std::vector<float>();
  CpuGenerator& generator = randomState().cpu;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(odds[i] >= 0 && odds[i] <= 1))
      return fail(ErrorCode::RuntimeFailed, "{}: expected p_in >= 0 && p_in <= 1, got {}", args.opName(), odds[i]);
    if (!draws.empty())
      values[i] = draws[i] <= odds[i];
    else
      values[i] = (randomState().drawDtype(p.dtype()) == DType::Float64 ? generator.uniformDouble()
                                                                        : generator.uniformFloat()) < odds[i];
  }
  const Tensor line = lineOf(out);
  KERF_CHECK(writeValues(values, line));
  return Value(std::move(out));
}

// native_dropout(input, p, train): (input * mask / (1 - p), mask); _fused_dropout takes the probability to keep

Result<Value> dropoutShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymSizes strides, likeStrides(self, {}));
  const bool fused = args.op->id == "aten._fused_dropout.default"_op;
  const double p = args.number(1);
  if (!(p >= 0 && p <= 1)) return mismatch(args, "dropout probability has to be between 0 and 1, but got {}", p);
  const bool cuda = onCuda(self);
  return Value(ValueList{metaTensor(self.dtype(), self.symSizes(), strides),
                         metaTensor(fused ? DType::UInt8 : DType::Bool, self.symSizes(),
                                    cuda ? strides : contiguousStrides(self.symSizes()))});
}

/// Masks of ATen's dropout kernel: neighbours in memory share a call where vectors of 2, 4, … elements fit.
std::vector<bool> cudaMask(const Tensor& self, double keep) {
  const std::int64_t count = self.numel();
  std::int64_t vector = std::max<std::int64_t>(1, 16 / itemSize(randomState().drawDtype(self.dtype())));
  while (vector > 1 && count % vector != 0) vector /= 2;
  RandomState& state = randomState();
  const std::int64_t blocks =
      std::min((count + 255) / 256, state.layout.multiprocessors * (state.layout.threadsPerMultiprocessor / 256));
  const std::int64_t threads = blocks * 256;
  const std::uint64_t offset = state.takeCudaOffset(std::uint64_t((count - 1) / (threads * 4) + 1) * 4);
  auto mask = std::vector<bool>(std::size_t(count));
  const float odds = float(keep);
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    PhiloxStream stream(state.cudaSeed, std::uint64_t(thread), offset);
    PhiloxWords words{};
    if (vector == 1) {
      for (std::int64_t first = thread; first < count; first += threads * 4) {
        words = stream.next();
        for (std::int64_t i = 0; i < 4 && first + i * threads < count; ++i)
          mask[std::size_t(first + i * threads)] = curandUniform(words[std::size_t(i)]) < odds;
      }
      continue;
    }
    bool second = false;
    for (std::int64_t first = thread * vector; first < count; first += threads * vector) {
      for (std::int64_t i = 0; i < vector; ++i) {
        if (vector == 2 && i == 0 && second)
          words[0] = words[2], words[1] = words[3];
        else if (i % 4 == 0)
          words = stream.next();
        mask[std::size_t(first + i)] = curandUniform(words[std::size_t(i % 4)]) < odds;
      }
      second = !second;
    }
  }
  return mask;
}

Result<std::vector<Tensor>> dropoutOff(const std::vector<Tensor>& outs, const Tensor& self) {
  KERF_CHECK(copyElements(self, outs[0]));
  KERF_TRY(const Tensor ones,
           Tensor::scalar(1, outs[1].dtype()).viewAs(outs[1].sizes(), Sizes(outs[1].sizes().size(), 0), 0).clone());
  KERF_CHECK(copyElements(ones, outs[1]));
  return outs;
}

Result<Value> dropoutKernel(const BoundArguments& args) {
  KERF_TRY(std::vector<Tensor> outs, makeOutputs(args));
  const Tensor& self = args.tensor(0);
  const bool fused = args.op->id == "aten._fused_dropout.default"_op;
  const bool train = fused || args.none(2) || args.boolean(2);
  if (self.numel() == 0 || !train) {
    KERF_TRY(const std::vector<Tensor> plain, dropoutOff(outs, self));
    return tensorList(plain);
  }
  const double keep = fused ? args.number(1) : 1 - args.number(1);
  const Tensor line = lineOf(outs[1]);
  std::vector<std::int64_t> mask(std::size_t(line.numel()), 0);
  if (onCuda(self)) {
    const std::vector<bool> kept = keep == 0 ? std::vector<bool>(mask.size()) : cudaMask(self, keep);
    std::ranges::copy(kept, mask.begin());
  } else {
    for (std::int64_t& kept : mask) kept = randomState().cpu.uniformDouble() < keep;
  }
  KERF_CHECK(writeValues(mask, line));
  const double scale = keep == 0 ? 0 : 1 / keep;
  KERF_TRY(Tensor product, callTensorOp("aten.mul.Tensor"_op, {self, outs[1]}));
  KERF_TRY(product, callTensorOp("aten.mul.Tensor"_op, {product, scale}));
  KERF_CHECK(copyElements(product, outs[0]));
  return tensorList(outs);
}

// randperm: Fisher and Yates on the CPU, sorted keys on CUDA

Result<Value> permutationShape(const BoundArguments& args) {
  const SymInt n = args.symInteger(0);
  if (guardOrFalse(n < 0)) return mismatch(args, "n must be non-negative, got {}", n);
  return Value(metaTensor(args.dtypeIf(args.position("dtype")).value_or(DType::Int64), SymSizes{n}));
}

std::vector<std::int64_t> cudaPermutation(std::int64_t n) {
  const double size = double(n);
  const int bits = std::min(64, int(std::ceil(std::log2(size - (6 * size * size + 1) / (std::log(0.9) * 12)))));
  const std::int64_t low =
      bits <= 32 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int64_t>::min();
  const std::uint64_t range = bits <= 32 ? 0xFFFFFFFFu : 0xFFFFFFFFFFFFFFFFu;
  const auto keys = drawIntegers(n, range, low, true);
  randomState().takeCudaOffset(std::uint64_t(n));  // for the shuffle of equal keys, which have not been seen
  const std::uint64_t kept = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  auto order = std::vector<std::int64_t>(std::size_t(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&](std::int64_t i) { return std::pair(std::uint64_t(keys[std::size_t(i)]) & kept, i); });
  return order;
}

Result<Value> permutationKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const std::int64_t n = args.integer(0);
  auto order = std::vector<std::int64_t>(std::size_t(n));
  std::iota(order.begin(), order.end(), 0);
  if (onCuda(out) && n > 0) {
    order = cudaPermutation(n);
  } else {
    for (std::int64_t i = 0; i + 1 < n; ++i) {
      const auto jump = std::int64_t(randomState().cpu.random() % std::uint64_t(n - i));
      std::swap(order[std::size_t(i)], order[std::size_t(i + jump)]);
    }
  }
  KERF_CHECK(writeValues(order, out));
  return Value(std::move(out));
}

// multinomial

Result<Value> multinomialShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  const SymInt samples = args.symInteger(1);
  if (self.dim() != 1 && self.dim() != 2) return mismatch(args, "prob_dist must be 1 or 2 dim");
  if (!isFloating(self.dtype())) return mismatch(args, "multinomial only supports floating-point dtypes for input");
  if (guardOrFalse(samples <= 0)) return mismatch(args, "cannot sample n_sample <= 0 samples");
  if (!args.boolean(2) && guardOrFalse(samples > self.symSizes().back()))
    return mismatch(args, "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  SymSizes sizes = self.symSizes();
  sizes.back() = samples;
  return Value(metaTensor(DType::Int64, sizes));
}

Result<void> checkOdds(const BoundArguments& args, const Doubles& odds, std::size_t categories) {
  for (std::size_t row = 0; row < odds.size(); row += categories) {
    double sum = 0;
    for (std::size_t i = 0; i < categories; ++i) {
      if (!std::isfinite(odds[row + i]) || odds[row + i] < 0)
        return fail(ErrorCode::RuntimeFailed, "{}: probability tensor contains either `inf`, `nan` or element < 0",
                    args.opName());
      sum += odds[row + i];
    }
    if (!(sum > 0))
      return fail(ErrorCode::RuntimeFailed, "{}: invalid multinomial distribution (sum of probabilities <= 0)",
                  args.opName());
  }
  return {};
}

/// The largest p / exponential noise: one sample, or several without replacement.
Result<Tensor> byNoise(const Tensor& self, std::int64_t samples) {
  KERF_TRY(const Tensor noise, callTensorOp("aten.exponential.default"_op, {self, 1.0}));
  KERF_TRY(const Tensor races, callTensorOp("aten.div.Tensor"_op, {self, noise}));
  if (samples == 1) return callTensorOp("aten.argmax.default"_op, {races, std::int64_t{-1}, true});
  KERF_TRY(const Value best, callOp("aten.topk.default"_op, {races, samples}));
  return best.list()[1].tensor();
}

/// Binary search of doubles in the cumulative distribution, which is held in the input's dtype.
std::vector<std::int64_t> withReplacement(const Doubles& odds, std::size_t categories, std::int64_t samples,
                                          bool isFloat) {
  const auto r = [isFloat](double x) { return isFloat ? double(float(x)) : x; };
  std::vector<std::int64_t> result;
  for (std::size_t row = 0; row < odds.size(); row += categories) {
    Doubles cumulative;
    double sum = 0;
    for (std::size_t i = 0; i < categories; ++i) cumulative.push_back(sum = r(sum + odds[row + i]));
    for (double& value : cumulative) value = r(value / sum);
    cumulative.back() = 1;
    for (std::int64_t s = 0; s < samples; ++s) {
      const double draw = randomState().cpu.uniformDouble();
      result.push_back(std::ranges::lower_bound(cumulative, draw) - cumulative.begin());
    }
  }
  return result;
}

/// CUDA: one thread per sample, blocks of 128, one row of blocks per distribution.
std::vector<std::int64_t> cudaWithReplacement(const Doubles& odds, std::size_t categories, std::int64_t samples) {
  RandomState& state = randomState();
  const auto rows = std::int64_t(odds.size() / categories);
  const std::int64_t width = ((samples - 1) / 128 + 1) * 128;
  const std::uint64_t offset = state.takeCudaOffset(4);
  std::vector<std::int64_t> result;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double* const p = odds.data() + std::size_t(row) * categories;
    float sum = 0, running = 0;
    for (std::size_t i = 0; i < categories; ++i) sum += float(p[i]);
    std::vector<float> cumulative;
    for (std::size_t i = 0; i < categories; ++i) cumulative.push_back(running += float(p[i]) / sum);
    for (std::int64_t s = 0; s < samples; ++s) {
      PhiloxStream stream(state.cudaSeed, std::uint64_t(row * width + s), offset);
      const float draw = curandUniform(stream.next()[0]);
      auto at = std::min<std::ptrdiff_t>(std::ranges::lower_bound(cumulative, draw) - cumulative.begin(),
                                         std::ptrdiff_t(categories) - 1);
      while (at >= 1 && p[at] == 0) --at;
      result.push_back(at);
    }
  }
  return result;
}

Result<Value> multinomialKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Doubles odds, doublesOf(self));
  const auto categories = std::size_t(self.sizes().back());
  if (self.numel() == 0) return Value(std::move(out));
  KERF_CHECK(checkOdds(args, odds, categories));
  if (!args.boolean(2) || args.integer(1) == 1) {
    KERF_TRY(const Tensor chosen, byNoise(self, args.integer(1)));
    KERF_CHECK(copyElements(chosen, out));
    return Value(std::move(out));
  }
  const auto chosen = onCuda(self) ? cudaWithReplacement(odds, categories, args.integer(1))
                                   : withReplacement(odds, categories, args.integer(1),
                                                     randomState().drawDtype(self.dtype()) != DType::Float64);
  KERF_CHECK(writeValues(chosen, out));
  return Value(std::move(out));
}

constexpr OpTrait random = OpTrait::Random;
constexpr OpRow randomChoiceRows[] = {
    {"aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", random, likeFirstShape, bernoulliKernel},
    {"aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor", random, likeFirstShape,
     bernoulliKernel},
    {"aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", random, dropoutShape,
     dropoutKernel},
    {"aten::_fused_dropout(Tensor self, float p, Generator? generator=None) -> (Tensor, Tensor)", random, dropoutShape,
     dropoutKernel},
    {"aten::randperm(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     random, permutationShape, permutationKernel},
    {"aten::randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     random, permutationShape, permutationKernel},
    {"aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> "
     "Tensor",
     random, multinomialShape, multinomialKernel},
};

const OpRegistration randomChoiceOps({.rows = randomChoiceRows});

}  // namespace

}  // namespace kerf::inline ops
