// What values of nodes are like: figures of tensors as documents, for one node and for all nodes of a comparison.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/values.h"
#include "engine/tensor/tensor_figures.h"

namespace kerf::workbench {

ValueFigures figuresDoc(TensorFigures figures);

/// Of those values that are tensors.
std::vector<SideFigures> sideFigures(std::initializer_list<std::pair<std::string_view, const Value*>> sides);

/// Of what a graph is given: its inputs, "recorded" or "made up", and its parameters and constants.
std::vector<NodeFigures> givenFigures(const RunnableGraph& source);

/// Adds the side "recorded" of nodes of which the file of expected values beside the capture has one.
void addExpectedFigures(const RunnableGraph& source, std::vector<NodeFigures>& figures);

}  // namespace kerf::workbench
