// Reductions and their accepted steps, and the verdict cache that lets a second run resume.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

Result<std::int64_t> startReduction(Database& database, const ReductionRow& reduction);
/// One transaction: content, step and the reduction's best figures.
Result<void> addStep(Database& database, const StepRow& step, const NewGraph& candidate);
Result<void> finishReduction(Database& database, std::int64_t id, const std::string& status, int bestNodes, int tests,
                             const std::string& fingerprint);
Result<std::optional<ReductionRow>> resumable(Database& database, std::int64_t graphId, const std::string& oracle);
Result<std::vector<ReductionRow>> reductions(Database& database, std::optional<std::int64_t> graphId);
Result<ReductionRow> reduction(Database& database, std::int64_t id);
Result<std::vector<StepRow>> steps(Database& database, std::int64_t reductionId);
Result<std::string> stepContent(Database& database, std::int64_t stepId);
Result<std::optional<std::string>> verdict(Database& database, const std::string& key);
Result<void> putVerdict(Database& database, const std::string& key, const std::string& json);

}  // namespace kerf::inline storage::inline stores
