// Graph report: what is known of the shown graph on paper: where it is from, its ops, its picture, how the compiled
// results compare, what a bisection and a minification found, and what people noted.
#pragma once

#include <QString>

#include "ui/graph_view/graph_widget.h"
#include "ui/session/session.h"

namespace kerf::ui::inline shell {

/// HTML without the picture.
QString reportHtml(const Session& session);
/// As a PDF of A4 pages, or one web page with the picture in it; after the ending of `path`. What went wrong, in a
/// sentence; empty: it is written.
QString writeReport(const Session& session, const GraphWidget& view, const QString& path);

}  // namespace kerf::ui::inline shell
