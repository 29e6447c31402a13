#include "engine/lower/lowering_fit.h"

#include <algorithm>

#include "engine/loops/expr_builder.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/reduction_engine.h"
#include "engine/ops/pointwise/engine.h"

namespace kerf::inline lower {
namespace {

const PointwiseSpec* specOf(const ValueInfo& info) {
  const PointwiseSpec* spec = info.bound.op->row->pointwise;
  const PointwiseSpec* selected = spec && spec->select ? spec->select(info.bound) : nullptr;
  return selected ? selected : spec;
}

bool isElementType(const SchemaArgument& argument) {
  return argument.type.starts_with("Tensor") || argument.type.starts_with("Scalar?") || argument.type == "Scalar" ||
         argument.type == "float";
}

/// Of ones_like(self), new_ones(self, sizes) and fill(self, value) no element of `self` is read, and its shape may be
/// another.
bool leavesSelfUnread(const OpSchema& schema) {
  return schema.name.ends_with("_like") || schema.name.starts_with("aten::new_") || schema.name == "aten::fill";
}

/// Overloads that compute something else than the op whose lowering their name finds.
constexpr std::string_view otherOverloads[] = {"aten.round.decimals"};

bool operandsGeneratable(const ValueInfo& info) {
  for (const std::size_t i : elementOperands(info)) {
    const Tensor* tensor = info.bound.tensorIf(i);
    if (tensor && !isGeneratable(tensor->dtype())) return false;
  }
  const auto isWhole = [](const Value& value) {  // the numbers that kernels take
    const auto* number = value.as<SymNumber>();
    return number == nullptr || number->kind == SymKind::Int;
  };
  return isGeneratable(info.dtype) && std::ranges::all_of(info.bound.values, isWhole);
}

bool typesCovered(const ValueInfo& info) {
  const OperandTypes types = info.lowering->types;
  if (types == OperandTypes::Raw) return true;
  const DType compute = computeTypeOf(info);
  if (!isGeneratable(compute)) return false;
  if (types == OperandTypes::Floats) return isFloating(compute);
  if (types == OperandTypes::Integers) return isIntegral(compute);
  return types == OperandTypes::Any || compute != DType::Bool;
}

}  // namespace

DType operandDType(const ValueInfo& info) {
  const PointwiseSpec* spec = specOf(info);
  if (!spec || spec->promotion != Promotion::ToBool) return info.dtype;
  ResultType type;
  for (const std::size_t i : elementOperands(info)) type.add(info.bound.values[i]);
  return type.dtype();
}

bool takesNumbersExactly(const ValueInfo& info) {
  const PointwiseSpec* spec = specOf(info);
  return spec != nullptr && spec->rounding == NumberRounding::Exact;
}

DType computeTypeOf(const ValueInfo& info) { return computeType(operandDType(info)); }

std::vector<std::size_t> elementOperands(const ValueInfo& info) {
  const PointwiseSpec* spec = specOf(info);
  std::vector<std::size_t> result;
  for (std::size_t i = leavesSelfUnread(info.bound.op->schema) ? 1 : 0; i < info.bound.values.size(); ++i) {
    const SchemaArgument& argument = info.bound.op->schema.arguments[i];
    const bool tensorOnly = !spec && info.lowering && info.lowering->types == OperandTypes::Raw;
    if (tensorOnly ? !argument.type.starts_with("Tensor") : !isElementType(argument)) continue;
    if (spec && result.size() == std::size_t(spec->arity)) break;
    result.push_back(i);
  }
  return result;
}

const Lowering* fittingPointwise(const ValueInfo& info) {
  if (!info.bound.op || !info.bound.op->lowering.pointwise) return nullptr;
  if (std::ranges::find(otherOverloads, info.bound.op->schema.qualifiedName()) != std::end(otherOverloads))
    return nullptr;
  if (const auto covers = info.bound.op->lowering.covers; covers && !covers(info.bound)) return nullptr;
  ValueInfo probe = info;
  probe.lowering = &info.bound.op->lowering;
  return operandsGeneratable(probe) && typesCovered(probe) ? probe.lowering : nullptr;
}

namespace {

bool allGeneratable(const ValueInfo& info) {
  const auto isGenerated = [](const Value& value) {
    return !value.isTensor() || isGeneratable(value.tensor().dtype());
  };
  return isGeneratable(info.dtype) && std::ranges::all_of(info.bound.values, [&](const Value& value) {
           return isGenerated(value) && (!value.isList() || std::ranges::all_of(value.list(), isGenerated));
         });
}

/// Whether elements of the result may share memory, as those of slice_scatter do where self's do: the last one that the
/// op writes counts, which loops in an order of their own do not know.
bool resultMayOverlap(const ValueInfo& info) {
  if (info.sizes.isSymbolic() || info.strides.isSymbolic())
    return false;  // what keeps self's strides asks for known sizes
  return !isInjective(info.sizes.numbers(), info.strides.numbers());
}

}  // namespace

const Lowering* fittingElement(const ValueInfo& info) {
  if (!info.bound.op || !info.bound.op->lowering.element || !allGeneratable(info) || resultMayOverlap(info))
    return nullptr;
  const Lowering& lowering = info.bound.op->lowering;
  return !lowering.covers || lowering.covers(info.bound) ? &lowering : nullptr;
}

const Lowering* fittingWrites(const ValueInfo& info) {
  if (!info.bound.op || info.bound.op->lowering.writes == nullptr || !allGeneratable(info) || resultMayOverlap(info))
    return nullptr;
  return info.bound.op->lowering.writes->covers(info.bound) ? &info.bound.op->lowering : nullptr;
}

const Lowering* fittingScan(const ValueInfo& info) {
  if (!info.bound.op || !info.bound.op->lowering.scan || !info.bound.tensorIf(0)) return nullptr;
  const DType dtype = info.bound.tensor(0).dtype();
  return isGeneratable(dtype) && isGeneratable(info.dtype) ? &info.bound.op->lowering : nullptr;
}

bool isElementOfWrite(const ValueInfo& info, std::size_t argument) {
  return (info.lowering->writes->elements >> argument & 1) != 0;
}

std::vector<NodeId> elementReads(const ValueInfo& info) {
  std::vector<NodeId> result;
  for (const NodeId id : info.operandNodes)
    if (id.valid()) result.push_back(id);
  for (const auto& items : info.operandItems)
    for (const NodeId id : items)
      if (id.valid()) result.push_back(id);
  return result;
}

bool readsAffinely(const ValueInfo& info) {
  static constexpr std::string_view names[] = {"aten::cat", "aten::stack", "aten::constant_pad_nd"};
  return std::ranges::find(names, info.bound.op->schema.name) != std::end(names);
}

std::vector<NodeId> tensorOperands(const ValueInfo& info) {
  std::vector<NodeId> result;
  for (const std::size_t i : elementOperands(info))
    if (info.bound.tensorIf(i)) result.push_back(info.operandNodes[i]);
  return result;
}

const Lowering* fittingReduction(const ValueInfo& info) {
  if (!info.bound.op || info.bound.values.empty() || !info.bound.tensorIf(0)) return nullptr;
  const Lowering& lowering = info.bound.op->lowering;
  const DType dtype = info.bound.tensor(0).dtype();
  if (!lowering.reduction || !isGeneratable(dtype) || !isGeneratable(info.dtype)) return nullptr;  // dtype=complex64
  if (lowering.covers && !lowering.covers(info.bound)) return nullptr;
  return dtype == DType::Bool && lowering.types == OperandTypes::Numbers ? nullptr : &lowering;
}

Result<std::size_t> scannedDimension(const ValueInfo& info, std::size_t rank) {
  KERF_TRY(const std::int64_t dim, wrapDim(info.bound, info.bound.integer(1), std::int64_t(rank)));
  return std::size_t(dim);
}

bool scansRows(const ValueInfo& info) {
  if (info.kind != ValueKind::Scan || info.sizes.size() == 0) return false;
  const auto dim = scannedDimension(info, info.sizes.size());
  return dim && *dim + 1 == info.sizes.size();
}

Result<std::vector<bool>> reducedDimensions(const ValueInfo& info, std::size_t rank) {
  const Tensor self = metaTensor(info.dtype, SymSizes(rank, 1));  // only which dimensions go is asked for
  Value dim;
  for (std::size_t i = 0; i < info.bound.values.size(); ++i)
    if (info.bound.op->schema.arguments[i].name == "dim") dim = info.bound.values[i];
  KERF_TRY(const ReducedDims dims, reducedDims(info.bound, self, dim, keepsDimensions(info)));
  return dims.reduced;
}

bool keepsDimensions(const ValueInfo& info) {
  for (std::size_t i = 0; i < info.bound.values.size(); ++i)
    if (info.bound.op->schema.arguments[i].name == "keepdim") return info.bound.boolean(i);
  return info.lowering != nullptr && info.lowering->keepsDimensions;
}

}  // namespace kerf::inline lower
