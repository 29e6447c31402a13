#include "engine/ops/core/complex_rows.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace kerf::inline ops {
namespace {

/// "aten::add.Tensor(Tensor self, …" → "aten::add.Tensor".
std::string_view nameOf(std::string_view schema) { return schema.substr(0, schema.find('(')); }

const std::unordered_map<std::string_view, const OpRow*>& table() {
  static const auto rows = [] {
    std::unordered_map<std::string_view, const OpRow*> result;
    for (const OpRows& family : complexFamilies())
      for (const OpRow& row : family) result.emplace(nameOf(row.schema), &row);
    return result;
  }();
  return rows;
}

bool isComplexValue(const Value& value) {
  if (value.isTensor()) return isComplex(value.tensor().dtype());
  if (const auto* dtype = value.as<DType>()) return isComplex(*dtype);
  return value.isList() && std::ranges::any_of(value.list(), isComplexValue);
}

}  // namespace

const OpRow* complexRow(const BoundArguments& args) {
  if (!args.op || !args.op->row) return nullptr;
  const auto found = table().find(nameOf(args.op->row->schema));
  // The values last: a list may be long, and be asked for each of its items.
  if (found == table().end() || std::ranges::none_of(args.values, isComplexValue)) return nullptr;
  return found->second;
}

}  // namespace kerf::inline ops
