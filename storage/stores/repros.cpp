#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"
#include "storage/stores/contents.h"
#include "storage/stores/deletions.h"
#include "storage/stores/prepared_blobs.h"

namespace kerf::inline storage::inline stores {

namespace {

constexpr std::string_view reproColumns = "SELECT id, reduction, graph, path, hash, created_at, nodes FROM repros ";

ReproRow reproRow(const SqlRow& row) {
  ReproRow repro;
  repro.id = row.integer(0);
  if (!row.isNull(1)) repro.reductionId = row.integer(1);
  repro.graphId = row.integer(2);
  repro.path = row.text(3);
  repro.hash = row.text(4);
  repro.createdAt = row.text(5);
  repro.nodes = int(row.integer(6));
  return repro;
}

}  // namespace

Result<std::int64_t> addRepro(Database& database, const ReproRow& repro, const NewGraph& content) {
  std::int64_t id = 0;
  const std::string created = repro.createdAt.empty() ? nowUtc() : repro.createdAt;
  PreparedBlobs blobs({&content, 1});
  KERF_CHECK(blobs.read(database));
  KERF_CHECK(database.transaction([&]() -> Result<void> {
    KERF_TRY(const auto hash, putContent(database, content, blobs.of(0)));
    KERF_CHECK(blobs.finish());
    const SqlValue reduction = repro.reductionId ? SqlValue(*repro.reductionId) : SqlValue();
    KERF_CHECK(database.execute(
        "INSERT INTO repros(reduction, graph, path, hash, created_at, nodes, content) VALUES (?, ?, ?, ?, ?, ?, ?)",
        {reduction, repro.graphId, std::string_view(repro.path), std::string_view(repro.hash),
         std::string_view(created), std::int64_t{repro.nodes}, std::string_view(hash)}));
    id = database.lastInsertId();
    return {};
  }));
  return id;
}

Result<std::vector<ReproRow>> repros(Database& database) {
  return queryAll<ReproRow>(database, fmt::format("{} WHERE deletion IS NULL ORDER BY id", reproColumns), {}, reproRow);
}

Result<ReproRow> repro(Database& database, std::int64_t id) {
  KERF_CHECK(checkNotDeleted(database, {'p', id}));
  return queryOne<ReproRow>(database, fmt::format("{} WHERE id = ?", reproColumns), {id}, reproRow,
                            fmt::format("the store has no repro p{}", id));
}

Result<std::string> reproContent(Database& database, std::int64_t id) {
  return queryOne<std::string>(
      database, "SELECT content FROM repros WHERE id = ?", {id}, [](const SqlRow& row) { return row.text(0); },
      fmt::format("the store has no repro p{}", id));
}

}  // namespace kerf::inline storage::inline stores
