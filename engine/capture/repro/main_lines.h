// The run_repro call of a repro.py: reading its options, changing them in place, writing the whole main part anew.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/capture/common/source_text.h"

namespace kerf::inline capture {

using RunOptions = std::vector<std::pair<std::string, std::string>>;

/// Keyword arguments of the first `run_repro(…)` call in these lines, values verbatim; false if there is no call.
bool readRunOptions(const SourceText& source, LineRange lines, RunOptions& options);

/// `key=oldValue` becomes `key=newValue` wherever a line mentions run_repro's options.
void replaceOption(std::vector<std::string>& lines, const std::string& key, const std::string& oldValue,
                   const std::string& newValue);

/// The part after load_args as save_graph_repro writes it.
std::vector<std::string> defaultMainLines(const std::string& className, const RunOptions& options);

/// The same as PyTorch writes it for the graphs that Dynamo made ("after_dynamo"). `mod = …` stands in front of load_args
/// there: defaultDynamoModuleLines.
std::vector<std::string> defaultDynamoMainLines(const RunOptions& options);
std::vector<std::string> defaultDynamoModuleLines(const std::string& className);

}  // namespace kerf::inline capture
