#include "ui/session/graph_doc.h"

#include <array>
#include <unordered_map>

#include <QRegularExpression>
#include <QSet>

#include "engine/capture/common/generated_inputs.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::ui::inline session {
namespace {

QString text(std::string_view value) { return QString::fromUtf8(value.data(), qsizetype(value.size())); }

QString dims(const std::vector<Dim>& sizes) {
  QStringList parts;
  for (const auto& size : sizes)
    parts << (size.text.empty() ? QString::number(size.hint.value_or(0)) : text(size.text));
  return "[" + parts.join(", ") + "]";
}

struct ValueText {
  QStringList dtype, shape, stride, device, value;

  void add(const ValueMeta& meta) {
    if (const auto* tensor = meta.tensor()) {
      const auto type = text(dtypeInfo(tensor->dtype).shortCode);
      dtype << type;
      shape << dims(tensor->sizes);
      stride << dims(tensor->strides);
      device << text(tensor->device.text());
      value << type + dims(tensor->sizes);
    } else if (const auto* sym = meta.sym()) {
      value << "Sym(" + (sym->expr.text.empty() ? QString::number(sym->expr.hint.value_or(0)) : text(sym->expr.text)) +
                   ")";
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

NodeKind kindOf(const Node& node, const OpInfo* info) {
  if (node.op() == Opcode::Placeholder) return NodeKind::Input;
  if (node.op() == Opcode::Output) return NodeKind::Output;
  if (node.op() == Opcode::GetAttr) return NodeKind::Parameter;
  if (node.target().ends_with("getitem")) return NodeKind::View;
  for (const auto& [trait, kind] : kinds)
    if (info && has(info->traits, trait)) return kind;
  return NodeKind::Other;
}

QString shortOp(const Node& node) {
  if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output) return text(opcodeName(node.op()));
  if (node.op() != Opcode::CallFunction) return text(node.target());
  auto parts = text(node.target()).split('.');
  if (parts.size() > 2 && parts[0] == "torch" && parts[1] == "ops") {
    if (parts.back() == "default" || parts.back() == "Tensor") parts.removeLast();
    return parts.mid(parts.value(2) == "aten" ? 3 : 2).join('.');
  }
  return parts.back();
}

const Argument* keyword(const Node& node, const std::string& name) {
  for (const auto& [key, value] : node.kwargs())
    if (key == name) return &value;
  return nullptr;
}

/// Positional arguments take the schema's names; what the graph leaves out shows the schema's default.
std::vector<ArgumentDoc> argumentsOf(const Graph& graph, const Node& node, const OpInfo* info) {
  const auto print = [&](const Argument& value) { return text(printArgument(graph, value, ArgumentStyle::GraphText)); };
  std::vector<ArgumentDoc> rows;
  for (std::size_t i = 0; i < node.args().size(); ++i) {
    const bool named = info && i < info->schema.arguments.size();
    rows.push_back({named ? text(info->schema.arguments[i].name) : QString::number(i), print(node.args()[i])});
  }
  for (const auto& [name, value] : node.kwargs()) rows.push_back({text(name), print(value)});
  if (!info) return rows;
  for (std::size_t i = node.args().size(); i < info->schema.arguments.size(); ++i) {
    const auto& argument = info->schema.arguments[i];
    if (argument.defaultValue && !keyword(node, argument.name))
      rows.push_back({text(argument.name), print(*argument.defaultValue), true});
  }
  return rows;
}

void fillMeta(NodeDoc& doc, const Node& node, const QString& sourceFile) {
  ValueText value;
  value.add(node.meta().value);
  doc.dtype = value.dtype.join("; ");
  doc.shape = value.shape.join("; ");
  doc.stride = value.stride.join("; ");
  value.device.removeDuplicates();
  doc.device = value.device.join("; ");
  doc.value = value.value.join(", ");
  doc.line = node.meta().sourceLine;
  doc.file = node.meta().sourceFile.empty() && doc.line > 0 ? sourceFile : text(node.meta().sourceFile);
  doc.stackTrace = text(node.meta().stackTrace);
  doc.modulePath = text(node.meta().modulePath);
  for (const auto& from : node.meta().fromNodes) doc.fromNodes << text(from);
}

NodeDoc nodeDoc(const Graph& graph, const Node& node, const QString& sourceFile) {
  NodeDoc doc;
  const OpInfo* info = findOp(node);
  doc.name = text(node.name());
  doc.opcode = text(opcodeName(node.op()));
  doc.target = text(node.target());
  doc.op = shortOp(node);
  doc.schema = info ? text(info->schema.text) : QString();
  doc.kind = kindOf(node, info);
  doc.arguments = argumentsOf(graph, node, info);
  fillMeta(doc, node, sourceFile);
  return doc;
}

/// Node name that one line of Python code assigns, "return" and "def" lines apart.
QString assigned(const QString& line) {
  const auto end = line.indexOf(QRegularExpression(R"([ :])"));
  return end > 0 && line.indexOf(" = ") > 0 ? line.left(end) : QString();
}

void findCodeLines(GraphDoc& doc) {
  const auto& lines = doc.code;
  int definition = -1, result = -1;
  for (int i = 0; i < lines.size(); ++i) {
    const auto line = lines[i].trimmed();
    if (definition < 0 && line.startsWith("def ")) definition = i;
    if (line.startsWith("return")) result = i;
    const int node = doc.find(assigned(line));
    if (node >= 0 && doc.nodes[std::size_t(node)].codeLine < 0) doc.nodes[std::size_t(node)].codeLine = i;
  }
  for (auto& node : doc.nodes) {
    if (node.kind == NodeKind::Input) node.codeLine = definition;
    if (node.kind == NodeKind::Output) node.codeLine = result;
  }
}

QStringList calledOps(const GraphDoc& doc) {
  QSet<QString> ops;
  for (const auto& node : doc.nodes)
    if (node.opcode == "call_function" && node.target.startsWith("torch.ops.")) ops.insert(node.op.section('.', 0, 0));
  auto sorted = ops.values();
  sorted.sort();
  return sorted;
}

}  // namespace

QString nodeKindName(NodeKind kind) {
  static const std::array<const char*, nodeKinds> names{"Input",  "Parameter",   "Pointwise", "Reduction", "View",
                                                        "Matmul", "Convolution", "Random",    "Other",     "Output"};
  return names[std::size_t(kind)];
}

GraphDocPtr buildGraphDoc(const GraphModule& module, const QString& title, const QString& sourceFile) {
  auto doc = std::make_shared<GraphDoc>();
  const Graph& graph = module.graph;
  doc->title = title;
  doc->hash = text(graph.contentHash().hex());
  doc->nodes.reserve(graph.size());
  std::unordered_map<NodeId, int> position;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    position[id] = int(doc->nodes.size());
    doc->nodes.push_back(nodeDoc(graph, node, sourceFile));
    doc->index.insert(doc->nodes.back().name, position[id]);
    for (const NodeId input : node.inputs())
      if (const auto found = position.find(input); found != position.end())
        doc->nodes.back().inputs.push_back(found->second);
  }
  for (std::size_t i = 0; i < doc->nodes.size(); ++i)
    for (const int input : doc->nodes[i].inputs) doc->nodes[std::size_t(input)].users.push_back(int(i));
  doc->code = text(printPythonCode(module, {})).split('\n');
  doc->ops = calledOps(*doc);
  findCodeLines(*doc);
  for (const SymExpr& symbol : placeholderSymbols(module))
    doc->symbols.push_back({text(symbol.text), symbol.hint ? QString::number(*symbol.hint) : QString()});
  return doc;
}

}  // namespace kerf::ui::inline session
