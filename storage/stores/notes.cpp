#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"
#include "storage/stores/row_columns.h"

namespace kerf::inline storage::inline stores {

Result<void> putNote(Database& database, const NoteRow& note) {
  NoteRow row = note;
  row.changedAt = nowUtc();
  return insertRow(database, row, {},
                   "ON CONFLICT(graph_hash, node) DO UPDATE SET text = excluded.text, capture = excluded.capture, "
                   "graph = excluded.graph, changed_at = excluded.changed_at");
}

Result<void> forgetNote(Database& database, const std::string& graphHash, const std::string& node) {
  return database.execute("DELETE FROM notes WHERE graph_hash = ? AND node = ?",
                          {std::string_view(graphHash), std::string_view(node)});
}

Result<std::vector<NoteRow>> notes(Database& database, const std::string& graphHash) {
  return selectRows<NoteRow>(database, "WHERE ?1 = '' OR graph_hash = ?1 ORDER BY changed_at DESC, id DESC",
                             {std::string_view(graphHash)});
}

}  // namespace kerf::inline storage::inline stores
