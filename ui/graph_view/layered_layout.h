// Layered layout: ranks by longest path, order by barycentre, x by averaging; linear in nodes and edges.
#pragma once

#include <stop_token>

#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

/// Places the cards of `scene`; false if stopped before the end.
bool layOutLayered(Scene& scene, std::stop_token stop);

}  // namespace kerf::ui::inline graph_view
