#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"
#include "storage/stores/contents.h"
#include "storage/stores/deletions.h"
#include "storage/stores/prepared_blobs.h"
#include "storage/stores/row_columns.h"

namespace kerf::inline storage::inline stores {

Result<std::int64_t> addRepro(Database& database, const ReproRow& repro, const NewGraph& content) {
  std::int64_t id = 0;
  ReproRow row = repro;
  if (row.createdAt.empty()) row.createdAt = nowUtc();
  PreparedBlobs blobs({&content, 1});
  KERF_CHECK(blobs.read(database));
  KERF_CHECK(database.transaction([&]() -> Result<void> {
    KERF_TRY(const auto hash, putContent(database, content, blobs.of(0)));
    KERF_CHECK(blobs.finish());
    KERF_CHECK(insertRow(database, row, {{"content", std::string_view(hash)}}));
    id = database.lastInsertId();
    return {};
  }));
  return id;
}

Result<std::vector<ReproRow>> repros(Database& database) {
  return selectRows<ReproRow>(database, "WHERE deletion IS NULL ORDER BY id");
}

Result<ReproRow> repro(Database& database, std::int64_t id) {
  KERF_CHECK(checkNotDeleted(database, {'p', id}));
  return selectRow<ReproRow>(database, "WHERE id = ?", {id}, fmt::format("the store has no repro p{}", id));
}

Result<std::string> reproContent(Database& database, std::int64_t id) {
  return queryOne<std::string>(
      database, "SELECT content FROM repros WHERE id = ?", {id}, [](const SqlRow& row) { return row.text(0); },
      fmt::format("the store has no repro p{}", id));
}

}  // namespace kerf::inline storage::inline stores
