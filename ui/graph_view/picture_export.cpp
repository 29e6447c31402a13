#include "ui/graph_view/picture_export.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QFileInfo>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "ui/graph_view/graph_painter.h"
#include "ui/graph_view/png_stream.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

constexpr double pictureMargin = 32;
constexpr double mostPixels = 2e9;     ///< more takes minutes, and no viewer opens it
constexpr double mostSide = 500'000;   ///< pixels
constexpr double mostPoints = 14'400;  ///< a PDF page's side, as its readers take it
constexpr qint64 bandPixels = 8 << 20;
constexpr int tileWidth = 8192;  ///< the rasteriser counts in 16 bits

QString say(const char* text) { return QCoreApplication::translate("PictureExport", text); }

/// Draws what lies in `part` into a device whose origin is the part's corner.
void paintPart(QPainter& painter, const Picture& picture, const QRectF& part, double scale, double detail) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(), part.size() * scale), theme().canvas);
  painter.scale(scale, scale);
  painter.translate(-part.topLeft());
  GraphPainter(painter, *picture.scene, picture.state, detail).paint(part);
}

QImage paintTile(const Picture& picture, const QRect& pixels) {
  QImage tile(pixels.size(), QImage::Format_RGB32);
  QPainter painter(&tile);
  const QRectF part(picture.part.topLeft() + QPointF(pixels.topLeft()) / picture.scale,
                    QSizeF(pixels.size()) / picture.scale);
  paintPart(painter, picture, part, picture.scale, picture.scale);
  return tile;
}

QString writePng(const Picture& picture, QIODevice& device, const std::function<bool()>& going) {
  const auto size = pictureSize(picture);
  const int rows = int(std::clamp<qint64>(bandPixels / size.width(), 1, size.height()));
  PngStream stream(device, size, picture.scale);
  for (int top = 0; top < size.height(); top += rows) {
    if (going && !going()) return say("stopped");
    const int height = std::min(rows, size.height() - top);
    QImage band(size.width(), height, QImage::Format_RGB32);
    for (int left = 0; left < size.width(); left += tileWidth) {
      const auto tile = paintTile(picture, {left, top, std::min(tileWidth, size.width() - left), height});
      for (int y = 0; y < height; ++y)
        std::copy_n(reinterpret_cast<const QRgb*>(tile.constScanLine(y)), tile.width(),
                    reinterpret_cast<QRgb*>(band.scanLine(y)) + left);
    }
    if (!stream.add(band)) return device.errorString();
  }
  return stream.finish() ? QString() : device.errorString();
}

QString writeSvg(const Picture& picture, QIODevice& device, const std::function<bool()>&) {
  const auto size = pictureSize(picture);
  QSvgGenerator generator;
  generator.setOutputDevice(&device);
  generator.setSize(size);
  generator.setViewBox(QRect({}, size));
  generator.setTitle(text(picture.scene->shown ? picture.scene->shown->title : std::string()));
  QPainter painter;
  if (!painter.begin(&generator)) return device.errorString();
  paintPart(painter, picture, picture.part, picture.scale, 1);
  return {};
}

/// One page of the picture's size; where that is more than a page may have, everything is drawn smaller.
QString writePdf(const Picture& picture, QIODevice& device, const std::function<bool()>&) {
  QSizeF size = picture.part.size() * picture.scale;
  const double shrink = std::min(1.0, mostPoints / std::max(size.width(), size.height()));
  size *= shrink;
  QPdfWriter writer(&device);
  writer.setResolution(72);
  writer.setPageMargins({});
  writer.setPageSize(QPageSize(size, QPageSize::Point, {}, QPageSize::ExactMatch));
  writer.setTitle(text(picture.scene->shown ? picture.scene->shown->title : std::string()));
  QPainter painter;
  if (!painter.begin(&writer)) return device.errorString();
  paintPart(painter, picture, picture.part, picture.scale * shrink, 1);
  return {};
}

QString writeDotFile(const Picture& picture, QIODevice& device, const std::function<bool()>&) {
  const auto dot = sceneDot(picture);
  return device.write(dot) == dot.size() ? QString() : device.errorString();
}

struct Writer {
  const char* extension;
  const char* title;
  QString (*write)(const Picture&, QIODevice&, const std::function<bool()>&);
};
constexpr Writer writers[] = {{"png", "PNG picture", writePng},
                              {"svg", "SVG drawing", writeSvg},
                              {"pdf", "PDF page", writePdf},
                              {"dot", "Graphviz DOT", writeDotFile}};

QByteArray quoted(const QString& label) {
  auto escaped = label;
  escaped.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
  return '"' + escaped.toUtf8() + '"';
}

}  // namespace

const std::vector<PictureFormat>& pictureFormats() {
  static const auto formats = [] {
    std::vector<PictureFormat> list;
    for (const auto& writer : writers) list.push_back({writer.extension, say(writer.title)});
    return list;
  }();
  return formats;
}

QString pictureFormatOf(const QString& path) {
  const auto extension = QFileInfo(path).suffix().toLower();
  const bool known = std::ranges::any_of(writers, [&](const Writer& writer) { return extension == writer.extension; });
  return known ? extension : QString();
}

QRectF wholePart(const Scene& scene) {
  return scene.bounds.adjusted(-pictureMargin, -pictureMargin, pictureMargin, pictureMargin);
}

QSize pictureSize(const Picture& picture) {
  const auto size = picture.part.size() * picture.scale;
  constexpr double most = 1e9;  // an int takes no more
  return QSize(int(std::min(most, std::ceil(size.width()))), int(std::min(most, std::ceil(size.height()))));
}

QString pictureProblem(const Picture& picture, const QString& format) {
  if (!picture.scene || picture.part.isEmpty()) return say("There is nothing to draw.");
  if (picture.scale <= 0) return say("The scale must be more than 0.");
  if (format != "png") return {};
  const double width = picture.part.width(), height = picture.part.height();
  const double most = std::min(std::sqrt(mostPixels / (width * height)), mostSide / std::max(width, height));
  if (picture.scale <= most) return {};
  const auto size = pictureSize(picture);
  return say("%1 × %2 pixels are more than a PNG may have: choose %3 % or less, or SVG or PDF, which have no pixels.")
      .arg(formatCount(size.width()), formatCount(size.height()))
      .arg(std::floor(most * 1000) / 10);
}

QString writePicture(const Picture& picture, const QString& path, const std::function<bool()>& going) {
  const auto format = pictureFormatOf(path);
  if (format.isEmpty()) return say("The name must end in .png, .svg, .pdf or .dot.");
  if (const auto problem = pictureProblem(picture, format); !problem.isEmpty()) return problem;
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return say("%1: %2").arg(path, file.errorString());
  const auto* writer = std::ranges::find_if(writers, [&](const Writer& row) { return format == row.extension; });
  const auto problem = writer->write(picture, file, going);
  if (!problem.isEmpty()) return file.cancelWriting(), problem;
  return file.commit() ? QString() : say("%1: %2").arg(path, file.errorString());
}

QByteArray sceneDot(const Picture& picture) {
  QByteArray dot = "digraph g {\n  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef2f7\"];\n";
  const auto& cards = picture.scene->cards;
  const auto drawn = [&](int card) { return cards[std::size_t(card)].rect.intersects(picture.part); };
  for (int i = 0; i < int(cards.size()); ++i) {
    if (!drawn(i)) continue;
    const auto& card = cards[std::size_t(i)];
    auto label = QStringList{card.title, card.name, card.detail};
    label.removeAll(QString());
    for (const auto& row : card.rows) label << row.label;
    const auto color = theme().kind(card.kind);
    dot += "  n" + QByteArray::number(i) + " [label=" + quoted(label.join('\n')) + ", color=\"" +
           color.name().toLatin1() + "\"" + (card.group >= 0 ? ", peripheries=2" : "") + "];\n";
  }
  for (const auto& edge : picture.scene->edges)
    if (drawn(edge.from) && drawn(edge.to))
      dot += "  n" + QByteArray::number(edge.from) + " -> n" + QByteArray::number(edge.to) + ";\n";
  return dot + "}\n";
}

}  // namespace kerf::ui::inline graph_view
