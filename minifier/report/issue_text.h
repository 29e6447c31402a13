// An issue for PyTorch's tracker, ready to paste: Markdown about one minified failure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline minifier::inline report {

/// The passing graph next to the failing one, as people read it.
struct IssueDifference {
  std::string reduction, description;
  std::string diff;  ///< unified, from the graph that passes to the one that fails
};

/// What an issue says.
struct IssueFacts {
  std::string fingerprint;                         ///< "accuracy:magnitude"
  std::string detail;                              ///< of the failing verdict, one line; may be empty
  std::string oracle;                              ///< who judged
  std::string fault;                               ///< that Kerf planted, and PyTorch has not; mostly empty
  std::string injected;                            ///< that the capture has PyTorch plant; mostly empty
  std::string confirmed;                           ///< what PyTorch itself says of the repro; may be empty
  std::string repro;                               ///< text of repro.py
  std::string runner;                              ///< "after_aot" or "after_dynamo"
  std::vector<std::string> environment, versions;  ///< lines of the repro
  int startNodes = 0, nodes = 0, steps = 0;        ///< nodes 0: nothing was minified
  int judged = 0;  ///< verdicts, from the cache too: the same however often the search is made; 0: not known any more
  std::optional<bool> oneMinimal = {};  ///< none: not known any more
  bool hasStorages = false;
  std::optional<IssueDifference> closest;
};

/// What a failure with this fingerprint is, in a sentence without a full stop: "the compiled graph returns NaN where
/// eager returns none".
std::string failureSentence(std::string_view fingerprint);
/// What who runs the repro is to expect: "exits with 1 and AccuracyError". `fault`: planted by Kerf, or empty.
std::string expectedOfRun(std::string_view fingerprint, std::string_view fault);
/// run_repro's accuracy= that shows the failure, as Python text: "True" for differences, else "False".
std::string accuracyOption(std::string_view fingerprint);

/// Calls of the graph, in order, each once: "aten.relu.default, aten.mul.Tensor".
std::string calledOps(const GraphModule& module);

/// One line: the kind of the failure and the ops. At most about a hundred characters.
std::string issueTitle(std::string_view fingerprint, const GraphModule& module);
/// The whole text, beginning with the title as a heading. The same facts give the same bytes.
std::string issueText(const IssueFacts& facts, const GraphModule& module);

}  // namespace kerf::inline minifier::inline report
