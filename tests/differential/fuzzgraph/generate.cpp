#include "tests/differential/fuzzgraph/generate.h"

#include <algorithm>

#include "engine/ops/random/state.h"
#include "tests/differential/fuzzgraph/call_draft.h"
#include "tests/differential/fuzzgraph/op_nature.h"

namespace kerf::fuzzgraph {
namespace {

constexpr int attemptsPerCall = 14;

/// Ops by how they are compiled: what is fused gets the most calls, because there the compiler does the most.
struct OpPools {
  std::vector<const OpInfo*> lowered, views, others;
  bool higherOrder = true;
};

bool isWanted(const OpInfo& op, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  const std::string name = op.schema.qualifiedName();
  return std::ranges::any_of(only, [&](const std::string& part) { return name.find(part) != name.npos; });
}

OpPools poolsOf(const std::vector<std::string>& only) {
  OpPools pools;
  for (const OpInfo* op : generatedOps()) {
    if (!isWanted(*op, only)) continue;
    if (has(op->traits, OpTrait::View))
      pools.views.push_back(op);
    else if (op->lowering)
      pools.lowered.push_back(op);
    else
      pools.others.push_back(op);
  }
  pools.higherOrder = only.empty() || std::ranges::find(only, "higher_order") != only.end();
  return pools;
}

int callsOf(Dice& dice, int asked) {
  if (asked > 0) return asked;
  const std::size_t at = dice.below(100);
  if (at < 55) return int(dice.between(3, 10));
  return int(at < 90 ? dice.between(10, 25) : dice.between(25, 80));
}

const OpInfo* chooseOp(Dice& dice, const OpPools& pools) {
  const std::size_t at = dice.below(100);
  const auto& first = at < 38 ? pools.lowered : at < 50 ? pools.views : pools.others;
  for (const auto* pool : {&first, &pools.lowered, &pools.others, &pools.views})
    if (!pool->empty()) return dice.pick(*pool);
  return nullptr;
}

/// Symbols must be named by an input before anything asks for them.
void startWithInput(GraphBuilder& build) {
  const OpInfo* alias = findOp("torch.ops.aten.clone.default");
  CallDraft draft(build, *alias);
  draft.set("self", build.fresh(build.theme.dtype, build.theme.sizes, {-2, 2}));
  draft.keep();
}

}  // namespace

bool growCall(GraphBuilder& build, const OpInfo& op) {
  const CallRecipe recipe = findRecipe(op);
  for (int attempt = 0; attempt < attemptsPerCall; ++attempt) {
    build.forgetFresh();
    CallDraft draft(build, op);
    if (recipe && build.dice.chance(90) && !recipe(draft)) continue;
    if (draft.complete() && draft.keep()) return true;
  }
  build.forgetFresh();
  return false;
}

Result<GeneratedGraph> generateGraph(const GenerateOptions& options, const OnAttempt& onAttempt) {
  const RandomScope random;
  Dice choice(options.seed ^ 0x5eed);
  const bool symbolic = choice.chance(20);
  GraphBuilder build(options.seed, symbolic);
  const OpPools pools = poolsOf(options.only);
  const int calls = callsOf(build.dice, options.calls);
  startWithInput(build);
  for (int i = 0, tries = 0; i < calls && tries < calls * 3; ++tries) {
    const OpInfo* op = chooseOp(build.dice, pools);
    const bool higherOrder = pools.higherOrder && (op == nullptr || build.dice.chance(3));
    if (!higherOrder && op == nullptr) return fail(ErrorCode::BadUsage, "no overload has one of these names");
    if (onAttempt) onAttempt(higherOrder ? "higher_order" : op->schema.qualifiedName());
    if (higherOrder ? growHigherOrder(build) : growCall(build, *op)) ++i;
  }
  KERF_TRY(Candidate candidate, build.finish());
  return GeneratedGraph{std::move(candidate), symbolic, std::move(build.kept), std::move(build.shapeFaults)};
}

}  // namespace kerf::fuzzgraph
