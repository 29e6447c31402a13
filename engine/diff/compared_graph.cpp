#include "engine/diff/compared_graph.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "engine/ir/argument_hash.h"
#include "engine/ir/printer.h"

namespace kerf::inline diff {

namespace {

constexpr std::pair<std::string_view, std::string_view> families[] = {
    {"aten.reshape", "aten.view"},
    {"aten._unsafe_view", "aten.view"},
    {"aten.lift_fresh_copy", "aten.clone"},
};

/// Python's operators under the names that ATen has for them.
constexpr std::pair<std::string_view, std::string_view> operators[] = {
    {"iadd", "add"},         {"isub", "sub"},       {"imul", "mul"},           {"itruediv", "div"},
    {"truediv", "div"},      {"imatmul", "matmul"}, {"ipow", "pow"},           {"floordiv", "floor_divide"},
    {"and_", "bitwise_and"}, {"or_", "bitwise_or"}, {"invert", "bitwise_not"},
};

template <std::size_t N>
std::string_view replaced(const std::pair<std::string_view, std::string_view> (&table)[N], std::string_view name) {
  const auto found = std::ranges::find(table, name, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(table) ? name : found->second;
}

std::string_view withoutUnderscore(std::string_view name) {
  const bool inPlace = name.size() > 1 && name.ends_with('_') && !name.ends_with("__");
  return inPlace ? name.substr(0, name.size() - 1) : name;
}

Key keyOf(std::string_view text) {
  const Key key = hashText(text).low;
  return key == 0 ? 1 : key;
}

/// "convnext.py in forward: x = x.permute(0, 2, 3, 1)" of "File: /…/convnext.py:33 in forward, code: …", so that
/// neither the folder nor lines above it count; with the line where there is no code.
std::string originText(const NodeMeta& meta) {
  const std::string_view trace = meta.stackTrace;
  const std::size_t file = trace.rfind("File: ");
  if (file == std::string_view::npos) return meta.modulePath;
  std::string_view rest = trace.substr(file + 6);
  const std::size_t in = rest.find(" in "), code = rest.find(", code: ");
  std::string_view path = rest.substr(0, in);
  if (code != std::string_view::npos) path = path.substr(0, path.rfind(':'));
  path = path.substr(path.rfind('/') + 1);
  return fmt::format("{}{}{}", path, in == std::string_view::npos ? "" : rest.substr(in), meta.modulePath);
}

/// Keys of texts that many nodes share.
class SharedTexts {
 public:
  Key operator()(const std::string& text) {
    const auto [found, fresh] = m_keys.try_emplace(text, 0);
    if (fresh) found->second = keyOf(text);
    return found->second;
  }

 private:
  std::unordered_map<std::string, Key> m_keys;
};

}  // namespace

Key mixed(Key a, Key b) {
  Key x = a * 0x9e3779b97f4a7c15u + b;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 32);
}

std::string opFamily(const Node& node) {
  if (node.op() != Opcode::CallFunction) return std::string(opcodeName(node.op())) + " " + node.target();
  const std::string name = canonicalOpName(node.target());
  if (!name.starts_with("aten.")) return name;
  const std::size_t dot = name.find('.', 5);
  const std::string_view packet = withoutUnderscore(std::string_view(name).substr(0, dot));
  return std::string(replaced(families, packet)) + (dot == std::string::npos ? "" : name.substr(dot));
}

std::string baseName(const Node& node) {
  std::string name = canonicalOpName(node.target());
  if (node.op() == Opcode::CallFunction && (name.starts_with("aten.") || name.starts_with("prims."))) {
    const std::size_t begin = name.find('.') + 1;
    name = name.substr(begin, name.find('.', begin) - begin);
  } else {
    name = name.substr(name.rfind('.') + 1);
  }
  if (node.target().find("operator.") != std::string::npos) name = replaced(operators, name);
  return std::string(withoutUnderscore(name));
}

ComparedGraph::ComparedGraph(const Graph& graph) : m_graph(graph) {
  const auto order = graph.order();
  m_ids.assign(order.begin(), order.end());
  std::uint32_t top = 0;
  for (const NodeId id : m_ids) top = std::max(top, id.index + 1);
  m_positions.assign(top, -1);
  for (std::size_t i = 0; i < m_ids.size(); ++i) {
    m_nodes.push_back(&graph.node(m_ids[i]));
    m_positions[m_ids[i].index] = int(i);
  }
  addEdges();
  addKeys();
}

void ComparedGraph::addEdges() {
  std::vector<int> counts(m_ids.size() + 1, 0);
  for (const Node* node : m_nodes) {
    m_inputBegin.push_back(int(m_inputs.size()));
    const auto take = [&](NodeId id) {
      m_inputs.push_back(at(id));
      ++counts[std::size_t(at(id)) + 1];
    };
    for (const Argument& argument : node->args()) forEachNode(argument, take);
    for (const auto& [name, value] : node->kwargs()) forEachNode(value, take);
  }
  m_inputBegin.push_back(int(m_inputs.size()));
  for (std::size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
  m_userBegin = counts;
  m_users.resize(m_inputs.size());
  for (int node = 0; node < size(); ++node) {
    const auto mentioned = inputs(node);
    for (std::size_t slot = 0; slot < mentioned.size(); ++slot)
      m_users[std::size_t(counts[std::size_t(mentioned[slot])]++)] = {node, int(slot)};
  }
}

void ComparedGraph::addKeys() {
  HashBuffer buffer(std::vector<std::uint32_t>(m_positions.size(), 0));
  SharedTexts shared;
  std::unordered_map<std::string, Key> familyOf;
  for (const Node* node : m_nodes) {
    const bool leaf = node->op() == Opcode::Placeholder || node->op() == Opcode::Output;
    const std::string spelling = fmt::format("{} {}", int(node->op()), leaf ? "" : node->target());
    const auto [family, fresh] = familyOf.try_emplace(spelling, 0);
    if (fresh) family->second = leaf ? Key(node->op()) + 2 : keyOf(opFamily(*node));
    m_ops.push_back(family->second);
    buffer.clear();
    buffer.number(family->second);
    if (node->op() != Opcode::Placeholder) buffer.arguments(node->args());
    for (const auto& [name, value] : node->kwargs()) {
      buffer.text(name);
      buffer.argument(value);
    }
    m_labels.push_back(buffer.hash().low);
    const ValueMeta& value = node->meta().value;
    m_values.push_back(value.known() ? shared(printAnnotation(node->meta(), false, false)) : 0);
    const std::string origin = originText(node->meta());
    m_origins.push_back(origin.empty() ? 0 : shared(origin));
  }
}

std::span<const int> ComparedGraph::inputs(int at) const {
  const auto begin = std::size_t(m_inputBegin[std::size_t(at)]), end = std::size_t(m_inputBegin[std::size_t(at) + 1]);
  return {m_inputs.data() + begin, end - begin};
}

std::span<const Use> ComparedGraph::users(int at) const {
  const auto begin = std::size_t(m_userBegin[std::size_t(at)]), end = std::size_t(m_userBegin[std::size_t(at) + 1]);
  return {m_users.data() + begin, end - begin};
}

}  // namespace kerf::inline diff
