// Writes along one dimension by many indices as loops: one index after the other along that dimension.
//
//   before: scatter_add(x: [64, 1000], 1, index: [64, 500], v: [64, 500])
//   after:  for i0 < 64000: put[i0] = x[i0]
//           for i0 < 64: for i1 < 500 (serial): put[1000*i0 + index[500*i0 + i1]] += v[500*i0 + i1]
#include <algorithm>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/index/writing.h"

namespace kerf::inline ops {
namespace {

struct NamedWriting {
  std::string_view name;
  Writing writing;
};
constexpr NamedWriting writingNames[] = {
    {"sum", Writing::Sum},   {"add", Writing::Sum},  {"prod", Writing::Product}, {"multiply", Writing::Product},
    {"mean", Writing::Mean}, {"amax", Writing::Max}, {"amin", Writing::Min}};

constexpr WritingOp operations[] = {{Writing::Sum, ExprOp::Add, ExprOp::Or},
                                    {Writing::Mean, ExprOp::Add, ExprOp::Or},
                                    {Writing::Product, ExprOp::Mul, ExprOp::And},
                                    {Writing::Max, ExprOp::Maximum, ExprOp::Or},
                                    {Writing::Min, ExprOp::Minimum, ExprOp::And}};

}  // namespace

std::optional<Writing> writingNamed(std::string_view name) {
  const auto found = std::ranges::find(writingNames, name, &NamedWriting::name);
  return found == std::end(writingNames) ? std::nullopt : std::optional(found->writing);
}

const WritingOp* operationOf(Writing writing) {
  const auto found = std::ranges::find(operations, writing, &WritingOp::writing);
  return found == std::end(operations) ? nullptr : found;
}

std::optional<std::size_t> writtenDimension(const BoundArguments& bound) {
  const std::int64_t dim = bound.integer(1), rank = bound.tensor(0).dim();
  if (rank == 0 || dim < -rank || dim >= rank) return {};
  return std::size_t(dim < 0 ? dim + rank : dim);
}

bool isIndexType(DType dtype) { return isIntegral(dtype) && dtype != DType::Bool && dtype != DType::UInt8; }

bool mayBeEmpty(const SymSizes& sizes) {
  return std::ranges::any_of(sizes, [](SymInt size) { return !staticallyKnown(size > 0); });
}

int elementOfSelf(const ElementCall& c) { return c.operands.at(0, 0, affinePlaces(c.map)); }

namespace {

bool isWrittenNumber(const Value& value) { return value.as<double>() || value.as<std::int64_t>() || value.as<bool>(); }

/// Sums and products of 16-bit values are wider than memory until the end in the ops' own kernels.
bool mayCombine(Writing writing, DType dtype) {
  const bool rounds = writing == Writing::Sum || writing == Writing::Product;
  return writing != Writing::Mean && !(rounds && dtype != computeType(dtype));
}

/// A write that combines `value`, in the type in which the result's is computed, with what is there.
Write combining(ExprBuilder& b, std::vector<Place> places, Writing writing, int value) {
  const WritingOp* const operation = operationOf(writing);
  if (operation == nullptr) return {std::move(places), [value](int) { return value; }, false};
  const ExprOp op = b.dtype(value) == DType::Bool ? operation->truths : operation->numbers;
  return {std::move(places), [&b, op, value](int there) { return b.binary(op, there, value); }};
}

// --- scatter*: an index for each element

bool coversElements(const BoundArguments& bound) {
  const Tensor &self = bound.tensor(0), &index = bound.tensor(2);
  const Tensor* const source = bound.tensorIf(3);
  const auto dim = writtenDimension(bound);
  const auto writing = writingOf(bound);
  if (!dim || !writing || !mayCombine(*writing, self.dtype()) || !isIndexType(index.dtype())) return false;
  if (!includesSelf(bound) || (source && source->dtype() != self.dtype())) return false;
  if (!source && !isWrittenNumber(bound.values[3])) return false;
  return index.dim() == self.dim() && (!source || source->dim() == self.dim()) && !mayBeEmpty(index.symSizes());
}

WriteLoops loopsOverIndices(const BoundArguments& bound) {
  WriteLoops loops{bound.tensor(2).symSizes(), std::vector<bool>(bound.tensor(2).symSizes().size(), false)};
  loops.serial[*writtenDimension(bound)] = true;
  return loops;
}

/// The number argument `i`, converted as a tensor of its type would be.
int numberArgument(const WriteCall& c, std::size_t i) {
  const bool* const truth = c.bound.values[i].as<bool>();
  const bool isReal = c.bound.values[i].as<double>() != nullptr;
  const int value = isReal  ? c.b.constant(c.bound.number(i), DType::Float64)
                    : truth ? c.b.integer(*truth, DType::Int64)
                            : c.b.integer(c.bound.integer(i), DType::Int64);
  return c.b.convert(c.b.convert(value, c.dtype), computeType(c.dtype));
}

Write writeElement(const WriteCall& c) {
  const std::size_t dim = *writtenDimension(c.bound);
  std::vector<Place> places = affinePlaces(c.map);
  places[dim] = {{}, c.operands.index(2, 0, c.map, {c.bound.tensor(0).symSizes()[dim], std::int64_t(dim)})};
  const bool isOne = c.bound.tensorIf(3) == nullptr;
  const int value =
      isOne ? numberArgument(c, 3) : c.b.convert(c.operands.at(3, 0, affinePlaces(c.map)), computeType(c.dtype));
  return combining(c.b, std::move(places), *writingOf(c.bound), value);
}

// --- index_add, index_copy, index_fill, index_reduce: an index for whole slices

bool coversSlices(const BoundArguments& bound, Writing writing) {
  const Tensor &self = bound.tensor(0), &index = bound.tensor(2);
  const auto dim = writtenDimension(bound);
  if (!dim || !mayCombine(writing, self.dtype()) || !isIndexType(index.dtype()) || index.dim() != 1) return false;
  return !mayBeEmpty(self.symSizes()) && !mayBeEmpty(index.symSizes());
}

bool hasSlices(const BoundArguments& bound) {
  const Tensor &self = bound.tensor(0), &source = bound.tensor(3);
  return source.dtype() == self.dtype() && source.dim() == self.dim();
}

bool coversAdd(const BoundArguments& bound) {
  const bool isWhole = isWrittenNumber(bound.values[4]) && bound.values[4].as<double>() == nullptr;
  const bool fits = isWhole || (bound.values[4].as<double>() && isFloating(bound.tensor(0).dtype()));
  return fits && coversSlices(bound, Writing::Sum) && hasSlices(bound);
}
bool coversCopy(const BoundArguments& bound) { return coversSlices(bound, Writing::Assign) && hasSlices(bound); }
bool coversReduce(const BoundArguments& bound) {
  const auto writing = writingOf(bound);
  return writing && includesSelf(bound) && coversSlices(bound, *writing) && hasSlices(bound);
}
bool coversFill(const BoundArguments& bound) {
  const Tensor* const value = bound.tensorIf(3);
  if (value && (value->dim() != 0 || value->dtype() != bound.tensor(0).dtype())) return false;
  if (!value && !isWrittenNumber(bound.values[3])) return false;
  return coversSlices(bound, Writing::Assign);
}

WriteLoops loopsOverSlices(const BoundArguments& bound) {
  WriteLoops loops{bound.tensor(0).symSizes(), std::vector<bool>(bound.tensor(0).symSizes().size(), false)};
  const std::size_t dim = *writtenDimension(bound);
  loops.sizes[dim] = bound.tensor(2).symSizes()[0];
  loops.serial[dim] = true;
  return loops;
}

std::vector<Place> placesOfSlice(const WriteCall& c, bool mayBeNegative) {
  const std::size_t dim = *writtenDimension(c.bound);
  std::vector<Place> places = affinePlaces(c.map);
  const SymInt size = c.bound.tensor(0).symSizes()[dim];
  places[dim] = {{}, c.operands.index(2, 0, {c.map[dim]}, {size, std::int64_t(dim), mayBeNegative})};
  return places;
}

int sourceElement(const WriteCall& c) {
  return c.b.convert(c.operands.at(3, 0, affinePlaces(c.map)), computeType(c.dtype));
}

Write addSlice(const WriteCall& c) {
  int value = sourceElement(c);
  if (c.bound.number(4) != 1) value = c.b.binary(ExprOp::Mul, value, numberArgument(c, 4));
  return combining(c.b, placesOfSlice(c, false), Writing::Sum, value);
}
Write copySlice(const WriteCall& c) {
  return combining(c.b, placesOfSlice(c, false), Writing::Assign, sourceElement(c));
}
Write reduceSlice(const WriteCall& c) {
  return combining(c.b, placesOfSlice(c, false), *writingOf(c.bound), sourceElement(c));
}
Write fillSlice(const WriteCall& c) {
  const bool isOne = c.bound.tensorIf(3) == nullptr;
  const int value = isOne ? numberArgument(c, 3) : c.b.convert(c.operands.at(3, 0, {}), computeType(c.dtype));
  return combining(c.b, placesOfSlice(c, true), Writing::Assign, value);
}

constexpr std::uint32_t selfAndSource = 0b1001;
constexpr WriteLowering adds{coversAdd, elementOfSelf, loopsOverSlices, addSlice, selfAndSource};
constexpr WriteLowering copies{coversCopy, elementOfSelf, loopsOverSlices, copySlice, selfAndSource};
constexpr WriteLowering reduces{coversReduce, elementOfSelf, loopsOverSlices, reduceSlice, selfAndSource};
constexpr WriteLowering fills{coversFill, elementOfSelf, loopsOverSlices, fillSlice, selfAndSource};

constexpr OpFacts writeLoweringsRows[] = {
    writeLowering("aten::index_add", adds),
    writeLowering("aten::index_copy", copies),
    writeLowering("aten::index_reduce", reduces),
    writeLowering("aten::index_fill", fills),
};

}  // namespace

const WriteLowering elementWrites{coversElements, elementOfSelf, loopsOverIndices, writeElement, selfAndSource};

const OpRegistration writeLowerings({.facts = writeLoweringsRows});

}  // namespace kerf::inline ops
