#include "engine/capture/text/printed_schemas.h"

#include <algorithm>
#include <cctype>

#include "engine/capture/text/lines.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t mostSchemas = 256;
constexpr std::size_t longestLine = 4000;
constexpr std::string_view opsPrefix = "torch.ops.";

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "mylib::norm(Tensor x) -> Tensor" out of a line, also where name and arguments are two strings; empty if none.
std::string schemaText(std::string_view line) {
  const std::size_t colons = line.find("::");
  if (colons == std::string_view::npos || colons == 0 || line.size() > longestLine) return {};
  std::size_t begin = colons;
  while (begin > 0 && isNameCharacter(line[begin - 1])) --begin;
  std::string text(line.substr(begin));
  for (const std::string_view between : {"\", \"(", "', '("})
    if (const std::size_t at = text.find(between); at != std::string::npos) text.replace(at, between.size(), "(");
  const std::size_t arrow = text.find(") -> ");
  if (begin == colons || arrow == std::string::npos) return {};
  const std::size_t end = text.find_first_of("\"'`;#", arrow);
  return std::string(strippedLine(std::string_view(text).substr(0, end)));
}

/// The argument that the only result is, by its alias; -1 if it is none of them.
int returnedArgument(const OpSchema& schema) {
  if (schema.returns.size() != 1) return -1;
  for (std::size_t i = 0; i < schema.arguments.size(); ++i)
    if (!schema.arguments[i].alias.empty() &&
        schema.returns[0].find("(" + schema.arguments[i].alias + ")") != std::string::npos)
      return int(i);
  return -1;
}

std::string written(const OpSchema& schema) {
  std::string names;
  for (const SchemaArgument& argument : schema.arguments)
    if (argument.alias.ends_with('!')) names += (names.empty() ? "" : ", ") + argument.name;
  return names.empty() ? std::string(", which writes to none of its arguments") : ", which writes to " + names;
}

/// The node that a call passes for an argument.
std::optional<NodeId> passed(const Node& node, const OpSchema& schema, std::size_t index) {
  const Argument* argument = index < node.args().size() ? &node.args()[index] : nullptr;
  for (const auto& [name, value] : node.kwargs())
    if (name == schema.arguments[index].name) argument = &value;
  const NodeId* id = argument == nullptr ? nullptr : argument->as<NodeId>();
  return id == nullptr ? std::nullopt : std::optional(*id);
}

}  // namespace

PrintedSchemas::PrintedSchemas(std::string_view text) {
  while (!text.empty() && m_schemas.size() < mostSchemas) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string found = schemaText(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (found.empty()) continue;
    if (auto schema = parseSchema(found)) m_schemas.push_back({std::move(*schema)});
  }
}

PrintedSchemas::Printed* PrintedSchemas::of(const Node& node) {
  const std::string_view target = node.target();
  if (node.op() != Opcode::CallFunction || !target.starts_with(opsPrefix)) return nullptr;
  const std::string_view name = target.substr(opsPrefix.size());
  const auto names = [&](const Printed& printed) {
    const std::string qualified = printed.schema.qualifiedName();
    return name == qualified || name == std::string_view(qualified).substr(0, qualified.rfind('.'));
  };
  const auto found = std::ranges::find_if(m_schemas, names);
  return found == m_schemas.end() || findOp(node) != nullptr ? nullptr : &*found;
}

void PrintedSchemas::apply(Graph& graph, std::vector<std::string>* notes) {
  if (m_schemas.empty()) return;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    Printed* printed = of(graph.node(id));
    if (printed == nullptr) continue;
    if (!std::exchange(printed->told, true) && notes != nullptr)
      notes->push_back(
          fmt::format("{} is known by its schema in the text{}", printed->schema.name, written(printed->schema)));
    const int returned = returnedArgument(printed->schema);
    if (returned < 0 || graph.node(id).meta().value.known()) continue;
    const auto source = passed(graph.node(id), printed->schema, std::size_t(returned));
    if (source) graph.setValueMeta(id, ValueMeta(graph.node(*source).meta().value));
  }
}

}  // namespace kerf::inline capture
