// simplify_dtypes: everything at once, then each input and each call alone.
#include "minifier/reductions/simplify_all.h"

#include <algorithm>

#include "minifier/core/call_units.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/complexity.h"
#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline reductions {

namespace {

DType usual(DType dtype) {
  if (dtypeComplexity(dtype) == 0) return dtype;
  return isIntegral(dtype) ? DType::Int64 : DType::Float32;
}

bool isUnusual(const Value& value) { return hasData(value) && dtypeComplexity(value.tensor().dtype()) > 0; }

std::optional<Value> converted(const Value& value) {
  const Tensor& tensor = value.tensor();
  if (isComplex(tensor.dtype())) return std::nullopt;
  const auto elements = collapsed(tensor).to(usual(tensor.dtype()));
  return elements ? std::optional<Value>(expandedAs(*elements, tensor)) : std::nullopt;
}

Argument withUsual(const Argument& argument) {
  const auto* dtype = argument.as<DType>();
  return dtype ? Argument(usual(*dtype)) : argument;
}

bool convertCall(Graph& graph, NodeId call) {
  ArgumentList args = graph.node(call).args();
  for (Argument& argument : args) argument = withUsual(argument);
  KeywordArguments kwargs = graph.node(call).kwargs();
  for (auto& [name, argument] : kwargs) argument = withUsual(argument);
  if (args == graph.node(call).args() && kwargs == graph.node(call).kwargs()) return false;
  graph.setArgs(call, std::move(args));
  graph.setKwargs(call, std::move(kwargs));
  return true;
}

bool convertInput(CandidateEditor& editor, const Candidate& candidate, std::size_t i) {
  if (!isUnusual(candidate.inputs[i])) return false;
  auto value = converted(candidate.inputs[i]);
  if (!value) return false;
  editor.setInput(editor.graph().placeholders()[i], std::move(*value));
  return true;
}

std::vector<Edit> editsThatSimplifyDtypes(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  list.push_back({{}, [&input] { return allUsualDtypes(input.candidate); }});
  for (std::size_t i = 0; i < input.candidate.inputs.size(); ++i) {
    if (!isUnusual(input.candidate.inputs[i])) continue;
    list.push_back({{}, [&input, i]() -> std::optional<Candidate> {
                      CandidateEditor editor(input.candidate);
                      return convertInput(editor, input.candidate, i) ? editor.finishWithShapes() : std::nullopt;
                    }});
  }
  return list;
}

}  // namespace

std::optional<Candidate> allUsualDtypes(const Candidate& candidate) {
  CandidateEditor editor(candidate);
  bool any = false;
  for (std::size_t i = 0; i < candidate.inputs.size(); ++i) any = convertInput(editor, candidate, i) || any;
  for (const NodeId call : callNodes(editor.graph())) any = convertCall(editor.graph(), call) || any;
  return any ? editor.finishWithShapes() : std::nullopt;
}

Reduction simplifyDtypes() { return {"simplify_dtypes", "Makes inputs float32 or int64.", editsThatSimplifyDtypes}; }

}  // namespace kerf::inline minifier::inline reductions
