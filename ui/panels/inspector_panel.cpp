#include "ui/panels/inspector_panel.h"

#include <algorithm>

#include <QEvent>
#include <QFileInfo>
#include <QScrollBar>
#include <QUrl>

#include "ui/models/format.h"
#include "ui/models/placement_words.h"
#include "ui/models/spark.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int mostLinks = 60;

QString mono(const QString& text) { return "<span class='code'>" + text.toHtmlEscaped() + "</span>"; }

QString row(const QString& label, const QString& html) {
  if (html.isEmpty()) return {};
  return "<tr><td class='label' width='86'>" + label.toHtmlEscaped() + "</td><td>" + html + "</td></tr>";
}

QString textRow(const QString& label, const QString& text) {
  return text.isEmpty() ? QString() : row(label, mono(text));
}
QString textRow(const QString& label, const std::string& value) { return textRow(label, text(value)); }

QString section(const QString& title, const QString& rows) {
  if (rows.isEmpty()) return {};
  return "<p class='section'>" + title.toHtmlEscaped() + "</p><table width='100%' cellpadding='3' cellspacing='0'>" +
         rows + "</table>";
}

QString styles() {
  return QString(
             "body{color:%1} .section{color:%2;font-size:11px;font-weight:600;margin:14px 0 2px 0}"
             ".label{color:%2;padding-right:12px;white-space:nowrap} .code{font-family:'%3';font-size:12px}"
             ".title{font-size:17px;font-weight:600;margin:0} .sub{color:%2;margin:2px 0 0 0}"
             ".quiet{color:%4} .bad{color:%5} .good{color:%6} a{color:%7;text-decoration:none}")
      .arg(theme().text.name(), theme().muted.name(), codeFont().family(), theme().muted.name(), theme().bad.name(),
           theme().good.name(), theme().accent.name());
}

QString argumentsHtml(const NodeDoc& node) {
  QString rows;
  for (const auto& argument : node.arguments)
    rows += argument.defaulted ? "<tr><td class='label' width='86'>" + text(argument.name).toHtmlEscaped() +
                                     "</td><td class='quiet'><span class='code'>" +
                                     text(argument.value).toHtmlEscaped() + "</span> (default)</td></tr>"
                               : textRow(text(argument.name), argument.value);
  return rows;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

QString capitalised(const QString& word) { return word.left(1).toUpper() + word.mid(1); }

QString sourceHtml(const NodeDoc& node) {
  QString rows;
  if (node.line > 0) rows += textRow("Line", QFileInfo(text(node.file)).fileName() + ":" + QString::number(node.line));
  rows += textRow("Module", node.modulePath);
  rows += textRow("From", texts(node.fromNodes).join(", "));
  if (!node.stackTrace.empty()) rows += row("Stack", mono(text(node.stackTrace)).replace("\n", "<br>"));
  return rows;
}

}  // namespace

InspectorPanel::InspectorPanel(Session& session, QWidget* parent) : QTextBrowser(parent), m_session(session) {
  setObjectName("inspector");
  setOpenLinks(false);
  setFrameShape(NoFrame);
  setAccessibleName(tr("Inspector"));
  document()->setDocumentMargin(14);
  connect(this, &QTextBrowser::anchorClicked, this,
          [this](const QUrl& link) { m_session.selectNode(link.toString(QUrl::FullyDecoded).mid(5)); });
  for (const auto signal : {&Session::nodeChanged, &Session::accuracyChanged, &Session::compiledChanged,
                            &Session::guardsChanged, &Session::traceLogChanged, &Session::shardingChanged})
    connect(&session, signal, this, &InspectorPanel::showNode);
  showNode();
}

void InspectorPanel::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) showNode();
  QTextBrowser::changeEvent(event);
}

void InspectorPanel::showNode() {
  const auto* node = m_session.nodeDoc();
  document()->setDefaultStyleSheet(styles());
  setHtml("<body>" + (node ? nodeHtml(*node) : graphHtml()) + "</body>");
  verticalScrollBar()->setValue(0);
}

QString InspectorPanel::links(const std::vector<int>& nodes) const {
  QStringList parts;
  for (const int node : nodes) {
    if (parts.size() >= mostLinks) break;
    const auto name = text(m_session.graph()->nodes[std::size_t(node)].name);
    parts << "<a href='node:" + name + "'>" + mono(name) + "</a>";
  }
  auto html = parts.join(", ");
  if (int(nodes.size()) > mostLinks) html += tr(" and %1 more").arg(int(nodes.size()) - mostLinks);
  return html;
}

QString InspectorPanel::nodeHtml(const NodeDoc& node) const {
  const auto& color = theme().kind(node.kind);
  QString html = "<p class='title'>" + text(node.name).toHtmlEscaped() +
                 "</p><p class='sub'><span style='color:" + color.name() + "'>●</span> " + nodeKindName(node.kind) +
                 " · " + text(node.opcode) + "</p>" + backwardHtml(node);
  html += section("VALUE", textRow("Type", node.dtype) + textRow("Shape", node.shape) + textRow("Stride", node.stride) +
                               textRow("Device", node.device));
  html += section("OPERATION", textRow("Target", node.target) +
                                   (node.schema.empty() && node.opcode == "call_function" &&
                                            node.target.find("operator") == std::string::npos
                                        ? row("Schema", "<span class='quiet'>not in the op table</span>")
                                        : textRow("Schema", node.schema)));
  html += section("ARGUMENTS", argumentsHtml(node));
  html += placementHtml(node);
  html += accuracyHtml(node);
  html += valuesHtml(node);
  html += kernelHtml(node);
  html += nodeGuardsHtml(node);
  html += section("NEIGHBOURS", row("Inputs", links(node.inputs)) + row("Users", links(node.users)));
  return html + section("SOURCE", sourceHtml(node));
}

/// Of a joint graph's backward node: whose gradient it helps to compute, as a link where that node is shown.
QString InspectorPanel::backwardHtml(const NodeDoc& node) const {
  if (!node.backward) return {};
  if (node.forwardNode.empty()) return "<p class='sub'>" + tr("backward") + "</p>";
  const auto name = text(node.forwardNode);
  const bool shown = m_session.graph()->find(node.forwardNode) >= 0;
  const auto code = mono(name);
  return "<p class='sub'>" + tr("gradient of %1").arg(shown ? "<a href='node:" + name + "'>" + code + "</a>" : code) +
         "</p>";
}

/// Where its value is over a mesh of ranks, and why.
QString InspectorPanel::placementHtml(const NodeDoc& node) const {
  const auto sharding = m_session.sharding();
  const auto* found = sharding && !sharding->running ? sharding->find(node.name) : nullptr;
  if (!found) return {};
  QString rows = textRow(tr("Placed as"), found->placements) + textRow(tr("Mesh"), sharding->askedMesh);
  QStringList why;
  for (const auto& sentence : whyPlaced(*m_session.graph(), *sharding, *found)) why << sentence.toHtmlEscaped();
  if (found->cost > 0) rows += textRow(tr("Moves"), formatMicroseconds(found->cost));
  return section("PLACEMENT", rows + row(tr("Why"), why.join("<br>")));
}

QString InspectorPanel::accuracyHtml(const NodeDoc& node) const {
  const auto accuracy = m_session.accuracy();
  const auto* found = accuracy ? accuracy->find(node.name) : nullptr;
  if (!found) return {};
  const auto verdict = found->firstBad ? tr("different, first bad node") : found->same ? tr("same") : tr("different");
  return section("ACCURACY",
                 row("Verdict", "<span class='" + QString(found->same ? "good" : "bad") + "'>" + verdict + "</span>") +
                     textRow("Error / limit", formatRatio(found->ratioToLimit)) +
                     textRow("Max error", formatError(found->maxAbsError)) +
                     (found->finite < found->elements
                          ? textRow("NaN or inf", tr("%1 of %2")
                                                      .arg(formatCount(found->elements - found->finite),
                                                           plural(found->elements, "element")))
                          : QString()) +
                     (accuracy->plant.isEmpty() ? QString() : textRow("Planted", accuracy->plant)));
}

/// What the values are like on each side, after a comparison; each histogram is a small picture.
QString InspectorPanel::valuesHtml(const NodeDoc& node) const {
  const auto accuracy = m_session.accuracy();
  const auto* found = accuracy ? accuracy->figuresOf(node.name) : nullptr;
  if (!found) return {};
  QString rows;
  for (const auto& [side, figures] : found->sides) {
    auto html = "<img src='spark:" + text(side) + "'> " + mono(rangeText(figures));
    const auto odd = oddText(figures);
    if (figures.finite > 0)
      html +=
          "<br><span class='quiet'>" +
          tr("mean %1, std %2").arg(QString::number(figures.mean, 'g', 4), QString::number(figures.deviation, 'g', 4)) +
          "</span>";
    if (!odd.isEmpty()) html += " <span class='bad'>" + odd + "</span>";
    rows += row(side == "fp64" ? text(side) : capitalised(text(side)), html);
  }
  return section("VALUES", rows);
}

QVariant InspectorPanel::loadResource(int type, const QUrl& name) {
  const auto* node = name.scheme() == "spark" ? m_session.nodeDoc() : nullptr;
  const auto accuracy = m_session.accuracy();
  const auto* found = node && accuracy ? accuracy->figuresOf(node->name) : nullptr;
  for (const auto& [side, figures] : found ? found->sides : std::vector<workbench::SideFigures>())
    if (text(side) == name.path()) return sparkImage(figures, QSize(72, 18), devicePixelRatioF());
  return QTextBrowser::loadResource(type, name);
}

QString InspectorPanel::kernelHtml(const NodeDoc& node) const {
  const auto asRun = m_session.compiledAsRun(), compiled = asRun ? asRun : m_session.compiled();
  if (!compiled) return {};
  QString rows;
  for (const auto& kernel : compiled->kernels)
    if (contains(kernel.nodes, node.name) || contains(kernel.capturedNodes, node.name))
      rows += row(kernel.kind.empty() ? QString("Kernel") : capitalised(text(kernel.kind)), mono(text(kernel.name)));
  return section("COMPILED AS", rows);
}

QString InspectorPanel::symbolsHtml() const {
  const auto guards = m_session.guards();
  QString rows;
  for (std::size_t i = 0; guards && i < guards->symbols.size(); ++i) {
    const auto& symbol = guards->symbols[i];
    QStringList parts;
    if (symbol.unbacked) parts << tr("known when it runs");
    if (symbol.value) parts << QString::number(*symbol.value);
    parts << text(workbench::rangeText(symbol.range));
    auto html = mono(parts.join(", "));
    if (symbol.given)
      html += QString(" <span class='%1'>%2</span>")
                  .arg(symbol.fits ? "good" : "bad", tr("chosen: %1").arg(*symbol.given).toHtmlEscaped());
    if (!symbol.source.empty()) html += "<br><span class='quiet'>" + text(symbol.source).toHtmlEscaped() + "</span>";
    rows += row(text(symbol.name), html);
  }
  return section("SYMBOLS", rows);
}

QString InspectorPanel::guardsHtml() const {
  const auto guards = m_session.guards();
  QString rows;
  for (std::size_t i = 0; guards && i < guards->guards.size(); ++i) {
    const auto& guard = guards->guards[i];
    auto html = mono(text(guard.expression));
    if (!guard.holds) html += " <span class='bad'>" + tr("fails for the chosen sizes") + "</span>";
    if (guard.deferred) html += " <span class='quiet'>" + tr("runtime assert") + "</span>";
    if (guard.recorded) html += " <span class='good'>" + tr("in the log") + "</span>";
    if (!guard.node.empty()) html += "<br><a href='node:" + text(guard.node) + "'>" + mono(text(guard.node)) + "</a>";
    if (!guard.where.empty()) html += " <span class='quiet'>" + text(guard.where).toHtmlEscaped() + "</span>";
    rows += "<tr><td>" + html + "</td></tr>";
  }
  const auto addFixed = [&](const ReplacementDoc& fixed) {
    rows += "<tr><td>" + mono(text(fixed.symbol) + " = " + text(fixed.value)) + " <span class='quiet'>" +
            text(fixed.where).toHtmlEscaped() + "</span></td></tr>";
  };
  if (guards) std::ranges::for_each(guards->specialisations, addFixed);
  if (guards) std::ranges::for_each(guards->replacements, addFixed);
  return section("GUARDS", rows);
}

QString InspectorPanel::recordedHtml() const {
  const auto guards = m_session.guards();
  QString rows;
  for (std::size_t i = 0; guards && i < guards->recorded.size(); ++i) {
    const auto& guard = guards->recorded[i];
    const auto match = workbench::matchName(guard.match);
    rows += "<tr><td>" + mono(text(guard.expression)) + " <span class='quiet'>" +
            QString::fromUtf8(match.data(), qsizetype(match.size())) + "</span></td></tr>";
  }
  return section("RECORDED GUARDS", rows);
}

QString InspectorPanel::nodeGuardsHtml(const NodeDoc& node) const {
  const auto guards = m_session.guards();
  QString rows;
  for (std::size_t i = 0; guards && i < guards->guards.size(); ++i)
    if (guards->guards[i].node == node.name) rows += textRow(tr("Guard"), guards->guards[i].expression);
  return section("NEEDS", rows);
}

/// How the compilation went that the graph is of.
QString InspectorPanel::compilationHtml(const CaptureDoc& capture) const {
  const auto place = std::size_t(m_session.location().graph);
  if (place >= capture.graphs.size()) return {};  // its log was cut short
  const auto& graph = capture.graphs[place];
  const auto log = m_session.traceLog(capture.id);
  QString rows;
  for (const auto& entry : capture.compiles) {
    if (entry.id != graph.compileId || entry.rank != graph.rank) continue;
    rows += textRow(tr("Id"), entry.id) + textRow(tr("Status"), entry.status);
    if (entry.seconds >= 0) rows += textRow(tr("Time"), formatSeconds(entry.seconds));
    if (!entry.failure.empty()) rows += textRow(tr("Failure"), entry.failure);
    for (const auto& remark : log ? log->remarksOf(entry.id, entry.rank) : QStringList())
      rows += textRow(tr("Why"), remark);
  }
  return section("COMPILATION", rows);
}

QString InspectorPanel::graphHtml() const {
  const auto graph = m_session.graph();
  const auto capture = m_session.capture(m_session.location().capture);
  if (!graph || !capture)
    return "<p class='quiet'>" + tr("Select a node to see its operation, value and neighbours.") + "</p>";
  int calls = 0, inputs = 0;
  for (const auto& node : graph->nodes) {
    calls += node.opcode.starts_with("call");
    inputs += node.kind == NodeKind::Input;
  }
  QString html = "<p class='title'>" + text(graph->title).toHtmlEscaped() + "</p><p class='sub'>" +
                 QFileInfo(text(capture->path)).fileName().toHtmlEscaped() + "</p>";
  html += section("GRAPH", textRow("Nodes", formatCount(qint64(graph->nodes.size()))) +
                               textRow("Calls", formatCount(calls)) + textRow("Inputs", formatCount(inputs)) +
                               textRow("Hash", graph->hash.substr(0, 16)));
  html += compilationHtml(*capture);
  html += symbolsHtml() + guardsHtml() + recordedHtml();
  html += section("CAPTURE", textRow("Kind", capture->kind) + textRow("PyTorch", capture->torchVersion) +
                                 textRow("File", capture->path));
  if (const auto compiled = m_session.compiled(); compiled && !compiled->kernels.empty())
    html += section("COMPILED", textRow("Kernels", formatCount(qint64(compiled->kernels.size()))) +
                                    textRow("Buffers", formatBytes(compiled->plannedBytes) + " (" +
                                                           formatBytes(compiled->unplannedBytes) + " without reuse)"));
  QString notes;
  for (const auto& note : capture->notes) notes += "<tr><td class='quiet'>" + text(note).toHtmlEscaped() + "</td></tr>";
  html += section("NOTES", notes);
  return html + "<p class='quiet'>" + tr("Select a node to see its operation, value and neighbours.") + "</p>";
}

}  // namespace kerf::ui::inline panels
