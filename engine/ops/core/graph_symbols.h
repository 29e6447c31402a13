// The symbols that a graph's placeholders mention, as a ShapeEnv knows them.
#pragma once

#include "engine/ir/graph_module.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {

/// Adds every symbol of the placeholders' annotations: its value from the recorded ones, its source ("x.size()[0]"),
/// and the module's range of it, else the one that PyTorch gives new symbols: sizes are at least 2 (0 and 1 are
/// specialised), unless one is recorded smaller; unbacked ones at least 0. A backed symbol without value gets an
/// assumed one, which is never shown.
void addGraphSymbols(const GraphModule& module, ShapeEnv& env);

}  // namespace kerf::inline ops
