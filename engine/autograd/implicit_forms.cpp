#include "engine/autograd/implicit_forms.h"

#include <algorithm>

#include "engine/ops/core/composite.h"

namespace kerf::inline autograd {
namespace {

using Args = const BoundArguments&;
using Run = const OpRunner&;

/// softmax(self, dim, dtype): _softmax of the converted tensor.
Result<Value> softmaxAs(Args args, Run run, OpId op) {
  Value self = args.values[0];
  if (const auto dtype = args.dtypeIf(2); dtype && *dtype != args.tensor(0).dtype()) {
    KERF_TRY(self, run.value("aten._to_copy.default"_op, {self}, {{"dtype", *dtype}}));
  }
  return run.value(op, {self, args.values[1], false});
}
Result<Value> softmax(Args args, Run run) { return softmaxAs(args, run, "aten._softmax.default"_op); }
Result<Value> logSoftmax(Args args, Run run) { return softmaxAs(args, run, "aten._log_softmax.default"_op); }

/// Output of one element a plane: a mean.
template <int dims>
Result<Value> adaptiveAveragePool(Args args, Run run) {
  const SymSizes size = args.symSizes(1);
  const bool one = std::ranges::all_of(size, [](const SymInt& n) { return guardOrFalse(n == 1); });
  const OpId general = dims == 2 ? "aten._adaptive_avg_pool2d.default"_op : "aten._adaptive_avg_pool3d.default"_op;
  if (!one) return run.value(general, {args.values[0], args.values[1]});
  const Value over = dims == 2 ? intList({-1, -2}) : intList({-1, -2, -3});
  return run.value("aten.mean.dim"_op, {args.values[0], over, true});
}

/// adaptive_avg_pool1d(self, output_size): two-dimensional, over a dimension of one.
Result<Value> adaptiveAveragePool1(Args args, Run run) {
  KERF_TRY(const Tensor flat, run("aten.unsqueeze.default"_op, {args.values[0], std::int64_t{-2}}));
  const SymSizes size{1, args.symSizes(1)[0]};
  KERF_TRY(const Tensor out, run("aten._adaptive_avg_pool2d.default"_op, {flat, intList(size)}));
  return run.value("aten.squeeze.dim"_op, {out, std::int64_t{-2}});
}

/// Numbers become tensors without dimensions.
Result<Value> where(Args args, Run run) {
  DType dtype = DType::Float32;
  for (const std::size_t i : {std::size_t(1), std::size_t(2)})
    if (const Tensor* tensor = args.tensorIf(i)) dtype = tensor->dtype();
  ValueList operands{args.values[0]};
  for (const std::size_t i : {std::size_t(1), std::size_t(2)}) {
    Value operand = args.values[i];
    if (!operand.isTensor()) {
      KERF_TRY(operand, run.value("aten.scalar_tensor.default"_op, {operand}, {{"dtype", dtype}}));
    }
    operands.push_back(std::move(operand));
  }
  return run.value("aten.where.self"_op, operands);
}

/// chunk(self, chunks, dim): split into pieces of equal size but the last.
Result<Value> chunk(Args args, Run run) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), args.tensor(0).dim()));
  const SymInt chunks = args.symInteger(1), size = args.tensor(0).symSize(dim);
  if (guardOrFalse(size == 0)) {
    const SymSizes none(std::size_t(args.integer(1)), 0);
    return run.value("aten.split_with_sizes.default"_op, {args.values[0], intList(none), dim});
  }
  return run.value("aten.split.Tensor"_op, {args.values[0], floorDiv(size + chunks - SymInt(1), chunks), dim});
}

/// narrow(self, dim, start, length): a slice.
Result<Value> narrow(Args args, Run run) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  SymInt start = args.symInteger(2);
  if (guardOrFalse(start < 0)) start += args.tensor(0).symSize(dim);
  const SymInt end = start + args.symInteger(3);
  return run.value("aten.slice.Tensor"_op, {args.values[0], dim, start, end});
}

/// unbind(self, dim): a select for each.
Result<Value> unbind(Args args, Run run) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  const std::int64_t count = args.tensor(0).symSize(dim);  // a number, as the graph has as many results
  ValueList parts;
  for (std::int64_t i = 0; i < count; ++i) {
    KERF_TRY(Value part, run.value("aten.select.int"_op, {args.values[0], dim, i}));
    parts.push_back(std::move(part));
  }
  return Value(std::move(parts));
}

Result<Value> relu6(Args args, Run run) {
  return run.value("aten.hardtanh.default"_op, {args.values[0], std::int64_t{0}, std::int64_t{6}});
}
Result<Value> logSigmoid(Args args, Run run) { return run.first("aten.log_sigmoid_forward.default"_op, args.values); }
Result<Value> square(Args args, Run run) {
  return run.value("aten.pow.Tensor_Scalar"_op, {args.values[0], std::int64_t{2}});
}
/// What it asserts held when the graph was recorded; shapes are propagated anyway.
Result<Value> nothing(Args, Run) { return Value(); }

struct Row {
  OpId op;
  Composite form;
};

}  // namespace

Composite implicitForm(OpId op) {
  static const Row rows[] = {
      {"aten.softmax.int"_op, softmax},
      {"aten.log_softmax.int"_op, logSoftmax},
      {"aten.adaptive_avg_pool1d.default"_op, adaptiveAveragePool1},
      {"aten.adaptive_avg_pool2d.default"_op, adaptiveAveragePool<2>},
      {"aten.adaptive_avg_pool3d.default"_op, adaptiveAveragePool<3>},
      {"aten.where.Scalar"_op, where},
      {"aten.where.ScalarOther"_op, where},
      {"aten.where.ScalarSelf"_op, where},
      {"aten.chunk.default"_op, chunk},
      {"aten.narrow.default"_op, narrow},
      {"aten.unbind.int"_op, unbind},
      {"aten.relu6.default"_op, relu6},
      {"aten.log_sigmoid.default"_op, logSigmoid},
      {"aten.square.default"_op, square},
      {"aten._assert_tensor_metadata.default"_op, nothing},
  };
  const auto* found = std::ranges::find(rows, op, &Row::op);
  return found == std::end(rows) ? nullptr : found->form;
}

}  // namespace kerf::inline autograd
