#include "engine/ops/core/memory_use.h"

#include <algorithm>

#include "engine/ops/core/purity.h"

namespace kerf::inline ops {
namespace {

/// Schemas that say nothing of it: what these give may be a view of their argument, or the argument itself.
constexpr std::string_view unannotatedViews[] = {
    "aten::atleast_1d",
    "aten::atleast_2d",
    "aten::atleast_3d",
    "aten::conj_physical",
    "aten::einsum",
    "aten::meshgrid",
    "aten::chain_matmul",
    "aten::feature_dropout",
    "aten::alpha_dropout",
    "aten::cartesian_prod",
    "aten::feature_alpha_dropout",
    "aten::to_dense",
    "aten::dequantize",
    "aten::unflatten_dense_tensors",
    "aten::histogramdd",
};

/// Whether the schema tells what is written, or the op is known to write something else than its first argument.
bool knowsWrites(const OpInfo& op) {
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i)
    if (!op.schema.arguments[i].alias.empty() || updatesStatistics(op, i)) return true;
  return false;
}

}  // namespace

bool mayReturnArgument(const OpInfo& op) {
  return std::ranges::find(unannotatedViews, std::string_view(op.schema.name)) != std::end(unannotatedViews);
}

bool updatesStatistics(const OpInfo& op, std::size_t i) {
  const SchemaArgument& argument = op.schema.arguments[i];
  return argument.alias.empty() && has(op.traits, OpTrait::Inplace | OpTrait::Impure) &&
         (argument.name == "running_mean" || argument.name == "running_var");
}

bool isViewMethod(std::string_view name) {
  const std::string start = fmt::format("aten.{}.", name);
  const auto all = allOps();
  const auto first =
      std::ranges::lower_bound(all, start, {}, [](const OpInfo& op) { return op.schema.qualifiedName(); });
  return first != all.end() && first->schema.qualifiedName().starts_with(start) && has(first->traits, OpTrait::View);
}

bool changesFirst(const Node& node) {
  if (purityOf(node) != Purity::Impure) return false;
  std::string_view name = node.target();
  if (name.starts_with("operator.") || name == "__setitem__") return true;
  if (name.starts_with("torch.ops.")) name = name.substr(0, name.rfind('.'));  // the overload
  return name.ends_with('_');
}

const Argument* outOfTorch(const Node& node) {
  const std::string& target = node.target();
  if (target.starts_with("torch.ops.") && !target.starts_with("torch.ops.aten.")) return nullptr;
  for (const auto& [key, value] : node.kwargs())
    if (key == "out") return &value;
  return nullptr;
}

bool asksForInplace(const Node& node) {
  return std::ranges::any_of(node.kwargs(), [](const auto& entry) {
    const bool* flag = entry.second.template as<bool>();
    return entry.first == "inplace" && flag != nullptr && *flag;
  });
}

bool writesTo(const OpInfo& op, std::size_t i) {
  const std::string& alias = op.schema.arguments[i].alias;
  return alias.find('!') != std::string::npos || updatesStatistics(op, i) ||
         (i == 0 && has(op.traits, OpTrait::Inplace) && !knowsWrites(op));
}

bool sharesMemory(const OpInfo& op, std::size_t i) {
  const std::string& alias = op.schema.arguments[i].alias;
  if (!alias.empty()) {
    const std::string mark = fmt::format("({}", alias.front());
    return std::ranges::any_of(op.schema.returns, [&](const auto& text) { return text.find(mark) != text.npos; });
  }
  if (mayReturnArgument(op)) return op.schema.arguments[i].type.starts_with("Tensor");
  return i == 0 && !knowsWrites(op) && has(op.traits, OpTrait::View | OpTrait::Inplace);
}

bool resultLooksAt(const OpInfo& op, std::size_t i) {
  return op.schema.returns.size() == 1 && sharesMemory(op, i) && (writesTo(op, i) || has(op.traits, OpTrait::View));
}

bool mayShareMemory(const OpInfo& op) {
  if (has(op.traits, OpTrait::View | OpTrait::Inplace) || mayReturnArgument(op)) return true;
  return std::ranges::any_of(op.schema.arguments, [](const SchemaArgument& a) { return !a.alias.empty(); });
}

const Argument* boundArgument(const Node& node, const OpInfo& op, std::size_t i) {
  if (i < node.args().size()) return &node.args()[i];
  for (const auto& [name, value] : node.kwargs())
    if (name == op.schema.arguments[i].name) return &value;
  return nullptr;
}

void forEachMemoryUse(const Node& node, const std::function<void(const Argument&, bool, bool)>& visit) {
  if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) return;
  const bool isItem = node.isCall("operator.getitem"_op);  // split(x)[1] is a view, which its row does not say
  if (isItem && !node.args().empty()) return visit(node.args()[0], false, true);
  const OpInfo* op = node.op() == Opcode::CallFunction ? findOp(node) : nullptr;
  for (std::size_t i = 0; op != nullptr && i < op->schema.arguments.size(); ++i) {
    const Argument* argument = boundArgument(node, *op, i);
    const bool writes = writesTo(*op, i), shares = sharesMemory(*op, i);
    if (argument != nullptr && (writes || shares)) visit(*argument, writes, shares);
  }
  if (op != nullptr) return;
  if (const Argument* out = outOfTorch(node)) return visit(*out, true, true);
  if (node.args().empty()) return;
  const bool writes = changesFirst(node) || asksForInplace(node);
  const std::string_view target = node.target();
  const bool views = isViewMethod(target.substr(target.rfind('.') + 1));
  if (writes || views) visit(node.args()[0], writes, true);
}

}  // namespace kerf::inline ops
