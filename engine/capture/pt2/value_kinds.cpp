#include "engine/capture/pt2/value_kinds.h"

#include <algorithm>
#include <array>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr std::int64_t strided = 7;
constexpr std::string_view higherOrderPrefix = "torch.ops.higher_order.";

/// Functions on Python numbers whose result is a bool or a float whatever they are given.
constexpr auto boolFunctions =
    std::to_array<std::string_view>({"operator.eq", "operator.ne", "operator.lt", "operator.le", "operator.gt",
                                     "operator.ge", "operator.not_", "torch.sym_not", "builtins.bool"});
constexpr auto floatFunctions = std::to_array<std::string_view>(
    {"operator.truediv", "torch.sym_float", "torch._sym_sqrt", "math.sqrt", "builtins.float"});
constexpr auto readers =
    std::to_array<std::string_view>({"torch.ops.aten.item.default", "torch.ops.aten._local_scalar_dense.default"});

template <class Table>
bool in(const Table& table, std::string_view name) {
  return std::ranges::find(table, name) != table.end();
}

std::string_view keyOfSymbol(Pt2Program::Symbol kind) {
  constexpr std::string_view keys[] = {"as_sym_int", "as_sym_float", "as_sym_bool", "as_custom_obj"};
  return keys[std::size_t(kind)];
}

/// Names of the parameters of operator's and torch's functions on numbers, by position.
constexpr std::array<std::string_view, 3> functionParameters = {"a", "b", "c"};

}  // namespace

std::string ValueKinds::keyOfMeta(const ValueMeta& meta) {
  if (meta.tensor() != nullptr) return "as_tensor";
  return meta.sym() != nullptr ? "as_sym_int" : "";
}

std::string ValueKinds::keyOf(const Node& node) const {
  const std::string key = keyOfMeta(node.meta().value);
  if (key == "as_tensor") return key;
  if (m_program != nullptr)
    if (const auto known = m_program->symbols.find(m_scope + node.name()); known != m_program->symbols.end())
      if (!key.empty() || known->second == Pt2Program::Symbol::CustomObject)
        return std::string(keyOfSymbol(known->second));
  if (key.empty() || node.op() != Opcode::CallFunction) return key;
  if (in(boolFunctions, node.target())) return "as_sym_bool";
  if (in(floatFunctions, node.target())) return "as_sym_float";
  const auto* source = in(readers, node.target()) && !node.args().empty() ? node.args()[0].as<NodeId>() : nullptr;
  const TensorMeta* tensor = source == nullptr ? nullptr : m_graph.node(*source).meta().value.tensor();
  if (tensor == nullptr) return key;
  return tensor->dtype == DType::Bool ? "as_sym_bool" : isFloating(tensor->dtype) ? "as_sym_float" : key;
}

std::int64_t ValueKinds::layoutOf(const std::string& name) const {
  if (m_program == nullptr) return strided;
  const auto known = m_program->layouts.find(m_scope + name);
  return known == m_program->layouts.end() ? strided : known->second;
}

std::string ValueKinds::classOf(const std::string& name) const {
  if (m_program == nullptr) return {};
  const auto known = m_program->customObjects.find(m_scope + name);
  return known == m_program->customObjects.end() ? std::string() : known->second;
}

std::string ValueKinds::constantOf(const std::string& name) const {
  if (m_program != nullptr)
    if (const auto known = m_program->constantInputs.find(m_scope + name); known != m_program->constantInputs.end())
      return known->second;
  return "{\"as_none\": true}";
}

Result<std::string> ValueKinds::argumentName(const Node& node, std::size_t index) const {
  if (node.target().starts_with(higherOrderPrefix)) return std::string();
  const OpInfo* op = findOp(node);
  if (op != nullptr && node.target().starts_with("torch.ops.") && index < op->schema.arguments.size())
    return op->schema.arguments[index].name;
  if (m_program != nullptr) {
    const auto names = m_program->argumentNames.find(node.target());
    if (names != m_program->argumentNames.end() && index < names->second.size()) return names->second[index];
  }
  if (!node.target().starts_with("torch.ops.") && index < functionParameters.size())
    return std::string(functionParameters[index]);
  return fail(ErrorCode::BadInput, "the schema of '{}' is not known, and an exported program must name its arguments",
              node.target());
}

bool ValueKinds::returnsList(const Node& node) const {
  if (const OpInfo* op = findOp(node)) return op->schema.returns.size() == 1;
  return m_program != nullptr && m_program->listReturns.contains(node.target());
}

bool ValueKinds::returnsNothing(const Node& node) const {
  if (const OpInfo* op = findOp(node)) return op->schema.returns.empty();
  return m_program != nullptr;  // an archive's node without a value
}

bool ValueKinds::isNoneResult(const Node& node) const {
  if (m_program != nullptr) return m_program->noneResults.contains(m_scope + node.name());
  return node.name() == "as_none" || node.name().starts_with("as_none_");
}

}  // namespace kerf::inline capture::pt2
