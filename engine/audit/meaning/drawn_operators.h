// DrawnOperators: costly operators as functions of which nothing is known but that the same operands give the same result.
// What they give is drawn, once, so that nothing of it is computed; the wrapper's calls find it by their operands.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/audit/meaning/value_marks.h"
#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"

namespace kerf::inline audit {

/// The operator whose result is drawn for calls of `target`: "aten.mm" for addmm too, which adds to it. Empty: it is run.
std::string drawnKind(std::string_view target);

class DrawnOperators final : public OpCaller {
 public:
  /// `kinds`: what is drawn; the others are run by `ops`.
  DrawnOperators(const OpCaller& ops, std::set<std::string, std::less<>> kinds)
      : m_ops(ops), m_kinds(std::move(kinds)) {}

  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override;
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override;
  /// From now on no other operands are taken: NotFound.
  void close() { m_isClosed = true; }

 private:
  struct Drawn {
    std::string key;
    std::vector<ValueMark> operands;
    Value shape;                  ///< of the result
    std::uint64_t seed = 0;       ///< that it is drawn from, again where nobody has it any more: all take much memory
    std::weak_ptr<Storage> kept;  ///< of one tensor
  };
  Result<Value> drawn(const std::string& target, const ValueList& args, const KeywordValues& kwargs) const;
  Result<Value> product(std::string_view target, const ValueList& args, const KeywordValues& kwargs) const;
  Result<Value> convolution(const ValueList& args, const KeywordValues& kwargs) const;
  static Result<Value> number(const Value& shape, std::uint64_t& seed);
  /// inductor_seeds, inductor_random, …: numbers that kernels draw in the same way. None of anything else.
  std::optional<Result<Value>> random(std::string_view name, const ValueList& args) const;

  const OpCaller& m_ops;
  std::set<std::string, std::less<>> m_kinds;
  mutable std::map<std::string, std::vector<Drawn>, std::less<>> m_known;
  mutable std::uint64_t m_seed = 1;
  bool m_isClosed = false;
};

}  // namespace kerf::inline audit
