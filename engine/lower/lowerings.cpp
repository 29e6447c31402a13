#include "engine/lower/lowerings.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ops/core/op_row.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/pointwise/engine.h"
#include "engine/ops/reduce/engine.h"

namespace kerf::inline lower {
namespace {

template <class Row>
using RowMap = std::unordered_map<std::string_view, const Row*>;

template <class Row>
RowMap<Row> rowMap(std::initializer_list<std::span<const Row>> families) {
  RowMap<Row> map;
  for (const auto family : families)
    for (const Row& row : family) map.emplace(row.op, &row);
  return map;
}

const PointwiseLowering* pointwiseRow(std::string_view op) {
  static const auto rows =
      rowMap<PointwiseLowering>({arithmeticLowerings(), activationLowerings(), creationLowerings()});
  const auto found = rows.find(op);
  return found == rows.end() ? nullptr : found->second;
}

const ReductionLowering* reductionRow(std::string_view op) {
  static const auto rows = rowMap<ReductionLowering>({reductionLowerings()});
  const auto found = rows.find(op);
  return found == rows.end() ? nullptr : found->second;
}

/// Ops whose loop IR is right for bool operands too.
bool allowsBool(std::string_view op) {
  static constexpr std::string_view names[] = {
      "aten::add",         "aten::mul",         "aten::maximum",     "aten::minimum",     "aten::where",
      "aten::masked_fill", "aten::eq",          "aten::lt",          "aten::le",          "aten::gt",
      "aten::ge",          "aten::ne",          "aten::isnan",       "aten::isinf",       "aten::logical_and",
      "aten::logical_or",  "aten::logical_xor", "aten::logical_not", "aten::bitwise_and", "aten::bitwise_or",
      "aten::bitwise_xor", "aten::bitwise_not"};
  return std::ranges::find(names, op) != std::end(names);
}

const PointwiseSpec* specOf(const ValueInfo& info) {
  const PointwiseSpec* spec = info.bound.op->row->pointwise;
  const PointwiseSpec* selected = spec && spec->select ? spec->select(info.bound) : nullptr;
  return selected ? selected : spec;
}

bool isElementType(const SchemaArgument& argument) {
  return argument.type.starts_with("Tensor") || argument.type.starts_with("Scalar?") || argument.type == "Scalar" ||
         argument.type == "float";
}

bool operandsGeneratable(const ValueInfo& info) {
  for (const std::size_t i : elementOperands(info)) {
    const Tensor* tensor = info.bound.tensorIf(i);
    if (tensor && !isGeneratable(tensor->dtype())) return false;
  }
  return isGeneratable(info.dtype);
}

bool hasMode(const ValueInfo& info) { return info.bound.op->schema.overload.ends_with("_mode"); }

bool typesCovered(const ValueInfo& info, const PointwiseLowering& row) {
  if (row.types == OperandTypes::Raw) return true;
  const DType compute = computeTypeOf(info);
  if (!isGeneratable(compute)) return false;
  if (compute == DType::Bool && !allowsBool(row.op)) return false;
  if (row.types == OperandTypes::Floats) return isFloating(compute);
  return row.types == OperandTypes::Any || isIntegral(compute);
}

}  // namespace

DType computeTypeOf(const ValueInfo& info) {
  const PointwiseSpec* spec = specOf(info);
  if (!spec || spec->promotion != Promotion::ToBool) return computeType(info.dtype);
  ResultType type;
  for (const std::size_t i : elementOperands(info)) type.add(info.bound.values[i]);
  return computeType(type.dtype());
}

std::vector<std::size_t> elementOperands(const ValueInfo& info) {
  const PointwiseSpec* spec = specOf(info);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < info.bound.values.size(); ++i) {
    const SchemaArgument& argument = info.bound.op->schema.arguments[i];
    const bool tensorOnly = !spec && info.pointwise && info.pointwise->types == OperandTypes::Raw;
    if (tensorOnly ? !argument.type.starts_with("Tensor") : !isElementType(argument)) continue;
    if (spec && result.size() == std::size_t(spec->arity)) break;
    result.push_back(i);
  }
  return result;
}

const PointwiseLowering* findPointwiseLowering(const ValueInfo& info) {
  if (!info.bound.op) return nullptr;
  const PointwiseLowering* row = pointwiseRow(info.bound.op->schema.name);
  if (!row || hasMode(info)) return nullptr;
  ValueInfo probe = info;
  probe.pointwise = row;
  return operandsGeneratable(probe) && typesCovered(probe, *row) ? row : nullptr;
}

const ReductionLowering* findReductionLowering(const ValueInfo& info) {
  if (!info.bound.op || info.bound.values.empty() || !info.bound.tensorIf(0)) return nullptr;
  const ReductionLowering* row = reductionRow(info.bound.op->schema.name);
  if (!row || !isGeneratable(info.bound.tensor(0).dtype())) return nullptr;
  const bool bools = info.bound.tensor(0).dtype() == DType::Bool;
  if (bools && (row->op == "aten::amax" || row->op == "aten::amin")) return nullptr;
  return row;
}

Result<std::vector<bool>> reducedDimensions(const ValueInfo& info, std::size_t) {
  const Tensor& self = info.bound.tensor(0);
  Value dim;
  for (std::size_t i = 0; i < info.bound.values.size(); ++i)
    if (info.bound.op->schema.arguments[i].name == "dim") dim = info.bound.values[i];
  KERF_TRY(const ReducedDims dims, reducedDims(info.bound, self, dim, keepsDimensions(info)));
  return dims.reduced;
}

bool keepsDimensions(const ValueInfo& info) {
  for (std::size_t i = 0; i < info.bound.values.size(); ++i)
    if (info.bound.op->schema.arguments[i].name == "keepdim") return info.bound.boolean(i);
  return false;
}

}  // namespace kerf::inline lower
