// ChangeMarks: what a difference says of the nodes on screen: which are new, which were made by rewrites or are called
// otherwise, and ghosts of those that are gone.
#pragma once

#include <QSet>

#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

struct ChangeMarks {
  QSet<int> added, rewritten;  ///< rewritten: or called otherwise
  GhostsPtr ghosts;            ///< null: none
  int notDrawn = 0;            ///< nodes that are gone and would crowd out what is there
};

/// `difference` is between its graph `before` and `shown`.
ChangeMarks changeMarks(const GraphDoc& shown, const DifferenceDoc& difference);

}  // namespace kerf::ui::inline graph_view
