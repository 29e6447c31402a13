// ProgramWrapper: calls of kernels and operators.
#include <fmt/format.h>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/meaning/program_wrapper.h"

namespace kerf::inline audit {

RunValue ProgramWrapper::call(const SyntaxNode& node) {
  std::string callee = node.callee();
  if (callee.ends_with(".run")) callee.resize(callee.size() - 4);
  if (const auto kernel = m_kernels.find(callee); kernel != m_kernels.end()) return launch(kernel->second, node);
  if (callee.starts_with("empty_strided") || callee.starts_with("torch.empty_strided")) return allocate(node, 0);
  if (callee == "alloc_from_pool") return allocate(node, 3);
  if (callee == "reinterpret_tensor") return reinterpret(node);
  if (callee == "max" || callee == "min" || callee == "Max" || callee == "Min") return extreme(node, callee[1] == 'a');
  if (callee == "get_raw_stream" || callee.starts_with("torch.cuda.") || callee == "device") return otherValue({});
  if (node.items[0].is(SyntaxKind::Member) && node.items[0].text == "copy_") return copyInto(node);
  if (callee == "aten.randint.low_out") return drawSeeds(node);
  return external(node, callee);
}

int ProgramWrapper::newCall(const SyntaxNode& node, std::string name) {
  RunCall made;
  made.line = node.line;
  made.name = std::move(name);
  m_outcome.calls.push_back(std::move(made));
  return int(m_outcome.calls.size()) - 1;
}

void ProgramWrapper::reads(int call, const RunValue& value) {
  for (const RunValue& each : value.items) reads(call, each);
  if (value.kind != RunValue::Kind::Tensor) return;
  const auto writer = m_outcome.writers.find(value.tensor.memory.get());
  if (writer != m_outcome.writers.end() && writer->second != call)
    m_outcome.calls[std::size_t(call)].reads.push_back(writer->second);
}

void ProgramWrapper::writes(int call, const RunValue& value) {
  for (const RunValue& each : value.items) writes(call, each);
  if (value.kind != RunValue::Kind::Tensor) return;
  m_outcome.writers[value.tensor.memory.get()] = call;
  if (!m_context.isNode) return;
  const DenseNumbers numbers = value.tensor.numbers();
  if (!numbers.isKnown) return;
  RunCall& made = m_outcome.calls[std::size_t(call)];
  made.isNode = (!made.hasResult || made.isNode) && m_context.isNode(ValueMark::of(numbers));
  made.hasResult = true;
}

RunValue ProgramWrapper::launch(ProgramKernel& kernel, const SyntaxNode& node) {
  const int call = newCall(node, kernel.name);
  std::vector<RunArgument> arguments;
  std::vector<RunValue> given;
  bool isKnown = true;
  for (std::size_t i = 0; i < node.argumentCount(); ++i) {
    if (!node.keywords[i].empty()) continue;
    given.push_back(evaluate(node.argument(i)));
    const RunValue& value = given.back();
    const auto number = realOf(value);
    isKnown = isKnown && (number || value.kind == RunValue::Kind::Tensor);
    if (value.kind == RunValue::Kind::Tensor)
      arguments.push_back({value.tensor.memory.get(), double(value.tensor.offset)});
    else
      arguments.push_back({nullptr, number.value_or(0)});
    reads(call, value);
  }
  const auto model = m_context.program.kernels.find(
      node.callee().ends_with(".run") ? node.callee().substr(0, node.callee().size() - 4) : node.callee());
  std::string problem = isKnown ? std::string() : "an argument is not known";
  if (problem.empty()) {
    if (kernel.machine == nullptr)
      kernel.machine = kernel.isTriton ? tritonMachine(kernel.name, kernel.text->text, m_context.budget)
                                       : cppMachine(kernel.text->text, m_context.budget);
    problem = kernel.machine->run(arguments);
  }
  m_outcome.calls[std::size_t(call)].problem = problem;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].kind != RunValue::Kind::Tensor) continue;
    const bool isOut =
        model == m_context.program.kernels.end() || i >= model->second.parameters.size() ||
        (model->second.parameters[i].name.find("out") != std::string::npos && !model->second.parameters[i].isConst);
    if (!isOut) continue;
    if (!problem.empty()) given[i].tensor.memory->blur();
    writes(call, given[i]);
  }
  return {};
}

RunValue ProgramWrapper::copyInto(const SyntaxNode& node) {
  // buf0.copy_(from), or aten.copy_(to, from)
  RunValue to = evaluate(node.items[0].items[0]);
  const std::size_t first = to.kind == RunValue::Kind::Tensor ? 0 : 1;
  if (first == 1 && node.argumentCount() > 0) to = evaluate(node.argument(0));
  const RunValue from = node.argumentCount() > first ? evaluate(node.argument(first)) : RunValue();
  const int call = newCall(node, "copy_");
  reads(call, from);
  if (to.kind != RunValue::Kind::Tensor) return {};
  const DenseNumbers numbers = from.kind == RunValue::Kind::Tensor ? from.tensor.numbers() : DenseNumbers();
  if (from.kind != RunValue::Kind::Tensor || !numbers.isKnown || !to.tensor.write(numbers)) to.tensor.memory->blur();
  writes(call, to);
  return to;
}

RunValue ProgramWrapper::drawSeeds(const SyntaxNode& node) {
  const SyntaxNode* const out = node.keyword("out");
  const RunValue to = out == nullptr ? RunValue() : evaluate(*out);
  if (to.kind != RunValue::Kind::Tensor) return {};
  DenseNumbers seeds{to.tensor.sizes, to.tensor.dtype, NumberArray(countOf(to.tensor.sizes)), true};
  double* const numbers = seeds.values.edit();
  for (std::size_t i = 0; i < seeds.values.size(); ++i) numbers[i] = double(i + 1);
  (void)to.tensor.write(seeds);
  writes(newCall(node, "aten.randint.low_out"), to);
  return to;
}

Result<Value> ProgramWrapper::toValue(const RunValue& value, bool isWritten) {
  if (value.kind == RunValue::Kind::List) {
    ValueList items;
    for (const RunValue& each : value.items) {
      KERF_TRY(Value item, toValue(each, isWritten));
      items.push_back(std::move(item));
    }
    return Value(std::move(items));
  }
  if (value.kind == RunValue::Kind::Unknown) return fail(ErrorCode::UnsupportedOp, "an operand is not known");
  if (value.kind != RunValue::Kind::Tensor) return value.number;
  if (const auto view = value.tensor.view(); view && !isWritten) return Value(*view);
  DenseNumbers numbers = value.tensor.numbers();
  if (!numbers.isKnown) return fail(ErrorCode::UnsupportedOp, "an operand is not known");
  if (isWritten) (void)numbers.values.edit();
  KERF_TRY(Tensor tensor, tensorOf(numbers));
  return Value(std::move(tensor));
}

std::string ProgramWrapper::targetOf(std::string callee) {
  constexpr std::string_view kernels = "extern_kernels.";
  if (callee.starts_with(kernels)) return "torch.ops.aten." + callee.substr(kernels.size()) + ".default";
  if (callee.starts_with("aten.")) return "torch.ops." + callee;
  return callee.starts_with("torch.ops.") ? callee : std::string();
}

RunValue ProgramWrapper::external(const SyntaxNode& node, const std::string& callee) {
  const std::string target = targetOf(callee);
  const int call = newCall(node, callee.empty() ? "a call" : callee);
  ValueList args;
  KeywordValues kwargs;
  std::optional<RunValue> out;
  std::vector<RunValue> given;
  const bool isRandom = callee.find(".rand") != std::string::npos || callee.find("bernoulli") != std::string::npos ||
                        callee.find("multinomial") != std::string::npos || callee.find("normal") != std::string::npos;
  std::string problem = target.empty() ? "it is not known" : isRandom ? "it draws numbers" : "";
  // Of a method that is not known, what it is called on.
  if (target.empty() && node.items[0].is(SyntaxKind::Member)) given.push_back(evaluate(node.items[0].items[0]));
  for (std::size_t i = 0; i < node.argumentCount(); ++i) {
    const std::string& keyword = node.keywords[i];
    RunValue value = evaluate(node.argument(i));
    if (keyword == "out") {
      out = value;
      continue;
    }
    given.push_back(value);
    reads(call, value);
    if (keyword == "device" || keyword == "layout" || keyword == "pin_memory") continue;
    auto converted = toValue(value, target.substr(0, target.rfind('.')).ends_with('_'));
    if (!converted) {
      problem = converted.error().message;
      break;
    }
    if (keyword.empty())
      args.push_back(std::move(*converted));
    else
      kwargs.emplace_back(keyword, std::move(*converted));
  }
  return finish(node, call, target, problem, args, kwargs, given, out);
}

RunValue ProgramWrapper::finish(const SyntaxNode& node, int call, const std::string& target, std::string problem,
                                const ValueList& args, const KeywordValues& kwargs, std::vector<RunValue>& given,
                                const std::optional<RunValue>& out) {
  RunValue result;
  if (problem.empty()) {
    const auto value = m_context.ops.call(OpTarget(target), args, kwargs);
    if (value) {
      result = fromValue(*value);
    } else {
      problem = value.error().message;
      if (value.error().code == ErrorCode::NotFound && m_outcome.mismatchLine == 0) {
        m_outcome.mismatchLine = node.line;
        m_outcome.mismatch = problem;
      }
    }
  }
  m_outcome.calls[std::size_t(call)].problem = problem;
  const std::string_view op = std::string_view(target).substr(0, target.rfind('.'));
  const bool writesOperand = op.ends_with('_') && !given.empty() && given[0].kind == RunValue::Kind::Tensor;
  if (!problem.empty() && target.empty())
    for (RunValue& each : given)
      if (each.kind == RunValue::Kind::Tensor) each.tensor.memory->blur();
  std::optional<RunValue> into = out;
  if (writesOperand) into = given[0];
  if (into && into->kind == RunValue::Kind::Tensor) {
    const DenseNumbers numbers = result.kind == RunValue::Kind::Tensor ? result.tensor.numbers() : DenseNumbers();
    if (result.kind != RunValue::Kind::Tensor || !into->tensor.write(numbers)) into->tensor.memory->blur();
    writes(call, *into);
    return *into;
  }
  remember(result);
  writes(call, result);
  return result;
}

void ProgramWrapper::remember(const RunValue& value) {
  for (const RunValue& each : value.items) remember(each);
  if (value.kind == RunValue::Kind::Tensor) value.tensor.memory->isResult = true;
}

}  // namespace kerf::inline audit
