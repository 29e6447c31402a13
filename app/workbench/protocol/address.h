// GraphAddress: how a request names a graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/support/fields.h"

namespace kerf::workbench {

struct GraphAddress {
  /// "repro.py", "trace.log#aot_joint_graph", "c3/g1", "c3/g1@pass:cse", "m2@step:4", "p4"; with `index`, what is
  /// before the '#'.
  std::string text;
  int index = -1;                    ///< of a graph of the capture `text`, from 0; -1: `text` names the graph
  std::vector<std::string> symbols;  ///< "s0=8": values of symbolic sizes, in place of the recorded ones
  /// What stands in for data that the capture does not have: plausible, random, zeros or ones; or a .safetensors file
  /// whose in0, in1, … (or names of placeholders) are the inputs.
  std::string inputs = usualInputs;
  std::uint64_t seed = usualSeed;  ///< of everything that is made up

  /// "aten", "functional" or "joint": the graph as that stage of AOTAutograd, as "@stage:joint" at the end of `text`
  /// asks for too; empty: as it was captured.
  std::string stage = {};

  static constexpr const char* usualInputs = "plausible";
  static constexpr std::uint64_t usualSeed = 0x6b657266;

  KERF_FIELDS(text, index, symbols, inputs, seed, stage)
  bool operator==(const GraphAddress&) const = default;
};

}  // namespace kerf::workbench
