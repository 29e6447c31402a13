#include "engine/audit/meaning/seen_results.h"

#include <algorithm>
#include <cmath>

#include "engine/audit/meaning/value_marks.h"

namespace kerf::inline audit {
namespace {

/// Operators whose result has the sizes of what they are given, and none of its numbers.
bool takesSizesOnly(const Node& node) {
  const std::string& target = node.target();
  return target.find("_like.") != std::string::npos || target.find(".new_") != std::string::npos;
}

std::set<NodeId> inputsOf(const Graph& graph) {
  const std::vector<NodeId> placeholders = graph.placeholders();
  return {placeholders.begin(), placeholders.end()};
}

}  // namespace

SeenResults::SeenResults(const GraphModule& graph) : SeenResults(graph, inputsOf(graph.graph)) {}

SeenResults::SeenResults(const GraphModule& graph, const std::set<NodeId>& inputs)
    : m_graph(graph), m_dependent(inputs) {
  for (const NodeId id : graph.graph.order()) {
    const Node& node = graph.graph.node(id);
    const auto operands = node.inputs();
    const auto isFrom = [&](NodeId each) { return m_dependent.contains(each); };
    if (!takesSizesOnly(node) && std::ranges::any_of(operands, isFrom)) m_dependent.insert(id);
  }
}

void SeenResults::Seen::add(const NumberArray& numbers) {
  std::size_t there = 0;
  for (const double each : numbers) {
    if (std::isnan(each)) continue;
    ++there;
    low = isThere ? std::min(low, each) : each;
    high = isThere ? std::max(high, each) : each;
    isThere = true;
  }
  count = numbers.size();
  isMostlyThere = isMostlyThere || there * 3 >= numbers.size() * 2;
}

void SeenResults::add(const ValueList& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].isTensor())
      if (const auto numbers = numbersOf(outputs[i].tensor())) m_seen[i].add(numbers->values);
}

bool SeenResults::isDependent(std::size_t output) const {
  const NodeId id = m_graph.graph.outputNode();
  if (!id.valid() || m_graph.graph.node(id).args().empty()) return false;
  const Argument& all = m_graph.graph.node(id).args()[0];
  const ArgumentList one{all};
  const ArgumentList& results = all.asList() != nullptr ? all.asList()->items : one;
  const auto* const node = output < results.size() ? results[output].as<NodeId>() : nullptr;
  return node != nullptr && m_dependent.contains(*node);
}

std::string SeenResults::whyNotTold(std::size_t output, bool isAgain) const {
  const auto found = m_seen.find(output);
  if (found == m_seen.end() || found->second.count == 0) return {};
  const Seen& seen = found->second;
  if (!seen.isMostlyThere) return "it is not a number on the inputs that were drawn";
  const bool isChanged = seen.low < seen.high || (seen.count == 1 && !isAgain);
  return isChanged || !isDependent(output) ? std::string() : "no inputs that were drawn change it";
}

}  // namespace kerf::inline audit
