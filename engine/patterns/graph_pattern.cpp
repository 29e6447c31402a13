// Node by node from a graph to expressions, sharing what is used twice.
#include "engine/patterns/graph_pattern.h"

#include <algorithm>
#include <unordered_map>

namespace kerf::inline patterns {

namespace {

std::optional<double> numberOf(const Argument& argument) {
  if (const auto* integer = argument.as<std::int64_t>()) return double(*integer);
  if (const auto* real = argument.as<double>()) return *real;
  return std::nullopt;
}

class GraphReader {
 public:
  GraphReader(const Graph& graph, const PatternReading& reading) : m_graph(graph), m_reading(reading) {}

  Result<Pattern> read() {
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      if (node.op() == Opcode::Output) return output(node);
      KERF_TRY(Pattern pattern, nodePattern(node));
      m_patterns.emplace(id, std::move(pattern));
    }
    return fail(ErrorCode::BadInput, "the pattern returns nothing");
  }

 private:
  Result<Pattern> nodePattern(const Node& node) {
    if (node.op() == Opcode::Placeholder) {
      const bool exclusive = std::ranges::find(m_reading.exclusive, node.name()) != m_reading.exclusive.end();
      return keywordArg(node.name(), exclusive);
    }
    if (node.op() != Opcode::CallFunction || !node.opId())
      return fail(ErrorCode::UnsupportedOp, "{}: a pattern has calls of functions only, no {} of {}", node.name(),
                  opcodeName(node.op()), node.target());
    std::vector<Pattern> operands;
    for (const Argument& argument : node.args()) operands.push_back(argumentPattern(argument));
    NamedPatterns kwargs;
    for (const auto& [name, value] : node.kwargs()) kwargs.emplace_back(name, argumentPattern(value));
    return callFunction(node.opId(), std::move(operands), std::move(kwargs), node.users().size());
  }

  Pattern argumentPattern(const Argument& argument) {
    if (const NodeId* id = argument.as<NodeId>()) return m_patterns.at(*id);
    if (const auto number = numberOf(argument)) {
      const auto scalar = std::ranges::find(m_reading.scalars, *number, &std::pair<std::string, double>::second);
      if (scalar != m_reading.scalars.end()) return named(scalar->first);
    }
    const ListArgument* list = argument.asList();
    const auto isRead = [this](const Argument& item) { return item.as<NodeId>() != nullptr || isScalar(item); };
    const bool hasParts = list != nullptr && std::ranges::any_of(list->items, isRead);
    if (m_reading.ignoresNumbers && !hasParts && matchesAnything(argument)) return ignored();
    if (!hasParts) return literal(argument);
    std::vector<Pattern> items;
    for (const Argument& item : list->items) items.push_back(argumentPattern(item));
    return listPattern(std::move(items));
  }

  bool isScalar(const Argument& argument) const {
    const auto number = numberOf(argument);
    return number && std::ranges::find(m_reading.scalars, *number, &std::pair<std::string, double>::second) !=
                         m_reading.scalars.end();
  }

  /// One expression per name, so that all its places must agree.
  Pattern named(const std::string& name) {
    const auto [found, isNew] = m_named.try_emplace(name);
    if (isNew) found->second = keywordArg(name);
    return found->second;
  }

  static bool matchesAnything(const Argument& argument) {
    if (numberOf(argument) || argument.as<Device>() != nullptr || argument.as<DType>() != nullptr) return true;
    const ListArgument* list = argument.asList();
    return list != nullptr && !list->items.empty() && std::ranges::all_of(list->items, matchesAnything);
  }

  Result<Pattern> output(const Node& node) {
    const Argument& value = node.args()[0];
    const ListArgument* list = value.asList();
    const ArgumentList items = list == nullptr ? ArgumentList{value} : list->items;
    std::vector<Pattern> results;
    for (const Argument& item : items) {
      const NodeId* id = item.as<NodeId>();
      results.push_back(id == nullptr ? nullptr : m_patterns.at(*id));
    }
    const bool computes = !results.empty() && results[0] && results[0]->kind == PatternKind::Call;
    if (!computes) return fail(ErrorCode::BadInput, "the pattern's first result is not a call");
    if (results.size() == 1) return results[0];
    return multiOutput(std::move(results));
  }

  const Graph& m_graph;
  const PatternReading& m_reading;
  std::unordered_map<NodeId, Pattern> m_patterns;
  std::unordered_map<std::string, Pattern> m_named;
};

}  // namespace

Result<Pattern> patternOf(const Graph& graph, const PatternReading& reading) {
  return GraphReader(graph, reading).read();
}

}  // namespace kerf::inline patterns
