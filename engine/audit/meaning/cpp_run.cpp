// Runs C++ kernels: loops as they stand, a vector as its lanes, one thread.
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/meaning/cpp_calls.h"

namespace kerf::inline audit {
namespace {

class CppMachine final : public CppCalls {
 public:
  CppMachine(std::string_view text, RunBudget& budget) : CppCalls(budget), m_module(readCpp(text)) {
    for (const SyntaxNode& node : m_module.items)
      if (node.is(SyntaxKind::Define) && node.items.size() >= 2) m_kernel = &node;
  }

  std::string run(const std::vector<RunArgument>& arguments) override {
    if (m_kernel == nullptr) return "it has no definition that can be read";
    const std::vector<SyntaxNode>& names = m_kernel->items[0].items;
    if (names.size() != arguments.size()) return "the call gives another number of arguments";
    m_values.clear();
    m_memories.clear();
    m_own.clear();
    m_problem.clear();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const RunArgument& argument = arguments[i];
      KernelLanes value(argument.number, argument.memory == nullptr ? LaneType::Int64 : argument.memory->type);
      if (argument.memory != nullptr) {
        value.memory = int(m_memories.size());
        m_memories.push_back(argument.memory);
      }
      m_values[names[i].text] = value;
    }
    block(m_kernel->items[1]);
    return problem();
  }

 private:
  // --- statements ---------------------------------------------------------------------------------------------------

  void block(const SyntaxNode& node) override {
    for (const SyntaxNode& each : node.items) {
      if (isStopped() || m_hasReturned) return;
      statement(each);
    }
  }

  void statement(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::Block:
        return block(node);
      case SyntaxKind::Pragma:
      case SyntaxKind::Import:
        return;
      case SyntaxKind::For:
        return loop(node);
      case SyntaxKind::If:
        return condition(node);
      case SyntaxKind::Declare:
        return declare(node);
      case SyntaxKind::Assign:
        return assign(node.items[0], evaluate(node.items[1]), node.text);
      case SyntaxKind::Update: {
        const KernelLanes before = evaluate(node.items[0]), by = evaluate(node.items[1]);
        return assign(node.items[0],
                      before.memory >= 0 ? offsetBy(before, by, node.text) : operateLanes(node.text, before, by), {});
      }
      case SyntaxKind::Expression:
        (void)evaluate(node.items[0]);
        return;
      case SyntaxKind::Return:
        if (!node.items.empty()) m_returned = evaluate(node.items[0]);
        m_hasReturned = true;
        return;
      default:
        stop(node, "has a statement that cannot be run");
    }
  }

  void loop(const SyntaxNode& node) {
    const SyntaxNode& start = node.items[0];
    const SyntaxNode& until = node.items[1];
    const SyntaxNode& step = node.items[2];
    const bool isPlain = start.is(SyntaxKind::Assign) && until.is(SyntaxKind::Binary) && until.text == "<" &&
                         until.items[0].isName(start.items[0].text);
    if (!isPlain) return stop(node, "is a loop of another kind");
    const std::string& name = start.items[0].text;
    const KernelLanes from = evaluate(start.items[1]), to = evaluate(until.items[1]);
    const KernelLanes by = step.is(SyntaxKind::Update) ? evaluate(step.items[1]) : KernelLanes(1, LaneType::Int64);
    if (from.isUnknown || to.isUnknown || by.isUnknown || by.at(0) <= 0)
      return stop(node, "has bounds that are not known");
    const std::size_t width = m_width;
    if (by.at(0) > 1 && by.at(0) <= 256) m_width = std::size_t(by.at(0));
    for (double at = from.at(0); at < to.at(0) && !isStopped() && !m_hasReturned; at += by.at(0)) {
      m_values[name] = {at, LaneType::Int64};
      spend(1);
      block(node.items[3]);
    }
    m_width = width;
  }

  void condition(const SyntaxNode& node) {
    const SyntaxNode* asked = &node.items[0];
    if ((asked->callee() == "C10_LIKELY" || asked->callee() == "C10_UNLIKELY") && asked->argumentCount() == 1)
      asked = &asked->argument(0);
    const KernelLanes value = evaluate(*asked);
    if (value.isUnknown || !value.isOne()) return stop(node, "has a condition that is not known");
    if (value.at(0) != 0)
      block(node.items[1]);
    else if (node.items.size() > 2)
      block(node.items[2]);
  }

  void declare(const SyntaxNode& node) {
    const std::string& name = node.items[0].text;
    const bool isObject =
        node.text.find("Vectorized") != std::string::npos || node.text.find("Welford") != std::string::npos ||
        node.text.find("IndexValue") != std::string::npos || node.text.find("Helper") != std::string::npos;
    if (const std::size_t at = node.text.find("std::array<"); at != std::string::npos) {
      const std::size_t comma = node.text.find(',', at);
      double count = 0;
      if (comma != std::string::npos)
        std::from_chars(node.text.data() + comma + 1, node.text.data() + node.text.size(), count);
      m_values[name] = array(declaredType(node.text.substr(at)), count, node);
      return;
    }
    if (node.items.size() < 2 || isObject) {
      m_values[name] = isObject ? tupleOf({}) : KernelLanes::unknown(declaredType(node.text));
      return;
    }
    double count = 1;
    for (std::size_t i = 1; i < node.items.size(); ++i) count *= evaluate(node.items[i]).at(0);
    m_values[name] = array(declaredType(node.text), count, node);
  }

  void assign(const SyntaxNode& target, KernelLanes value, const std::string& declared) {
    if (target.is(SyntaxKind::Item)) return stored(target, value);
    if (!target.is(SyntaxKind::Name)) return stop(target, "assigns to what is no variable");
    if (!declared.empty() && declared != "auto" && value.memory < 0 && !value.parts && value.lambda == nullptr) {
      value = castLanes(value, declaredType(declared));
    } else if (declared.empty() && !value.parts && value.memory < 0) {
      const auto before = m_values.find(target.text);
      if (before != m_values.end() && !before->second.parts && !before->second.isUnknown && !value.isUnknown)
        value = castLanes(value, before->second.type);
    }
    m_values[target.text] = std::move(value);
  }

  void stored(const SyntaxNode& target, const KernelLanes& value) {
    const KernelLanes base = evaluate(target.items[0]),
                      index = target.items.size() == 2 ? evaluate(target.items[1]) : KernelLanes::unknown();
    if (base.memory >= 0) return storeAt(offsetBy(base, index, "+"), value, KernelLanes(1, LaneType::Bool));
    if (const std::string key = elementKey(target, index); !key.empty()) m_values[key] = value;
  }

  SyntaxNode m_module;
  const SyntaxNode* m_kernel = nullptr;
};

}  // namespace

std::unique_ptr<KernelMachine> cppMachine(std::string_view text, RunBudget& budget) {
  return std::make_unique<CppMachine>(text, budget);
}

}  // namespace kerf::inline audit
