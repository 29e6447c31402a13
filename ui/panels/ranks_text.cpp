#include "ui/panels/ranks_text.h"

#include <algorithm>
#include <unordered_map>

#include <QCoreApplication>
#include <QStringList>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

using workbench::CulpritDoc, workbench::RankGroupDoc;

QString say(const char* words) { return QCoreApplication::translate("RanksPanel", words); }

QString rankNames(const std::vector<int>& ranks) {
  QStringList names;
  for (const int rank : ranks) names << QString::number(rank);
  return (ranks.size() == 1 ? say("rank %1") : say("ranks %1")).arg(names.join(", "));
}

/// What most ranks have; of equally many the first.
const RankGroupDoc* usualGroup(const std::vector<RankGroupDoc>& groups) {
  const auto most = std::ranges::max_element(groups, {}, [](const RankGroupDoc& group) { return group.ranks.size(); });
  return most == groups.end() ? nullptr : &*most;
}

using Lanes = std::unordered_map<int, std::size_t>;  ///< by rank

void fillCells(const Lanes& lanes, const RankGroupDoc& group, bool differs, std::vector<LaneCell>& cells) {
  for (const int rank : group.ranks)
    if (const auto lane = lanes.find(rank); lane != lanes.end()) cells[lane->second] = {text(group.what), differs};
  for (const workbench::RankPlaceDoc& place : group.places)
    for (const int rank : place.ranks)
      if (const auto lane = lanes.find(rank); lane != lanes.end()) cells[lane->second].place = &place;
}

std::vector<LaneCell> cellsOf(const Lanes& lanes, const std::vector<RankGroupDoc>& groups) {
  std::vector<LaneCell> cells(lanes.size(), LaneCell{QString("—")});
  const RankGroupDoc* const usual = usualGroup(groups);
  for (const RankGroupDoc& group : groups) fillCells(lanes, group, &group != usual, cells);
  return cells;
}

void blame(const Lanes& lanes, const CulpritDoc& culprit, LaneRow& row) {
  row.culprit = &culprit;
  row.isFirst = true;
  for (const int rank : culprit.ranks)
    if (const auto lane = lanes.find(rank); lane != lanes.end()) row.cells[lane->second].blamed = true;
}

LaneRow rowOfGraph(const Lanes& lanes, const workbench::DifferingGraphDoc& graph) {
  LaneRow row{{},
              text(graph.compileId) + " " + text(graph.stage),
              cellsOf(lanes, graph.groups),
              &graph.groups,
              graph.compileId};
  if (graph.index >= 0) row.place += say(", node %1").arg(graph.index);
  return row;
}

/// Rows that a window can hold; those around the first that does not meet are among them.
struct Listed {
  std::size_t graphs = 0, firstCollective = 0, collectives = 0;
};
Listed listedRows(const RankLanesDoc& ranks) {
  constexpr std::size_t mostCells = 200'000;
  const std::size_t most = std::max<std::size_t>(1, mostCells / std::max<std::size_t>(1, ranks.ranks.size()));
  Listed listed{std::min(most, ranks.graphs.size()), 0, std::min(most, ranks.timeline.size())};
  const std::size_t row = ranks.culprits.empty() ? 0 : ranks.culprits.front().row;
  if (row >= listed.collectives && row < ranks.timeline.size())
    listed.firstCollective = std::min(row - listed.collectives / 2, ranks.timeline.size() - listed.collectives);
  return listed;
}

QString groupsHtml(const std::vector<RankGroupDoc>& groups) {
  QString html = "<table cellpadding='2'>";
  for (const RankGroupDoc& group : groups)
    html += "<tr><td><b>" + rankNames(group.ranks) + "</b></td><td><code>" + text(group.what).toHtmlEscaped() +
            "</code></td></tr>";
  return html + "</table>";
}

QString waitText(const CulpritDoc& culprit) {
  return (culprit.waiting.size() == 1 ? say("%1 waits") : say("%1 wait")).arg(rankNames(culprit.waiting));
}

QString culpritText(const CulpritDoc& culprit) {
  if (culprit.isUnfinished)
    return say("Collective %1, %2, does not end: %3 in it")
        .arg(culprit.number)
        .arg(text(culprit.collective), waitText(culprit));
  return (culprit.ranks.size() == 1 ? say("%1 issues %2 where %3 in collective %4, %5")
                                    : say("%1 issue %2 where %3 in collective %4, %5"))
      .arg(rankNames(culprit.ranks), text(culprit.mismatch), waitText(culprit))
      .arg(culprit.number)
      .arg(text(culprit.collective));
}

/// What the first sentence leaves out.
QString furtherText(const RankLanesDoc& ranks) {
  QString further;
  if (ranks.uncomparedMessages > 0)
    further += " " + say("Messages that are not compared: %1, since the other end is in no record, or its record no "
                         "longer holds its first entries.")
                         .arg(ranks.uncomparedMessages);
  if (!ranks.absent.empty()) further += " " + say("There is no file of %1.").arg(rankNames(ranks.absent));
  const Listed listed = listedRows(ranks);
  if (listed.collectives < ranks.timeline.size())
    further += " " + say("%1 of %2 collectives are listed.").arg(listed.collectives).arg(ranks.timeline.size());
  if (listed.graphs < ranks.graphs.size())
    further += " " + say("%1 of %2 graphs are listed.").arg(listed.graphs).arg(ranks.graphs.size());
  return further;
}

}  // namespace

std::vector<LaneRow> laneRows(const RankLanesDoc& ranks) {
  Lanes lanes;
  for (const int rank : ranks.ranks) lanes.emplace(rank, lanes.size());
  const Listed listed = listedRows(ranks);
  std::vector<LaneRow> rows;
  for (std::size_t i = 0; i < listed.graphs; ++i) rows.push_back(rowOfGraph(lanes, ranks.graphs[i]));
  for (std::size_t i = listed.firstCollective; i < listed.firstCollective + listed.collectives; ++i) {
    const auto& collective = ranks.timeline[i];
    LaneRow row{QString::number(collective.number), text(collective.compileId), cellsOf(lanes, collective.groups),
                &collective.groups, collective.compileId};
    if (!ranks.culprits.empty() && ranks.culprits.front().row == i) blame(lanes, ranks.culprits.front(), row);
    rows.push_back(std::move(row));
  }
  if (ranks.culprits.empty() && !ranks.graphs.empty()) rows.front().isFirst = true;
  return rows;
}

QString ranksHeadline(const RankLanesDoc& ranks) {
  const QString further = furtherText(ranks);
  if (!ranks.culprits.empty()) return culpritText(ranks.culprits.front()) + "." + further;
  if (!ranks.graphs.empty())
    return say("Graphs that are not the same on all ranks: %1, the first %2.")
               .arg(ranks.graphs.size())
               .arg(text(ranks.graphs.front().compileId) + " " + text(ranks.graphs.front().stage)) +
           further;
  return say("All %1 ranks have the same graphs, and all collectives meet (%2).")
             .arg(ranks.ranks.size())
             .arg(ranks.timeline.size()) +
         further;
}

QString laneHtml(const LaneRow& row) {
  QString html = QString("<body style='color: %1'>").arg(theme().text.name());
  html += "<h3>" + (row.number.isEmpty() ? QString() : say("Collective %1, ").arg(row.number)) +
          row.place.toHtmlEscaped() + "</h3>";
  html += groupsHtml(*row.groups);
  if (row.culprit == nullptr) return html + "</body>";
  html += "<p>" + culpritText(*row.culprit).toHtmlEscaped() + ".</p><h4>" + say("Done last") + "</h4>";
  return html + groupsHtml(row.culprit->lastDone) + "</body>";
}

}  // namespace kerf::ui::inline panels
