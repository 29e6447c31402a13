#include "engine/diff/value_classes.h"

#include <unordered_map>

#include "engine/diff/order_effects.h"
#include "engine/ops/core/purity.h"

namespace kerf::inline diff {

std::vector<int> valueClasses(const ComparedGraph& graph) {
  const auto written = readsOfWrittenMemory(graph);
  std::vector<int> classes(std::size_t(graph.size()));
  std::unordered_map<Key, int> firsts;
  for (int at = 0; at < graph.size(); ++at) {
    classes[std::size_t(at)] = at;
    if (!graph.isInner(at) || written[std::size_t(at)] || purityOf(graph.node(at)) == Purity::Impure) continue;
    Key key = graph.label(at);
    for (const int input : graph.inputs(at)) key = mixed(key, Key(classes[std::size_t(input)]));
    classes[std::size_t(at)] = firsts.try_emplace(key, at).first->second;
  }
  return classes;
}

}  // namespace kerf::inline diff
