#include "engine/audit/meaning/kernel_machine.h"

#include <algorithm>

#include <fmt/format.h>

namespace kerf::inline audit {

const KernelMachine::CallName& KernelMachine::nameOf(const SyntaxNode& call) {
  const auto [found, isNew] = m_names.try_emplace(&call);
  CallName& name = found->second;
  if (!isNew) return name;
  const SyntaxNode& callee = call.items[0];
  name.full = callee.dotted();
  if (name.full.empty() && callee.is(SyntaxKind::Member)) name.full = "." + callee.text;
  std::string_view bare = name.full;
  if (const std::size_t open = bare.find('<'); open != std::string_view::npos && !bare.ends_with('>')) {
    // "at::vec::Vectorized<float>::loadu": what stands behind the last template.
    if (const std::size_t close = bare.rfind('>'); close != std::string_view::npos) bare.remove_prefix(close + 1);
  }
  bare = bare.substr(0, bare.find('<'));
  if (const std::size_t at = bare.find_last_of(".:"); at != std::string_view::npos) bare.remove_prefix(at + 1);
  name.last = std::string(bare);
  name.unary = unaryNumber(bare);
  name.binary = binaryNumber(bare);
  return name;
}

KernelLanes KernelMachine::evaluate(const SyntaxNode& node) {
  if (isStopped()) return KernelLanes::unknown();
  switch (node.kind) {
    case SyntaxKind::Name:
      return named(node);
    case SyntaxKind::Number:
      return number(node);
    case SyntaxKind::Tuple: {
      std::vector<KernelLanes> parts;
      for (const SyntaxNode& each : node.items) parts.push_back(evaluate(each));
      return tupleOf(std::move(parts));
    }
    case SyntaxKind::Unary:
      return unary(node);
    case SyntaxKind::Binary:
      return binary(node);
    case SyntaxKind::Choice:
      return choice(node);
    case SyntaxKind::Item:
      return item(node);
    case SyntaxKind::Member:
      return member(node);
    case SyntaxKind::Call:
      return call(node, nameOf(node));
    case SyntaxKind::Lambda: {
      KernelLanes value;
      value.lambda = &node;
      return value;
    }
    default:
      return KernelLanes::unknown();
  }
}

KernelLanes KernelMachine::computed(const CallName& name, const std::vector<KernelLanes>& given) {
  const bool isTest = name.last.starts_with("is") || name.last == "signbit";
  const bool isDrawn = name.last.find("rand") != std::string::npos;
  if (name.unary != nullptr && given.size() == 1)
    return isDecidedByRounding(name.last, given[0])
               ? KernelLanes::unknown(given[0].type)
               : mapLanes(given[0], isTest ? LaneType::Bool : given[0].type, name.unary);
  if (name.binary != nullptr && given.size() >= 2)
    return zipLanes(given[0], given[1], isDrawn ? LaneType::Float32 : commonLane(given[0], given[1]), name.binary);
  const bool isFma = name.last == "fma" || name.last == "fmadd";
  const auto isNumber = [](const KernelLanes& each) { return each.memory < 0 && !each.parts; };
  if (isFma && given.size() == 3 && std::ranges::all_of(given, isNumber))
    return operateLanes("+", operateLanes("*", given[0], given[1]), given[2]);
  lose(given);
  return KernelLanes::unknown();
}

void KernelMachine::lose(const std::vector<KernelLanes>& given) {
  for (const KernelLanes& each : given)
    if (each.memory >= 0) m_memories[std::size_t(each.memory)]->blur();
}

KernelLanes KernelMachine::named(const SyntaxNode& node) {
  if (node.text == "True" || node.text == "true") return {1, LaneType::Bool};
  if (node.text == "False" || node.text == "false") return {0, LaneType::Bool};
  const auto found = m_values.find(node.text);
  return found == m_values.end() ? KernelLanes::unknown() : found->second;
}

KernelLanes KernelMachine::unary(const SyntaxNode& node) {
  const KernelLanes value = evaluate(node.items[0]);
  spend(value.size());
  if (node.text == "+") return value;
  if (node.text == "-") return mapLanes(value, value.type, [&](double x) { return asLane(value.type, -x); });
  if (node.text == "!" || node.text == "not")
    return mapLanes(value, LaneType::Bool, [](double x) { return x == 0 ? 1.0 : 0.0; });
  if (node.text != "~" || isFloatLane(value.type)) return KernelLanes::unknown(value.type);
  if (value.type == LaneType::Bool) return mapLanes(value, value.type, [](double x) { return x == 0 ? 1.0 : 0.0; });
  return mapLanes(value, value.type, [&](double x) { return asLane(value.type, double(~std::int64_t(x))); });
}

KernelLanes KernelMachine::binary(const SyntaxNode& node) {
  const KernelLanes a = evaluate(node.items[0]), b = evaluate(node.items[1]);
  spend(std::max(a.size(), b.size()));
  if (a.memory >= 0) return offsetBy(a, b, node.text);
  if (b.memory >= 0) return offsetBy(b, a, node.text);
  return operateLanes(node.text, a, b);
}

KernelLanes KernelMachine::choice(const SyntaxNode& node) {
  const KernelLanes condition = evaluate(node.items[0]);
  if (condition.isUnknown) return KernelLanes::unknown();
  if (condition.isOne()) return evaluate(node.items[condition.at(0) != 0 ? 1 : 2]);
  const KernelLanes a = evaluate(node.items[1]), b = evaluate(node.items[2]);
  spend(condition.size());
  return chooseLanes(condition, a, b);
}

KernelLanes KernelMachine::offsetBy(const KernelLanes& pointer, const KernelLanes& by, std::string_view sign) {
  KernelLanes moved =
      operateLanes(sign == "-" ? "-" : "+", castLanes(pointer, LaneType::Int64), castLanes(by, LaneType::Int64));
  if (sign != "+" && sign != "-") moved = KernelLanes::unknown();
  moved.memory = pointer.memory;
  moved.type = pointer.type;
  return moved;
}

KernelLanes KernelMachine::loadAt(const KernelLanes& pointer, const KernelLanes& mask, double other) {
  if (pointer.memory < 0) return KernelLanes::unknown();
  const RunMemory& memory = *m_memories[std::size_t(pointer.memory)];
  if (pointer.isUnknown || mask.isUnknown) return KernelLanes::unknown(memory.type);
  const std::size_t count = std::max(pointer.size(), mask.size());
  if (!pointer.fits(count) || !mask.fits(count)) return KernelLanes::unknown(memory.type);
  spend(count);
  NumberArray numbers(count);
  double* const to = numbers.edit();
  const double *const from = memory.numbers().data(), *const places = pointer.data(), *const holds = mask.data();
  const std::size_t stepPlace = pointer.isOne() ? 0 : 1, stepMask = mask.isOne() ? 0 : 1;
  const auto size = double(memory.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (holds[i * stepMask] == 0) {
      to[i] = other;
      continue;
    }
    const double place = places[i * stepPlace];
    if (!(place >= 0) || place >= size) return KernelLanes::unknown(memory.type);
    const auto at = std::size_t(std::int64_t(place));
    if (!memory.isKnown(at)) return KernelLanes::unknown(memory.type);
    to[i] = from[at];
  }
  if (pointer.isOne() && mask.isOne()) return {numbers[0], memory.type};
  return {std::move(numbers), memory.type};
}

void KernelMachine::storeAt(const KernelLanes& pointer, const KernelLanes& value, const KernelLanes& mask,
                            StoreMode mode) {
  if (pointer.memory < 0) return;
  RunMemory& memory = *m_memories[std::size_t(pointer.memory)];
  if (pointer.isUnknown || mask.isUnknown) return memory.blur();
  const std::size_t count = std::max({pointer.size(), mask.size(), value.isUnknown ? std::size_t(1) : value.size()});
  if (!pointer.fits(count) || !mask.fits(count) || !(value.isUnknown || value.fits(count))) return memory.blur();
  spend(count);
  double* const numbers = memory.edit();
  const double *const from = value.data(), *const places = pointer.data(), *const holds = mask.data();
  const std::size_t stepPlace = pointer.isOne() ? 0 : 1, stepMask = mask.isOne() ? 0 : 1,
                    stepValue = value.isOne() ? 0 : 1;
  const auto size = double(memory.size());
  const bool isWhole = !isFloatLane(memory.type), isAdded = mode == StoreMode::Add;
  for (std::size_t i = 0; i < count; ++i) {
    if (holds[i * stepMask] == 0) continue;
    const double place = places[i * stepPlace];
    if (!(place >= 0) || place >= size) continue;
    const auto at = std::size_t(std::int64_t(place));
    if (value.isUnknown || (isAdded && !memory.isKnown(at))) {
      memory.lose(at);
      continue;
    }
    const double number = (isAdded ? numbers[at] : 0) + from[i * stepValue];
    numbers[at] = isWhole ? asLane(memory.type, number) : number;
    memory.note(at);
  }
}

void KernelMachine::stop(const SyntaxNode& node, std::string_view why) {
  if (m_problem.empty()) m_problem = fmt::format("line {} of the kernel {}", node.line, why);
}

std::string KernelMachine::problem() const {
  return m_problem.empty() && m_budget.isSpent() ? "the kernels are too large to be run here" : m_problem;
}

}  // namespace kerf::inline audit
