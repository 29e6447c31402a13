// The request about a joint graph's partition: what the forward part saves for the backward part, and why.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

struct SavedValueDoc {
  std::string name, value;  ///< "relu_3", "f32[16, 32]"
  std::int64_t bytes = 0;
  std::string rule;  ///< which ban keeps it from being computed again ("allow_list", "random", …), or "min_cut"

  KERF_FIELDS(name, value, bytes, rule)
};
/// One budget's choice.
struct PartitionDoc {
  double budget = 1;
  std::vector<SavedValueDoc> saved;     ///< in the order in which the forward graph returns them
  std::vector<std::string> symbols;     ///< symbolic numbers, behind the saved values
  std::vector<std::string> recomputed;  ///< calls that both graphs make
  std::int64_t forwardNodes = 0, backwardNodes = 0, savedBytes = 0;
  double recomputedFlops = 0;
  std::chrono::nanoseconds time{};  ///< of this budget; the first has what is done once for all of them
  std::string forward, backward;    ///< readable texts, where they were asked for

  KERF_FIELDS(budget, saved, symbols, recomputed, forwardNodes, backwardNodes, savedBytes, recomputedFlops, time,
              forward, backward)
};
struct PartitionReport {
  std::vector<PartitionDoc> partitions;   ///< one for each budget, as asked for
  std::vector<std::string> staticInputs;  ///< primals that live on anyway, which are free to save
  std::string staticSource;               ///< how they are known: "traced", "recorded", "given", "gradients"

  KERF_FIELDS(partitions, staticInputs, staticSource)
};
/// Partitions a joint graph: one that was recorded, or "X@stage:joint" of a forward graph. BadUsage for a budget
/// outside of [0, 1], before anything is done.
struct PartitionRequest {
  using Answer = PartitionReport;
  static constexpr std::string_view name = "partition";
  GraphAddress graph;
  std::vector<double> budgets{1};
  std::string method = "min_cut";     ///< or default, which looks at no budget
  std::string knapsack = "dp";        ///< greedy, ilp
  std::string estimator = "flops";    ///< of what computing again costs: flops, profile (measured)
  int staticInputs = -1;              ///< how many of the first primals are parameters and buffers; -1: as recorded
  bool graphs = false;                ///< the texts of both graphs too
  std::vector<std::string> policies;  ///< "relu=must_save": checkpoint policies of nodes, before recorded ones

  KERF_FIELDS(graph, budgets, method, knapsack, estimator, staticInputs, graphs, policies)
};

}  // namespace kerf::workbench
