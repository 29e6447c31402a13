// Layered layout of a scene: cards and frames placed by ui/layout.
#pragma once

#include <stop_token>

#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

/// Places the cards of `scene`; false if stopped before the end. With `before`, the scene of the same graph shown last,
/// what both have stays in its place: exactly so if the graph is another one (after a pass), beside and above what was
/// opened or closed if it is the same.
bool layOutLayered(Scene& scene, std::stop_token stop, const Scene* before = nullptr);

/// Cards of `graph` with their places; null if stopped. Where nothing says which groups to open, so many as fit.
ScenePtr layOutGraph(const GraphDocPtr& graph, SceneOptions options, std::stop_token stop, const ScenePtr& before = {});

}  // namespace kerf::ui::inline graph_view
