// In which forms PyTorch's functions and methods may be called: its table (resources/python/call_forms.txt), recorded
// from PyTorch, as structs. Private to engine/ops/python.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// What the argument parser asks a parameter's value to be.
enum class ParameterKind : std::uint8_t {
  Any,
  Tensor,
  Scalar,
  Int,
  Float,
  Complex,
  Bool,
  String,
  Dtype,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Dimname,
};

enum class ParameterStar : std::uint8_t { None, Positional, Keyword };  ///< "*tensors", "**options"

struct FormParameter {
  std::string name;
  ParameterKind kind = ParameterKind::Any;
  bool isList = false;
  bool isSize = false;       ///< a SymInt of ATen's schema
  bool takesSingle = false;  ///< a list of known length: one int stands for all
  bool takesNone = false;
  bool isOptional = false;  ///< there is a default
  bool isKeywordOnly = false;
  ParameterStar star = ParameterStar::None;
  std::string defaultText;
  Value byDefault;
};

/// The default of PyTorch's parser where the ATen overload has another number; null elsewhere.
const Value* ownDefault(const FormParameter& parameter, const std::optional<Value>& ofAten);

/// One way to call it.
struct CallForm {
  std::vector<FormParameter> parameters;
  std::size_t positionalCount = 0;
  std::string text;             ///< "(Tensor input, bool unbiased=True)"
  const OpInfo* op = nullptr;   ///< the ATen overload that this form is; null where the op table has none
  std::vector<int> fromSchema;  ///< per argument of `op`: its parameter, or -1
};

/// A function or method, and its forms in the order in which PyTorch tries them.
struct CallableForms {
  std::string name;      ///< "torch.std", "Tensor.std", "torch.nn.functional.elu"
  std::string atenName;  ///< "std"; empty for functions that PyTorch wrote in Python
  bool isMethod = false;
  bool takesNumbersAsTensors = false;
  std::vector<CallForm> forms;

  bool isPythonDefined() const { return atenName.empty(); }
};

/// The forms of what a graph calls ("method.std", "torch.std", "torch._C._nn.gelu"). Of names outside the table, those
/// of ATen's overloads of that name. Null when there is nothing of that name.
const CallableForms* findCallForms(std::string_view target);

/// "method.std" → "Tensor.std", "torch._C._linalg.linalg_cond" → "torch.linalg.cond": the name in the table.
std::string callableName(std::string_view target);

/// resources/python/call_forms.txt.
std::string_view callFormsText();

/// One line of it. Empty name where it is malformed.
CallableForms parseCallForms(std::string_view line);

/// Finds the ATen overload of every form, and what the schema knows better: where a single int or None may stand.
void matchOverloads(CallableForms& callable);
/// Forms out of the overloads that the op table has; none where it has no such op.
std::vector<CallForm> formsOfOverloads(const std::string& atenName, bool isMethod);

}  // namespace kerf::inline ops
