#include "engine/ops/core/calls_without_row.h"

#include "engine/ops/higher_order/higher_order.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {

const CallsWithoutRow& callsWithoutRow() {
  static constexpr CallsWithoutRow calls{runsAsPython, callPythonLevel, callHigherOrderOp};
  return calls;
}

}  // namespace kerf::inline ops
