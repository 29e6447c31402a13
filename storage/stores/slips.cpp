#include "storage/stores/store_tables.h"

#include "storage/stores/contents.h"
#include "storage/stores/prepared_blobs.h"

namespace kerf::inline storage::inline stores {

namespace {

SlipRow slipRow(const SqlRow& row) {
  SlipRow slip;
  slip.id = row.integer(0);
  slip.reductionId = row.integer(1);
  slip.number = int(row.integer(2));
  slip.fingerprint = row.text(3);
  slip.detail = row.text(4);
  slip.tests = int(row.integer(5));
  slip.graphHash = row.text(6);
  slip.nodes = int(row.integer(7));
  return slip;
}

}  // namespace

Result<void> putSlip(Database& database, const SlipRow& slip, const NewGraph& candidate) {
  PreparedBlobs blobs({&candidate, 1});
  KERF_CHECK(blobs.read(database));
  return database.transaction([&]() -> Result<void> {
    KERF_TRY(const auto content, putContent(database, candidate, blobs.of(0)));
    KERF_CHECK(blobs.finish());
    return database.execute(
        "INSERT INTO slips(reduction, position, fingerprint, detail, tests, graph_hash, nodes, content) VALUES (?, ?, "
        "?, ?, ?, ?, ?, ?) ON CONFLICT(reduction, position) DO UPDATE SET fingerprint = excluded.fingerprint, detail = "
        "excluded.detail, tests = excluded.tests, graph_hash = excluded.graph_hash, nodes = excluded.nodes, content = "
        "excluded.content",
        {slip.reductionId, std::int64_t{slip.number}, std::string_view(slip.fingerprint), std::string_view(slip.detail),
         std::int64_t{slip.tests}, std::string_view(slip.graphHash), std::int64_t{slip.nodes},
         std::string_view(content)});
  });
}

Result<std::vector<SlipRow>> slips(Database& database, std::int64_t reductionId) {
  return queryAll<SlipRow>(database,
                           "SELECT id, reduction, position, fingerprint, detail, tests, graph_hash, nodes FROM slips "
                           "WHERE reduction = ? ORDER BY position",
                           {reductionId}, slipRow);
}

Result<std::string> slipContent(Database& database, std::int64_t slipId) {
  return queryOne<std::string>(
      database, "SELECT content FROM slips WHERE id = ?", {slipId}, [](const SqlRow& row) { return row.text(0); },
      fmt::format("the store has no finding with id {}", slipId));
}

}  // namespace kerf::inline storage::inline stores
