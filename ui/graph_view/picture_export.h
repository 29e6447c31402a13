// Picture export: a scene, or the part of it that is seen, as PNG, SVG, PDF or DOT at a chosen scale.
#pragma once

#include <functional>

#include <QRectF>
#include <QSize>
#include <QString>

#include "ui/graph_view/graph_colors.h"
#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

struct Picture {
  ScenePtr scene;
  ViewState state;
  QRectF part;       ///< in scene coordinates
  double scale = 1;  ///< pixels (of PNG) or points (of SVG and PDF) for one unit of the scene
};

struct PictureFormat {
  QString extension, title;  ///< "png", "PNG picture"
};
const std::vector<PictureFormat>& pictureFormats();
/// "png" of "graph.png"; empty for what is none of them.
QString pictureFormatOf(const QString& path);

/// All of a scene with a margin around it.
QRectF wholePart(const Scene& scene);
QSize pictureSize(const Picture& picture);
/// Why this picture cannot be written in this format, and what can be done; empty: it can.
QString pictureProblem(const Picture& picture, const QString& format);
/// What went wrong, in a sentence; empty: it is written. `going` is asked now and then, and false ends the work. Any
/// thread; needs some 60 MB however large the picture is.
QString writePicture(const Picture& picture, const QString& path, const std::function<bool()>& going = {});

/// The cards that lie in `part`, with what they say, and the edges between them.
QByteArray sceneDot(const Picture& picture);

}  // namespace kerf::ui::inline graph_view
