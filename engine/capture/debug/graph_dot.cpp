// The picture keeps names, targets, literals and who uses whom, but
// not which argument a node is: the op's schema tells where tensors go, and nodes count in the graph's order.
#include "engine/capture/debug/graph_dot.h"

#include <algorithm>
#include <set>

#include "engine/capture/common/extent.h"
#include "engine/capture/debug/dot_reader.h"
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/inputs/stand_in_attributes.h"
#include "engine/capture/text/capture.h"
#include "engine/ir/graph_text_value.h"
#include "engine/ir/parser.h"
#include "engine/ir/printer.h"
#include "engine/ir/python_expression.h"
#include "engine/ir/python_operators.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

void replaceAll(std::string& text, std::string_view what, std::string_view with) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, from)) {
    out.append(text, from, at - from).append(with);
    from = at + what.size();
  }
  text = std::move(out.append(text, from));
}

std::string trimmedText(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \n\t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \n\t") - first + 1));
}

/// "{name=%relu|op_code=call_function\n|target=…\n|args=(\l1,\n)\l|…}" by key.
Fields labelFields(std::string_view label) {
  std::string text;
  for (std::size_t at = 0; at < label.size(); ++at) {
    if (label[at] != '\\' || at + 1 == label.size()) {
      text += label[at];
      continue;
    }
    const char next = label[++at];
    text += next == 'n' || next == 'l' || next == 'r' ? '\n' : next;
  }
  if (text.starts_with('{')) text.erase(0, 1);
  if (text.ends_with('}')) text.pop_back();
  Fields fields;
  std::string_view rest = text;
  std::string* last = nullptr;
  while (!rest.empty()) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    const std::string_view part = rest.substr(0, bar);
    const std::size_t equals = part.find('=');
    const bool isKey =
        equals != std::string_view::npos && equals > 0 &&
        part.substr(0, equals).find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
    if (isKey)
      last = &(fields[std::string(part.substr(0, equals))] = part.substr(equals + 1));
    else if (last != nullptr)
      *last += "|" + std::string(part);  // a bar inside a value
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  for (auto& [key, value] : fields) value = trimmedText(value);
  return fields;
}

/// "(\n1,\n[2, 3],\n)" as str(graph) writes it.
std::string joinedLines(std::string text) {
  replaceAll(text, ",\n)", ",)");
  replaceAll(text, ",\n}", "}");
  replaceAll(text, ",}", "}");
  replaceAll(text, "(\n", "(");
  replaceAll(text, "{\n", "{");
  replaceAll(text, ",\n", ", ");
  replaceAll(text, "\n", " ");
  return text;
}

/// Names that mean something else in the text of a graph ("inf", "torch") step aside.
std::string freeName(std::string name) {
  if (isMeaningfulName(name) || name == "self") name += "_1";
  return name;
}

class DotCapture {
 public:
  DotCapture(const std::filesystem::path& path, const ImportLimits& limits) : m_path(path), m_limits(limits) {}

  Result<CapturedGraph> run(std::string_view text) {
    KERF_CHECK(checkPythonText(text));
    KERF_TRY(m_dot, readDot(text, m_limits.nodes));
    m_inputs.resize(m_dot.nodes.size());
    for (const auto& [from, to] : m_dot.edges) m_inputs[to].push_back(from);
    for (std::size_t i = 0; i < m_dot.nodes.size(); ++i) KERF_CHECK(add(i));
    if (!m_graph.outputNode().valid()) return error(1, "the drawing has no output node");
    return finish();
  }

  /// What the drawing does not tell of this graph.
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (m_ambiguous > 0)
      notes.push_back(
          fmt::format("the drawing does not tell the order of node arguments: {} calls with several take "
                      "them in the graph's order",
                      m_ambiguous));
    if (m_missing > 0)
      notes.push_back(
          fmt::format("{} calls lack required arguments (attributes and lists of nodes are not drawn)", m_missing));
    if (m_modules > 0) notes.push_back(fmt::format("{} called modules are known by their type only", m_modules));
    return notes;
  }

 private:
  std::unexpected<Error> error(int line, std::string message) const {
    return fail(Error{ErrorCode::BadInput, std::move(message), {}, line, {}, {}});
  }

  Result<void> add(std::size_t index) {
    const DotNode& node = m_dot.nodes[index];
    const auto label = node.attributes.find("label");
    if (label == node.attributes.end()) return error(node.line, fmt::format("the node '{}' has no label", node.name));
    Fields fields = labelFields(label->second);
    const auto op = opcodeFromName(fields["op_code"].substr(0, fields["op_code"].find('\n')));
    if (!op) return error(node.line, fmt::format("the node '{}' has no op_code: FxGraphDrawer's labels do", node.name));
    std::string name = fields["name"].substr(fields["name"].starts_with('%') ? 1 : 0);
    if (name.empty()) name = node.name;
    if (!isPythonIdentifier(name)) return error(node.line, fmt::format("'{}' is not a legal name", name.substr(0, 40)));
    name = freeName(std::move(name));
    ArgumentList nodes;
    for (const std::size_t input : m_inputs[index]) {
      if (input >= m_ids.size())
        return error(node.line, fmt::format("'{}' is used before it is defined", m_dot.nodes[input].name));
      nodes.emplace_back(m_ids[input]);
    }
    KERF_TRY(const NodeId id, create(*op, name, fields, std::move(nodes), node.line));
    m_ids.push_back(id);
    setMeta(id, fields, node);
    return {};
  }

  Result<NodeId> create(Opcode op, const std::string& name, Fields& fields, ArgumentList nodes, int line) {
    ArgumentList literals;
    KeywordArguments kwargs;
    KERF_CHECK(readLiterals(fields, literals, kwargs, line));
    switch (op) {
      case Opcode::Output:
        if (nodes.size() > 1) ++m_ambiguous;
        return m_graph.output(Argument::tuple(std::move(nodes)));
      case Opcode::Placeholder:
        return m_graph.createNamed(op, parameter(fields["target"], name), std::move(literals), {}, name);
      case Opcode::GetAttr:
        return m_graph.createNamed(op, fields["target"].empty() ? name : fields["target"], std::move(literals), {},
                                   name);
      case Opcode::CallModule:
        ++m_modules;
        return m_graph.createNamed(op, name, std::move(nodes), {}, name);
      default:
        break;
    }
    if (nodes.size() > 1) ++m_ambiguous;
    std::string target = fields["target"];
    if (target.starts_with("_operator.")) target.erase(0, 1);
    if (target.empty()) return error(line, fmt::format("the node '{}' has no target", name));
    return m_graph.createNamed(op, target, placed(target, std::move(nodes), std::move(literals), kwargs),
                               std::move(kwargs), name);
  }

  /// The parameter of a placeholder: what the drawing says, where that is a name and no other parameter has it.
  std::string parameter(std::string_view target, const std::string& name) {
    const std::size_t stars = std::min(target.find_first_not_of('*'), target.size());
    const std::string_view said = target.substr(stars);
    const std::string bare = isPythonIdentifier(said) ? freeName(std::string(said)) : name;
    std::string free = bare;
    for (int& number = m_numbers[bare]; !m_parameters.insert(free).second;) free = fmt::format("{}_{}", bare, ++number);
    return std::string(target.substr(0, stars <= 2 ? stars : 0)) + free;
  }

  Result<void> readLiterals(Fields& fields, ArgumentList& literals, KeywordArguments& kwargs, int line) const {
    const GraphTextValue::NodeLookup none = [&](std::string_view name) { return undefinedPythonName(name, line); };
    if (const std::string text = joinedLines(fields["args"]); !text.empty()) {
      GraphTextValue reader(text, line, none);
      KERF_TRY(const Argument value, reader.value());
      if (value.asList() != nullptr)
        literals = value.asList()->items;
      else
        literals.push_back(value);
    }
    if (const std::string text = joinedLines(fields["kwargs"]); !text.empty()) {
      GraphTextValue reader(text, line, none);
      KERF_TRY(const Argument value, reader.value());
      if (value.asDict() != nullptr) kwargs = value.asDict()->items;
    }
    return {};
  }

  /// Nodes go where the schema has tensors, literals into the other places, in their order.
  ArgumentList placed(const std::string& target, ArgumentList nodes, ArgumentList literals,
                      const KeywordArguments& kwargs) {
    const OpInfo* row = findOp(target);
    ArgumentList out;
    std::size_t node = 0, literal = 0;
    if (row != nullptr) {
      for (const SchemaArgument& place : row->schema.arguments) {
        const bool given = std::ranges::any_of(kwargs, [&](const auto& item) { return item.first == place.name; });
        if (place.keywordOnly || given || (node == nodes.size() && literal == literals.size())) break;
        if (place.type.starts_with("Tensor[") || place.type.starts_with("Tensor?[")) {
          out.push_back(Argument::list({nodes.begin() + std::ptrdiff_t(node), nodes.end()}));
          node = nodes.size();
        } else if (place.type.starts_with("Tensor") && node < nodes.size()) {
          out.push_back(nodes[node++]);
        } else if (!place.type.starts_with("Tensor") && literal < literals.size()) {
          out.push_back(literals[literal++]);
        } else if (place.type.starts_with("Tensor?") && literal < literals.size() && literals[literal].isNone()) {
          out.push_back(literals[literal++]);
        } else if (place.defaultValue) {
          out.push_back(*place.defaultValue);
        } else {
          ++m_missing;
          break;
        }
      }
    }
    out.insert(out.end(), nodes.begin() + std::ptrdiff_t(node), nodes.end());
    out.insert(out.end(), literals.begin() + std::ptrdiff_t(literal), literals.end());
    return out;
  }

  void setMeta(NodeId id, Fields& fields, const DotNode& node) {
    NodeMeta meta;
    meta.sourceFile = m_path.string();
    meta.sourceLine = node.line;
    const auto colour = node.attributes.find("fillcolor");
    if (colour != node.attributes.end() && colour->second == "yellow") meta.description = "changed by this pass";
    meta.value = tensorMeta(fields);
    m_graph.setMeta(id, std::move(meta));
  }

  static ValueMeta tensorMeta(Fields& fields) {
    const auto dtype = dtypeFromTorchName(fields["dtype"]);
    const auto sizes = dims(fields["shape"]);
    if (!dtype || !sizes) return {};
    TensorMeta meta;
    meta.dtype = *dtype;
    meta.sizes = *sizes;
    if (const auto strides = dims(fields["stride"]); strides && strides->size() == sizes->size())
      meta.strides = *strides;
    meta.requiresGrad = fields["requires_grad"] == "True";
    return {std::move(meta)};
  }

  static std::optional<std::vector<Dim>> dims(const std::string& text) {
    const auto expression = parsePythonExpression(text);
    if (!expression || (expression->kind != PythonKind::Tuple && expression->kind != PythonKind::List))
      return std::nullopt;
    std::vector<Dim> out;
    for (const PythonExpression& item : expression->items) {
      const auto value =
          pythonToArgument(item, [](std::string_view name, int) { return Argument(SymExpr{std::string(name), {}}); });
      if (!value) return std::nullopt;
      if (const auto* number = value->as<std::int64_t>())
        out.push_back(dim(*number));
      else if (const auto* symbol = value->as<SymExpr>())
        out.push_back(*symbol);
      else
        return std::nullopt;
    }
    return out;
  }

  Result<CapturedGraph> finish() {
    CapturedGraph out;
    out.name = m_dot.name.empty() ? "forward" : m_dot.name;
    out.origin.file = m_path;
    out.origin.line = 1;
    out.module.graph = std::move(m_graph);
    KERF_TRY(out.module, throughPython(std::move(out.module)));
    addStandInAttributes(out.module, m_limits);
    KERF_CHECK(checkExtent(withInputs(out), m_limits, {}));
    return out;
  }

  const std::filesystem::path& m_path;
  const ImportLimits& m_limits;
  DotGraph m_dot;
  std::vector<std::vector<std::size_t>> m_inputs;
  Graph m_graph;
  std::vector<NodeId> m_ids;
  std::set<std::string> m_parameters;
  std::map<std::string, int> m_numbers;  ///< of parameters that were renamed, by what they were to be called
  std::size_t m_ambiguous = 0, m_missing = 0, m_modules = 0;
};

}  // namespace

bool looksLikeGraphDot(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const std::string_view text = head.substr(first);
  return (text.starts_with("digraph") || text.starts_with("strict digraph")) &&
         text.find("op_code=") != std::string_view::npos;
}

Result<Capture> importGraphDot(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits) {
  DotCapture reader(path, limits);
  auto graph = reader.run(text);
  if (!graph) return fail(std::move(graph.error().atFile(path.string(), graph.error().line)));
  Capture capture;
  capture.kind = "graph_transforms";
  capture.path = path;
  capture.graphs.push_back(std::move(*graph));
  capture.notes = reader.notes();
  return capture;
}

}  // namespace kerf::inline capture
