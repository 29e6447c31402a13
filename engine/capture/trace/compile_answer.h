// What a reader of a trace wants to know first, in sentences: why it recompiled, broke, failed, missed caches,
// diverged.
#pragma once

#include "engine/capture/trace/compile_log.h"
#include "engine/capture/trace/rank_table.h"

namespace kerf::inline capture {

struct AnswerLine {
  enum class Weight { Problem, Note, Fact };
  Weight weight = Weight::Fact;
  std::string text;     ///< "3 recompiles because `x.size(0)` changed (2 → 3, 4): [0/1] [0/2]"
  std::string section;  ///< where more of it is: "recompiles"
};

/// Problems first. Never empty for a capture with compilations.
std::vector<AnswerLine> compileAnswer(const CompileLog& log, const CaptureDetails& details, const RankTable& ranks);

/// "train.py:41" of "/home/user/train.py:41 in forward".
std::string shortPlace(std::string_view where);

}  // namespace kerf::inline capture
