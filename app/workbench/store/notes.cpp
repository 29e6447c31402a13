// Bookmarks and notes at nodes, in the store.
#include "app/workbench/workbench.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

Result<std::vector<NodeNoteDoc>> perform(Workbench& bench, const NotesRequest& request, const Job&) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto rows, store->notes(request.graphHash));
  std::vector<NodeNoteDoc> notes;
  for (const auto& row : rows)
    notes.push_back({row.graphHash, row.node, row.text, row.capture, row.graph, row.changedAt});
  return notes;
}

Result<Done> perform(Workbench& bench, const NoteRequest& request, const Job&) {
  const auto& note = request.note;
  if (note.graphHash.empty() || note.node.empty())
    return fail(ErrorCode::BadUsage, "a note needs a graph and the name of a node");
  KERF_TRY(auto* store, bench.store());
  if (request.forget) {
    KERF_CHECK(store->forgetNote(note.graphHash, note.node));
  } else {
    KERF_CHECK(store->putNote({note.graphHash, note.node, note.text, note.capture, note.graph}));
  }
  return Done();
}

}  // namespace kerf::workbench
