#include "ui/panels/stage_cells.h"

#include <algorithm>

#include "ui/models/format.h"
#include "ui/models/tables.h"

namespace kerf::ui::inline panels {
namespace {

using Stage = Location::Stage;
using Verdict = StageCell::Verdict;

/// "after post-grad passes" as "post-grad": what is behind a step bears its name.
QString shortTitle(const RecordedStageDoc& stage) {
  auto title = text(stage.title);
  if (!stage.part.empty() && title.startsWith(text(stage.part) + ", ")) title = title.section(", ", 1);
  title.remove("after ").remove(" passes");
  return title.isEmpty() ? text(stage.name) : title;
}

/// Of the pairs in which a stage is the later one the worst verdict.
Verdict verdictOf(const VerifyDocPtr& verified, const std::string& stage, QString& why) {
  auto worst = Verdict::Unknown;
  for (const auto& compile : verified ? verified->compiles : std::vector<workbench::CompileVerification>())
    for (const auto& pair : compile.pairs) {
      if (pair.after != stage) continue;
      const bool compared = pair.verdict != "not compared";
      const auto now = pair.different() ? Verdict::Different : compared ? Verdict::Same : Verdict::NotCompared;
      why = text(pair.why.empty() ? pair.verdict : pair.verdict + ": " + pair.why) + "  (" + text(pair.before) + ")";
      if (pair.different() && !pair.changed.node.empty()) why += Session::tr("; begins at ") + text(pair.changed.node);
      if (worst == Verdict::Unknown || now == Verdict::Different) worst = now;
      if (worst == Verdict::Different) return worst;
    }
  return worst;
}

QString tipOf(const StageCell& cell, const QString& name) {
  QStringList lines{name};
  if (cell.nodes >= 0 && cell.nodesBefore >= 0)
    lines << QString("%1 → %2").arg(formatCount(cell.nodesBefore), plural(cell.nodes, "node"));
  else if (cell.nodes >= 0)
    lines << plural(cell.nodes, "node");
  if (cell.kernels >= 0) lines << plural(cell.kernels, "kernel");
  if (cell.changed && !*cell.changed) lines << Session::tr("changed nothing");
  const auto& counts = cell.counts;
  if (counts.added > 0) lines << Session::tr("%1 added").arg(counts.added);
  if (counts.removed > 0) lines << Session::tr("%1 removed").arg(counts.removed);
  if (counts.rewritten > 0) lines << Session::tr("%1 made by rewrites").arg(counts.rewritten);
  if (counts.changed > 0) lines << Session::tr("%1 called otherwise").arg(counts.changed);
  if (cell.milliseconds >= 0) lines << formatMilliseconds(cell.milliseconds);
  return lines.join('\n');
}

StageCell cellOf(const RecordedStages& recorded, const RecordedStageDoc& stage, const Location& here,
                 const VerifyDocPtr& verified) {
  StageCell cell;
  cell.title = shortTitle(stage);
  cell.part = stage.part == "inference" ? QString() : text(stage.part);
  cell.place = {here.capture, stage.graph, Stage::Captured, -1, {}};
  cell.nodes = stage.nodes;
  cell.milliseconds = stage.milliseconds;
  cell.counts = stage.changes;
  if (stage.parent >= 0) {
    cell.nodesBefore = recorded.stages[std::size_t(stage.parent)].nodes;
    if (stage.nodes >= 0 && stage.failure.empty()) cell.changed = stage.changes.any();
  }
  QString why;
  cell.verdict = verdictOf(verified, stage.name, why);
  cell.tip = tipOf(cell, text(stage.name));
  if (!stage.failure.empty()) cell.tip += "\n" + text(stage.failure);
  if (!why.isEmpty()) cell.tip += "\n" + Session::tr("verify: ") + why;
  return cell;
}

StageCell cellOf(const RecordedStages& recorded, const RecordedCodeDoc& code, const Location& here) {
  StageCell cell;
  cell.title = Session::tr("output code");
  cell.part = code.part == "inference" ? QString() : text(code.part);
  cell.place = {here.capture, here.graph, Stage::Captured, -1, {}};
  cell.record = code.record;
  cell.kernels = code.kernels;
  cell.milliseconds = code.milliseconds;
  if (code.parent >= 0) cell.nodesBefore = recorded.stages[std::size_t(code.parent)].nodes;
  cell.tip = tipOf(cell, cell.title);
  return cell;
}

/// The last stage of a part, behind which its output code stands; of a part that no stage has the very last.
int lastOf(const RecordedStages& recorded, const std::string& part) {
  int last = int(recorded.stages.size()) - 1;
  for (int i = last; i >= 0; --i)
    if (recorded.stages[std::size_t(i)].part == part) return i;
  return last;
}

StageLane recordedLane(const Session& session, const RecordedStages& recorded) {
  const auto& here = session.location();
  const auto capture = session.capture(here.capture);
  StageLane lane{Session::tr("PyTorch"), {}, -1};
  if (capture) {
    const auto& id = capture->graphs[std::size_t(here.graph)].compileId;
    if (!id.empty()) lane.title += "  " + text(id);
  }
  const auto verified = session.verified();
  const int count = int(recorded.stages.size());
  for (int i = 0; i < count; ++i) {
    const auto& stage = recorded.stages[std::size_t(i)];
    if (stage.graph == here.graph) lane.current = int(lane.cells.size());
    lane.cells.push_back(cellOf(recorded, stage, here, verified));
    for (const auto& code : recorded.code)
      if (lastOf(recorded, code.part) == i) lane.cells.push_back(cellOf(recorded, code, here));
  }
  return lane;
}

StageCell capturedCell(const Session& session) {
  StageCell cell;
  const auto& here = session.location();
  cell.title = here.aotStage.empty() ? Session::tr("as captured") : Session::tr("captured graph");
  cell.place = here;
  cell.place.node.clear();
  cell.place.index = -1;
  cell.place.stage = here.aotStage.empty() ? Stage::Captured : Stage::Pass;
  const auto compiled = session.compiled();
  if (compiled && !compiled->passes.empty()) cell.nodes = compiled->passes.front().nodesBefore;
  cell.tip = tipOf(cell, Session::tr("The graph before all passes"));
  return cell;
}

/// By what nodes compute where that is known by now, else by their names.
ChangeCounts countsOf(const PassDoc& pass, const std::vector<workbench::PassDifference>* known) {
  ChangeCounts counts;
  if (known != nullptr)
    if (const auto found = std::ranges::find(*known, pass.index, &workbench::PassDifference::pass);
        found != known->end()) {
      counts.added = int(found->difference.added.size());
      counts.removed = int(found->difference.removed.size());
      counts.changed = int(found->difference.changed.size());
      for (const auto& rewrite : found->difference.rewritten) counts.rewritten += int(rewrite.after.size());
      return counts;
    }
  counts.added = int(pass.added.size());
  counts.removed = int(pass.removed.size());
  return counts;
}

StageCell cellOf(const PassDoc& pass, const Location& here, const std::vector<workbench::PassDifference>* known) {
  StageCell cell;
  cell.title = text(pass.name);
  cell.place = here;
  cell.place.node.clear();
  cell.place.stage = Stage::Pass;
  cell.place.index = pass.index;
  cell.nodesBefore = pass.nodesBefore;
  cell.nodes = pass.nodesAfter;
  cell.milliseconds = pass.milliseconds;
  cell.changed = pass.changed;
  cell.counts = countsOf(pass, known);
  cell.tick = !pass.changed && !isAotStage(pass);
  cell.tip = tipOf(cell, text(pass.stage) + ": " + text(pass.name));
  return cell;
}

/// The graph before all passes is what the last of AOTAutograd's stages left.
int currentPass(const Location& here, const workbench::CompileDoc& compiled) {
  if (here.stage == Stage::Pass) return here.index + 1;
  if (here.stage != Stage::Captured) return -1;
  return int(std::ranges::count_if(compiled.passes, isAotStage));
}

StageLane passLane(const Session& session) {
  StageLane lane{Session::tr("Kerf"), {}, -1};
  const auto compiled = session.compiled();
  if (!compiled || compiled->passes.empty()) return lane;
  lane.cells.push_back(capturedCell(session));
  for (const auto& pass : compiled->passes)
    lane.cells.push_back(cellOf(pass, session.location(), session.passDifferences()));
  lane.current = currentPass(session.location(), *compiled);
  return lane;
}

}  // namespace

std::vector<StageLane> stageLanes(const Session& session) {
  std::vector<StageLane> lanes;
  if (session.location().capture < 0) return lanes;
  const auto recorded = session.recordedStages();
  if (recorded && recorded->stages.size() > 1) lanes.push_back(recordedLane(session, *recorded));
  lanes.push_back(passLane(session));
  return lanes;
}

QString changeText(const ChangeCounts& counts) {
  QStringList parts;
  if (counts.added > 0) parts << "+" + formatCount(counts.added);
  if (counts.removed > 0) parts << "−" + formatCount(counts.removed);
  if (const int other = counts.rewritten + counts.changed; other > 0) parts << "~" + formatCount(other);
  return parts.join(' ');
}

QString verdictText(StageCell::Verdict verdict) {
  switch (verdict) {
    case Verdict::Same:
      return Session::tr("verified: the same as the stage before");
    case Verdict::Different:
      return Session::tr("verified: differs from the stage before");
    case Verdict::NotCompared:
      return Session::tr("verified: could not be compared");
    default:
      return {};
  }
}

}  // namespace kerf::ui::inline panels
