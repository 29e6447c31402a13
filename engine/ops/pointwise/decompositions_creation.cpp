// Decompositions of new tensors, casts and choices.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

/// dtype, layout, device and pin_memory of a call that makes a tensor: as given, else those of `like`.
struct Options {
  DType dtype;
  Device device;
  std::optional<MemoryFormat> format;
  static Options of(const BoundArguments& args, DType dtype, Device device) {
    Options options{dtype, device, {}};
    const auto& arguments = args.op->schema.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].name == "dtype") options.dtype = args.dtypeIf(i).value_or(dtype);
      if (arguments[i].name == "device" && args.values[i].as<Device>()) options.device = *args.values[i].as<Device>();
      if (arguments[i].name == "memory_format" && args.values[i].as<MemoryFormat>())
        options.format = *args.values[i].as<MemoryFormat>();
    }
    return options;
  }
  static Options like(const BoundArguments& args) { return of(args, args.tensor(0).dtype(), args.tensor(0).device()); }
};

/// 0 or 1 as a number of the dtype's kind.
Value plainNumber(int number, DType dtype) {
  if (dtype == DType::Bool) return number != 0;
  return std::int64_t(number);
}

/// zeros(size), ones(size).
template <int number>
Result<Value> zerosOrOnes(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Options made = Options::of(args, DType::Float32, Device());
  return p.done(full(args.symSizes(0), plainNumber(number, made.dtype), made.dtype, made.device));
}
/// new_zeros(self, size), new_ones(self, size).
template <int number>
Result<Value> newZerosOrNewOnes(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Options made = Options::like(args);
  return p.done(full(args.symSizes(1), plainNumber(number, made.dtype), made.dtype, made.device));
}
Result<Value> newFullProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Options made = Options::like(args);
  return p.done(full(args.symSizes(1), p[2], made.dtype, made.device));
}
Result<Value> newEmpty(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Options made = Options::like(args);
  return p.done({"aten.empty.memory_format"_op,
                 {p[1]},
                 {{"dtype", made.dtype}, {"layout", Layout::Strided}, {"device", made.device}, {"pin_memory", false}}});
}
/// zeros_like(self), ones_like(self): in the layout of self.
template <int number>
Result<Value> zerosLikeOrOnesLike(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Options made = Options::like(args);
  KeywordValues options;
  if (made.dtype != args.tensor(0).dtype()) options.emplace_back("dtype", made.dtype);
  options.emplace_back("pin_memory", false);
  if (made.format) options.emplace_back("memory_format", *made.format);
  return p.done({"aten.full_like.default"_op, {p[0], plainNumber(number, made.dtype)}, std::move(options)});
}
Result<Value> fill(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (args.values[1].isTensor()) return p.done({"aten.copy.default"_op, {p[0], p[1]}});
  return p.done({"aten.full_like.default"_op, {p[0], p[1]}, {{"pin_memory", false}}});
}
Result<Value> zero(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(zerosLike(p[0]));
}
/// full_like(self, value): full, and a permuted copy where self is laid out otherwise.
Result<Value> fullLikeByFull(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Tensor& self = args.tensor(0);
  const Options made = Options::like(args);
  if (made.format && *made.format != MemoryFormat::Preserve) {
    const Formula plain = full(self.symSizes(), p[1], made.dtype, made.device);
    if (*made.format == MemoryFormat::Contiguous) return p.done(plain);
    return p.done(clone(plain, *made.format));
  }
  KERF_TRY(const SymSizes strides, likeStrides(self, MemoryFormat::Preserve));
  const Sizes order = dimensionOrder(strides);
  SymSizes sizes;
  for (const std::int64_t d : order) sizes.push_back(self.symSize(d));
  const Formula dense = full(sizes, p[1], made.dtype, made.device);
  return p.done(std::ranges::is_sorted(order) ? dense : clone(permute(dense, invertedOrder(order))));
}
/// empty_like(self): empty_permuted in the order of self's dimensions.
Result<Value> emptyLike(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Tensor& self = args.tensor(0);
  const Options made = Options::like(args);
  KERF_TRY(const SymSizes strides, likeStrides(self, made.format));
  return p.done({"aten.empty_permuted.default"_op,
                 {intList(self.symSizes()), intList(dimensionOrder(strides))},
                 {{"dtype", made.dtype}, {"layout", Layout::Strided}, {"device", made.device}, {"pin_memory", false}}});
}
/// full(size, value) without a dtype: that of the number.
Result<Value> typedFull(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  ResultType type;
  type.add(args.values[1]);
  const Options made = Options::of(args, type.dtype(), Device());
  return p.done(full(args.symSizes(0), p[1], made.dtype, made.device));
}
bool namesNoDtype(const BoundArguments& args) { return args.none(args.position("dtype")); }

/// eye(n) and eye(n, m).
Result<Value> eye(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const bool square = args.op->schema.arguments[1].name != "m";
  const Options made = Options::of(args, DType::Float32, Device());
  const Formula rows = p(arange(p[0], DType::Int64, made.device));
  const Formula columns = p(arange(square ? p[0] : p[1], DType::Int64, made.device));
  const Formula same = p(equals(unsqueeze(rows, -1), columns));
  if (made.dtype == DType::Bool) return p.done(same);
  return p.done(where(same, full({1}, 1, made.dtype, made.device), 0));
}

/// where with numbers: they become 0-d tensors of the dtype that all promote to.
Result<Value> whereScalar(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Tensor& condition = args.tensor(0);
  const DType dtype = resultType(std::span(args.values).subspan(1, 2));
  const auto side = [&](std::size_t i) {
    return args.values[i].isTensor() ? to(p[i], dtype) : scalarTensor(p[i], dtype, condition.device());
  };
  const Formula a = args.values[2].isTensor() ? p(side(1)) : side(1);  // PyTorch makes the second number first
  const Formula b = p(side(2));
  return p.done({"aten.where.self"_op, {p[0], a, b}});
}

constexpr OpFacts creationDecompositionsTable[] = {
    decomposes("aten::zeros", zerosOrOnes<0>),
    decomposes("aten::ones", zerosOrOnes<1>),
    decomposes("aten::new_zeros", newZerosOrNewOnes<0>),
    decomposes("aten::new_ones", newZerosOrNewOnes<1>),
    decomposes("aten::new_full", newFullProgram),
    decomposes("aten::new_empty", newEmpty),
    decomposes("aten::zeros_like", zerosLikeOrOnesLike<0>),
    decomposes("aten::ones_like", zerosLikeOrOnesLike<1>),
    decomposes("aten::empty_like", emptyLike),
    decomposes("aten::fill", fill),
    decomposes("aten::zero", zero),
    decomposes("aten::eye", eye),
    decomposes("aten::where.Scalar", whereScalar),
    decomposes("aten::where.ScalarSelf", whereScalar),
    decomposes("aten::where.ScalarOther", whereScalar),
};

constexpr TableProgram inductor[] = {
    {"aten::full", typedFull, namesNoDtype},
    {"aten::full_like", fullLikeByFull},
};

const OpRegistration creationDecompositions({.facts = creationDecompositionsTable, .programs = inductor});

}  // namespace

}  // namespace kerf::inline ops
