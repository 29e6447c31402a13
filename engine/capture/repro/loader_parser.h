// parseLoader: the lines of `def load_args(reader):` (or the older `args = […]`) to inputs and storages.
#pragma once

#include "engine/capture/common/call_syntax.h"
#include "engine/capture/repro/sections.h"

namespace kerf::inline capture {

struct LoaderContents {
  std::vector<GraphInput> inputs;
  std::vector<StorageRef> storages;
  std::size_t grown = 0;       ///< storages without bytes or contents that a tensor is said to lie in
  std::size_t valueless = 0;   ///< `reader.symint(None)`
  std::size_t madeByCall = 0;  ///< inputs that a call such as torch.randn makes
};

/// Every tensor lies inside its storage afterwards. BadInput / TooLarge with the line otherwise.
Result<LoaderContents> parseLoader(const SourceText& source, LineRange lines, const Symbols& symbols,
                                   const ImportLimits& limits);

/// Files without load_args: `args = [((shape), (stride), dtype, device[, requires_grad]), …]` of torch 2.0, also of
/// calls (rand_strided, torch.randn and the like), `args.append(…)`, `def make_inputs(): return […]`, or the lines of an
/// `InputReader` without a function around them. NotFound when there is no such line.
Result<LoaderContents> parseOldArguments(const SourceText& source, LineRange lines, const Symbols& symbols,
                                         const ImportLimits& limits);

/// The lines of `lines` that parseOldArguments reads; none if there are none.
LineRange oldArgumentLines(const SourceText& source, LineRange lines);

}  // namespace kerf::inline capture
