// Writes by few indices as loops: every element of the result asks each index whether it is meant.
//
//   before: scatter(zeros: [64, 1000], 1, index: [64, 1], -1.0)
//   after:  for i0 < 64: for i1 < 1000: scatter[1000*i0 + i1] = index[i0] == i1 ? -1 : 0
#include <algorithm>
#include <limits>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/index/writing.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

/// More indices than these for one place are not asked for by every element (write_lowering.cpp).
constexpr std::int64_t mostWrites = 8;

/// What a call writes, and how that meets what is there.
struct Scatter {
  std::size_t dim = 0;
  std::int64_t writes = 0;  ///< for each place, at most
  Writing writing = Writing::Assign;
  bool includesSelf = true;
};

std::optional<std::size_t> namedArgument(const BoundArguments& bound, std::string_view name) {
  for (std::size_t i = 0; i < bound.values.size(); ++i)
    if (bound.op->schema.arguments[i].name == name) return i;
  return {};
}

}  // namespace

std::optional<Writing> writingOf(const BoundArguments& bound) {
  if (bound.op->schema.name == "aten::scatter_add") return Writing::Sum;
  const auto reduce = namedArgument(bound, "reduce");
  if (!reduce) return Writing::Assign;
  return writingNamed(bound.text(*reduce));
}

bool includesSelf(const BoundArguments& bound) {
  const auto includes = namedArgument(bound, "include_self");
  return !includes || bound.boolean(*includes);
}

namespace {

/// Beside `dim`, indices span all of self; everything else is left to the op's own kernel.
bool spansSelf(const Sizes& self, const Sizes& index, const Sizes* source, std::size_t dim) {
  if (index.size() != self.size() || (source && source->size() != self.size())) return false;
  for (std::size_t d = 0; d < self.size(); ++d) {
    if (d != dim && index[d] != self[d]) return false;
    if (source && (*source)[d] < index[d]) return false;
  }
  return true;
}

std::optional<Scatter> scatterOf(const BoundArguments& bound) {
  const Tensor &self = bound.tensor(0), &index = bound.tensor(2);
  const Tensor* const source = bound.tensorIf(3);
  if (self.isSymbolic() || index.isSymbolic() || (source && source->isSymbolic())) return {};
  if (self.dim() == 0 || self.numel() == 0 || (source && source->dtype() != self.dtype())) return {};
  const auto dim = writtenDimension(bound);
  if (!dim || !isIndexType(index.dtype())) return {};
  const auto writing = writingOf(bound);
  if (!writing || (*writing == Writing::Mean && !isFloating(self.dtype()))) return {};
  if (!source && !bound.values[3].as<double>() && !bound.values[3].as<std::int64_t>()) return {};
  Scatter result{*dim, 0, *writing, true};
  const Sizes* const sourceSizes = source ? &source->sizes() : nullptr;
  if (!spansSelf(self.sizes(), index.sizes(), sourceSizes, result.dim)) return {};
  result.writes = index.sizes()[result.dim];
  if (result.writes > mostWrites) return {};
  result.includesSelf = includesSelf(bound);
  return result;
}

bool coversScatter(const BoundArguments& bound) { return scatterOf(bound).has_value(); }

/// What values are combined in: float32 is rounded after every write, 16-bit floats are float32 until the end.
DType wideType(DType dtype) {
  return isFloating(dtype) ? computeType(dtype) : dtype == DType::UInt64 ? dtype : DType::Int64;
}

int valueAt(Call c, const IndexMap& at, DType wide) {
  if (c.bound.tensorIf(3)) return c.b.convert(c.operands.at(3, 0, affinePlaces(at)), wide);
  const int number =
      c.bound.values[3].as<double>() ? c.b.constant(c.bound.number(3), DType::Float64) : c.number(c.bound.integer(3));
  return c.b.convert(c.b.convert(number, c.dtype), wide);
}

int combinedWith(Call c, Writing writing, int old, int value) {
  const WritingOp* const operation = operationOf(writing);
  return operation == nullptr ? value : c.b.binary(operation->numbers, old, value);
}

/// What combines with anything to that thing.
int neutral(Call c, Writing writing, DType wide) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  using Whole = std::numeric_limits<std::int64_t>;
  const bool isReal = isFloating(wide), isUnsigned = wide == DType::UInt64;
  const std::int64_t lowest = isUnsigned ? 0 : Whole::min(), highest = isUnsigned ? -1 : Whole::max();  // -1: all bits
  if (writing == Writing::Max) return isReal ? c.b.constant(-infinity, wide) : c.b.integer(lowest, wide);
  if (writing == Writing::Min) return isReal ? c.b.constant(infinity, wide) : c.b.integer(highest, wide);
  return c.b.integer(writing == Writing::Product ? 1 : 0, wide);
}

int scatter(Call c) {
  const Scatter s = *scatterOf(c.bound);
  const DType wide = wideType(c.dtype);
  const int self = c.b.convert(c.operands.at(0, 0, affinePlaces(c.map)), wide), place = c.b.index(c.map[s.dim]);
  int result = s.includesSelf ? self : neutral(c, s.writing, wide), any = -1;
  int count = c.b.constant(s.includesSelf ? 1 : 0, DType::Float64);
  for (std::int64_t k = 0; k < s.writes; ++k) {
    IndexMap at = c.map;
    at[s.dim] = Affine::number(k);
    const int index = c.operands.index(2, 0, at, {c.bound.tensor(0).symSizes()[s.dim], std::int64_t(s.dim)});
    const int isMeant = c.b.binary(Eq, index, place);
    result = c.b.select(isMeant, combinedWith(c, s.writing, result, valueAt(c, at, wide)), result);
    any = any < 0 ? isMeant : c.b.binary(Or, any, isMeant);
    if (s.writing == Writing::Mean) count = c.b.binary(Add, count, c.b.convert(isMeant, DType::Float64));
  }
  if (any < 0) return self;
  if (s.writing == Writing::Mean) {
    const int isSum = c.b.binary(Gt, count, c.b.constant(1, DType::Float64));
    const int quotient = c.b.binary(Div, c.b.convert(result, DType::Float64), count);
    result = c.b.select(isSum, c.b.convert(quotient, wide), result);
  }
  return s.includesSelf ? result : c.b.select(any, result, self);
}

constexpr OpFacts scattering(const char* op) {
  OpFacts row = elementLowering(op, scatter, coversScatter);
  row.lowering.writes = &elementWrites;
  row.lowering.cost = 16;
  return row;
}

constexpr OpFacts scatterLoweringsRows[] = {
    scattering("aten::scatter"),
    scattering("aten::scatter_add"),
    scattering("aten::scatter_reduce"),
};

const OpRegistration scatterLowerings({.facts = scatterLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
