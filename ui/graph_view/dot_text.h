// The text that Graphviz `dot` reads and writes: sizes in, positions out.
#pragma once

#include <QByteArray>

#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

/// A digraph of boxes named n0, n1, … with the settings that keep dot's time bounded.
QByteArray writeDot(const Scene& scene);
/// Reads `-Tplain` output into the scene; false if it does not fit the scene.
bool readPlain(const QByteArray& plain, Scene& scene);

}  // namespace kerf::ui::inline graph_view
