// What is read of graphs before a transaction begins, so that others wait for the store only while it is written.
#pragma once

#include <span>
#include <thread>
#include <vector>

#include "engine/support/hash.h"
#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

class PreparedBlobs {
 public:
  /// For graphs that outlive this.
  explicit PreparedBlobs(std::span<const NewGraph> graphs) : m_graphs(graphs) {}
  PreparedBlobs(const PreparedBlobs&) = delete;
  PreparedBlobs& operator=(const PreparedBlobs&) = delete;

  /// Takes the blobs' hashes, and looks whether those that the store has already are whole there. The graphs' own
  /// checks begin on another thread. As sumOfFile(), or what such a check says of the same file, which knows more.
  /// Cancelled when `progress` says so.
  Result<void> read(Database& database, const StoreProgress& progress = {});
  /// Hashes of the blobs of the graph at this index, in their order.
  std::span<const Hash128> of(std::size_t graph) const { return m_hashes.at(graph); }
  /// What the graphs' checks said, once they have come to their end. Ask before a transaction is committed.
  Result<void> finish();

 private:
  Result<void> hashAll(Database& database, const StoreProgress& progress);
  Result<void> checkAll() const;

  std::span<const NewGraph> m_graphs;
  std::vector<std::vector<Hash128>> m_hashes;
  bool m_anyNew = false;  ///< whether a blob is to be written, which goes on while the checks do
  Result<void> m_outcome;
  std::jthread m_checks;
};

}  // namespace kerf::inline storage::inline stores
