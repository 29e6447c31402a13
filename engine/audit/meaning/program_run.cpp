// ProgramWrapper: statements.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/audit/meaning/program_wrapper.h"

namespace kerf::inline audit {

RunOutcome ProgramWrapper::run() {
  block(m_context.program.call->items[1]);
  for (const std::string& name : m_context.kept)
    if (const auto unused = m_pending.find(name); unused != m_pending.end()) m_inputs[name] = fromValue(unused->second);
  for (auto& [name, value] : m_inputs) m_outcome.inputs[name] = value;
  return std::move(m_outcome);
}

void ProgramWrapper::stop(const SyntaxNode& node, std::string_view why) {
  if (m_outcome.problem.empty()) m_outcome.problem = fmt::format("line {} {}", node.line, why);
}

void ProgramWrapper::block(const SyntaxNode& node) {
  for (const SyntaxNode& each : node.items) {
    if (!m_outcome.problem.empty() || m_hasReturned) return;
    if (m_context.budget.isSpent()) return stop(each, "is where this became too much to run");
    statement(each);
  }
}

void ProgramWrapper::statement(const SyntaxNode& node) {
  switch (node.kind) {
    case SyntaxKind::Assign:
      return assign(node);
    case SyntaxKind::Expression:
      return expression(node.items[0]);
    case SyntaxKind::Delete:
      for (const SyntaxNode& each : node.items) {
        m_values.erase(each.text);
        m_pending.erase(each.text);
      }
      return;
    case SyntaxKind::Return: {
      m_outcome.line = node.line;
      m_hasReturned = true;
      if (!node.items.empty()) m_outcome.returned = evaluate(node.items[0]).items;
      return;
    }
    case SyntaxKind::With:
      return block(node.items[1]);
    case SyntaxKind::Block:
      return block(node);
    case SyntaxKind::Import:
    case SyntaxKind::Pragma:
    case SyntaxKind::Define:
      return;
    default:
      stop(node, "is a statement that is not run here");
  }
}

void ProgramWrapper::assign(const SyntaxNode& node) {
  const SyntaxNode& target = node.items[0];
  if (node.items[1].isName("args")) return bindInputs(target);
  RunValue value = evaluate(node.items[1]);
  if (target.is(SyntaxKind::Name)) {
    m_values[target.text] = std::move(value);
    return;
  }
  const bool areNames = target.is(SyntaxKind::Tuple) && std::ranges::all_of(target.items, [](const SyntaxNode& each) {
                          return each.is(SyntaxKind::Name);
                        });
  if (!areNames) return stop(node, "assigns to what is no name");
  for (std::size_t i = 0; i < target.items.size(); ++i)
    m_values[target.items[i].text] = i < value.items.size() ? value.items[i] : RunValue();
}

void ProgramWrapper::bindInputs(const SyntaxNode& target) {
  const std::vector<SyntaxNode> one{target};
  for (const SyntaxNode& each : target.is(SyntaxKind::Tuple) ? target.items : one) {
    const auto given = m_context.inputs.find(each.text);
    if (given == m_context.inputs.end()) return stop(target, "takes what is no input of the graph");
    m_pending[each.text] = given->second;
  }
}

void ProgramWrapper::expression(const SyntaxNode& node) {
  const std::string callee = node.callee();
  static constexpr std::array<std::string_view, 6> idle = {
      "args.clear", "assert_alignment",    "torch.cuda.set_device", "torch.cuda.synchronize",
      "nvtx",       "torch.xpu.set_device"};
  if (std::ranges::find(idle, callee) != idle.end()) return;
  if (callee == "assert_size_stride") return layOut(node);
  (void)evaluate(node);
}

void ProgramWrapper::layOut(const SyntaxNode& node) {
  if (node.argumentCount() < 3 || !node.argument(0).is(SyntaxKind::Name)) return;
  const auto found = m_values.find(node.argument(0).text);
  const auto sizes = sizesOf(node.argument(1)), strides = sizesOf(node.argument(2));
  if (found == m_values.end() || found->second.kind != RunValue::Kind::Tensor || !sizes || !strides) return;
  RunTensor& tensor = found->second.tensor;
  if (m_inputNames.contains(found->first) || tensor.sizes != *sizes || strides->size() != sizes->size() ||
      tensor.strides == *strides || !tensor.memory->isResult)
    return;
  const DenseNumbers numbers = tensor.numbers();
  const auto writer = m_outcome.writers.find(tensor.memory.get());
  const int call = writer == m_outcome.writers.end() ? -1 : writer->second;
  if (!numbers.isKnown || spanOf(*sizes, *strides) > std::int64_t(1) << 27 || numbers.values.size() > 1 << 27) return;
  RunValue laid = tensorValue(numbers, *strides);
  laid.tensor.memory->type = tensor.memory->type;
  laid.tensor.memory->isResult = true;
  found->second = laid;
  if (call >= 0) m_outcome.writers[laid.tensor.memory.get()] = call;
}

RunOutcome runProgram(const RunContext& context) { return ProgramWrapper(context).run(); }

}  // namespace kerf::inline audit
