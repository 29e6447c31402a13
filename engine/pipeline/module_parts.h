// ModuleParts: a graph cut where the model's modules begin and end, each part compiled by itself or run by the
// interpreter.
//
//     fc1: addmm, relu; fc2: addmm      →      submod_0 (fc1) = self.submod_0(x, …); submod_1 (fc2) = …
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "engine/ir/split_module.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::inline pipeline {

class ModuleParts {
 public:
  /// Consecutive calls of one module, by the path that the capture has of it; where there is none, those of one line of
  /// the model's source; where there is neither, sixteen at a time.
  static Result<ModuleParts> of(const GraphModule& module);

  /// "layers.0.fc1", "model.py:38", "mul_2 … add_7"; a second part of the same name is "fc1 (2)".
  const std::vector<std::string>& names() const { return m_names; }
  /// The graph's result, with the parts that are `on` compiled and the others interpreted. Errors of either.
  Result<Value> run(const ValueList& inputs, const std::vector<bool>& on, const CompileOptions& options,
                    std::stop_token stop = {}) const;

 private:
  SplitModule m_split;
  std::vector<std::string> m_names;
};

}  // namespace kerf::inline pipeline
