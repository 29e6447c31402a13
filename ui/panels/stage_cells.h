// StageCells: what the stage strip shows, as data: a lane of PyTorch's recorded stages, and one of Kerf's own passes on
// the stage at hand.
//
//     PyTorch  Dynamo 479 → pre-grad 479 → joint 2302 +1830 → …     (recorded; "forward", "backward" behind the cut)
//     Kerf     captured 479 → cse 470 −9 → | | → decompose 512      (passes that changed nothing are ticks)
#pragma once

#include <optional>
#include <vector>

#include "ui/session/session.h"

namespace kerf::ui::inline panels {

struct StageCell {
  enum class Verdict { Unknown, Same, Different, NotCompared };
  QString title, tip;
  QString part;     ///< "forward", "backward"; empty: of the whole
  Location place;   ///< where the cell leads to
  int record = -1;  ///< output code: it leads to this record of the capture instead
  int nodesBefore = -1, nodes = -1;
  int kernels = -1;  ///< of output code
  double milliseconds = -1;
  std::optional<bool> changed;  ///< nothing: not known
  ChangeCounts counts;
  Verdict verdict = Verdict::Unknown;
  bool tick = false;  ///< a pass that changed nothing: drawn narrow, and passed over by the arrow keys
};

struct StageLane {
  QString title;
  std::vector<StageCell> cells;
  int current = -1;
};

/// Of the place where the session is. Without recorded stages there is Kerf's lane alone.
std::vector<StageLane> stageLanes(const Session& session);

/// "+12 −3 ~4": added, removed, and rewritten or changed nodes; empty where there are none.
QString changeText(const ChangeCounts& counts);
QString verdictText(StageCell::Verdict verdict);

}  // namespace kerf::ui::inline panels
