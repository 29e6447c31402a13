// Fold repeats: blocks of one form that follow each other become one group, which may be opened like any other.
// embed → h.0 → h.1 → … → h.11 → norm: embed → "h.0 … h.11" (12 × block) → norm
#pragma once

#include "ui/layout/group_tree.h"

namespace kerf::ui::inline layout {

/// Three or more neighbours of one form, at least six calls each, where nothing but single calls lies on a way from one
/// to another; those come along. The blocks keep their paths, so that what is open stays open when a run breaks.
GroupTree foldRepeats(const workbench::GraphDoc& graph, const GroupTree& tree);

}  // namespace kerf::ui::inline layout
