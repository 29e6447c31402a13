#include "ui/panels/runs_text.h"

#include <algorithm>
#include <map>

#include <QCoreApplication>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

using workbench::CompileDifference, workbench::StageDifference;

constexpr std::size_t mostRows = 40;

QString tr(const char* said) { return QCoreApplication::translate("RunsPanel", said); }

QString escaped(const std::string& value) { return text(value).toHtmlEscaped(); }

QString styles() {
  return QString(
             "body { color: %1; } .quiet { color: %2; } .warn { color: %3; } h3 { margin: 0 0 6px 0; } "
             "h4 { margin: 14px 0 4px 0; } p { margin: 2px 0 6px 0; } code { font-family: '%4'; } td { padding: 1px "
             "10px 1px 0; }")
      .arg(theme().text.name(), theme().muted.name(), theme().warn.name(), codeFont().family());
}

QString countRow(const QString& name, const QString& before, const QString& after) {
  return "<tr><td><code>" + name.toHtmlEscaped() + "</code></td><td align='right'>" + before + "</td><td>→</td><td>" +
         after + "</td></tr>";
}

QString countTable(const QString& title, const std::vector<workbench::TextCount>& rows) {
  if (rows.empty()) return {};
  QString html = "<h4>" + title + "</h4><table>";
  for (std::size_t i = 0; i < std::min(mostRows, rows.size()); ++i)
    html += countRow(text(rows[i].text), formatCount(rows[i].before), formatCount(rows[i].after));
  html += "</table>";
  if (rows.size() > mostRows) html += "<p class='quiet'>" + tr("and %1 more").arg(rows.size() - mostRows) + "</p>";
  return html;
}

QString figureTable(const CompileDifference& compile) {
  if (compile.figures.empty()) return {};
  QString html = "<h4>" + tr("Times and counts") + "</h4><table>";
  for (std::size_t i = 0; i < std::min(mostRows, compile.figures.size()); ++i) {
    const auto& figure = compile.figures[i];
    html += countRow(text(figure.name), QString::number(figure.before, 'g', 6), QString::number(figure.after, 'g', 6));
  }
  return html + "</table>";
}

/// Of all stages, the one that differs first tells what was changed; later ones follow from it.
QString opsHtml(const StageDifference& stage) {
  if (stage.difference.ops.empty()) return {};
  QString html = "<h4>" + tr("Op counts of %1").arg(stageTitle(text(stage.graph))) + "</h4><table>";
  for (std::size_t i = 0; i < std::min(mostRows, stage.difference.ops.size()); ++i) {
    const auto& op = stage.difference.ops[i];
    html += countRow(text(op.op), formatCount(op.before), formatCount(op.after));
  }
  return html + "</table>";
}

QString firstHtml(const DiffRow& row) {
  QString html = "<p>" + tr("First node that differs:") + "<br>";
  if (!row.left.empty()) html += "<code>− " + escaped(row.left) + "</code><br>";
  if (!row.right.empty()) html += "<code>+ " + escaped(row.right) + "</code>";
  return html + "</p>";
}

}  // namespace

QString stageTitle(const QString& graph) {
  static const std::map<QString, const char*> titles{{"dynamo_output_graph", "Dynamo"},
                                                     {"before_pre_grad_graph", "pre-grad"},
                                                     {"after_pre_grad_graph", "after pre-grad"},
                                                     {"aot_joint_graph", "joint"},
                                                     {"aot_forward_graph", "forward"},
                                                     {"aot_backward_graph", "backward"},
                                                     {"aot_inference_graph", "inference"},
                                                     {"before_joint_graph", "before joint passes"},
                                                     {"after_joint_graph", "after joint passes"},
                                                     {"before_post_grad_graph", "before post-grad"},
                                                     {"inductor_post_grad_graph", "post-grad"},
                                                     {"after_post_grad_graph", "after post-grad"}};
  const auto name = graph.section(", ", 0, 0), part = graph.section(", ", 1);
  const auto found = titles.find(name);
  const auto title = found == titles.end() ? name : tr(found->second);
  return part.isEmpty() ? title : title + ", " + part;
}

RunsStageCell stageCell(const StageDifference& stage) {
  const auto& difference = stage.difference;
  if (stage.onlyBefore) return {tr("only earlier"), tr("The later run has no such graph.")};
  if (stage.onlyAfter) return {tr("only later"), tr("The earlier run has no such graph.")};
  if (!stage.failure.empty()) return {tr("cannot be read"), text(stage.failure)};
  if (difference.same) return {"=", plural(difference.nodesAfter, "node"), true};
  QStringList parts;
  if (!difference.added.empty()) parts << QString("+%1").arg(difference.added.size());
  if (!difference.removed.empty()) parts << QString("−%1").arg(difference.removed.size());
  const auto others = difference.rewritten.size() + difference.changed.size() + difference.metaChanged.size();
  if (others > 0) parts << QString("~%1").arg(others);
  if (parts.isEmpty()) parts << "≠";
  return {parts.join(' '),
          QString("%1 → %2").arg(formatCount(difference.nodesBefore), plural(difference.nodesAfter, "node"))};
}

QString runsHeadline(const RunsDoc& runs) {
  const auto total = std::ssize(runs.compiles);
  const auto same = std::ranges::count_if(runs.compiles, [](const CompileDifference& each) { return each.same(); });
  if (runs.same) return tr("The same: %1, all graphs, guards and kernels").arg(plural(total, "compile id"));
  auto said = tr("%1 of %2 differ").arg(total - same).arg(plural(total, "compile id"));
  for (std::size_t i = 0; i < runs.compiles.size(); ++i) {
    const auto& compile = runs.compiles[i];
    if (compile.same()) continue;
    const int stage = RunsDoc::firstDifferent(compile);
    said += tr("  ·  first: %1").arg(text(compile.after.empty() ? compile.before : compile.after));
    if (stage >= 0) said += ", " + stageTitle(text(compile.stages[std::size_t(stage)].graph));
    if (i < runs.firstRows.size() && runs.firstRows[i]) {
      const auto& row = *runs.firstRows[i];
      said += ", " + text(row.right.empty() ? row.left : row.right).section(':', 0, 0).trimmed();
    }
    break;
  }
  return said;
}

QString compileHtml(const CompileDifference& compile, const std::optional<DiffRow>& first) {
  QString html = "<style>" + styles() + "</style><body><h3>" +
                 escaped(compile.after.empty() ? compile.before : compile.after) + " <span class='quiet'>" +
                 escaped(compile.frame) + "</span></h3>";
  if (compile.before.empty()) html += "<p class='warn'>" + tr("Only the later run compiles this.") + "</p>";
  if (compile.after.empty()) html += "<p class='warn'>" + tr("Only the earlier run compiles this.") + "</p>";
  if (compile.statusBefore != compile.statusAfter)
    html += "<p class='warn'>" +
            tr("Status: %1 → %2").arg(escaped(compile.statusBefore), escaped(compile.statusAfter)) + "</p>";
  const int stage = RunsDoc::firstDifferent(compile);
  if (stage < 0 && !compile.before.empty() && !compile.after.empty())
    html += "<p>" +
            (compile.stages.size() == 1 ? tr("The graph is the same.")
                                        : tr("All %1 are the same.").arg(plural(std::ssize(compile.stages), "graph"))) +
            "</p>";
  if (stage >= 0) {
    const auto& differs = compile.stages[std::size_t(stage)];
    html +=
        "<p>" +
        tr("First stage that differs: <b>%1</b> (%2)").arg(stageTitle(text(differs.graph)), stageCell(differs).text) +
        "</p>";
    if (first) html += firstHtml(*first);
    html += opsHtml(differs);
  }
  html += countTable(tr("Guards"), compile.guards) + countTable(tr("Kernels"), compile.kernels);
  return html + figureTable(compile) + "</body>";
}

}  // namespace kerf::ui::inline panels
