// Fold repeats: blocks of one form that follow each other become one group, which may be opened like any other.
// embed → h.0 → h.1 → … → h.11 → norm: embed → "h.0 … h.11" (12 × block) → norm
#pragma once

#include "ui/layout/group_tree.h"

namespace kerf::ui::inline layout {

/// Three or more neighbours of one form, at least six calls each, where nothing but single calls lies on a way from one
/// to another; those come along. The blocks keep their paths, so that what is open stays open when a run breaks. Blocks
/// that stood beside each other in `before` (all that a group consisted of, until a pass changed one) do so again.
GroupTree foldRepeats(const workbench::GraphDoc& graph, const GroupTree& tree, const GroupTree* before = nullptr);

}  // namespace kerf::ui::inline layout
