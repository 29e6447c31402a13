// Notes: bookmarks and remarks that people left at nodes, by the content of the graph.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// In place of the one that the node had.
Result<void> putNote(Database& database, const NoteRow& note);
Result<void> forgetNote(Database& database, const std::string& graphHash, const std::string& node);
/// The newest first; of one graph, or of all where `graphHash` is empty.
Result<std::vector<NoteRow>> notes(Database& database, const std::string& graphHash);

}  // namespace kerf::inline storage::inline stores
