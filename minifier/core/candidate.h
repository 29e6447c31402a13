// CandidateHasher: the content hash that names a candidate in verdict caches and stores.
#pragma once

#include <memory>
#include <unordered_map>

#include "engine/ir/value_meta.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

/// Hash over the graph, its attributes and every input's dtype, layout and bytes. Remembers the hash of each storage,
/// so that a large weight is read once. One thread at a time.
class CandidateHasher {
 public:
  Hash128 hash(const Candidate& candidate);

 private:
  Hash128 storageHash(const StoragePtr& storage);
  void appendValue(const Value& value, std::string& text);
  struct Known {
    std::weak_ptr<Storage> storage;
    Hash128 hash;
  };
  std::unordered_map<const Storage*, Known> m_known;
};

/// Whether a run may change inputs or buffers: a graph that returns nothing has results then.
bool writesMemory(const GraphModule& module);

/// Nodes that the output mentions, in order, each once.
std::vector<NodeId> returnedNodes(const Graph& graph);

}  // namespace kerf::inline minifier::inline core
