#include "engine/ops/core/shape_caller.h"

#include "engine/ops/core/op_call.h"
#include "engine/ops/higher_order/higher_order.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

class ShapeCaller : public OpCaller {
 public:
  Result<Value> call(std::string_view target, const ValueList& args, const KeywordValues& kwargs) const override {
    if (runsAsPython(target)) return callPythonLevel(target, args, kwargs, *this);
    return inferShapes(target, args, kwargs);
  }
  Result<Value> callHigherOrder(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override {
    return callHigherOrderOp(target, args, kwargs, subgraphs, *this, true);
  }
};

}  // namespace

const OpCaller& shapeCaller() {
  static const ShapeCaller instance;
  return instance;
}

}  // namespace kerf::inline ops
