// Running exported programs: user inputs given by the caller, parameters and buffers from the archive.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Positions among the graph's inputs of what a caller passes: user inputs that are tensors or symbolic integers, in
/// order. Without a signature every tensor and symbolic integer is one.
std::vector<std::size_t> userInputs(const CapturedGraph& graph);
/// Positions among the graph's outputs of what a caller gets: without mutations, gradients of a signature and tokens.
/// Without a signature all of them. `count` is the number of outputs.
std::vector<std::size_t> userOutputs(const CapturedGraph& graph, std::size_t count);

/// Values for the interpreter, in placeholder order, with `user` for the user inputs (as many as userInputs() lists).
/// ShapeMismatch, naming the input, when a tensor's dtype, rank or a size that is not symbolic is another; BadInput
/// when there are more or fewer of them. `strict` and `notes` as in CapturedGraph::loadInputs.
Result<ValueList> loadInputsWith(const CapturedGraph& graph, const ValueList& user, bool strict,
                                 std::vector<std::string>* notes);

}  // namespace kerf::inline capture
