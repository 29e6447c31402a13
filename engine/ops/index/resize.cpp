// resize_, resize_as_ and the in-place forms of views: the result is self's storage under new sizes and strides.
#include <cstring>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/index/views.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait inplace = OpTrait::Inplace | OpTrait::Impure;

std::optional<MemoryFormat> formatArgument(const BoundArguments& args, std::size_t i) {
  if (const auto* format = args.values[i].as<MemoryFormat>()) return *format;
  return {};
}

/// Same sizes keep self's strides; others become dense in the format wanted.
Result<Value> resizedMeta(const BoundArguments& args, const SymSizes& sizes, std::optional<MemoryFormat> format) {
  const Tensor& self = args.tensor(0);
  for (const SymInt size : sizes)
    if (!guardOrTrue(size >= 0)) return mismatch(args, "size {} is negative", size);
  if (!sizes.isSymbolic()) KERF_CHECK(checkedNumel(sizes.numbers()));
  if (format == MemoryFormat::Preserve) return mismatch(args, "preserve_format is not possible here");
  if (!format && sizes == self.symSizes())
    return Value(metaTensor(self.dtype(), sizes, self.symStrides(), self.symOffset()));
  KERF_TRY(SymSizes strides, formatStrides(sizes, format.value_or(MemoryFormat::Contiguous)));
  return Value(metaTensor(self.dtype(), sizes, std::move(strides), self.symOffset()));
}

/// self's storage if it is large enough, else a larger one that begins with its bytes (the rest zero).
Result<Value> resized(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Value meta, runShapeRule(args));
  Tensor result = self.viewAs(meta.tensor().sizes(), meta.tensor().strides(), self.offset());
  if (!self.defined() || result.inBounds()) return Value(std::move(result));
  const std::int64_t elements = self.offset() + result.numel();
  KERF_TRY(const Tensor grown, Tensor::zeros(self.dtype(), Sizes{elements}));
  const auto kept = std::min(self.storage()->bytes(), grown.storage()->bytes());
  std::memcpy(grown.storage()->data(), self.storage()->data(), std::size_t(kept));
  return Value(grown.viewAs(meta.tensor().sizes(), meta.tensor().strides(), self.offset()));
}

Result<Value> resizeShape(const BoundArguments& args) {
  return resizedMeta(args, args.symSizes(1), formatArgument(args, 2));
}

Result<Value> resizeAsShape(const BoundArguments& args) {
  auto format = formatArgument(args, 2);
  if (format == MemoryFormat::Preserve) format = suggestFormat(args.tensor(1));
  return resizedMeta(args, args.tensor(1).symSizes(), format);
}

/// "aten.squeeze_.dim" → the shape rule of "aten.squeeze.dim".
Result<Value> viewInplaceShape(const BoundArguments& args) {
  const OpInfo* view = findOp(args.op->base);
  if (!view || !view->shape) return fail(ErrorCode::UnsupportedOp, "no shape rule for {}", args.opName());
  auto result = view->shape(BoundArguments{view, args.values});
  if (!result) return mismatch(args, "{}", result.error().message);
  return result;
}

constexpr OpRow viewInplace(const char* schema, const char* base) {
  return {schema, inplace, viewInplaceShape, viewKernel, nullptr, base};
}

constexpr OpRow resizeRows[] = {
    {"aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)", inplace,
     resizeShape, resized},
    {"aten::resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
     inplace, resizeAsShape, resized},
    viewInplace("aten::squeeze_(Tensor(a!) self) -> Tensor(a!)", "aten.squeeze.default"),
    viewInplace("aten::squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", "aten.squeeze.dim"),
    viewInplace("aten::squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", "aten.squeeze.dims"),
    viewInplace("aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", "aten.unsqueeze.default"),
    viewInplace("aten::t_(Tensor(a!) self) -> Tensor(a!)", "aten.t.default"),
    viewInplace("aten::transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "aten.transpose.int"),
    viewInplace("aten::swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)", "aten.transpose.int"),
    viewInplace("aten::swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "aten.transpose.int"),
    viewInplace("aten::as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> "
                "Tensor(a!)",
                "aten.as_strided.default"),
    viewInplace("aten::detach_(Tensor(a!) self) -> Tensor(a!)", "aten.detach.default"),
};

const OpRegistration resizeOps({.rows = resizeRows});

}  // namespace

}  // namespace kerf::inline ops
