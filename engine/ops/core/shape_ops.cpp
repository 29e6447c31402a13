// The shape reading of the op table.

#include "engine/ops/core/autocast.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/higher_order/higher_order.h"
#include "engine/ops/python/python_level.h"
#include "engine/ops/python/symbolic_numbers.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

class ShapeOps : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const ShapeEnv* env = ShapeEnv::current();
    if (env != nullptr && !env->symbols().empty() && holdsSymbolic(args))
      if (auto result = callOnSymbols(target, args, kwargs)) return std::move(*result);
    const OpInfo* op = findOp(target);
    if (!op && runsAsPython(target.text)) return callPythonLevel(target.text, args, kwargs, *this);
    if (op != nullptr)
      if (auto cast = callInAutocast(*op, args, kwargs, *this)) return std::move(*cast);
    return inferShapes(target, args, kwargs);
  }
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override {
    return callHigherOrderOp(target.text, args, kwargs, subgraphs, *this, true);
  }
};

}  // namespace

const OpCaller& shapeOps() {
  static const ShapeOps instance;
  return instance;
}

}  // namespace kerf::inline ops
