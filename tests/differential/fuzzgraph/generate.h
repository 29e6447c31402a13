// generateGraph(): the graph of a seed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/differential/fuzzgraph/graph_builder.h"

namespace kerf::fuzzgraph {

struct GenerateOptions {
  std::uint64_t seed = 0;
  int calls = 0;                  ///< 0: from 3 to 80, mostly few
  std::vector<std::string> only;  ///< parts of overloads' names: nothing else is called; empty: everything
};

struct GeneratedGraph {
  Candidate candidate;
  bool symbolic = false;
  std::map<std::string, int> calls;      ///< by overload
  std::vector<std::string> shapeFaults;  ///< kernels whose result is not what the shape rule says
};

/// Hears the overload that is tried next.
using OnAttempt = std::function<void(std::string_view overload)>;

/// The same for equal options on every machine.
Result<GeneratedGraph> generateGraph(const GenerateOptions& options, const OnAttempt& onAttempt = {});

/// Adds a call of this op, with new tensors where the graph has none that fit; false where no attempt at it was valid.
bool growCall(GraphBuilder& build, const OpInfo& op);

/// Adds a call of a higher-order op over tensors of the graph; false where it has none that fit.
bool growHigherOrder(GraphBuilder& build);

}  // namespace kerf::fuzzgraph
