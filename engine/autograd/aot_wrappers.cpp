// AotTracer's higher-order ops: wrappers, which are written out, and torch.autograd.Function.
#include "engine/autograd/aot_tracer.h"

#include <algorithm>

#include "engine/autograd/restored_setting.h"
#include "engine/ops/higher_order/higher_order.h"

namespace kerf::inline autograd {

Result<Value> AotTracer::callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                         const SubgraphCaller& subgraphs) const {
  const std::string_view name = target.text.substr(target.text.rfind('.') + 1);
  if (name == "autograd_function_apply") return applyFunction(args, kwargs, subgraphs);
  std::optional<GradMode> mode;
  if (name == "wrap_with_set_grad_enabled" && !args.empty() && args[0].as<bool>())
    mode.emplace(*this, *args[0].as<bool>());
  const RestoredSetting inside(m_checkpoints, m_checkpoints + (name.ends_with("activation_checkpoint") ? 1 : 0));
  return callHigherOrderOp(target.text, args, kwargs, subgraphs, *this, false);
}

/// autograd_function_apply(forward, backward, *args): forward(ctx, *args) gives (output, saved values), backward(ctx,
/// *gradients, *saved values) the gradients of the tensors among the arguments. Newer calls, which say what is saved, have
/// no ctx.
Result<Value> AotTracer::applyFunction(const ValueList& args, const KeywordValues& kwargs,
                                       const SubgraphCaller& subgraphs) const {
  if (args.size() < 2 || args[0].as<std::string>() == nullptr || args[1].as<std::string>() == nullptr)
    return fail(ErrorCode::UnsupportedOp, "autograd_function_apply needs a forward and a backward graph");
  const bool hasContext =
      std::ranges::none_of(kwargs, [](const auto& entry) { return entry.first == "saved_for_backward_idx"; });
  const ValueList context(hasContext ? 1 : 0);
  ValueList operands = context;
  operands.insert(operands.end(), args.begin() + 2, args.end());
  Value result;
  {
    const GradMode off(*this, false);
    KERF_TRY(result, subgraphs.callSubgraph(*args[0].as<std::string>(), operands));
  }
  if (!result.isList() || result.list().size() < 2)
    return fail(ErrorCode::ShapeMismatch, "autograd_function_apply: the forward graph gives no (output, saved values)");
  KERF_TRY(const Value output, current(result.list()[0]));
  KERF_TRY(const Value saved, current(result.list()[1]));
  ValueList inputs;
  for (std::size_t i = context.size(); i < operands.size(); ++i) {
    if (!operands[i].isTensor()) continue;
    KERF_TRY(Value now, current(operands[i]));
    inputs.push_back(std::move(now));
  }
  if (!recordsGradients() || !m_tape.tracksAny(inputs, {})) return result.list()[0];
  const ValueList outputs = partsOf(output), kept = partsOf(saved);
  const SubgraphCaller* caller = &subgraphs;
  const auto backward = [outputs, kept, caller, context, path = *args[1].as<std::string>()](
                            const ValueList& grads, const OpRunner& run) -> Result<ValueList> {
    ValueList values = context;
    for (std::size_t i = 0; i < grads.size(); ++i) {
      KERF_TRY(Value zeros, grads[i].isTensor() ? grads[i] : run.value("aten.zeros_like.default"_op, {outputs[i]}));
      values.push_back(std::move(zeros));
    }
    values.insert(values.end(), kept.begin(), kept.end());
    KERF_TRY(const Value flows, caller->callSubgraph(path, values));
    return partsOf(flows);
  };
  m_tape.recordCustom(inputs, outputs, nodeOf(outputs[0].tensor()), backward);
  return result.list()[0];
}

}  // namespace kerf::inline autograd
