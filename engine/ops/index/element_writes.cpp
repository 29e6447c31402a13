#include "engine/ops/index/element_writes.h"

#include "engine/ops/kernels/element_math.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

template <class T>
T combined(Writing how, T old, T value) {
  switch (how) {
    case Writing::Assign:
      return value;
    case Writing::Sum:
    case Writing::Mean:
      return element::add(old, value);
    case Writing::Product:
      return element::mul(old, value);
    case Writing::Max:
      return element::maximum(old, value);
    case Writing::Min:
      return element::minimum(old, value);
  }
  return value;
}

/// Values that combine with anything to that thing.
template <class T>
T identityOf(Writing how) {
  using Limits = std::numeric_limits<T>;
  if (how == Writing::Product) return 1;
  if constexpr (std::is_floating_point_v<T>) {
    if (how == Writing::Max) return -Limits::infinity();
    if (how == Writing::Min) return Limits::infinity();
  } else {
    if (how == Writing::Max) return Limits::min();
    if (how == Writing::Min) return Limits::max();
  }
  return 0;
}

double roundedLike(DType dtype, double x) {
  return dtype == DType::Float32    ? double(float(x))
         : dtype == DType::BFloat16 ? double(float(BFloat16(float(x))))
         : dtype == DType::Float16  ? double(float(Half(float(x))))
                                    : x;
}

/// What a running sum is rounded to after every write.
DType storedBetween(DType dtype, Rounding rounding) {
  const bool widens = rounding == Rounding::AtEnd && (dtype == DType::BFloat16 || dtype == DType::Float16);
  return widens ? DType::Float32 : dtype;
}

/// `data` has `count` elements.
template <class T>
void apply(const std::vector<ElementWrite>& writes, T* data, std::int64_t count, const T* source, Writing how,
           bool includeSelf, DType stored) {
  std::vector<std::int64_t> counts(how == Writing::Mean ? std::size_t(count) : 0, includeSelf ? 1 : 0);
  if (!includeSelf)
    for (const ElementWrite& write : writes) data[write.target] = identityOf<T>(how);
  for (const ElementWrite& write : writes) {
    data[write.target] = combined(how, data[write.target], source[write.source]);
    if constexpr (std::is_floating_point_v<T>) data[write.target] = roundedLike(stored, data[write.target]);
    if (how == Writing::Mean) ++counts[std::size_t(write.target)];
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 1)
      data[i] = element::isInt<T> ? element::floorDivide(data[i], T(counts[i])) : data[i] / T(counts[i]);
}

}  // namespace

Result<Writing> combineNamed(const BoundArguments& args, std::string_view name) {
  const auto writing = writingNamed(name);
  if (!writing) return mismatch(args, "unknown reduction '{}'", name);
  return *writing;
}

Result<Tensor> workingCopy(const Tensor& self) {
  if (isComplex(self.dtype()))
    return fail(ErrorCode::UnsupportedOp, "not implemented for {}", dtypeInfo(self.dtype()).torchName);
  KERF_TRY(const Tensor wide, self.to(isIntegral(self.dtype()) ? DType::Int64 : DType::Float64));
  return wide.clone();
}

Result<void> applyWrites(const std::vector<ElementWrite>& writes, const Tensor& working, const Tensor& source,
                         Writing how, bool includeSelf, const Tensor& out, Rounding rounding) {
  KERF_TRY(const Tensor wide, source.to(working.dtype()));
  KERF_TRY(const Tensor flat, wide.contiguous());
  const auto write = [&]<class T>(T) {
    apply(writes, working.data<T>(), working.numel(), flat.data<T>(), how, includeSelf,
          storedBetween(out.dtype(), rounding));
  };
  if (working.dtype() == DType::Float64)
    write(double{});
  else if (out.dtype() == DType::UInt64)  // whose bits these are
    write(std::uint64_t{});
  else
    write(std::int64_t{});
  return copyElements(working, out);
}

Result<Value> writtenShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  (void)dim;
  return Value(metaTensor(self.dtype(), self.symSizes()));
}

Sizes atLeastOne(const Sizes& sizes) { return sizes.empty() ? Sizes{1} : sizes; }

Result<Tensor> numberLike(const BoundArguments& args, std::size_t i, const Tensor& index) {
  const Tensor given = args.values[i].as<double>() ? Tensor::scalar(args.number(i), DType::Float64)
                                                   : Tensor::scalarInt(args.integer(i), DType::Int64);
  KERF_TRY(const Tensor number, given.to(args.tensor(0).dtype()));
  return number.viewAs(index.sizes(), Sizes(index.sizes().size(), 0), 0);
}

}  // namespace kerf::inline ops
