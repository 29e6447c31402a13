// RankLink: how the kernels of collectives reach the other ranks, where this thread is one of several.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

class RankLink {
 public:
  virtual ~RankLink() = default;
  /// Runs one collective of this rank. UnsupportedOp for what the link does not know.
  virtual Result<Value> collective(const BoundArguments& args) = 0;

  /// The calling thread's link; null where it is the only rank.
  static RankLink* current();

  /// Makes a link the thread's own for a scope.
  class Scope {
   public:
    explicit Scope(RankLink& link);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    RankLink* m_before;
  };
};

}  // namespace kerf::inline ops
