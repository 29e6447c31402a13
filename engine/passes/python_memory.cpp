#include "engine/passes/python_memory.h"

#include <algorithm>

#include "engine/ops/core/memory_use.h"

namespace kerf::inline passes {

namespace {

constexpr std::string_view modules[] = {"torch.nn.functional.", "torch._C._nn.",  "torch.functional.", "torch.Tensor.",
                                        "torch.linalg.",        "torch.special.", "torch.fft.",        "torch."};

/// These may return their argument, or a view of it, whatever ATen's schema of that name says.
constexpr std::string_view mayReturnInput[] = {"to",
                                               "float",
                                               "double",
                                               "half",
                                               "bfloat16",
                                               "long",
                                               "int",
                                               "short",
                                               "char",
                                               "byte",
                                               "bool",
                                               "type_as",
                                               "type",
                                               "cpu",
                                               "cuda",
                                               "detach",
                                               "contiguous",
                                               "flatten",
                                               "reshape",
                                               "reshape_as",
                                               "view_as",
                                               "expand_as",
                                               "ravel",
                                               "unflatten",
                                               "dropout",
                                               "dropout1d",
                                               "dropout2d",
                                               "dropout3d",
                                               "alpha_dropout",
                                               "feature_alpha_dropout",
                                               "getattr",
                                               "requires_grad_",
                                               "broadcast_tensors",
                                               "atleast_1d",
                                               "atleast_2d",
                                               "atleast_3d",
                                               "einsum",
                                               "meshgrid",
                                               "tensor_split",
                                               "hsplit",
                                               "vsplit",
                                               "dsplit",
                                               "clone",
                                               "pad",
                                               "interpolate"};

/// These give new tensors, and ATen has no function of that name.
constexpr std::string_view fresh[] = {"multi_head_attention_forward", "cross_entropy", "softmax", "log_softmax",
                                      "scaled_dot_product_attention"};

/// These give numbers or nothing.
constexpr std::string_view numbers[] = {"size",   "dim",  "ndimension", "numel",         "nelement",
                                        "stride", "item", "tolist",     "is_contiguous", "_log_api_usage_once"};

bool listed(std::span<const std::string_view> list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// "relu" of torch.nn.functional.relu; empty for names of other modules.
std::string_view functionName(const Node& node) {
  std::string_view target = node.target();
  if (node.op() == Opcode::CallMethod) {  // "__eq__" is eq; "__setitem__" is told apart by changesFirst()
    const bool isDunder = target.size() > 4 && target.starts_with("__") && target.ends_with("__");
    return isDunder ? target.substr(2, target.size() - 4) : target;
  }
  if (target == "builtins.getattr") return "getattr";
  if (target == "torch._C._log_api_usage_once") return "_log_api_usage_once";
  for (const std::string_view module : modules)
    if (target.starts_with(module)) {
      target.remove_prefix(module.size());
      return target.find('.') == std::string_view::npos ? target : std::string_view();
    }
  return {};
}

/// Whether one of ATen's overloads of that name shares memory; none where there is no overload.
std::optional<bool> sharesInAten(std::string_view name) {
  const std::string start = fmt::format("aten.{}.", name);
  const auto all = allOps();
  auto op = std::ranges::lower_bound(all, start, {}, [](const OpInfo& row) { return row.schema.qualifiedName(); });
  std::optional<bool> shares;
  for (; op != all.end() && op->schema.qualifiedName().starts_with(start); ++op) {
    const bool isOut = std::ranges::any_of(op->schema.arguments, [](const SchemaArgument& argument) {
      return argument.keywordOnly && argument.alias.find('!') != std::string::npos;
    });
    if (!isOut) shares = shares.value_or(false) || mayShareMemory(*op);
  }
  return shares;
}

const Argument* named(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.kwargs(), name, [](const auto& entry) { return entry.first; });
  return found == node.kwargs().end() ? nullptr : &found->second;
}

/// A bool that is true, or something that only running tells.
bool mayBeTrue(const Argument* argument) {
  const bool* flag = argument ? argument->as<bool>() : nullptr;
  return argument && (flag ? *flag : true);
}

/// dropout(input, p, training, inplace) outside of training gives its input and writes nothing.
bool isIdleDropout(const Node& node, std::string_view name) {
  const Argument* training = node.args().size() > 2 ? &node.args()[2] : named(node, "training");
  return name == "dropout" && training && training->as<bool>() && !*training->as<bool>();
}

/// `inplace` stands last where activations are given it by position.
bool mayWriteInplace(const Node& node) {
  const bool last = node.args().size() > 1 && node.args().back().as<bool>() && *node.args().back().as<bool>();
  const bool isFunctional = node.target().starts_with("torch.nn.functional.");
  return mayBeTrue(named(node, "inplace")) || (isFunctional && last && !named(node, "inplace"));
}

void addNodes(const Argument& argument, std::vector<NodeId>& nodes) {
  forEachNode(argument, [&](NodeId id) { nodes.push_back(id); });
}

/// Of batch_norm(input, running_mean, running_var, weight, bias, training, …) and instance_norm.
void addStatistics(const Node& node, std::vector<NodeId>& written) {
  const Argument* training = node.args().size() > 5 ? &node.args()[5] : named(node, "training");
  if (!mayBeTrue(training) && !named(node, "use_input_stats")) return;
  for (std::size_t i = 1; i < node.args().size(); ++i) addNodes(node.args()[i], written);
  for (const auto& [key, value] : node.kwargs())
    if (key.starts_with("running_")) addNodes(value, written);
}

}  // namespace

std::optional<PythonMemory> pythonMemory(const Node& node) {
  if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) return std::nullopt;
  const std::string_view name = functionName(node);
  if (name.empty()) return std::nullopt;
  PythonMemory memory;
  if (const Argument* out = named(node, "out")) addNodes(*out, memory.written);
  if (name == "batch_norm" || name == "instance_norm") addStatistics(node, memory.written);
  const bool writes = changesFirst(node) || (mayWriteInplace(node) && !isIdleDropout(node, name));
  if (writes && !node.args().empty()) addNodes(node.args()[0], memory.written);
  if (writes && node.args().empty())  // given by name
    for (const NodeId input : node.inputs()) memory.written.push_back(input);
  if (listed(numbers, name) || (listed(fresh, name) && memory.written.empty())) return memory;
  const auto shares = sharesInAten(name);
  const bool isListed = listed(mayReturnInput, name);
  if (!shares && !isListed && !writes) return std::nullopt;
  memory.mayShare = isListed || writes || shares.value_or(false) || !memory.written.empty();
  return memory;
}

}  // namespace kerf::inline passes
