// KernelMachine: runs the text of a kernel, statement by statement, on memory of its own. What it does not know becomes
// an unknown value, or marks what it might have written as unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/audit/meaning/run_memory.h"

namespace kerf::inline audit {

/// What a call gives for a parameter.
struct RunArgument {
  RunMemory* memory = nullptr;
  double number = 0;  ///< of a pointer the place of its first element
};

/// Shared by all kernels of a run: lanes that may still be computed.
struct RunBudget {
  std::int64_t lanes = 0;
  bool isSpent() const { return lanes < 0; }
};

class KernelMachine {
 public:
  virtual ~KernelMachine() = default;
  /// Empty, or why it stopped: what it was to write is unknown then.
  virtual std::string run(const std::vector<RunArgument>& arguments) = 0;

 protected:
  explicit KernelMachine(RunBudget& budget) : m_budget(budget) {}

  /// What is known of a call before it is run: its name, and the last part of it.
  struct CallName {
    std::string full, last;
    UnaryNumber unary = nullptr;
    BinaryNumber binary = nullptr;
  };
  const CallName& nameOf(const SyntaxNode& call);

  KernelLanes evaluate(const SyntaxNode& node);
  /// What a function of numbers gives; of any other nothing is known, nor of what it is given pointers to.
  KernelLanes computed(const CallName& name, const std::vector<KernelLanes>& given);
  void lose(const std::vector<KernelLanes>& given);
  virtual KernelLanes call(const SyntaxNode& node, const CallName& name) = 0;
  virtual KernelLanes item(const SyntaxNode& node) = 0;
  virtual KernelLanes number(const SyntaxNode& node) const = 0;
  virtual KernelLanes unary(const SyntaxNode& node);
  virtual KernelLanes binary(const SyntaxNode& node);
  virtual KernelLanes choice(const SyntaxNode& node);
  virtual KernelLanes member(const SyntaxNode&) { return KernelLanes::unknown(); }
  virtual KernelLanes named(const SyntaxNode& node);

  /// `pointer` may be one place or one a lane. Lanes whose mask does not hold get `other`.
  KernelLanes loadAt(const KernelLanes& pointer, const KernelLanes& mask, double other);
  enum class StoreMode { Set, Add };
  void storeAt(const KernelLanes& pointer, const KernelLanes& value, const KernelLanes& mask,
               StoreMode mode = StoreMode::Set);
  KernelLanes offsetBy(const KernelLanes& pointer, const KernelLanes& by, std::string_view sign);
  void spend(std::size_t lanes) { m_budget.lanes -= std::int64_t(lanes) + 8; }
  void stop(const SyntaxNode& node, std::string_view why);
  bool isStopped() const { return !m_problem.empty() || m_budget.isSpent(); }
  std::string problem() const;

  std::unordered_map<std::string, KernelLanes> m_values;
  std::vector<RunMemory*> m_memories;
  std::vector<std::unique_ptr<RunMemory>> m_own;  ///< arrays that the kernel declares
  std::string m_problem;

 private:
  RunBudget& m_budget;
  std::unordered_map<const SyntaxNode*, CallName> m_names;
};

std::unique_ptr<KernelMachine> tritonMachine(std::string_view name, std::string_view text, RunBudget& budget);
std::unique_ptr<KernelMachine> cppMachine(std::string_view text, RunBudget& budget);

}  // namespace kerf::inline audit
