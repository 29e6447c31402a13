#include "ui/shell/graph_report.h"

#include <algorithm>
#include <map>

#include <QBuffer>
#include <QCoreApplication>
#include <QDateTime>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QTextDocument>

#include "ui/graph_view/graph_painter.h"
#include "ui/graph_view/picture_export.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline shell {
namespace {

constexpr int pictureWidth = 1400;  ///< pixels; a page shows it at half of that
constexpr int pictureHeight = 1600;
constexpr std::size_t mostRows = 40;

QString escaped(const std::string& value) { return text(value).toHtmlEscaped(); }

QString row(const QStringList& cells, const char* tag = "td") {
  QString line = "<tr>";
  for (const auto& cell : cells) line += QString("<%1>%2</%1>").arg(tag, cell);
  return line + "</tr>";
}

QString section(const QString& title, const QString& body) {
  return body.isEmpty() ? QString() : "<h2>" + title + "</h2>" + body;
}

QString origin(const Session& session) {
  const auto& place = session.location();
  const auto capture = session.capture(place.capture);
  const auto& entry = capture->graphs[std::size_t(place.graph)];
  QString rows = row({"Capture", escaped(capture->path)}) + row({"Kind", escaped(capture->kind)});
  if (!capture->torchVersion.empty()) rows += row({"PyTorch", escaped(capture->torchVersion)});
  if (!entry.compileId.empty()) rows += row({"Compile id", escaped(entry.compileId)});
  rows += row({"Graph", escaped(session.graph()->title)});
  rows += row({"Nodes", formatCount(qint64(session.graph()->nodes.size()))});
  rows += row({"Content hash", escaped(session.graph()->hash)});
  return "<table>" + rows + "</table>";
}

QString opCounts(const GraphDoc& graph) {
  std::map<std::string, int> counts;
  for (const auto& node : graph.nodes)
    if (node.opcode == "call_function" || node.opcode == "call_method" || node.opcode == "call_module")
      ++counts[node.op];
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [op, count] : counts) sorted.emplace_back(-count, op);
  std::ranges::sort(sorted);
  QString rows;
  for (std::size_t i = 0; i < std::min(sorted.size(), mostRows); ++i)
    rows += row({escaped(sorted[i].second), formatCount(-sorted[i].first)});
  if (sorted.size() > mostRows) rows += row({QString("and %1 more").arg(sorted.size() - mostRows), {}});
  return rows.isEmpty() ? rows : "<table>" + row({"Op", "Calls"}, "th") + rows + "</table>";
}

QString comparison(const AccuracyDocPtr& accuracy) {
  if (!accuracy || accuracy->running) return {};
  QString said = accuracy->error.isEmpty() ? QString() : "<p>" + accuracy->error.toHtmlEscaped() + "</p>";
  if (!accuracy->failure.empty()) said += "<p>" + escaped(accuracy->failure) + "</p>";
  if (said.isEmpty())
    said = accuracy->same
               ? "<p>The compiled results are the same as the reference.</p>"
               : "<p>The compiled results differ. First bad node: <b>" + escaped(accuracy->firstBadNode()) + "</b></p>";
  QString rows;
  for (const auto& output : accuracy->outputs)
    rows += row({escaped(output.name), output.same ? "same" : "<b>different</b>", formatError(output.maxAbsError),
                 formatRatio(output.ratioToLimit), escaped(output.reason)});
  if (rows.isEmpty()) return said;
  return said + "<table>" + row({"Output", "Verdict", "Max error", "Error / limit", "Reason"}, "th") + rows +
         "</table>";
}

QString bisection(const BisectDocPtr& found) {
  if (!found || found->running) return {};
  if (found->culprits.empty()) return "<p>Nothing is to blame.</p>";
  return "<p>The fault begins at <b>" + escaped(found->culprits.front()) + "</b>.</p>";
}

QString minification(const MinifyDocPtr& minified) {
  if (!minified || minified->points.empty()) return {};
  return QString("<p>%1 → %2 nodes in %3 tests, failing as <code>%4</code>.</p>")
      .arg(formatCount(minified->startNodes), formatCount(minified->bestNodes), formatCount(minified->tests),
           escaped(minified->fingerprint));
}

QString remarks(const Session& session) {
  QString rows;
  if (const auto notes = session.notes())
    for (const auto& note : *notes)
      if (note.graphHash == session.graph()->hash) rows += row({escaped(note.node), escaped(note.text)});
  return rows.isEmpty() ? rows : "<table>" + row({"Node", "Note"}, "th") + rows + "</table>";
}

/// The whole graph, as large as a page takes it.
QImage pictureOf(const GraphWidget& view) {
  Picture picture{view.scene(), view.state(), {}, 1};
  if (!picture.scene) return {};
  picture.part = wholePart(*picture.scene);
  picture.state.hovered = picture.state.selected = -1;
  const double scale = std::min({2.0, pictureWidth / picture.part.width(), pictureHeight / picture.part.height()});
  QImage image((picture.part.size() * scale).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
  image.fill(theme().canvas);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(scale, scale);
  painter.translate(-picture.part.topLeft());
  GraphPainter(painter, *picture.scene, picture.state, scale).paint(picture.part);
  return image;
}

constexpr const char* style =
    "<style>body{font-family:sans-serif;font-size:10pt} h1{font-size:16pt} h2{font-size:12pt} "
    "th{text-align:left;padding:2px 12px 2px 0} td{padding:2px 12px 2px 0;vertical-align:top}</style>";

}  // namespace

QString reportHtml(const Session& session) {
  if (!session.graph()) return {};
  const auto when = QDateTime::currentDateTime().toString("yyyy-MM-dd HH:mm");
  return QString(style) + "<h1>" + escaped(session.graph()->title) + "</h1><p>Kerf " +
         QCoreApplication::applicationVersion().toHtmlEscaped() + ", " + when + "</p>" + origin(session) +
         section("Comparison", comparison(session.accuracy())) + section("Bisection", bisection(session.bisected())) +
         section("Minification", minification(session.minified())) + section("Notes", remarks(session)) +
         section("Ops", opCounts(*session.graph()));
}

QString writeReport(const Session& session, const GraphWidget& view, const QString& path) {
  if (!session.graph()) return QCoreApplication::translate("GraphReport", "No graph is shown.");
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return path + ": " + file.errorString();
  const auto image = pictureOf(view);
  const auto html = reportHtml(session);
  const auto picture = [&](const QString& source) {
    return image.isNull() ? QString()
                          : QString("<h2>Picture</h2><img src=\"%1\" width=\"%2\">").arg(source).arg(image.width() / 2);
  };
  if (path.endsWith(".pdf", Qt::CaseInsensitive)) {
    QTextDocument document;
    document.addResource(QTextDocument::ImageResource, QUrl("picture"), image);
    document.setHtml(html + picture("picture"));
    QPdfWriter writer(&file);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setResolution(96);
    writer.setTitle(text(session.graph()->title));
    document.setPageSize(QSizeF(writer.width(), writer.height()));
    document.print(&writer);
  } else {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    file.write(("<!doctype html><meta charset=\"utf-8\">" + html +
                picture("data:image/png;base64," + QString::fromLatin1(bytes.toBase64())))
                   .toUtf8());
  }
  return file.commit() ? QString() : path + ": " + file.errorString();
}

}  // namespace kerf::ui::inline shell
