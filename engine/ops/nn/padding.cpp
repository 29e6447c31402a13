// Reflection and replication padding of the last one to three dimensions, and their backwards.
#include <algorithm>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {
namespace {

enum class Fold { Reflect, Replicate };

/// Where padded position `at` comes from.
template <Fold fold>
std::int64_t sourceOf(std::int64_t at, std::int64_t size) {
  if (fold == Fold::Replicate) return std::clamp<std::int64_t>(at, 0, size - 1);
  if (at < 0) return -at;
  return at >= size ? 2 * (size - 1) - at : at;
}

/// Sizes after padding; `first` is the position of the padding list.
template <Fold fold>
Result<SymSizes> paddedSizes(const BoundArguments& args, const Tensor& self, const SymSizes& pad) {
  const std::size_t spatial = pad.size() / 2, rank = std::size_t(self.dim());
  if (spatial == 0 || pad.size() % 2 != 0) return mismatch(args, "padding has {} entries", pad.size());
  if (rank != spatial + 1 && rank != spatial + 2)
    return mismatch(args, "expects {} or {} dimensions, got {}", spatial + 1, spatial + 2, self.dim());
  SymSizes sizes = self.symSizes();
  for (std::size_t i = 0; i < spatial; ++i) {
    SymInt& size = sizes[sizes.size() - 1 - i];
    const SymInt before = pad[2 * i], after = pad[2 * i + 1];
    constexpr std::int64_t limit = 1LL << 40;
    for (const SymInt amount : {before, after}) {
      if (staticallyKnown(amount > limit) || staticallyKnown(amount < -limit))
        return fail(ErrorCode::TooLarge, "{}: padding", args.opName());
      if (fold == Fold::Reflect && !(guardOrTrue(amount < size) && guardOrTrue(amount > -size)))
        return mismatch(args, "padding [{}, {}] must be less than the dimension {}", before, after, size);
    }
    if (!guardOrTrue(size != 0)) return mismatch(args, "a padded dimension has no elements");
    size += before + after;
    if (!guardOrTrue(size >= 1)) return mismatch(args, "padding leaves size {}", size);
  }
  return sizes;
}

template <Fold fold>
Result<Value> padShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymSizes sizes, paddedSizes<fold>(args, self, args.symSizes(1)));
  auto strides = formatStrides(sizes, suggestFormat(self));
  return Value(strides ? metaTensor(self.dtype(), sizes, std::move(*strides)) : metaTensor(self.dtype(), sizes));
}

/// Flat source position of every element of the padded tensor.
template <Fold fold>
std::vector<std::int64_t> sources(const Sizes& inner, const Sizes& outer, const Sizes& pad) {
  std::int64_t count = 1;
  for (std::int64_t size : outer) count *= size;
  std::vector<std::int64_t> result;
  result.reserve(std::size_t(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, flat = 0, scale = 1;
    for (std::size_t d = outer.size(); d-- > 0; rest /= outer[d]) {
      const std::size_t fromEnd = outer.size() - 1 - d;
      const std::int64_t before = 2 * fromEnd < pad.size() ? pad[2 * fromEnd] : 0;
      const std::int64_t at = rest % outer[d] - before;
      flat += (2 * fromEnd < pad.size() ? sourceOf<fold>(at, inner[d]) : at) * scale;
      scale *= inner[d];
    }
    result.push_back(flat);
  }
  return result;
}

template <Fold fold>
Result<Value> padKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Tensor flat, self.contiguous());
  KERF_TRY(const Tensor rowMajor, Tensor::zeros(out.dtype(), out.sizes()));
  const auto from = sources<fold>(self.sizes(), out.sizes(), args.sizes(1));
  KERF_CHECK(dispatchBits(itemSize(out.dtype()), [&]<class T>() {
    for (std::size_t i = 0; i < from.size(); ++i) rowMajor.data<T>()[i] = flat.data<T>()[from[i]];
  }));
  KERF_CHECK(copyElements(rowMajor, out));
  return Value(std::move(out));
}

template <Fold fold>
Result<Value> padBackwardShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(1);
  KERF_TRY(const SymSizes sizes, paddedSizes<fold>(args, self, args.symSizes(2)));
  if (!checkEqual(sizes, args.tensor(0).symSizes())) return mismatch(args, "grad_output has the wrong shape");
  if (self.dtype() != args.tensor(0).dtype()) return mismatch(args, "grad_output and self differ in dtype");
  auto strides = formatStrides(self.symSizes(), suggestFormat(self));
  return Value(strides ? metaTensor(self.dtype(), self.symSizes(), std::move(*strides))
                       : metaTensor(self.dtype(), self.symSizes()));
}

/// Sums are kept in the tensor's type, so 16-bit floats round after every addition.
template <Fold fold>
Result<Value> padBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor grad, args.tensor(0).contiguous());
  KERF_TRY(const Tensor sums, Tensor::zeros(out.dtype(), out.sizes()));
  const auto to = sources<fold>(out.sizes(), args.tensor(0).sizes(), args.sizes(2));
  const auto add = [&]<class T>() {
    for (std::size_t i = 0; i < to.size(); ++i) sums.data<T>()[to[i]] = T(sums.data<T>()[to[i]] + grad.data<T>()[i]);
  };
  KERF_CHECK(dispatchOver(out.dtype(), add, FloatTypes{}, ComplexTypes{}));
  KERF_CHECK(copyElements(sums, out));
  return Value(std::move(out));
}

#define KERF_PAD(kind, n, list, fold)                                                                          \
  {"aten::" kind "_pad" n "d(Tensor self, SymInt[" list "] padding) -> Tensor", OpTrait::None, padShape<fold>, \
   padKernel<fold>},                                                                                           \
  {                                                                                                            \
    "aten::" kind "_pad" n "d_backward(Tensor grad_output, Tensor self, SymInt[" list "] padding) -> Tensor",  \
        OpTrait::None, padBackwardShape<fold>, padBackwardKernel<fold>                                         \
  }

constexpr OpRow paddingRows[] = {
    KERF_PAD("reflection", "1", "2", Fold::Reflect),    KERF_PAD("reflection", "2", "4", Fold::Reflect),
    KERF_PAD("reflection", "3", "6", Fold::Reflect),    KERF_PAD("replication", "1", "2", Fold::Replicate),
    KERF_PAD("replication", "2", "4", Fold::Replicate), KERF_PAD("replication", "3", "6", Fold::Replicate),
};

const OpRegistration paddingOps({.rows = paddingRows});

}  // namespace

}  // namespace kerf::inline ops
