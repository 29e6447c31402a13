// One recorded call: its line of JSON turned into values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/op_caller.h"
#include "engine/tensor/safetensors.h"

namespace kerf::inline conformance {

struct RecordedCall {
  std::int64_t id = 0;
  std::string op;
  ValueList args;
  KeywordValues kwargs;
  std::vector<Tensor> tensorArguments;  ///< in order of appearance; share storage with `args`
  ValueList out;                        ///< tensors carry the recorded strides
  bool mutates = false;
  std::vector<Tensor> post;  ///< contents of tensorArguments afterwards
};

/// BadInput when the line is no such record.
Result<RecordedCall> readRecordedCall(std::string_view line, const SafetensorsFile& tensors);

}  // namespace kerf::inline conformance
