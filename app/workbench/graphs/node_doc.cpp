#include "app/workbench/graphs/graph_doc.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::workbench {

namespace {

using Texts = std::vector<std::string>;

std::string dimText(const Dim& dim, std::string_view unknown) {
  if (!dim.text.empty()) return dim.text;
  return dim.hint ? std::to_string(*dim.hint) : std::string(unknown);
}

std::string dims(const std::vector<Dim>& sizes) {
  Texts parts;
  for (const auto& size : sizes) parts.push_back(dimText(size, "0"));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

/// The parts of a value, one entry a tensor.
struct ValueText {
  Texts dtype, shape, stride, device, value;

  void add(const ValueMeta& meta) {
    if (const auto* tensor = meta.tensor()) {
      const std::string type(dtypeInfo(tensor->dtype).shortCode);
      dtype.push_back(type);
      shape.push_back(dims(tensor->sizes));
      stride.push_back(dims(tensor->strides));
      if (const auto text = tensor->device.text(); std::ranges::find(device, text) == device.end())
        device.push_back(text);
      value.push_back(type + shape.back());
    } else if (const auto* sym = meta.sym()) {
      value.push_back(fmt::format("Sym({})", dimText(sym->expr, "0")));
    } else if (const auto* list = meta.list()) {
      for (const auto& item : *list) add(item);
    }
  }
};

struct KindOfTrait {
  OpTrait trait;
  NodeKind kind;
};
constexpr std::array kinds{
    KindOfTrait{OpTrait::Convolution, NodeKind::Convolution},
    KindOfTrait{OpTrait::Matmul, NodeKind::Matmul},
    KindOfTrait{OpTrait::Random, NodeKind::Random},
    KindOfTrait{OpTrait::Reduction, NodeKind::Reduction},
    KindOfTrait{OpTrait::View, NodeKind::View},
    KindOfTrait{OpTrait::Pointwise, NodeKind::Pointwise},
};

/// What Dynamo's graphs call that is several ATen ops.
struct KindOfName {
  std::string_view name;
  NodeKind kind;
};
constexpr std::array namedKinds{
    KindOfName{"linear", NodeKind::Matmul},
    KindOfName{"scaled_dot_product_attention", NodeKind::Matmul},
    KindOfName{"multi_head_attention_forward", NodeKind::Matmul},
    KindOfName{"einsum", NodeKind::Matmul},
    KindOfName{"matmul", NodeKind::Matmul},
    KindOfName{"conv1d", NodeKind::Convolution},
    KindOfName{"conv2d", NodeKind::Convolution},
    KindOfName{"conv3d", NodeKind::Convolution},
    KindOfName{"conv_transpose2d", NodeKind::Convolution},
    KindOfName{"batch_norm", NodeKind::Reduction},
    KindOfName{"layer_norm", NodeKind::Reduction},
    KindOfName{"group_norm", NodeKind::Reduction},
    KindOfName{"rms_norm", NodeKind::Reduction},
    KindOfName{"softmax", NodeKind::Reduction},
    KindOfName{"log_softmax", NodeKind::Reduction},
    KindOfName{"cross_entropy", NodeKind::Reduction},
    KindOfName{"nll_loss", NodeKind::Reduction},
    KindOfName{"mse_loss", NodeKind::Reduction},
    KindOfName{"max_pool2d", NodeKind::Reduction},
    KindOfName{"avg_pool2d", NodeKind::Reduction},
    KindOfName{"adaptive_avg_pool2d", NodeKind::Reduction},
    KindOfName{"dropout", NodeKind::Random},
    KindOfName{"stochastic_depth", NodeKind::Random},
    KindOfName{"flatten", NodeKind::View},
    KindOfName{"reshape", NodeKind::View},
    KindOfName{"contiguous", NodeKind::View},
    KindOfName{"chunk", NodeKind::View},
};

NodeKind kindOfTraits(const OpInfo& info) {
  for (const auto& [trait, kind] : kinds)
    if (has(info.traits, trait)) return kind;
  return NodeKind::Other;
}

/// Of "torch.nn.functional.silu", "operator.iadd" or a method "view": that of the op with this name.
NodeKind kindByName(std::string_view target) {
  auto name = target.substr(target.rfind('.') + 1);
  while (name.ends_with('_')) name.remove_suffix(1);
  const auto known = [](std::string_view word) -> NodeKind {
    const auto found = std::ranges::find(namedKinds, word, &KindOfName::name);
    if (found != namedKinds.end()) return found->kind;
    for (const char* overload : {"", ".Tensor", ".self", ".Scalar", ".dim", ".int"}) {
      const auto target = fmt::format("aten.{}{}", word, overload);
      if (const OpInfo* info = findOp(OpTarget(target))) return kindOfTraits(*info);
    }
    return NodeKind::Other;
  };
  const auto kind = known(name);
  const bool inPlace = kind == NodeKind::Other && name.starts_with('i') && name.size() > 2;
  return inPlace ? known(name.substr(1)) : kind;
}

NodeKind kindOf(const Node& node, const OpInfo* info) {
  if (node.op() == Opcode::Placeholder) return NodeKind::Input;
  if (node.op() == Opcode::Output) return NodeKind::Output;
  if (node.op() == Opcode::GetAttr) return NodeKind::Parameter;
  if (node.target().ends_with("getitem")) return NodeKind::View;
  const auto kind = info != nullptr ? kindOfTraits(*info) : NodeKind::Other;
  if (kind != NodeKind::Other || node.target().starts_with("torch.ops.")) return kind;
  return kindByName(node.target());
}

Texts split(const std::string& text, char separator) {
  Texts parts{""};
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// "torch.ops.aten.add.Tensor" → "add", "torch.ops.mylib.odd.out" → "mylib.odd.out", "_operator.getitem" → "getitem".
std::string shortOp(const Node& node) {
  if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output) return std::string(opcodeName(node.op()));
  if (node.op() != Opcode::CallFunction) return node.target();
  auto parts = split(node.target(), '.');
  if (parts.size() <= 2 || parts[0] != "torch" || parts[1] != "ops") return parts.back();
  if (parts.back() == "default" || parts.back() == "Tensor") parts.pop_back();
  const std::ptrdiff_t skipped = parts.size() > 2 && parts[2] == "aten" ? 3 : 2;
  return fmt::format("{}", fmt::join(parts.begin() + std::min(skipped, std::ssize(parts)), parts.end(), "."));
}

bool hasKeyword(const Node& node, const std::string& name) {
  return std::ranges::any_of(node.kwargs(), [&](const auto& entry) { return entry.first == name; });
}

/// Positional arguments take the schema's names; what the graph leaves out shows the schema's default.
std::vector<ArgumentDoc> argumentsOf(const Graph& graph, const Node& node, const OpInfo* info) {
  const auto print = [&](const Argument& value) { return printArgument(graph, value, ArgumentStyle::GraphText); };
  std::vector<ArgumentDoc> rows;
  for (std::size_t i = 0; i < node.args().size(); ++i) {
    const bool named = info != nullptr && i < info->schema.arguments.size();
    rows.push_back({named ? info->schema.arguments[i].name : std::to_string(i), print(node.args()[i])});
  }
  for (const auto& [name, value] : node.kwargs()) rows.push_back({name, print(value)});
  if (info == nullptr) return rows;
  for (std::size_t i = node.args().size(); i < info->schema.arguments.size(); ++i) {
    const auto& argument = info->schema.arguments[i];
    if (argument.defaultValue && !hasKeyword(node, argument.name))
      rows.push_back({argument.name, print(*argument.defaultValue), true});
  }
  return rows;
}

void fillMeta(NodeDoc& doc, const Node& node, const std::string& sourceFile) {
  const auto& meta = node.meta();
  ValueText value;
  value.add(meta.value);
  const auto joined = [](const Texts& texts, std::string_view between) {
    return fmt::format("{}", fmt::join(texts, between));
  };
  doc.dtype = joined(value.dtype, "; ");
  doc.shape = joined(value.shape, "; ");
  doc.stride = joined(value.stride, "; ");
  doc.device = joined(value.device, "; ");
  doc.value = joined(value.value, ", ");
  doc.line = meta.sourceLine;
  doc.file = meta.sourceFile.empty() && doc.line > 0 ? sourceFile : meta.sourceFile;
  doc.stackTrace = meta.stackTrace;
  doc.modulePath = meta.modulePath;
  doc.fromNodes.assign(meta.fromNodes.begin(), meta.fromNodes.end());
}

}  // namespace

NodeDoc nodeDoc(const Graph& graph, const Node& node, const std::string& sourceFile) {
  NodeDoc doc;
  const OpInfo* info = findOp(node);
  doc.name = node.name();
  doc.opcode = opcodeName(node.op());
  doc.target = node.target();
  doc.op = shortOp(node);
  if (info != nullptr) doc.schema = info->schema.text;
  doc.kind = kindOf(node, info);
  doc.arguments = argumentsOf(graph, node, info);
  fillMeta(doc, node, sourceFile);
  return doc;
}

std::string shapeText(const ValueMeta& value) {
  Texts parts;
  if (const auto* tensor = value.tensor()) {
    for (const auto& dim : tensor->sizes) parts.push_back(dimText(dim, "?"));
    return fmt::format("{}[{}]", dtypeInfo(tensor->dtype).shortCode, fmt::join(parts, ", "));
  }
  if (const auto* sym = value.sym()) return fmt::format("Sym({})", dimText(sym->expr, "?"));
  if (const auto* list = value.list()) {
    for (const auto& entry : *list) parts.push_back(entry.known() ? shapeText(entry) : "None");
    return fmt::format("({})", fmt::join(parts, ", "));
  }
  return {};
}

}  // namespace kerf::workbench
