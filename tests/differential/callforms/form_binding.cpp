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
  KERF_TRY(const auto graph, compileFx(form.module, {}));
  return graph->run(inputs);
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
