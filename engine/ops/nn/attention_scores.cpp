#include "engine/ops/nn/attention_scores.h"

#include <algorithm>
#include <cmath>

#include "engine/mathlib/gemm.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/nn/row_math.h"
#include "engine/symbolic/shape_env.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"
#include "engine/tensor/simd.h"

namespace kerf::inline ops {

std::optional<std::size_t> attentionArgument(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}
const Tensor* attentionTensor(const BoundArguments& args, std::string_view name) {
  const auto at = attentionArgument(args, name);
  return at ? args.tensorIf(*at) : nullptr;
}

bool isCpuForm(const BoundArguments& args) { return args.op->schema.name.find("_for_cpu") != std::string::npos; }

namespace {

/// Query heads that share a key head; none where they do not divide into those.
std::optional<SymInt> sharingHeads(const BoundArguments& args, SymInt queryHeads, SymInt keyHeads) {
  if (!isCpuForm(args) || guardOrTrue(queryHeads == keyHeads)) return SymInt(1);
  if (!guardOrTrue(queryHeads != 0) || !guardOrTrue(keyHeads != 0)) return {};
  if (!guardOrTrue(floorMod(queryHeads, keyHeads) == 0)) return {};
  return floorDiv(queryHeads, keyHeads);
}

}  // namespace

Result<AttentionSizes> attentionSizes(const BoundArguments& args) {
  const Tensor *q = attentionTensor(args, "query"), *k = attentionTensor(args, "key"),
               *v = attentionTensor(args, "value");
  for (const Tensor* tensor : {q, k, v})
    if (!tensor || tensor->dim() != 4) return mismatch(args, "query, key and value must have 4 dimensions");
  const auto groups = sharingHeads(args, q->symSize(1), k->symSize(1));
  if (!groups) return mismatch(args, "{} query heads do not divide into {} key heads", q->symSize(1), k->symSize(1));
  const AttentionSizes a{q->symSize(0), q->symSize(1), q->symSize(2), k->symSize(2),
                         q->symSize(3), v->symSize(3), *groups};
  if (!checkEqual(k->symSizes(), {a.batch, a.keyHeads(), a.keys, a.width}) ||
      !checkEqual(v->symSizes(), {a.batch, a.keyHeads(), a.keys, a.valueWidth}))
    return mismatch(args, "the shapes of query, key and value do not fit");
  double dropout = 0;
  if (const auto p = attentionArgument(args, "dropout_p")) dropout = args.number(*p);
  if (!(dropout >= 0 && dropout < 1)) return mismatch(args, "dropout_p must be in [0, 1), got {}", dropout);
  if (dropout != 0 && isCpuForm(args)) return mismatch(args, "the CPU form takes no dropout, as in PyTorch");
  return a;
}

Result<Attention> attentionDimensions(const BoundArguments& args) {
  KERF_TRY(const AttentionSizes sizes, attentionSizes(args));
  Attention a{sizes.batch, sizes.heads, sizes.queries, sizes.keys, sizes.width, sizes.valueWidth, sizes.groups};
  if (const auto p = attentionArgument(args, "dropout_p")) a.dropout = args.number(*p);
  const auto scale = attentionArgument(args, "scale");
  a.scale = scale && !args.none(*scale) ? args.number(*scale) : 1 / std::sqrt(double(a.width));
  a.causal = args.boolean(args.position("is_causal"));
  return a;
}

DType attentionWorkType(DType dtype) { return dtype == DType::Float64 ? DType::Float64 : DType::Float32; }

Result<Tensor> attentionHeads(const Tensor& tensor) {
  KERF_TRY(const Tensor wide, tensor.to(attentionWorkType(tensor.dtype())));
  const Sizes sizes{tensor.size(0) * tensor.size(1), tensor.size(2), tensor.size(3)};
  const bool evenBatches = wide.size(0) == 1 || wide.stride(0) == wide.size(1) * wide.stride(1);
  if (evenBatches && wide.stride(3) == 1)  // BLAS takes it as it lies
    return wide.viewAs(sizes, {wide.stride(1), wide.stride(2), 1}, wide.offset());
  KERF_TRY(const Tensor flat, wide.contiguous());
  return flat.viewAs(sizes, contiguousStrides(sizes), flat.offset());
}

Tensor attentionTurned(const Tensor& tensor) {
  return tensor.viewAs({tensor.size(0), tensor.size(2), tensor.size(1)},
                       {tensor.stride(0), tensor.stride(2), tensor.stride(1)}, tensor.offset());
}

Result<Tensor> attentionProduct(const Tensor& a, const Tensor& b, double alpha) {
  KERF_TRY(Tensor out, emptyTensor(a.dtype(), {a.size(0), a.size(1), b.size(2)}));
  KERF_CHECK(bmm(a, b, out, alpha, 0));
  return out;
}

namespace {

/// The mask as [B, H, Q, K] numbers to add (bool: minus infinity where false), undefined where there is none.
Result<Tensor> maskOf(const BoundArguments& args, const Attention& a, DType work) {
  const Tensor* mask = attentionTensor(args, attentionArgument(args, "attn_mask") ? "attn_mask" : "attn_bias");
  if (!mask) return Tensor();
  const Sizes sizes{a.batch, a.heads, a.queries, a.keys};
  auto broadcast = broadcastSizes(mask->sizes(), sizes);
  if (!broadcast || *broadcast != sizes)
    return mismatch(args, "the mask does not broadcast to [{}]", fmt::join(sizes, ", "));
  KERF_TRY(const Tensor dense, mask->to(work));
  if (mask->dtype() == DType::Bool) {
    KERF_TRY(const Tensor own, dense.clone());
    dispatchWork(work, [&]<class T>() {
      for (std::int64_t i = 0; i < own.numel(); ++i)
        own.data<T>()[i] = own.data<T>()[i] != 0 ? T(0) : -std::numeric_limits<T>::infinity();
    });
    return own.viewAs(sizes, broadcastStrides(own, sizes), own.offset());
  }
  return dense.viewAs(sizes, broadcastStrides(dense, sizes), dense.offset());
}

/// Adds the mask and the causal triangle to row `r` of the scores.
template <class T>
void maskRow(const Attention& a, const Tensor& mask, std::int64_t r, T* row) {
  const std::int64_t query = r % a.queries;
  if (mask.defined()) {
    const std::int64_t head = r / a.queries % a.heads, batch = r / a.queries / a.heads;
    const T* add = mask.data<T>() + batch * mask.stride(0) + head * mask.stride(1) + query * mask.stride(2);
    for (std::int64_t i = 0; i < a.keys; ++i) row[i] += add[i * mask.stride(3)];
  }
  for (std::int64_t i = a.causal ? query + 1 : a.keys; i < a.keys; ++i) row[i] = -std::numeric_limits<T>::infinity();
}

/// [B * H / groups, …, …] with each matrix `groups` times.
Result<Tensor> repeatedHeads(const Tensor& heads, std::int64_t groups) {
  if (groups == 1) return heads;
  KERF_TRY(Tensor all, emptyTensor(heads.dtype(), {heads.size(0), groups, heads.size(1), heads.size(2)}));
  KERF_CHECK(copyElements(
      heads.viewAs(all.sizes(), {heads.stride(0), 0, heads.stride(1), heads.stride(2)}, heads.offset()), all));
  const Sizes sizes{heads.size(0) * groups, heads.size(1), heads.size(2)};
  return all.viewAs(sizes, contiguousStrides(sizes), 0);
}

/// Sizes and operands, without scores; keys and values of the key heads.
Result<Attention> operands(const BoundArguments& args) {
  KERF_TRY(Attention a, attentionDimensions(args));
  KERF_TRY(a.q, attentionHeads(*attentionTensor(args, "query")));
  KERF_TRY(a.k, attentionHeads(*attentionTensor(args, "key")));
  KERF_TRY(a.v, attentionHeads(*attentionTensor(args, "value")));
  return a;
}

}  // namespace

Result<Attention> attentionScores(const BoundArguments& args) {
  KERF_TRY(Attention a, operands(args));
  KERF_TRY(a.k, repeatedHeads(a.k, a.groups));
  KERF_TRY(a.v, repeatedHeads(a.v, a.groups));
  KERF_TRY(a.weights, attentionProduct(a.q, attentionTurned(a.k), a.scale));
  KERF_TRY(const Tensor mask, maskOf(args, a, a.weights.dtype()));
  if (!mask.defined() && !a.causal) return a;
  dispatchWork(a.weights.dtype(), [&]<class T>() {
    forScoreRows<T>(a.weights, [&](std::int64_t r, T* row) { maskRow(a, mask, r, row); });
  });
  return a;
}

Result<Attention> attentionWeights(const BoundArguments& args, bool divided) {
  KERF_TRY(Attention a, attentionScores(args));
  a.logSumExp.resize(std::size_t(a.batch * a.heads * a.queries));
  a.sums.resize(a.logSumExp.size());
  dispatchWork(a.weights.dtype(), [&]<class T>() {
    forScoreRows<T>(a.weights, [&](std::int64_t r, T* row) {
      const double largest = double(rowmath::largest(row, a.keys));
      const double shift = std::isinf(largest) ? 0 : largest;
      const double sum = rowmath::expShifted(row, shift, a.keys);
      a.logSumExp[std::size_t(r)] = shift + std::log(sum);
      a.sums[std::size_t(r)] = sum;
      if (sum != 0 && divided) rowmath::divide(row, sum, a.keys);
    });
  });
  return a;
}

namespace {

/// The least word of the generator whose number in (0, 1] is more than p.
std::uint64_t leastKept(double p) {
  std::uint64_t kept = std::uint64_t{1} << 32, lost = 0;  // numbers grow with their words
  if (curandUniform(0) > float(p)) return 0;
  while (kept - lost > 1) {
    const std::uint64_t middle = (kept + lost) / 2;
    (curandUniform(std::uint32_t(middle)) > float(p) ? kept : lost) = middle;
  }
  return kept;
}

/// philox() of blocks beside each other: 32 words from one pass.
struct DropoutKernel {
  static constexpr std::int64_t lanes = 8, words = 4 * lanes;
  using Lanes = std::uint64_t __attribute__((vector_size(8 * lanes)));

  KERF_KERNEL void block(std::uint64_t key, std::uint64_t first, std::uint64_t (&out)[4][lanes]) {
    constexpr std::uint64_t half = 0xffffffffu, blocks = ~std::uint64_t{0} / 4;
    Lanes low{0, 1, 2, 3, 4, 5, 6, 7};
    low = (low + first) & blocks;
    Lanes c0 = low & half, c1 = low >> 32, c2{}, c3{};
    std::uint32_t k0 = std::uint32_t(key), k1 = std::uint32_t(key >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const Lanes a = c0 * 0xD2511F53u, b = c2 * 0xCD9E8D57u;
      c0 = (b >> 32) ^ c1 ^ k0, c1 = b & half, c2 = (a >> 32) ^ c3 ^ k1, c3 = a & half;
    }
    const Lanes all[] = {c0, c1, c2, c3};
    __builtin_memcpy(out, all, sizeof out);
  }

  template <class T>
  KERF_KERNEL void run(std::uint64_t key, std::uint64_t at, std::int64_t count, std::uint64_t least, T kept, T* out) {
    std::int64_t skipped = std::int64_t(at % 4);
    for (std::int64_t done = 0; done < count; at += std::uint64_t(words - skipped), skipped = 0) {
      std::uint64_t drawn[4][lanes];
      T factors[words];
      block(key, at / 4, drawn);
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        for (std::int64_t i = 0; i < 4; ++i) factors[4 * lane + i] = drawn[i][lane] >= least ? kept : T(0);
      const std::int64_t some = std::min(words - skipped, count - done);
      __builtin_memcpy(out + done, factors + skipped, std::size_t(some) * sizeof(T));
      done += some;
    }
  }
};

template <class T>
void writeFactors(const ScoreDropout& dropout, std::int64_t first, std::int64_t count, T* factors) {
  const std::uint64_t at = std::uint64_t(dropout.stream.offset) + std::uint64_t(first);
  perIsa<DropoutKernel>(std::uint64_t(dropout.stream.seed), at, count, leastKept(dropout.p),
                        static_cast<T>(1 / (1 - dropout.p)), factors);
}

}  // namespace

void dropoutFactors(const ScoreDropout& dropout, std::int64_t first, std::int64_t count, float* factors) {
  writeFactors(dropout, first, count, factors);
}
void dropoutFactors(const ScoreDropout& dropout, std::int64_t first, std::int64_t count, double* factors) {
  writeFactors(dropout, first, count, factors);
}

DropoutStream givenDropoutStream(const BoundArguments& args) {
  const Tensor *seed = attentionTensor(args, "philox_seed"), *offset = attentionTensor(args, "philox_offset");
  const auto value = [](const Tensor* t) { return t && t->numel() == 1 ? t->itemAsInt() : std::int64_t{0}; };
  return {value(seed), value(offset)};
}

/// Of a matrix of 16-bit queries and keys, which smaller ones round faster as a whole.
constexpr std::int64_t fewestNarrowScores = 96 * 96;

Result<std::optional<TiledAttention>> attentionTiles(const BoundArguments& args, const DropoutStream& stream) {
  const DType dtype = args.tensor(0).dtype();
  const bool isHalf = dtype == DType::Float16 || dtype == DType::BFloat16;
  if (dtype != DType::Float32 && dtype != DType::Float64 && !isHalf) return std::nullopt;
  const std::optional<DType> narrow = isHalf && isCpuForm(args) ? std::optional(dtype) : std::nullopt;
  KERF_TRY(const Attention dimensions, attentionDimensions(args));
  if (isHalf && dimensions.queries * dimensions.keys < fewestNarrowScores) return std::nullopt;
  KERF_TRY(const Attention a, operands(args));
  KERF_TRY(const Tensor mask, maskOf(args, a, a.q.dtype()));
  return TiledAttention{a.batch, a.heads,  a.queries, a.keys, a.width, a.valueWidth, a.groups,           narrow,
                        a.scale, a.causal, a.q,       a.k,    a.v,     mask,         {stream, a.dropout}};
}

Result<Tensor> droppedScores(const Attention& a, const Tensor& scores, const DropoutStream& seed) {
  if (a.dropout == 0) return scores;
  KERF_TRY(Tensor result, scores.clone());
  dispatchWork(result.dtype(), [&]<class T>() {
    forScoreRows<T>(result, [&](std::int64_t r, T* row) {
      std::vector<T> factors(std::size_t(a.keys));
      dropoutFactors({seed, a.dropout}, r * a.keys, a.keys, factors.data());
      for (std::int64_t i = 0; i < a.keys; ++i) row[i] *= factors[std::size_t(i)];
    });
  });
  return result;
}

Value interleaved(DType dtype, SymInt batch, SymInt heads, SymInt rows, SymInt width) {
  return metaTensor(dtype, {batch, heads, rows, width}, {rows * heads * width, width, heads * width, 1});
}

Result<Tensor> attentionRounded(DType dtype, const Tensor& tensor) {
  if (dtype == tensor.dtype()) return tensor;
  KERF_TRY(const Tensor narrow, tensor.to(dtype));
  return narrow.to(tensor.dtype());
}

}  // namespace kerf::inline ops
