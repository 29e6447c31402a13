#include "engine/ops/core/op_registry.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ops/composite/programs.h"
#include "engine/ops/core/complex_rows.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/higher_order/higher_order.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// A schema default as a run-time value.
Value defaultValue(const Argument& argument) {
  if (const auto* list = argument.asList()) {
    ValueList items;
    for (const Argument& item : list->items) items.push_back(defaultValue(item));
    return items;
  }
  if (const auto* flag = argument.as<bool>()) return *flag;
  if (const auto* integer = argument.as<std::int64_t>()) return *integer;
  if (const auto* number = argument.as<double>()) return *number;
  if (const auto* text = argument.as<std::string>()) return *text;
  if (const auto* dtype = argument.as<DType>()) return *dtype;
  if (const auto* format = argument.as<MemoryFormat>()) return *format;
  return {};
}

/// "int[2] stride=1" means [1, 1].
Value expandedDefault(const SchemaArgument& argument) {
  const Value value = defaultValue(*argument.defaultValue);
  const auto open = argument.type.rfind('[');
  if (open == std::string::npos || value.isList() || value.isNone()) return value;
  const int length = std::max(1, std::atoi(argument.type.c_str() + open + 1));
  return ValueList(std::size_t(length), value);
}

struct Registry {
  std::vector<OpInfo> ops;
  std::unordered_map<std::string, std::size_t> byName;

  Registry() {
    for (const OpRows& family : opFamilies())
      for (const OpRow& row : family) add(row);
    std::ranges::sort(ops, {}, [](const OpInfo& op) { return op.schema.qualifiedName(); });
    for (std::size_t i = 0; i < ops.size(); ++i) byName.emplace(ops[i].schema.qualifiedName(), i);
  }

  void add(const OpRow& row) {
    auto schema = parseSchema(row.schema);
    if (!schema) return;  // a test walks all rows and finds such a line
    OpInfo info{std::move(*schema), row.traits, row.kernel, row.shape, &row, {}};
    for (const SchemaArgument& argument : info.schema.arguments)
      info.defaults.push_back(argument.defaultValue ? std::optional(expandedDefault(argument)) : std::nullopt);
    ops.push_back(std::move(info));
  }
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

class ReferenceOps : public OpCaller {
 public:
  Result<Value> call(std::string_view target, const ValueList& args, const KeywordValues& kwargs) const override {
    if (runsAsPython(target)) return callPythonLevel(target, args, kwargs, *this);
    const OpInfo* op = findOp(target);
    if (!op || !op->kernel) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", target);
    KERF_TRY(const BoundArguments bound, bindArguments(*op, args, kwargs));
    if (const OpRow* row = complexRow(bound)) return row->kernel(bound);
    return op->kernel(bound);
  }
  Result<Value> callHigherOrder(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override {
    return callHigherOrderOp(target, args, kwargs, subgraphs, *this, false);
  }
};

}  // namespace

const OpInfo* findOp(std::string_view target) {
  for (std::string_view prefix : {"torch.ops.", "_"})
    if (target.starts_with(prefix)) {
      target.remove_prefix(prefix.size());
      break;
    }
  const auto& byName = registry().byName;
  auto found = byName.find(std::string(target));
  if (found == byName.end()) found = byName.find(std::string(target) + ".default");
  return found == byName.end() ? nullptr : &registry().ops[found->second];
}

std::span<const OpInfo> allOps() { return registry().ops; }

const OpCaller& referenceOps() {
  static const ReferenceOps instance;
  return instance;
}

Result<Value> inferShapes(std::string_view target, const ValueList& args, const KeywordValues& kwargs) {
  const OpInfo* op = findOp(target);
  if (!op) return fail(ErrorCode::UnsupportedOp, "no shape rule for {}", target);
  KERF_TRY(const BoundArguments bound, bindArguments(*op, args, kwargs));
  return runShapeRule(bound);
}

}  // namespace kerf::inline ops
