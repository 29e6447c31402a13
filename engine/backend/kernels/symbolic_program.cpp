#include "engine/backend/kernels/symbolic_program.h"

#include <algorithm>

#include "engine/backend/kernels/arena_drops.h"
#include "engine/ir/graph_copy.h"

namespace kerf::inline backend {

// ProgramSizes

std::size_t ProgramSizes::indexOf(const Symbolic& expression) {
  const auto [found, isNew] = m_known.emplace(expression.text(), m_expressions.size());
  if (isNew) m_expressions.push_back(expression);
  return found->second;
}

void ProgramSizes::add(const Symbolic& expression, Place place) {
  m_places.emplace_back(indexOf(expression), std::move(place));
}

void ProgramSizes::addConstant(const Symbolic& expression, std::size_t slot) {
  m_constants.emplace_back(indexOf(expression), slot);
}

Result<void> ProgramSizes::put(const SymbolBindings& values, ProgramLayout& layout) const {
  std::vector<SymbolicNumber> numbers;
  numbers.reserve(m_expressions.size());
  for (const Symbolic& expression : m_expressions) {
    const auto number = expression.evaluate(values);
    if (!number) return fail(ErrorCode::ShapeMismatch, "{}: {}", expression.text(), number.error().message);
    numbers.push_back(*number);
  }
  for (const auto& [index, place] : m_places)
    place(layout) = std::visit([](auto number) { return std::int64_t(number); }, numbers[index]);
  for (const auto& [index, slot] : m_constants)
    layout.program.slots[slot].constant = std::visit([](auto number) { return Value(number); }, numbers[index]);
  return {};
}

// SymbolicProgram

std::shared_ptr<const GraphModule> singleNodeModule(const GraphModule& module, const Node& node) {
  auto single = std::make_shared<GraphModule>();
  single->attributes = module.attributes;
  single->submodules = module.submodules;
  NodeArguments map;
  for (const NodeId input : node.inputs()) map[input] = single->graph.placeholder(module.graph.node(input).name());
  single->graph.output(copyNode(single->graph, node, [&](NodeId id) { return map.at(id); }));
  return single;
}

SymbolicProgram::SymbolicProgram(ProgramLayout layout, ProgramSizes sizes, std::vector<SizeGuards> guards)
    : m_layout(std::move(layout)),
      m_sizes(std::move(sizes)),
      m_guards(std::move(guards)),
      m_symbols(*m_layout.program.module),
      m_hasSymbolicArguments(hasSymbolicArguments(*m_layout.program.module)) {}

/// Solves for the symbols and checks the guards, unless the inputs have the sizes of those before.
Result<void> SymbolicProgram::read(const ValueList& inputs) {
  Sizes numbers = m_symbols.numbers(inputs);
  if (m_numbers == numbers) return {};
  KERF_TRY(m_values, m_symbols.bind(numbers));
  m_violation.reset();
  for (const SizeGuards& guards : m_guards)
    if (!m_violation) m_violation = guards.violated(m_values);
  m_numbers = std::move(numbers);
  m_bound.reset();
  return {};
}

Result<const GuardViolation*> SymbolicProgram::violated(const ValueList& inputs) {
  KERF_CHECK(read(inputs));
  return m_violation ? &*m_violation : nullptr;
}

Result<std::shared_ptr<const Program>> SymbolicProgram::bind(const ValueList& inputs) {
  KERF_TRY(const GuardViolation* const violation, violated(inputs));
  if (violation) return fail(Error(ErrorCode::ShapeMismatch, violation->text(), {}, 0, violation->node));
  if (!m_bound) {
    KERF_TRY(m_bound, instantiate());
  }
  return m_bound;
}

Result<std::shared_ptr<const Program>> SymbolicProgram::instantiate() const {
  ProgramLayout layout = m_layout;
  KERF_CHECK(m_sizes.put(m_values, layout));
  for (Lifetime& life : layout.lifetimes) life.bytes = std::max<std::int64_t>(life.bytes, 0);
  Program& program = layout.program;
  program.arenaBytes = placeBuffers(layout.lifetimes).planned;
  for (const Lifetime& life : layout.lifetimes) program.slots[std::size_t(life.buffer)].arenaOffset = life.offset;
  addArenaDrops(program, layout.lifetimes);
  if (m_hasSymbolicArguments) {
    KERF_TRY(GraphModule module, withNumbers(*program.module, m_values));
    program.module = std::make_shared<const GraphModule>(std::move(module));
    for (Step& step : program.steps)
      if (step.single) step.single = singleNodeModule(*program.module, program.module->graph.node(step.node));
  }
  if (program.nested) program.nested->setSymbols(m_values);
  return std::make_shared<const Program>(std::move(program));
}

}  // namespace kerf::inline backend
