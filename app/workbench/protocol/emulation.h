// What `compare --emulate` says beside the comparison itself: which differences come of the rounding in fused kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/process/codec.h"

namespace kerf::workbench {

/// One result against the graph with the rounding of fused kernels.
struct EmulatedRow {
  std::string name;             ///< of the OutputVerdict
  bool same = false;            ///< as the emulation, by same()
  double ratio = 0, error = 0;  ///< to the limit; largest difference from the emulation
  std::string verdict;          ///< "same", "expected from fusion", "not explained"

  bool explained() const { return verdict != "not explained"; }

  KERF_FIELDS(name, same, ratio, error, verdict)
};

struct FusionComparison {
  std::string emulation;  ///< "inductor" or "kerf": whose fusion groups; empty: none was asked for
  std::vector<EmulatedRow> rows;
  std::int64_t kernels = 0;    ///< fused kernels with nodes in the graph
  std::int64_t fused = 0;      ///< calls that they compute
  std::int64_t unrounded = 0;  ///< of them those with a 16-bit result that stays float32 in a kernel
  std::int64_t missing = 0;    ///< names in groups that the graph does not have

  bool explainsAll() const { return !rows.empty() && std::ranges::all_of(rows, &EmulatedRow::explained); }

  KERF_FIELDS(emulation, rows, kernels, fused, unrounded, missing)
};

}  // namespace kerf::workbench
