// CppCalls: expressions of C++ kernels: vectors, masks, casts, accumulators, lambdas.
#pragma once

#include "engine/audit/meaning/kernel_machine.h"

namespace kerf::inline audit {

class CppCalls : public KernelMachine {
 protected:
  using KernelMachine::KernelMachine;

  virtual void block(const SyntaxNode& node) = 0;

  KernelLanes call(const SyntaxNode& node, const CallName& name) override;
  KernelLanes item(const SyntaxNode& node) override;
  KernelLanes number(const SyntaxNode& node) const override;
  KernelLanes unary(const SyntaxNode& node) override;
  KernelLanes member(const SyntaxNode& node) override;

  /// A new memory of `count` elements, as a pointer.
  KernelLanes array(LaneType type, double count, const SyntaxNode& where);
  /// "float", "at::vec::Vectorized<float>", "int64_t" → the type of its elements.
  static LaneType declaredType(std::string_view declared);
  /// Of an array of objects, each element is a variable of its own; empty where the index is not known.
  static std::string elementKey(const SyntaxNode& item, const KernelLanes& index);

  std::size_t m_width = 1;  ///< lanes of the vectors here: the step of the loop around
  KernelLanes m_returned;
  bool m_hasReturned = false;

 private:
  using Given = std::vector<KernelLanes>;
  struct CallForm {
    std::string_view name;
    KernelLanes (CppCalls::*run)(const SyntaxNode& node, const CallName& name, const Given& given);
  };
  static const CallForm* formOf(std::string_view name);

  KernelLanes method(const SyntaxNode& node, const CallName& name);
  KernelLanes run(const SyntaxNode& lambda);
  KernelLanes cast(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes vectorOf(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes loadVector(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes arange(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes blend(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes limit(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes reduceAll(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes maskedReduce(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes welford(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes cascade(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes best(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes transpose(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes atomic(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes pick(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes nothing(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes zero(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes same(const SyntaxNode& node, const CallName& name, const Given& given);
  KernelLanes newArray(const SyntaxNode& node, const CallName& name, const Given& given);
  /// 1 for lanes before `count`.
  KernelLanes lanesBefore(const KernelLanes& count) const;
  /// 0, 1, 2, …
  const KernelLanes& laneNumbers();

  KernelLanes m_laneNumbers;
};

}  // namespace kerf::inline audit
