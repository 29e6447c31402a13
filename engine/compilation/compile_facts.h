// What a compilation left behind beside its graphs, in a form in which two runs can be compared: guards without the
// addresses of one process, kernels without their numbers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/capture/common/recorded_fusion.h"

namespace kerf::inline compilation {

using TextCounts = std::map<std::string, int>;

/// The guards of a compile id: leaves of the tree that dynamo_cpp_guards_str prints, without comments and addresses,
/// and the conditions on symbols that were recorded.
TextCounts guardsOf(const Capture& capture, const CompileEntry& compile);
/// "TENSOR_MATCH: check_tensor(L['x'], …)" of every leaf of a printed tree.
TextCounts guardLeaves(std::string_view tree);

/// A kernel of the output code under its name without number.
struct KernelFact {
  int calls = 0;
  std::map<std::string, int> bodies;  ///< of the definitions, by hash; empty for existing functions
};
using KernelFacts = std::map<std::string, KernelFact>;

/// "forward: triton_poi_fused_add" of "triton_poi_fused_add_3"; adds those of a program.
void addKernels(KernelFacts& facts, std::string_view program, const std::string& part);
/// Those of all parts that one compilation made.
KernelFacts kernelsOf(const Capture& capture, const std::vector<CompiledPart>& parts, const GraphOrigin& compilation);

}  // namespace kerf::inline compilation
