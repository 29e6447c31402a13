#include "engine/loops/expr_builder.h"

#include <bit>

namespace kerf::inline loops {
namespace {

std::size_t hashOf(const Expr& e) {
  std::size_t hash = std::size_t(e.op) * 131 + std::size_t(e.dtype);
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ull; };
  for (const int arg : e.args) mix(std::uint64_t(arg));
  mix(std::bit_cast<std::uint64_t>(e.real));
  mix(std::uint64_t(e.integer));
  mix(std::uint64_t(e.buffer));
  for (const SymInt c : e.index.coefficients) mix(std::uint64_t(c.bits()));
  mix(std::uint64_t(e.index.constant.bits()));
  return hash;
}

bool sameExpr(const Expr& a, const Expr& b) {
  Expr x = a, y = b;
  x.real = y.real = 0;
  return std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real) && x == y;
}

bool isComparison(ExprOp op) { return op >= ExprOp::Eq && op <= ExprOp::Ge; }

}  // namespace

bool isGeneratable(DType dtype) {
  return dtypeInfo(dtype).kind != DTypeKind::Complex && (isIntegral(dtype) || dtype <= DType::BFloat16);
}

int ExprBuilder::add(Expr expr) {
  const std::size_t hash = hashOf(expr);
  for (auto [it, end] = m_known.equal_range(hash); it != end; ++it)
    if (sameExpr(m_kernel.exprs[std::size_t(it->second)], expr)) return it->second;
  m_kernel.exprs.push_back(std::move(expr));
  const int id = int(m_kernel.exprs.size()) - 1;
  m_known.emplace(hash, id);
  return id;
}

int ExprBuilder::load(int buffer, Affine index) {
  const DType dtype = m_kernel.buffers[std::size_t(buffer)].dtype;
  return add({ExprOp::Load, dtype, {-1, -1, -1}, 0, 0, buffer, std::move(index)});
}

int ExprBuilder::loadWhere(int buffer, Affine index, int condition) {
  const DType dtype = m_kernel.buffers[std::size_t(buffer)].dtype;
  return add({ExprOp::LoadWhere, dtype, {condition, -1, -1}, 0, 0, buffer, std::move(index)});
}

int ExprBuilder::loadAt(int buffer, Affine index, int offset) {
  const DType dtype = m_kernel.buffers[std::size_t(buffer)].dtype;
  return add({ExprOp::LoadAt, dtype, {offset, -1, -1}, 0, 0, buffer, std::move(index)});
}

int ExprBuilder::constant(double value, DType dtype) {
  if (dtype == DType::Bool) return integer(value != 0, dtype);  // a fraction is true
  if (!isFloating(dtype)) return integer(std::int64_t(value), dtype);
  return add({ExprOp::Constant, computeType(dtype), {-1, -1, -1}, value, 0, -1, {}});
}

int ExprBuilder::integer(std::int64_t value, DType dtype) {
  if (isFloating(dtype)) return constant(double(value), dtype);
  if (dtype == DType::Bool) value = value != 0;
  return add({ExprOp::Constant, dtype, {-1, -1, -1}, 0, value, -1, {}});
}

int ExprBuilder::size(SymInt value, DType dtype) {
  if (!value.isSymbolic()) return integer(value.bits(), dtype);
  return convert(index(Affine::number(value)), computeType(dtype));
}

int ExprBuilder::convert(int value, DType dtype) {
  const DType from = this->dtype(value);
  if (from == dtype) return value;
  const bool fromHalf = computeType(from) != from;
  if (fromHalf && dtype != DType::Float32) return convert(convert(value, DType::Float32), dtype);
  if (computeType(dtype) != dtype && from != DType::Float32) return convert(convert(value, DType::Float32), dtype);
  return add({ExprOp::Convert, dtype, {value, -1, -1}, 0, 0, -1, {}});
}

int ExprBuilder::unary(ExprOp op, int a) {
  return add({op, op == ExprOp::IsNan ? DType::Bool : dtype(a), {a, -1, -1}, 0, 0, -1, {}});
}

int ExprBuilder::binary(ExprOp op, int a, int b) {
  return add({op, isComparison(op) ? DType::Bool : dtype(a), {a, b, -1}, 0, 0, -1, {}});
}

int ExprBuilder::select(int condition, int yes, int no) {
  return add({ExprOp::Select, dtype(yes), {condition, yes, no}, 0, 0, -1, {}});
}

int ExprBuilder::fma(int a, int b, int c) { return add({ExprOp::Fma, dtype(a), {a, b, c}, 0, 0, -1, {}}); }

int ExprBuilder::philox(int key, int counter, int word) {
  return add({ExprOp::Philox, DType::Int32, {key, counter, -1}, 0, word, -1, {}});
}

int ExprBuilder::reduce(ExprOp op, int value) { return add({op, dtype(value), {value, -1, -1}, 0, 0, -1, {}}); }

int ExprBuilder::carry(int initial) {  // no two are one: it is not known yet what follows
  m_kernel.exprs.push_back({ExprOp::Carry, dtype(initial), {initial, -1, -1}, 0, 0, -1, {}});
  return int(m_kernel.exprs.size()) - 1;
}

}  // namespace kerf::inline loops
