// The sharding column proved by enumeration: every placement of every operand on small meshes, all ranks simulated.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline distributed::inline checks {

struct RuleProof {
  std::string op;
  int samples = 0;
  int uneven = 0;   ///< of them with a tensor that two ranks cannot have in equal parts
  int complex = 0;  ///< of them in complex128; none where the op does not run on complex tensors
  int right = 0;    ///< combinations of placements whose result is that of whole tensors
  int wrong = 0;    ///< and those where it is not
  int refused = 0;  ///< in-place forms and views that would have to move what they write, uneven means
  int missing = 0;  ///< placements that need no communication although the rule moves operands for them
  std::vector<std::string> findings;  ///< the first few that are wrong or missing
  std::vector<std::string> left;      ///< why the op, or how many of the calls that were tried, proves nothing
};

struct RuleCheckOptions {
  std::string pattern;                                      ///< part of an overload's name; empty: all
  std::function<bool(std::string_view name)> matches = {};  ///< in place of `pattern`
  int samples = 4;                                          ///< recorded calls of each overload
  int combinations = 160;  ///< of placements, for each sample and mesh; of samples with many elements fewer
  /// Ops that no rule and no trait places too; stripes, products and masks among the placements; each call in complex128 too
  bool isWide = false;
  /// For a proof of the whole table in little time: each call on the mesh [2] and on one of the others, in turn; up to three more calls
  /// of an op until one has sizes that do not divide.
  bool isBrief = false;
  std::stop_token stop = {};
};

/// Proofs of all overloads that have a rule or shard alike by trait, or (wide) of all, and of which `recordings` (OpInfo calls) holds a
/// call, by name. What they give and what they write is compared. Partial values are parts that cannot cancel: weights of changing signs,
/// with exact sums. NotFound where there are no recordings.
Result<std::vector<RuleProof>> checkShardingRules(const std::filesystem::path& recordings,
                                                  const RuleCheckOptions& options);

}  // namespace kerf::inline distributed::inline checks
