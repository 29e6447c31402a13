#include "engine/ops/core/operand_checks.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/ops/core/type_promotion.h"
#include "engine/ops/core/written_operands.h"

namespace kerf::inline ops {
namespace {

constinit const OperandChecks* newestChecks = nullptr;

/// visit(name) for each of the names in a text.
template <class Visit>
void forNames(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) visit(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// What is checked of one op.
struct ChecksOfOp {
  std::uint32_t refused = 0;  ///< dtypes
  std::vector<OperandCheck> rules;
  bool writes = false;       ///< to any argument
  bool writesApart = false;  ///< to an argument whose elements must not share memory
  ReadOfWritten read = ReadOfWritten::Any;
};

/// "aten::celu_" → "celu"; nothing for ops on lists, which have kernels of their own, and for Python's operators, which
/// call ops on tensors.
std::string plainNameOf(const OpSchema& schema) {
  std::string name = schema.name.substr(schema.name.find("::") + 2);
  if (schema.name.starts_with("operator::")) return {};
  if (name.starts_with("_foreach_")) return {};
  if (name.size() > 1 && name.back() == '_' && !name.starts_with("__")) name.pop_back();
  return name;
}

class CheckTable {
 public:
  CheckTable() {
    std::unordered_map<std::string, std::vector<OperandCheck>> rules;
    std::unordered_map<std::string, std::uint32_t> dtypes;
    for (const OperandChecks* at = newestChecks; at != nullptr; at = at->next()) {
      for (const OperandRule& rule : at->tables().rules)
        forNames(rule.ops, [&](const std::string& name) { rules[name].push_back(rule.check); });
      for (const RefusedDtypes& row : at->tables().dtypes)
        forNames(row.names, [&](const std::string& name) { dtypes[name] |= row.dtypes; });
    }
    for (const OpInfo& op : allOps()) add(op, rules, dtypes);
  }

  const ChecksOfOp* of(OpId op) const { return op.index < m_checks.size() ? &m_checks[op.index] : nullptr; }

 private:
  template <class Rules, class Dtypes>
  void add(const OpInfo& op, const Rules& rules, const Dtypes& dtypes) {
    ChecksOfOp checks;
    const std::string overload = op.schema.overload.empty() ? "default" : op.schema.overload;
    const std::string full = op.schema.name + "." + overload;
    for (const std::string& name : {op.schema.name, full})
      if (const auto found = rules.find(name); found != rules.end())
        checks.rules.insert(checks.rules.end(), found->second.begin(), found->second.end());
    const std::string plain = plainNameOf(op.schema);
    for (const std::string& name : {plain, plain + "." + overload})
      if (const auto found = dtypes.find(name); !plain.empty() && found != dtypes.end())
        checks.refused |= found->second;
    checks.writes = writesArguments(op);
    checks.writesApart = mustNotRepeat(op);
    checks.read = readOfWritten(op);
    m_checks.resize(std::max<std::size_t>(m_checks.size(), op.id.index + std::size_t{1}));
    m_checks[op.id.index] = std::move(checks);
  }

  std::vector<ChecksOfOp> m_checks;  ///< by OpId::index
};

const CheckTable& checkTable() {
  static const CheckTable table;
  return table;
}

/// By the type that the tensors promote to, and numbers in the places of tensors.
Result<void> checkDtype(const BoundArguments& args, std::uint32_t refused) {
  ResultType type;
  bool any = false;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    const std::string& name = args.op->schema.arguments[i].name;
    if (name == "mask" || name == "condition" || name == "target") continue;
    if (!args.values[i].isTensor() &&
        !(isNumber(args.values[i]) && args.op->schema.arguments[i].type.starts_with("Tensor")))
      continue;
    type.add(args.values[i]);
    any = any || args.values[i].isTensor();
  }
  if (any && (refused & bitOf(type.dtype())) != 0)
    return mismatch(args, "not implemented for {}", nameOf(type.dtype()));
  return {};
}

}  // namespace

OperandChecks::OperandChecks(const OperandTables& tables)
    : m_tables(tables), m_next(std::exchange(newestChecks, this)) {}

Result<void> checkOperands(const BoundArguments& args) {
  if (args.op == nullptr) return {};
  const ChecksOfOp* checks = checkTable().of(args.op->id);
  if (checks == nullptr) return {};
  if (checks->refused != 0) KERF_CHECK(checkDtype(args, checks->refused));
  if (checks->writes) KERF_CHECK(checkReachesMemory(args));
  if (checks->writesApart) KERF_CHECK(checkWritten(args));
  if (checks->read != ReadOfWritten::Any) KERF_CHECK(checkReadOfWritten(args, checks->read, referenceOps()));
  for (const OperandCheck check : checks->rules) KERF_CHECK(check(args));
  return {};
}

const Tensor* operandNamed(const BoundArguments& args, std::string_view name) {
  const auto& arguments = args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return args.tensorIf(i);
  return nullptr;
}

std::string textNamed(const BoundArguments& args, std::string_view name) {
  const auto& arguments = args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return args.text(i);
  return {};
}

std::string_view nameOf(DType dtype) { return dtypeInfo(dtype).torchName; }

}  // namespace kerf::inline ops
