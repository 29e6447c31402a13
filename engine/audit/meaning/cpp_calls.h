// CppCalls: expressions of C++ kernels: vectors, masks, casts, accumulators, lambdas.
#pragma once

#include "engine/audit/meaning/kernel_machine.h"

namespace kerf::inline audit {

class CppCalls : public KernelMachine {
 protected:
  using KernelMachine::KernelMachine;

  virtual void block(const SyntaxNode& node) = 0;

  Lanes call(const SyntaxNode& node, const CallName& name) override;
  Lanes item(const SyntaxNode& node) override;
  Lanes number(const SyntaxNode& node) const override;
  Lanes unary(const SyntaxNode& node) override;
  Lanes member(const SyntaxNode& node) override;

  /// A new memory of `count` elements, as a pointer.
  Lanes array(LaneType type, double count, const SyntaxNode& where);
  /// "float", "at::vec::Vectorized<float>", "int64_t" → the type of its elements.
  static LaneType declaredType(std::string_view declared);
  /// Of an array of objects, each element is a variable of its own; empty where the index is not known.
  static std::string elementKey(const SyntaxNode& item, const Lanes& index);

  std::size_t m_width = 1;  ///< lanes of the vectors here: the step of the loop around
  Lanes m_returned;
  bool m_hasReturned = false;

 private:
  using Given = std::vector<Lanes>;
  struct CallForm {
    std::string_view name;
    Lanes (CppCalls::*run)(const SyntaxNode& node, const CallName& name, const Given& given);
  };
  static const CallForm* formOf(std::string_view name);

  Lanes method(const SyntaxNode& node, const CallName& name);
  Lanes run(const SyntaxNode& lambda);
  Lanes cast(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes vectorOf(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes loadVector(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes arange(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes blend(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes limit(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes reduceAll(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes maskedReduce(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes welford(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes cascade(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes best(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes transpose(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes atomic(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes pick(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes nothing(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes zero(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes same(const SyntaxNode& node, const CallName& name, const Given& given);
  Lanes newArray(const SyntaxNode& node, const CallName& name, const Given& given);
  /// 1 for lanes before `count`.
  Lanes lanesBefore(const Lanes& count) const;
  /// 0, 1, 2, …
  const Lanes& laneNumbers();

  Lanes m_laneNumbers;
};

}  // namespace kerf::inline audit
