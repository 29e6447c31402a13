#include "storage/stores/prepared_blobs.h"

#include <algorithm>

#include "engine/support/out_of_memory.h"
#include "engine/tensor/file_pieces.h"
#include "storage/stores/blobs.h"

namespace kerf::inline storage::inline stores {

namespace {

Result<Hash128> hashOf(const StoredBlob& entry, const StoreProgress& progress) {
  if (!entry.file) return hashBytes(entry.bytes);
  KERF_TRY(const auto sum, sumOfFile(*entry.file, [&](std::int64_t) { return !progress || progress(0); }));
  return sum.hash;
}

}  // namespace

Result<void> PreparedBlobs::read(Database& database, const StoreProgress& progress) {
  if (std::ranges::any_of(m_graphs, [](const NewGraph& graph) { return bool(graph.check); }))
    m_checks = std::jthread([this] { m_outcome = withinMemory([&] { return checkAll(); }); });
  auto hashed = hashAll(database, progress);
  if (!hashed && hashed.error().code == ErrorCode::Cancelled) return hashed;
  if (!hashed || !m_anyNew) KERF_CHECK(finish());
  return hashed;
}

Result<void> PreparedBlobs::hashAll(Database& database, const StoreProgress& progress) {
  m_hashes.resize(m_graphs.size());
  for (std::size_t i = 0; i < m_graphs.size(); ++i) {
    for (const auto& entry : m_graphs[i].blobs) {
      KERF_TRY(const auto hash, hashOf(entry, progress));
      m_anyNew = !isStoredWhole(database, hash) || m_anyNew;
      m_hashes[i].push_back(hash);
    }
  }
  return {};
}

Result<void> PreparedBlobs::checkAll() const {
  for (const auto& graph : m_graphs)
    if (graph.check) KERF_CHECK(graph.check());
  return {};
}

Result<void> PreparedBlobs::finish() {
  if (m_checks.joinable()) m_checks.join();
  return m_outcome;
}

}  // namespace kerf::inline storage::inline stores
