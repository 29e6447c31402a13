#include "engine/ops/core/formula.h"

#include <algorithm>

namespace kerf::inline ops {

struct Formula::Call {
  OpId op;
  std::vector<Formula> args;
  KeywordValues kwargs;
  std::optional<Value> result;
};

Formula::Formula(OpId op, std::vector<Formula> args, KeywordValues kwargs)
    : m_call(std::make_shared<Call>(Call{op, std::move(args), std::move(kwargs), {}})) {}

const Value& Formula::value() const { return m_call && m_call->result ? *m_call->result : m_value; }

const Tensor& Formula::tensor() const {
  static const Tensor nothing;
  const Value& held = value();
  return held.isTensor() ? held.tensor() : nothing;
}

Value Formulas::evaluate(const Formula& formula) {
  if (formula.m_call == nullptr || formula.m_call->result) return formula.value();
  Formula::Call& call = *formula.m_call;
  ValueList values;
  values.reserve(call.args.size());
  for (const Formula& argument : call.args) values.push_back(evaluate(argument));
  if (m_error) return Tensor();
  auto result = m_run.value(call.op, values, call.kwargs);
  if (!result) m_error = std::move(result).error();
  call.result = result ? std::move(*result) : Value(Tensor());
  return *call.result;
}

Formula Formulas::operator()(const Formula& formula) { return evaluate(formula); }

std::vector<Formula> Formulas::several(const Formula& formula) {
  const Value results = evaluate(formula);
  if (!results.isList()) return {results};
  return {results.list().begin(), results.list().end()};
}

Result<Value> Formulas::done(const Formula& result) {
  Value value = evaluate(result);
  if (m_error) return std::unexpected(std::move(*m_error));
  return value;
}

Result<Value> Formulas::done(const std::vector<Formula>& results) {
  ValueList values;
  for (const Formula& result : results) values.push_back(evaluate(result));
  if (m_error) return std::unexpected(std::move(*m_error));
  return Value(std::move(values));
}

Formula Formulas::quotient(const SymInt& a, const SymInt& b) {
  if (!a.isSymbolic() && !b.isSymbolic()) return double(a.bits()) / double(b.bits());
  return (*this)({"operator.truediv"_op, {a, b}});
}

Value listOf(const std::vector<Formula>& items) {
  ValueList values;
  for (const Formula& item : items) values.push_back(item.value());
  return values;
}

namespace {

/// A comparison's row for a number, or for a tensor on the right.
Formula compared(OpId withTensor, OpId withNumber, const Formula& a, const Formula& b) {
  return {b.isNumber() ? withNumber : withTensor, {a, b}};
}

}  // namespace

Formula operator+(const Formula& a, const Formula& b) {
  return a.isNumber() ? Formula("aten.add.Tensor"_op, {b, a}) : Formula("aten.add.Tensor"_op, {a, b});
}
Formula operator-(const Formula& a, const Formula& b) {
  return a.isNumber() ? Formula("aten.rsub.Scalar"_op, {b, a}) : Formula("aten.sub.Tensor"_op, {a, b});
}
Formula operator*(const Formula& a, const Formula& b) {
  return a.isNumber() ? Formula("aten.mul.Tensor"_op, {b, a}) : Formula("aten.mul.Tensor"_op, {a, b});
}
Formula operator/(const Formula& a, const Formula& b) {
  if (!a.isNumber()) return {"aten.div.Tensor"_op, {a, b}};
  return {"aten.mul.Tensor"_op, {Formula("aten.reciprocal.default"_op, {b}), a}};
}
Formula operator-(const Formula& a) { return {"aten.neg.default"_op, {a}}; }
Formula operator<(const Formula& a, const Formula& b) {
  return compared("aten.lt.Tensor"_op, "aten.lt.Scalar"_op, a, b);
}
Formula operator<=(const Formula& a, const Formula& b) {
  return compared("aten.le.Tensor"_op, "aten.le.Scalar"_op, a, b);
}
Formula operator>(const Formula& a, const Formula& b) {
  return compared("aten.gt.Tensor"_op, "aten.gt.Scalar"_op, a, b);
}
Formula operator>=(const Formula& a, const Formula& b) {
  return compared("aten.ge.Tensor"_op, "aten.ge.Scalar"_op, a, b);
}
Formula operator&(const Formula& a, const Formula& b) { return {"aten.bitwise_and.Tensor"_op, {a, b}}; }
Formula operator|(const Formula& a, const Formula& b) { return {"aten.bitwise_or.Tensor"_op, {a, b}}; }
Formula operator~(const Formula& a) { return {"aten.bitwise_not.default"_op, {a}}; }
Formula equals(const Formula& a, const Formula& b) { return compared("aten.eq.Tensor"_op, "aten.eq.Scalar"_op, a, b); }
Formula differs(const Formula& a, const Formula& b) { return compared("aten.ne.Tensor"_op, "aten.ne.Scalar"_op, a, b); }
Formula pow(const Formula& a, const Formula& exponent) {
  return compared("aten.pow.Tensor_Tensor"_op, "aten.pow.Tensor_Scalar"_op, a, exponent);
}
Formula where(const Formula& condition, const Formula& a, const Formula& b) {
  if (a.isNumber()) return {b.isNumber() ? "aten.where.Scalar"_op : "aten.where.ScalarSelf"_op, {condition, a, b}};
  return {b.isNumber() ? "aten.where.ScalarOther"_op : "aten.where.self"_op, {condition, a, b}};
}
Formula clamp(const Formula& a, const Value& low, const Value& high) {
  return {"aten.clamp.default"_op, {a, low, high}};
}
Formula roundedQuotient(const Formula& a, const Formula& b, const char* mode) {
  return {"aten.div.Tensor_mode"_op, {a, b}, {{"rounding_mode", Value(std::string(mode))}}};
}

Formula abs(const Formula& a) { return {"aten.abs.default"_op, {a}}; }
Formula cos(const Formula& a) { return {"aten.cos.default"_op, {a}}; }
Formula erf(const Formula& a) { return {"aten.erf.default"_op, {a}}; }
Formula erfc(const Formula& a) { return {"aten.erfc.default"_op, {a}}; }
Formula exp(const Formula& a) { return {"aten.exp.default"_op, {a}}; }
Formula floor(const Formula& a) { return {"aten.floor.default"_op, {a}}; }
Formula isnan(const Formula& a) { return {"aten.isnan.default"_op, {a}}; }
Formula log(const Formula& a) { return {"aten.log.default"_op, {a}}; }
Formula log1p(const Formula& a) { return {"aten.log1p.default"_op, {a}}; }
Formula relu(const Formula& a) { return {"aten.relu.default"_op, {a}}; }
Formula round(const Formula& a) { return {"aten.round.default"_op, {a}}; }
Formula rsqrt(const Formula& a) { return {"aten.rsqrt.default"_op, {a}}; }
Formula sigmoid(const Formula& a) { return {"aten.sigmoid.default"_op, {a}}; }
Formula sign(const Formula& a) { return {"aten.sign.default"_op, {a}}; }
Formula sin(const Formula& a) { return {"aten.sin.default"_op, {a}}; }
Formula sqrt(const Formula& a) { return {"aten.sqrt.default"_op, {a}}; }
Formula tanh(const Formula& a) { return {"aten.tanh.default"_op, {a}}; }
Formula trunc(const Formula& a) { return {"aten.trunc.default"_op, {a}}; }

Formula sum(const Formula& a) { return {"aten.sum.default"_op, {a}}; }
Formula sum(const Formula& a, const Sizes& dims, bool keepDim) {
  if (!keepDim) return {"aten.sum.dim_IntList"_op, {a, intList(dims)}};
  return {"aten.sum.dim_IntList"_op, {a, intList(dims), true}};
}
Formula mean(const Formula& a) { return {"aten.mean.default"_op, {a}}; }
Formula mean(const Formula& a, const Sizes& dims, bool keepDim) {
  if (!keepDim) return {"aten.mean.dim"_op, {a, intList(dims)}};
  return {"aten.mean.dim"_op, {a, intList(dims), true}};
}
Formula amax(const Formula& a, const Sizes& dims, bool keepDim) {
  if (!keepDim) return {"aten.amax.default"_op, {a, intList(dims)}};
  return {"aten.amax.default"_op, {a, intList(dims), true}};
}

Formula unsqueeze(const Formula& a, std::int64_t dim) { return {"aten.unsqueeze.default"_op, {a, dim}}; }
Formula squeeze(const Formula& a, std::int64_t dim) { return {"aten.squeeze.dim"_op, {a, dim}}; }
Formula squeeze(const Formula& a, const Sizes& dims) { return {"aten.squeeze.dims"_op, {a, intList(dims)}}; }
Formula view(const Formula& a, const SymSizes& sizes) { return {"aten.view.default"_op, {a, intList(sizes)}}; }
Formula reshape(const Formula& a, const SymSizes& sizes) { return {"aten.reshape.default"_op, {a, intList(sizes)}}; }
Formula expand(const Formula& a, const SymSizes& sizes) { return {"aten.expand.default"_op, {a, intList(sizes)}}; }
Formula permute(const Formula& a, const Sizes& order) { return {"aten.permute.default"_op, {a, intList(order)}}; }
Formula select(const Formula& a, std::int64_t dim, const Formula& index) {
  return {"aten.select.int"_op, {a, dim, index}};
}
Formula slice(const Formula& a, std::int64_t dim, const Formula& start, const Formula& end, const Formula& step) {
  const std::int64_t* one = step.value().as<std::int64_t>();
  if (one != nullptr && *one == 1) return {"aten.slice.Tensor"_op, {a, dim, start, end}};
  return {"aten.slice.Tensor"_op, {a, dim, start, end, step}};
}
Formula flatten(const Formula& a, std::int64_t first, std::int64_t last) {
  return {"aten.flatten.using_ints"_op, {a, first, last}};
}
Formula cat(const std::vector<Formula>& parts, std::int64_t dim) {
  if (dim == 0) return {"aten.cat.default"_op, {listOf(parts)}};
  return {"aten.cat.default"_op, {listOf(parts), dim}};
}
Formula clone(const Formula& a) { return {"aten.clone.default"_op, {a}}; }
Formula clone(const Formula& a, MemoryFormat format) {
  return {"aten.clone.default"_op, {a}, {{"memory_format", format}}};
}
Formula contiguous(const Formula& a) { return {"aten.contiguous.default"_op, {a}}; }
Formula to(const Formula& a, DType dtype) { return {"aten.to.dtype"_op, {a, Value(dtype)}}; }
Formula unsqueezedTo(Formula a, std::int64_t dims) {
  for (std::int64_t have = a.dim(); have < dims; ++have) a = unsqueeze(a, -1);
  return a;
}

Sizes dimensionOrder(const SymSizes& strides) {
  Sizes order(strides.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = std::int64_t(d);
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return guardOrFalse(strides[std::size_t(a)] > strides[std::size_t(b)]);
  });
  return order;
}
Sizes invertedOrder(const Sizes& order) {
  Sizes inverse(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) inverse[std::size_t(order[d])] = std::int64_t(d);
  return inverse;
}

Formula index(const Formula& a, const std::vector<Formula>& indices) {
  return {"aten.index.Tensor"_op, {a, listOf(indices)}};
}
Formula indexPut(const Formula& a, const std::vector<Formula>& indices, const Formula& values, bool accumulate) {
  if (!accumulate) return {"aten.index_put.default"_op, {a, listOf(indices), values}};
  return {"aten.index_put.default"_op, {a, listOf(indices), values, true}};
}
Formula maskedFill(const Formula& a, const Formula& mask, const Formula& value) {
  return {value.isNumber() ? "aten.masked_fill.Scalar"_op : "aten.masked_fill.Tensor"_op, {a, mask, value}};
}

Formula zerosLike(const Formula& a) { return {"aten.zeros_like.default"_op, {a}}; }
Formula onesLike(const Formula& a) { return {"aten.ones_like.default"_op, {a}}; }
Formula newZeros(const Formula& a, const SymSizes& sizes) { return {"aten.new_zeros.default"_op, {a, intList(sizes)}}; }
Formula newFull(const Formula& a, const SymSizes& sizes, const Formula& value) {
  return {"aten.new_full.default"_op, {a, intList(sizes), value}};
}
Formula full(const SymSizes& sizes, const Formula& value, DType dtype, Device device) {
  return {"aten.full.default"_op,
          {intList(sizes), value},
          {{"dtype", dtype}, {"layout", Layout::Strided}, {"device", device}, {"pin_memory", false}}};
}
Formula arange(const Formula& start, const Formula& end, const Formula& step, DType dtype, Device device) {
  return {"aten.arange.start_step"_op,
          {start, end, step},
          {{"dtype", dtype}, {"layout", Layout::Strided}, {"device", device}, {"pin_memory", false}}};
}
Formula arange(const Formula& end, DType dtype, Device device) {
  return {"aten.arange.start_step"_op,
          {0, end},
          {{"dtype", dtype}, {"layout", Layout::Strided}, {"device", device}, {"pin_memory", false}}};
}
Formula scalarTensor(const Formula& value, DType dtype, Device device) {
  return {
      "aten.scalar_tensor.default"_op, {value}, {{"dtype", dtype}, {"layout", Layout::Strided}, {"device", device}}};
}

}  // namespace kerf::inline ops
