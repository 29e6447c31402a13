// Complex tensors in ops that convert, compare or move elements: by their parts, or by the op's ordinary row where that
// moves bytes only.
#include <cmath>

#include "engine/ops/core/complex_rows.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/complex_values.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

Result<Value> ordinaryShape(const BoundArguments& args) { return args.op->shape(args); }

/// complex32 has no conversions of its own: through complex double. Everything else is the ordinary row's.
Result<Value> convertKernel(const BoundArguments& args) {
  KERF_TRY(const Value meta, runShapeRule(args));
  const bool half = meta.tensor().dtype() == DType::Complex32 || args.tensor(0).dtype() == DType::Complex32;
  if (!half) return args.op->kernel(args);
  KERF_TRY(Tensor out, allocate(meta.tensor()));
  KERF_TRY(const Complexes values, complexesOf(args.tensor(0)));
  KERF_CHECK(writeComplexes(values, out));
  return Value(std::move(out));
}

Result<Value> nonzeroKernel(const BoundArguments& args) {
  KERF_TRY(const Value marked, callOp("aten.ne.Scalar"_op, {args.values[0], std::int64_t{0}}));
  return callOp("aten.nonzero.default"_op, {marked});
}

/// |a - b| <= atol + rtol |b|
Result<Value> allcloseKernel(const BoundArguments& args) {
  KERF_TRY(const Sizes sizes, broadcastSizes(args.tensor(0).sizes(), args.tensor(1).sizes()));
  KERF_TRY(const Complexes a, complexesOf(args.tensor(0), sizes));
  KERF_TRY(const Complexes b, complexesOf(args.tensor(1), sizes));
  const auto isNan = [](Z z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (args.boolean(4) && isNan(a[i]) && isNan(b[i]))) continue;
    const double limit = args.number(3) + args.number(2) * std::abs(b[i]);
    if (!(std::isfinite(limit) && std::abs(a[i] - b[i]) <= limit)) return Value(false);
  }
  return Value(true);
}

/// NaN and infinite parts replaced one by one.
Result<Value> nanToNumKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  ValueList values = args.values;
  values[0] = partsView(args.tensor(0));
  KERF_TRY(const Tensor parts, callTensorOp("aten.nan_to_num.default"_op, values));
  KERF_TRY(const Value joined, callOp("aten.view_as_complex.default"_op, {parts}));
  KERF_TRY(const Complexes flat, complexesOf(joined.tensor()));
  KERF_CHECK(writeComplexes(flat, out));
  return Value(std::move(out));
}

/// Additions at positions of leading dimensions do not mix the parts.
Result<Value> indexPutKernel(const BoundArguments& args) {
  const bool oneType = isComplex(args.tensor(0).dtype()) && args.tensor(0).dtype() == args.tensor(2).dtype();
  for (const Tensor& index : args.tensors(1))
    if (isComplex(index.dtype())) return mismatch(args, "an index is complex");
  if (!args.boolean(3) || !oneType) return args.op->kernel(args);
  for (const Tensor& index : args.tensors(1))
    if (isComplex(index.dtype()) || !isComplex(args.tensor(0).dtype()))
      return mismatch(args, "indices must be integers or masks");
  ValueList values = args.values;
  values[0] = partsView(args.tensor(0));
  KERF_TRY(const Tensor spread, args.tensor(2).contiguous());
  values[2] = partsView(spread);
  KERF_TRY(const Tensor parts, callTensorOp("aten.index_put.default"_op, values));
  KERF_TRY(const Tensor dense, parts.contiguous());
  KERF_TRY(const Value joined, callOp("aten.view_as_complex.default"_op, {dense}));
  KERF_TRY(const Complexes flat, complexesOf(joined.tensor()));
  KERF_TRY(Tensor out, makeOutput(args));  // with the strides of self, as for other dtypes
  KERF_CHECK(writeComplexes(flat, out));
  return Value(std::move(out));
}

Tensor atLeastVector(const Tensor& tensor) {
  return tensor.dim() == 0 ? tensor.viewAs({1}, {1}, tensor.offset()) : tensor;
}

/// (self, dim, index, source, …): index_add, index_copy and scatter_add of both parts; scatter's index covers them too.
Result<Value> writeAtKernel(const BoundArguments& args) {
  const Tensor self = atLeastVector(args.tensor(0)), index = atLeastVector(args.tensor(2)),
               source = atLeastVector(args.tensor(3));
  if (!isComplex(self.dtype()) || self.dtype() != source.dtype() || !isIntegral(index.dtype()))
    return mismatch(args, "self and source must have one dtype, the index must be of integers");
  if (isComplex(index.dtype()) || !isComplex(self.dtype())) return mismatch(args, "argument 'index' must be integers");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  ValueList values = args.values;
  values[0] = partsView(self);
  values[1] = dim;
  values[3] = partsView(source);
  if (args.op->id == "aten.scatter_add.default"_op) {
    Sizes sizes = index.sizes(), strides = index.strides();
    sizes.push_back(2);
    strides.push_back(0);
    values[2] = index.viewAs(sizes, strides, index.offset());
  }
  KeywordValues options;
  if (values.size() > 4) {
    options.emplace_back("alpha", values[4]);
    values.pop_back();
  }
  KERF_TRY(const Tensor parts, callTensorOp(args.op->schema.qualifiedName(), values, options));
  KERF_TRY(const Tensor dense, parts.contiguous());
  KERF_TRY(const Value joined, callOp("aten.view_as_complex.default"_op, {dense}));
  return args.tensor(0).dim() == 0 ? Value(joined.tensor().viewAs({}, {}, joined.tensor().offset())) : joined;
}

/// masked_scatter(self, mask, source): both parts of an element are masked alike.
Result<Value> maskedScatterKernel(const BoundArguments& args) {
  const Tensor &self = args.tensor(0), &mask = args.tensor(1), &source = args.tensor(2);
  if (!isComplex(self.dtype()) || self.dtype() != source.dtype() || isComplex(mask.dtype()))
    return mismatch(args, "self and source must have one dtype, the mask must be of bool");
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor wide = self.viewAs(out.sizes(), broadcastStrides(self, out.sizes()), self.offset());
  Sizes sizes = out.sizes(), strides = broadcastStrides(mask, out.sizes());
  sizes.push_back(2);
  strides.push_back(0);
  KERF_TRY(const Tensor dense, source.contiguous());
  KERF_TRY(const Tensor parts,
           callTensorOp("aten.masked_scatter.default"_op,
                        {partsView(wide), mask.viewAs(sizes, strides, mask.offset()), partsView(dense)}));
  KERF_CHECK(copyElements(parts, partsView(out)));
  return Value(std::move(out));
}

Result<Value> noNumber(const BoundArguments& args) {
  return fail(ErrorCode::UnsupportedOp, "{}: complex numbers cannot be values here", args.opName());
}

Result<Value> momentsShape(const BoundArguments& args) {
  ValueList values(args.values.begin(), args.values.begin() + 2), meanValues = values;
  const KeywordValues options{{"correction", args.values[2]}, {"keepdim", args.values[3]}};
  KERF_TRY(const Value spread, inferShapes("aten.var.correction"_op, values, options));
  KERF_TRY(const Value mean, inferShapes("aten.mean.dim"_op, {args.values[0], args.values[1], args.values[3]}, {}));
  return Value(ValueList{spread, mean});
}
template <bool root>
Result<Value> momentsKernel(const BoundArguments& args) {
  const KeywordValues options{{"correction", args.values[2]}, {"keepdim", args.values[3]}};
  KERF_TRY(const Value spread, callOp(root ? "aten.std.correction"_op : "aten.var.correction"_op,
                                      {args.values[0], args.values[1]}, options));
  KERF_TRY(const Value mean, callOp("aten.mean.dim"_op, {args.values[0], args.values[1], args.values[3]}));
  return Value(ValueList{spread, mean});
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow complexMoveRowsTable[] = {
    {"prims::convert_element_type(Tensor a)", OpTrait::Pointwise, ordinaryShape, convertKernel},
    {"aten::_to_copy(Tensor self)", OpTrait::Pointwise, ordinaryShape, convertKernel},
    {"aten::nonzero(Tensor self)", OpTrait::DataDependent, ordinaryShape, nonzeroKernel},
    {"aten::allclose(Tensor self)", none, ordinaryShape, allcloseKernel},
    {"aten::nan_to_num(Tensor self)", OpTrait::Pointwise, ordinaryShape, nanToNumKernel},
    {"aten::index_put(Tensor self)", none, ordinaryShape, indexPutKernel},
    {"aten::_unsafe_index_put(Tensor self)", none, ordinaryShape, indexPutKernel},
    {"aten::index_add(Tensor self)", none, ordinaryShape, writeAtKernel},
    {"aten::index_copy(Tensor self)", none, ordinaryShape, writeAtKernel},
    {"aten::scatter_add(Tensor self)", none, ordinaryShape, writeAtKernel},
    {"aten::masked_scatter(Tensor self)", none, ordinaryShape, maskedScatterKernel},
    {"aten::item(Tensor self)", none, ordinaryShape, noNumber},
    {"aten::_local_scalar_dense(Tensor self)", none, ordinaryShape, noNumber},
    {"aten::var_mean.correction(Tensor self)", OpTrait::Reduction, momentsShape, momentsKernel<false>},
    {"aten::std_mean.correction(Tensor self)", OpTrait::Reduction, momentsShape, momentsKernel<true>},
};

const OpRegistration complexMoveRows({.complex = complexMoveRowsTable});

}  // namespace

}  // namespace kerf::inline ops
