// parseInit: the lines of a repro's `__init__` to buffers, parameters and submodules.
#pragma once

#include <map>

#include "engine/capture/repro/sections.h"

namespace kerf::inline capture {

/// What `self.x = ` is given where the module's repr is no Python; the repr follows as a string.
inline constexpr std::string_view noPythonValue = "None  # not Python: ";

/// Nested graphs by class name: `self.true_graph_0 = true_graph_0()` refers to one.
using NestedModules = std::map<std::string, std::shared_ptr<const GraphModule>, std::less<>>;

/// Fills attributes and submodules of `module`. Modules known by their repr alone stay opaque. Says in `lost` how many
/// tensors PyTorch wrote without their values.
Result<void> parseInit(const SourceText& source, LineRange lines, const NestedModules& nested,
                       const ImportLimits& limits, GraphModule& module, std::size_t& lost);

}  // namespace kerf::inline capture
