// Attributes of Dynamo's graphs as the inputs that AOTAutograd makes of them, so that both have the same values and what
// an optimizer writes into them is compared.
//
//     p = self.weight; p.add_(g)      →      def forward(self, p, g): p.add_(g)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline verification {

/// Makes placeholders of the graph's tensor attributes, in front of the others and in the order of their first use. A
/// graph with recorded inputs stays as it is.
void liftAttributes(CapturedGraph& graph);
/// Names of the attributes that were lifted, in order.
std::vector<std::string> liftedAttributes(const Graph& graph);
/// X of "ParamAOTInput(target='X')", "BufferAOTInput(target='X')" and of a lifted attribute; empty for other inputs.
std::string attributeIn(std::string_view description);

}  // namespace kerf::inline verification
