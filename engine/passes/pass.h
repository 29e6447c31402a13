// Pass: a named change of a graph, and what it says of itself: stage, scope, options, one sentence.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "engine/ir/graph_module.h"
#include "engine/passes/pass_options.h"

namespace kerf::inline passes {

/// Where in a compilation a pass runs, in this order.
enum class PassStage : std::uint8_t {
  PreGrad,   ///< on what was captured, before there is a backward
  Joint,     ///< on forward and backward in one graph
  PostGrad,  ///< on what will be compiled, in ATen and prims ops
  Lowering,  ///< last, right before a backend takes the graph: what must hold then
};
inline constexpr std::array passStages = {PassStage::PreGrad, PassStage::Joint, PassStage::PostGrad,
                                          PassStage::Lowering};
/// "pre_grad", "joint", "post_grad", "lowering".
std::string_view stageName(PassStage stage);

/// Which graphs of a module a pass is run on.
enum class PassScope : std::uint8_t {
  NestedFirst,  ///< every nested graph (branches, loop bodies), innermost first, then the outermost
  OuterOnly,
};

/// What a pass is told of one run of its function.
struct PassContext {
  const PassOptions& options;
  std::string_view path;  ///< of the nested graph ("true_graph_0", "body_graph_0.cond_0"); empty: the outermost
};

struct Pass {
  std::string name;  ///< "cse"
  PassStage stage = PassStage::PostGrad;
  PassScope scope = PassScope::NestedFirst;
  std::string description;  ///< one sentence
  PassOptions options = {};
  /// Edits one graph in place. Whether it changed anything is seen by the module's revision.
  std::function<Result<void>(GraphModule&, const PassContext&)> run = {};
  std::string place = {};  ///< why it runs where it does; the tables that order passes say so
};

}  // namespace kerf::inline passes
