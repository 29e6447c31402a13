// Partition: a joint graph as a forward and a backward graph, with what the first saves for the second.
//
//     joint(primals, tangents) → outputs, gradients
//         →  forward(primals) → outputs, saved;   backward(saved, tangents) → gradients
#pragma once

#include <memory>

#include "engine/partition/memory_budget.h"

namespace kerf::inline partition {

enum class PartitionMethod : std::uint8_t {
  MinCut,   ///< min_cut_rematerialization_partition: what is cheap is computed again in the backward graph
  Default,  ///< default_partition: the forward graph is what was traced forward, all of which the backward uses is
            ///< saved
};
/// "min_cut", "default".
std::string_view methodName(PartitionMethod method);
/// BadUsage naming both.
Result<PartitionMethod> methodFromName(std::string_view name);

struct PartitionOptions {
  JointOptions joint;
  BudgetOptions budget;
  PartitionMethod method = PartitionMethod::MinCut;
};

struct SavedValue {
  std::string name;
  std::int64_t bytes = 0;
  /// Why it is saved: the rule that bans computing it again ("input", "allow_list", "compute_intensive", "random",
  /// "materialized", "distance", "reduction", "used_far_apart", "long_chain", "must_save", "must_be_in_forward");
  /// "min_cut": the cheapest place to cut; "forward": default_partition saves all that the backward part uses;
  /// "rng_state": a random draw that is made again needs it.
  std::string rule;
};

struct Partition {
  GraphModule forward;   ///< returns outputs, saved values, symbols
  GraphModule backward;  ///< takes symbols, saved values, tangents
  std::size_t forwardOutputs = 0;
  std::vector<SavedValue> saved;        ///< tensors, then objects, in the order of the forward graph's outputs
  std::vector<std::string> symbols;     ///< symbolic numbers saved beside them
  std::vector<std::string> recomputed;  ///< calls that both graphs make
  std::int64_t savedBytes = 0;
  double recomputedFlops = 0;
};

/// Partitions one joint graph, at several budgets.
class Partitioner {
 public:
  /// See readJointGraph and checkSides for errors.
  static Result<Partitioner> read(GraphModule module, const PartitionOptions& options);
  /// With PartitionMethod::Default the budget is not looked at, unless nodes are tagged to be computed again: they
  /// need the cut. BadUsage for a budget outside of [0, 1].
  Result<Partition> at(double budget);
  /// Primals that count as parameters and buffers, said or found.
  std::vector<std::string> staticInputs() const;

 private:
  Partitioner(std::unique_ptr<JointGraph> joint, const PartitionOptions& options);

  std::unique_ptr<JointGraph> m_joint;
  PartitionMethod m_method;
  BudgetChooser m_chooser;
};

/// The same for one budget.
Result<Partition> partitionJoint(GraphModule module, const PartitionOptions& options = {}, double budget = 1);

/// default_partition's choice: places saved, the cut's `bans` with the rule "forward".
Result<CutSolution> chooseForwardValues(const JointGraph& joint);

/// Both graphs for the chosen values. Internal where the backward graph cannot be made of them.
Result<Partition> buildPartition(const JointGraph& joint, const CutSolution& solution);

}  // namespace kerf::inline partition
