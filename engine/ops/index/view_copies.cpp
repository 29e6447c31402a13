// The _copy forms of views: the view, then a contiguous copy.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Result<Value> contiguousClone(const OpRunner& run, const Value& value) {
  return run.value("aten.clone.default"_op, {value}, {{"memory_format", MemoryFormat::Contiguous}});
}

/// expand_copy(…) = clone(expand(…)), split_copy(…) the clone of each part.
Result<Value> viewCopy(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value view, callBase(args, run));
  if (view.isTensor()) return contiguousClone(run, view);
  ValueList copies;
  for (const Value& item : view.list()) {
    KERF_TRY(Value copy, contiguousClone(run, item));
    copies.push_back(std::move(copy));
  }
  return Value(std::move(copies));
}

constexpr OpRow copy(const char* schema) { return compositeRow(viewCopy, schema); }

constexpr OpRow copyRows[] = {
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

const OpRegistration copyOps({.rows = copyRows});

}  // namespace

}  // namespace kerf::inline ops
