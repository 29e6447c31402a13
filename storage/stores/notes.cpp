#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"

namespace kerf::inline storage::inline stores {

namespace {

NoteRow noteRow(const SqlRow& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5)};
}

}  // namespace

Result<void> putNote(Database& database, const NoteRow& note) {
  const std::string now = nowUtc();
  return database.execute(
      "INSERT INTO notes(graph_hash, node, text, capture, graph, changed_at) VALUES (?, ?, ?, ?, ?, ?) ON "
      "CONFLICT(graph_hash, node) DO UPDATE SET text = excluded.text, capture = excluded.capture, graph = "
      "excluded.graph, changed_at = excluded.changed_at",
      {std::string_view(note.graphHash), std::string_view(note.node), std::string_view(note.text),
       std::string_view(note.capture), std::string_view(note.graph), std::string_view(now)});
}

Result<void> forgetNote(Database& database, const std::string& graphHash, const std::string& node) {
  return database.execute("DELETE FROM notes WHERE graph_hash = ? AND node = ?",
                          {std::string_view(graphHash), std::string_view(node)});
}

Result<std::vector<NoteRow>> notes(Database& database, const std::string& graphHash) {
  return queryAll<NoteRow>(database,
                           "SELECT graph_hash, node, text, capture, graph, changed_at FROM notes WHERE ?1 = '' OR "
                           "graph_hash = ?1 ORDER BY changed_at DESC, id DESC",
                           {std::string_view(graphHash)}, noteRow);
}

}  // namespace kerf::inline storage::inline stores
