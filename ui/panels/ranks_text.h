// What ranks recorded as rows of lanes, and in words.
#pragma once

#include <string>
#include <vector>

#include <QString>

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

struct LaneCell {
  QString text;                                    ///< "—" where the rank has no part in it
  bool differs = false;                            ///< from what most ranks have
  bool blamed = false;                             ///< whose collective is the first that does not meet
  const workbench::RankPlaceDoc* place = nullptr;  ///< where the rank's graphs have it; null: in none of them
};

/// A graph that is not the same on all ranks, or one collective of all.
struct LaneRow {
  QString number, place;  ///< "3"; "[0/0]", with the stage of a graph
  std::vector<LaneCell> cells;
  const std::vector<workbench::RankGroupDoc>* groups = nullptr;
  std::string compileId;  ///< of a rank that has it
  bool isFirst = false;   ///< what to look at first
  const workbench::CulpritDoc* culprit = nullptr;
};

/// Graphs first, then collectives in their order; of many those around the first that does not meet. `ranks` must outlive
/// them.
std::vector<LaneRow> laneRows(const RankLanesDoc& ranks);
/// One line: who does what where whom waits; else what differs; else that all agree.
QString ranksHeadline(const RankLanesDoc& ranks);
/// What each rank does in a row, and of the first that does not meet what each did last.
QString laneHtml(const LaneRow& row);

}  // namespace kerf::ui::inline panels
