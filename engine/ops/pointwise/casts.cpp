// Conversions of dtype, and copies.
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

std::optional<MemoryFormat> formatOf(const BoundArguments& args, std::size_t i) {
  const auto* format = args.values[i].as<MemoryFormat>();
  return format ? std::optional(*format) : std::nullopt;
}

Result<Value> likeShape(const BoundArguments& args, DType dtype, std::optional<MemoryFormat> format) {
  auto strides = likeStrides(args.tensor(0), format);
  if (!strides) return mismatch(args, "{}", strides.error().message);
  return Value(metaTensor(dtype, args.tensor(0).symSizes(), std::move(*strides)));
}

Result<Value> convertShape(const BoundArguments& args) { return likeShape(args, *args.dtypeIf(1), {}); }
Result<Value> cloneShape(const BoundArguments& args) {
  return likeShape(args, args.tensor(0).dtype(), args.values.size() > 1 ? formatOf(args, 1) : std::nullopt);
}
Result<Value> toCopyShape(const BoundArguments& args) {
  return likeShape(args, args.dtypeIf(1).value_or(args.tensor(0).dtype()),
                   formatOf(args, args.position("memory_format")));
}

Result<Value> copyFirst(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_CHECK(copyElements(args.tensor(0), out));
  return Value(std::move(out));
}

Result<Value> copyShape(const BoundArguments& args) {
  const SymSizes& own = args.tensor(0).symSizes();
  KERF_TRY(const SymSizes sizes, broadcastSizes(own, args.tensor(1).symSizes()));
  if (!checkEqual(sizes, own)) return mismatch(args, "argument 'src' does not broadcast to 'self'");
  return likeShape(args, args.tensor(0).dtype(), {});
}

Result<Value> copyKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  const Tensor& source = args.tensor(1);
  KERF_CHECK(copyElements(source.viewAs(out.sizes(), broadcastStrides(source, out.sizes()), source.offset()), out));
  return Value(std::move(out));
}

constexpr OpRow castRows[] = {
    {"prims::convert_element_type(Tensor a, ScalarType dtype) -> Tensor", OpTrait::Pointwise, convertShape, copyFirst},
    {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", OpTrait::Pointwise, cloneShape,
     copyFirst},
    {"aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
     OpTrait::Pointwise, toCopyShape, copyFirst},
    {"aten::lift_fresh_copy(Tensor self) -> Tensor", OpTrait::Pointwise, cloneShape, copyFirst},
    {"prims::device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor", OpTrait::Pointwise, cloneShape,
     copyFirst},
    {"aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", OpTrait::Pointwise, copyShape,
     copyKernel},
};

const OpRegistration castOps({.rows = castRows});

}  // namespace

}  // namespace kerf::inline ops
