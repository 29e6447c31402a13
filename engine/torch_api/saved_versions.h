// SavedVersions: notices that a tensor which a gradient's formula reads was written into after it was saved.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/ir/op_caller.h"
#include "engine/torch_api/variable.h"

namespace kerf::inline torch_api {

struct SavedVersion {
  const Storage* storage = nullptr;
  std::shared_ptr<unsigned> version;
  unsigned expected = 0;
  std::string text;  ///< "[torch.FloatTensor [2]], which is output 0 of ExpBackward0,"
};

/// Notes the tensors in a value; `ahead` for what the call being recorded is about to count as written.
void noteVersions(const Value& value, unsigned ahead, std::vector<SavedVersion>& into);

/// Runs ops, and fails where one reads what was written into since.
class VersionCheckedOps : public OpCaller {
 public:
  VersionCheckedOps(const OpRunner& run, std::vector<SavedVersion> stale) : m_run(run), m_stale(std::move(stale)) {}
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override;

 private:
  Result<void> check(const Value& value) const;

  const OpRunner& m_run;
  std::vector<SavedVersion> m_stale;
};

/// Those that were written into.
std::vector<SavedVersion> staleOf(const std::vector<SavedVersion>& saved);

}  // namespace kerf::inline torch_api
