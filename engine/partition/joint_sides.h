// Whether what a joint graph and its tags ask of forward and backward can be had.
#pragma once

#include "engine/partition/joint_graph.h"

namespace kerf::inline partition {

/// BadInput, naming both nodes, where the forward part returns or must have ("must_be_in_forward") what needs a tangent
/// or a node that must be in the backward part; where an input, or a node that must be in the forward part, must be
/// computed again; where an element must be in the backward part of a tuple that must not be computed there; and where
/// a call reads memory behind one that writes it.
Result<void> checkSides(const JointGraph& joint);

/// BadInput: the element must be in the backward part, where its tuple is not.
std::unexpected<Error> elementApart(const JointGraph& joint, int element, int tuple);

}  // namespace kerf::inline partition
