// What counts as a change, and how nested graphs are taken out of a module and put back.
#include "engine/passes/working_graph.h"

#include <algorithm>

namespace kerf::inline passes {

namespace {

bool sameTensor(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.offset() == b.offset();
}

bool sameEntry(const TensorAttribute& a, const TensorAttribute& b) { return sameTensor(a.tensor, b.tensor); }

bool sameEntry(const Submodule& a, const Submodule& b) {
  if (a.graph == b.graph) return a.repr == b.repr;
  return a.graph && b.graph && a.graph->contentHash() == b.graph->contentHash();
}

template <class T>
bool sameTable(const NamedTable<T>& a, const NamedTable<T>& b) {
  if (a.revision() == b.revision()) return true;
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.first == y.first && sameEntry(x.second, y.second); });
}

}  // namespace

WorkingGraph::WorkingGraph(const GraphModule& module)
    : m_module(module),
      m_known(module.revision()),
      m_snapshot(std::make_shared<const Graph>(module.graph)),
      m_hash(module.graph.contentHash()),
      m_attributes(module.attributes),
      m_submodules(module.submodules) {}

bool WorkingGraph::takeChange() {
  bool changed = !sameTable(m_attributes, m_module.attributes) || !sameTable(m_submodules, m_module.submodules);
  if (m_module.graph.revision() != m_known.graph) {
    const Hash128 hash = m_module.graph.contentHash();
    if (hash != m_hash) {
      m_snapshot = std::make_shared<const Graph>(m_module.graph);
      m_hash = hash;
      changed = true;
    }
  }
  m_attributes = m_module.attributes;
  m_submodules = m_module.submodules;
  m_known = m_module.revision();
  return changed;
}

const std::vector<WorkingGraph::Nested>& WorkingGraph::nested(Pool& pool) {
  if (m_nestedRevision == m_module.submodules.revision()) return m_nested;
  m_nestedRevision = m_module.submodules.revision();
  m_nested.clear();
  for (const auto& [name, submodule] : m_module.submodules) {
    if (!submodule.graph) continue;
    auto& working = pool[submodule.graph];
    if (!working) {
      working = std::make_shared<WorkingGraph>(*submodule.graph);
      working->m_published = submodule.graph;
    }
    m_nested.push_back({name, working, submodule.graph});
  }
  return m_nested;
}

std::shared_ptr<const GraphModule> WorkingGraph::published(const std::shared_ptr<WorkingGraph>& self, Pool& pool) {
  if (m_published->revision() == m_module.revision()) return m_published;
  m_published = std::make_shared<const GraphModule>(m_module);
  pool[m_published] = self;
  return m_published;
}

void WorkingGraph::takeNested(Pool& pool) {
  for (Nested& nested : m_nested) {
    auto graph = nested.graph->published(nested.graph, pool);
    if (nested.inModule == graph) continue;
    nested.inModule = std::move(graph);
    for (auto& [name, submodule] : m_module.submodules.edit())
      if (name == nested.name) submodule.graph = nested.inModule;
  }
  m_nestedRevision = m_known.submodules = m_module.submodules.revision();
  m_submodules = m_module.submodules;
}

}  // namespace kerf::inline passes
