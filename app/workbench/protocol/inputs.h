// Inputs: what a graph is run on, and where each value comes from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/job.h"

namespace kerf::workbench {

struct InputRow {
  std::string name;
  std::string value;   ///< "f32[4, 8]", "8" of a symbolic number; empty: unknown
  std::string source;  ///< stored, generated, file, number
  std::string why;     ///< of a generated one: "positive (rsqrt at rsqrt_3)"

  KERF_FIELDS(name, value, source, why)
};

/// Where the inputs would come from, without making them. Errors as those of running the graph.
struct InputsRequest {
  using Answer = std::vector<InputRow>;
  static constexpr std::string_view name = "inputs";
  GraphAddress graph;

  KERF_FIELDS(graph)
};

}  // namespace kerf::workbench
