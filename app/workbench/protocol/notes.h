// Notes: bookmarks and remarks that people leave at nodes. They belong to the graph by its content, so that they are
// there again wherever it is opened from.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/protocol/job.h"

namespace kerf::workbench {

struct NodeNoteDoc {
  std::string graphHash, node;  ///< GraphDoc::hash, and the node's name
  std::string text;             ///< empty: only a bookmark
  std::string capture, graph;   ///< where it was left: what opens the capture, and the graph's name
  std::string changedAt = {};   ///< ISO 8601 UTC

  KERF_FIELDS(graphHash, node, text, capture, graph, changedAt)
};

/// Every note of the store, the newest first.
struct NotesRequest {
  using Answer = std::vector<NodeNoteDoc>;
  static constexpr std::string_view name = "notes";
  std::string graphHash;  ///< of this graph only; empty: of all

  KERF_FIELDS(graphHash)
};

/// Leaves a note, in place of the one that the node had.
struct NoteRequest {
  using Answer = Done;
  static constexpr std::string_view name = "note";
  NodeNoteDoc note;
  bool forget = false;  ///< takes it away instead

  KERF_FIELDS(note, forget)
};

}  // namespace kerf::workbench
