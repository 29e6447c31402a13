#include "ui/panels/ranks_text.h"

#include <algorithm>

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

std::vector<LaneCell> cellsOf(const std::vector<int>& ranks, const std::vector<RankGroupDoc>& groups) {
  std::vector<LaneCell> cells(ranks.size(), LaneCell{QString("—")});
  const RankGroupDoc* const usual = usualGroup(groups);
  for (const RankGroupDoc& group : groups)
    for (const int rank : group.ranks)
      if (const auto lane = std::ranges::find(ranks, rank); lane != ranks.end())
        cells[std::size_t(lane - ranks.begin())] = {text(group.what), &group != usual};
  return cells;
}

void blame(const RankLanesDoc& ranks, LaneRow& row) {
  const auto culprit = std::ranges::find_if(ranks.culprits, [&](const CulpritDoc& one) {
    return !row.number.isEmpty() && QString::number(one.number) == row.number;
  });
  if (culprit == ranks.culprits.end()) return;
  row.culprit = &*culprit;
  row.isFirst = true;
  for (std::size_t lane = 0; lane < row.cells.size(); ++lane)
    row.cells[lane].blamed = std::ranges::find(culprit->ranks, ranks.ranks[lane]) != culprit->ranks.end();
}

LaneRow rowOfGraph(const RankLanesDoc& ranks, const workbench::DifferingGraphDoc& graph) {
  LaneRow row{{}, text(graph.compileId) + " " + text(graph.stage), cellsOf(ranks.ranks, graph.groups), graph.groups};
  if (graph.index >= 0) row.place += say(", node %1").arg(graph.index);
  row.compileId = graph.compileId;
  row.stage = graph.stage;
  row.node = graph.index;
  return row;
}

QString groupsHtml(const std::vector<RankGroupDoc>& groups) {
  QString html = "<table cellpadding='2'>";
  for (const RankGroupDoc& group : groups)
    html += "<tr><td><b>" + rankNames(group.ranks) + "</b></td><td><code>" + text(group.what).toHtmlEscaped() +
            "</code></td></tr>";
  return html + "</table>";
}

QString culpritText(const CulpritDoc& culprit) {
  if (culprit.isUnfinished)
    return say("Collective %1, %2: all ranks issue it, and it does not end")
        .arg(culprit.number)
        .arg(text(culprit.collective));
  return (culprit.ranks.size() == 1 ? say("%1 issues %2 where %3 in collective %4, %5")
                                    : say("%1 issue %2 where %3 in collective %4, %5"))
      .arg(rankNames(culprit.ranks), text(culprit.mismatch),
           (culprit.waiting.size() == 1 ? say("%1 waits") : say("%1 wait")).arg(rankNames(culprit.waiting)))
      .arg(culprit.number)
      .arg(text(culprit.collective));
}

}  // namespace

std::vector<LaneRow> laneRows(const RankLanesDoc& ranks) {
  std::vector<LaneRow> rows;
  for (const auto& graph : ranks.graphs) rows.push_back(rowOfGraph(ranks, graph));
  for (const auto& collective : ranks.timeline) {
    LaneRow row{QString::number(collective.number), text(collective.compileId), cellsOf(ranks.ranks, collective.groups),
                collective.groups};
    row.compileId = collective.compileId;
    blame(ranks, row);
    rows.push_back(std::move(row));
  }
  const bool isBlamed = std::ranges::any_of(rows, &LaneRow::isFirst);
  if (!isBlamed && !ranks.graphs.empty()) rows.front().isFirst = true;
  return rows;
}

QString ranksHeadline(const RankLanesDoc& ranks) {
  QString absent;
  if (!ranks.absent.empty()) absent = say(" Of %1 there is no file.").arg(rankNames(ranks.absent));
  if (!ranks.culprits.empty()) return culpritText(ranks.culprits.front()) + "." + absent;
  if (!ranks.graphs.empty())
    return say("Graphs that are not the same on all ranks: %1, the first %2")
               .arg(ranks.graphs.size())
               .arg(text(ranks.graphs.front().compileId) + " " + text(ranks.graphs.front().stage)) +
           "." + absent;
  return say("All %1 ranks have the same graphs, and all collectives meet (%2).")
             .arg(ranks.ranks.size())
             .arg(ranks.timeline.size()) +
         absent;
}

QString laneHtml(const RankLanesDoc&, const LaneRow& row) {
  QString html = QString("<body style='color: %1'>").arg(theme().text.name());
  html += "<h3>" + (row.number.isEmpty() ? QString() : say("Collective %1, ").arg(row.number)) +
          row.place.toHtmlEscaped() + "</h3>";
  html += groupsHtml(row.groups);
  if (row.culprit == nullptr) return html + "</body>";
  html += "<p>" + culpritText(*row.culprit).toHtmlEscaped() + ".</p><h4>" + say("Done last") + "</h4>";
  return html + groupsHtml(row.culprit->lastDone) + "</body>";
}

}  // namespace kerf::ui::inline panels
