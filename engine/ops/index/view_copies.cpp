// The _copy forms of views: the view, then a contiguous copy.
#include "engine/ops/core/op_row.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

Value contiguousMeta(const Value& value) {
  if (value.isTensor()) return metaTensor(value.tensor().dtype(), value.tensor().sizes());
  ValueList items;
  for (const Value& item : value.list()) items.push_back(contiguousMeta(item));
  return items;
}

Result<Value> contiguousClone(const Value& value) {
  if (value.isTensor()) {
    KERF_TRY(Tensor copy, value.tensor().clone());
    return Value(std::move(copy));
  }
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value copy, contiguousClone(item));
    items.push_back(std::move(copy));
  }
  return Value(std::move(items));
}

/// "aten.expand_copy.default" → the row of "aten.expand.default".
Result<const OpInfo*> viewOp(const BoundArguments& args) {
  std::string name = args.opName();
  if (const auto at = name.find("_copy."); at != std::string::npos) name.erase(at, 5);
  const OpInfo* op = findOp(name);
  if (!op) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", args.opName());
  return op;
}

Result<Value> copyShape(const BoundArguments& args) {
  KERF_TRY(const OpInfo* op, viewOp(args));
  KERF_TRY(const Value view, op->shape(BoundArguments{op, args.values}));
  return contiguousMeta(view);
}

Result<Value> copyKernel(const BoundArguments& args) {
  KERF_TRY(const OpInfo* op, viewOp(args));
  KERF_TRY(const Value view, op->kernel(BoundArguments{op, args.values}));
  return contiguousClone(view);
}

constexpr OpRow copy(const char* schema) { return {schema, OpTrait::None, copyShape, copyKernel}; }

constexpr OpRow rows[] = {
    copy("aten::alias_copy(Tensor self) -> Tensor"),
    copy("aten::detach_copy(Tensor self) -> Tensor"),
    copy("aten::view_copy(Tensor self, SymInt[] size) -> Tensor"),
    copy("aten::permute_copy(Tensor self, int[] dims) -> Tensor"),
    copy("aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor"),
    copy("aten::t_copy(Tensor self) -> Tensor"),
    copy("aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor"),
    copy("aten::unsqueeze_copy(Tensor self, int dim) -> Tensor"),
    copy("aten::squeeze_copy(Tensor self) -> Tensor"),
    copy("aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor"),
    copy("aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor"),
    copy("aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor"),
    copy("aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
         "Tensor"),
    copy("aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor"),
    copy("aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor"),
    copy("aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor"),
    copy("aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]"),
    copy("aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]"),
    copy("aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]"),
    copy("aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor"),
};

}  // namespace

OpRows copyOps() { return rows; }

}  // namespace kerf::inline ops
