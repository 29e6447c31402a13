// ProgramSteps: runs the steps of an OpProgram as plain expressions; the first error ends the program.
#pragma once

#include <optional>

#include "engine/ops/composite/op_program.h"

namespace kerf::inline ops {

/// After an error every step is skipped and gives a tensor without dimensions: look at sizes of arguments only.
class ProgramSteps {
 public:
  explicit ProgramSteps(const OpRunner& run) : m_run(run) {}

  Tensor operator()(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {}) {
    if (m_error) return {};
    auto result = m_run(op, args, kwargs);
    if (result) return std::move(*result);
    m_error = std::move(result).error();
    return {};
  }
  /// The program's result, or the error of the step that failed.
  Result<Value> done(Tensor result) {
    if (m_error) return std::unexpected(std::move(*m_error));
    return Value(std::move(result));
  }

 private:
  const OpRunner& m_run;
  std::optional<Error> m_error;
};

}  // namespace kerf::inline ops
