// Forms of calls that were recorded with PyTorch: the tensors that they name, the graph of each, and what PyTorch gave.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/ir/graph_module.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::callforms {

using Json = nlohmann::json;
using RecordedTensors = std::map<std::string, Json>;  ///< {"t": dtype, "s": sizes, "v": numbers} by name

/// A recorded tensor; complex ones are pairs of floats.
Tensor recordedTensor(const Json& row);

/// What differs in dtype, sizes or values ("e": one of so many was recorded); empty where nothing does.
std::string differenceFrom(const Tensor& given, const Json& expected);

/// One form: a graph of a call, whose placeholders are named after recorded tensors (`L_a_` or `l_a_` is `a`).
struct RecordedForm {
  Json row;
  GraphModule module;
  std::vector<std::string> inputs;  ///< names of the recorded tensors, in the order of the placeholders

  /// Fresh copies of the inputs.
  ValueList values(const RecordedTensors& tensors) const;
};

/// The graph of `row["graph"]`. An error where it is no graph.
Result<RecordedForm> readForm(const Json& row, const RecordedTensors& tensors);

/// What differs in the inputs that PyTorch changed (`row["changed"]`) after a run; empty where nothing does.
std::string differenceOfInputs(const RecordedForm& form, const ValueList& inputs);

/// What differs between `row["result"]` and a result, leaf by leaf: tensors, numbers, flags, texts and None. What PyTorch
/// gave as an object of another kind ({"p": text}) is not compared.
std::string differenceOfLeaves(const Json& expected, const Value& given);

}  // namespace kerf::callforms
