#include "tests/differential/callforms/form_binding.h"

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/python/bind_python_call.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::callforms {
namespace {

char letterOf(SlotSource source) {
  switch (source) {
    case SlotSource::Positional:
      return 'P';
    case SlotSource::Keyword:
      return 'K';
    case SlotSource::Rest:
      return 'R';
    default:
      return '-';
  }
}

Json bound(std::string_view target, const ValueList& args, const KeywordValues& kwargs) {
  if (findCallForms(target) == nullptr) return {{"unknown", target}};
  const auto form = bindPythonCall(target, args, kwargs);
  if (!form) return {{"refused", form.error().message}};
  Json slots = Json::array();
  for (const ParameterSlot& slot : form->slots) {
    const char letter = letterOf(slot.source);
    slots.push_back(letter == '-' ? "-" : fmt::format("{}{}", letter, slot.index));
  }
  return {{"form", form->form->text}, {"slots", std::move(slots)}};
}

/// Calls as they are, and how the last one of a function was bound.
class BindingCaller : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const bool isFunction = target.text.starts_with("torch.") || target.text.starts_with("method.");
    if (isFunction && !target.text.starts_with("torch.ops.")) m_last = bound(target.text, args, kwargs);
    return referenceOps().call(target, args, kwargs);
  }

  const Json& last() const { return m_last; }

 private:
  mutable Json m_last = Json::object();
};

/// The graph that returns its inputs behind its results: as they are under their names at the end.
GraphModule withInputs(const GraphModule& module) {
  GraphModule changed = module;
  const NodeId output = changed.graph.outputNode();
  ArgumentList results;
  const Argument& given = changed.graph.node(output).args()[0];
  if (const ListArgument* list = given.asList())
    results = list->items;
  else
    results.push_back(given);
  for (const NodeId input : changed.graph.placeholders()) results.emplace_back(input);
  changed.graph.setArgs(output, {Argument::tuple(std::move(results))});
  return changed;
}

/// `inputs` become what the run left of them.
Result<Value> ran(const RecordedForm& form, ValueList& inputs, bool compiled) {
  if (!compiled) {
    Interpreter interpreter(form.module, referenceOps());
    interpreter.freesValues = false;  // what became of the inputs is asked for
    const ValueList given = inputs;
    interpreter.start(given);
    for (bool more = true; more;) {
      KERF_TRY(more, interpreter.step());
    }
    const std::vector<NodeId> placeholders = form.module.graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i)
      if (const Value* left = interpreter.valueOf(placeholders[i])) inputs[i] = *left;
    KERF_TRY(Value result, interpreter.finish());
    return result;
  }
  KERF_TRY(const auto graph, compileFx(withInputs(form.module), {}));
  KERF_TRY(const Value result, graph->run(inputs));
  ValueList all = result.list();
  for (std::size_t i = inputs.size(); i-- > 0; all.pop_back()) inputs[i] = all.back();
  return all.size() == 1 ? all[0] : Value(std::move(all));
}

/// Without the numbers of tensors.
void forgetValues(Json& value) {
  if (value.is_object()) value.erase("v");
  if (value.is_array())
    for (Json& item : value) forgetValues(item);
}

}  // namespace

Json bindingOf(const RecordedForm& form, const RecordedTensors& tensors) {
  const BindingCaller caller;
  const auto ignored = Interpreter(form.module, caller).run(form.values(tensors));
  return caller.last();
}

FormOutcome runForm(const RecordedForm& form, const RecordedTensors& tensors, const FormRun& run) {
  ValueList inputs = form.values(tensors);
  const auto given = ran(form, inputs, run.compiled);
  const bool refused = form.row.contains("error");
  if (!given && refused) return {};
  if (!given)
    return {given.error().code == ErrorCode::UnsupportedOp ? FormVerdict::NotSupported : FormVerdict::Refuses,
            given.error().text()};
  if (refused) {
    const std::string error = form.row["error"];
    return {error.starts_with("TypeError") ? FormVerdict::TakesType : FormVerdict::Takes, error};
  }
  Json expected = form.row["result"];
  if (!run.values) forgetValues(expected);
  const Value& result = given->isList() && given->list().size() == 1 ? given->list()[0] : *given;
  std::string text = differenceOfLeaves(expected, result);
  if (text.empty() && run.values) text = differenceOfInputs(form, inputs);
  return {text.empty() ? FormVerdict::Equal : FormVerdict::Wrong, text};
}

}  // namespace kerf::callforms
