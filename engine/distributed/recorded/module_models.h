// The modules of the recordings: what each computes, its input and its loss.
#pragma once

#include "engine/distributed/modules/module_run.h"
#include "engine/distributed/recorded/reading.h"

namespace kerf::inline distributed::inline recorded {

/// What the module of a line gives for its input. NotFound for modules that are not known.
Result<Value> runModule(const Json& line, const ModuleRun& run, const Value& input);
/// Paths of its submodules that are embeddings.
std::set<std::string> embeddingsOf(const Json& line);
/// The line's loss: of language models cross entropy, else the mean of the squares.
Result<Value> moduleLoss(const Json& line, const ModuleRun& run, const Value& output, const Tensor* target);

}  // namespace kerf::inline distributed::inline recorded
