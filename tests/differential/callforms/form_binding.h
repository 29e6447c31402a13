// What Kerf's binder makes of a form, in the words of parser_model.py, and what a run gives beside PyTorch's answer.
#pragma once

#include "tests/differential/callforms/recorded_form.h"

namespace kerf::callforms {

/// {"form": "(Tensor input, ...)", "slots": [...]} of the graph's last call of a function or method of PyTorch: one slot
/// for each parameter, "P0" (positional), "K0" (keyword), "R0" (positional from there on) or "-" (not given).
/// {"refused": message} where no form takes it, {"unknown": name} for what is not in the table, {} without such a call.
Json bindingOf(const RecordedForm& form, const RecordedTensors& tensors);

enum class FormVerdict : std::uint8_t {
  Equal,         ///< as PyTorch's answer: the same result, or refused by both
  Wrong,         ///< another result
  Takes,         ///< PyTorch refuses it
  TakesType,     ///< PyTorch's parser refuses it: a TypeError
  Refuses,       ///< PyTorch takes it
  NotSupported,  ///< said to be unsupported, PyTorch takes it
};

struct FormOutcome {
  FormVerdict verdict = FormVerdict::Equal;
  std::string text;  ///< what is different, or the message
};

struct FormRun {
  bool compiled = false;  ///< with `compileFx`, not interpreted
  bool values = true;     ///< false: of random results, dtypes and sizes only
};

FormOutcome runForm(const RecordedForm& form, const RecordedTensors& tensors, const FormRun& run);

}  // namespace kerf::callforms
