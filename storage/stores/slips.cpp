#include "storage/stores/store_tables.h"

#include "storage/stores/contents.h"
#include "storage/stores/prepared_blobs.h"
#include "storage/stores/row_columns.h"

namespace kerf::inline storage::inline stores {

Result<void> putSlip(Database& database, const SlipRow& slip, const NewGraph& candidate) {
  PreparedBlobs blobs({&candidate, 1});
  KERF_CHECK(blobs.read(database));
  return database.transaction([&]() -> Result<void> {
    KERF_TRY(const auto content, putContent(database, candidate, blobs.of(0)));
    KERF_CHECK(blobs.finish());
    return insertRow(database, slip, {{"content", std::string_view(content)}},
                     "ON CONFLICT(reduction, position) DO UPDATE SET fingerprint = excluded.fingerprint, detail = "
                     "excluded.detail, tests = excluded.tests, graph_hash = excluded.graph_hash, nodes = "
                     "excluded.nodes, content = excluded.content");
  });
}

Result<std::vector<SlipRow>> slips(Database& database, std::int64_t reductionId) {
  return selectRows<SlipRow>(database, "WHERE reduction = ? ORDER BY position", {reductionId});
}

Result<std::string> slipContent(Database& database, std::int64_t slipId) {
  return queryOne<std::string>(
      database, "SELECT content FROM slips WHERE id = ?", {slipId}, [](const SqlRow& row) { return row.text(0); },
      fmt::format("the store has no finding with id {}", slipId));
}

}  // namespace kerf::inline storage::inline stores
