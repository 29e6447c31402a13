// What attention saves for backward, compared by the rule of everything else; and what a run takes at once.
#include "engine/accuracy/same_two_models.h"
#include "engine/backend/kernels/program_memory.h"
#include "engine/ops/core/op_registry.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::GraphFixture;

struct AttentionForm {
  const char* op;
  bool hasBias;
};
const AttentionForm attentionForms[] = {
    {"aten._scaled_dot_product_efficient_attention.default", true},
    {"aten._scaled_dot_product_flash_attention.default", false},
    {"aten._scaled_dot_product_cudnn_attention.default", true},
    {"aten._scaled_dot_product_fused_attention_overrideable.default", true},
};

void addAttention(GraphFixture& f, const AttentionForm& form, DType dtype) {
  const Sizes sizes{1, 2, 5, 8};
  ArgumentList args{f.input("q", dtype, sizes), f.input("k", dtype, sizes), f.input("v", dtype, sizes)};
  if (form.hasBias) args.emplace_back();
  const std::string op = form.op;
  if (form.hasBias && op.find("overrideable") == std::string::npos) args.emplace_back(true);
  args.emplace_back(0.0);
  const NodeId attention = f.call(op, args);
  f.output({f.item(attention, 0), f.item(attention, 1)});
}

/// Sums as float32 hold them would leave the fp64 reference without its type, and the rule without a reference.
TEST(AttentionSums, AreFloat64WhereTheQueryIs) {
  for (const AttentionForm& form : attentionForms)
    for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16}) {
      GraphFixture f;
      addAttention(f, form, dtype);
      const auto outs = f.interpret();
      ASSERT_TRUE(outs) << form.op << ": " << outs.error().text();
      EXPECT_EQ(outs->list()[1].tensor().dtype(), dtype == DType::Float64 ? DType::Float64 : DType::Float32) << form.op;
    }
}

/// Two sides whose sums are off by as much as rounding makes of large scores: allclose says no, the reference yes.
TEST(AttentionSums, AreJudgedByTheFp64Reference) {
  for (const AttentionForm& form : attentionForms) {
    GraphFixture f;
    addAttention(f, form, DType::Float32);
    for (Value& input : f.inputs) {
      Tensor tensor = input.tensor();
      for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] *= 40;
    }
    const RunModel slightlyOff = [&](const ValueList& inputs) -> Result<Value> {
      KERF_TRY(const Value value, Interpreter(f.module, referenceOps()).run(inputs));
      Tensor sums = value.list()[1].tensor();
      sums.data<float>()[0] += 0.25F * std::max(1.0F, std::abs(sums.data<float>()[0]));
      return value;
    };
    const auto far = sameTwoModels(f.module, referenceOps(), slightlyOff, f.inputs, {});
    ASSERT_TRUE(far) << far.error().text();
    ASSERT_EQ(far->outputs.size(), 2u);
    EXPECT_TRUE(far->outputs[0].same);
    EXPECT_FALSE(far->outputs[1].same) << form.op;
    EXPECT_NE(far->outputs[1].reason.find("RMSE"), std::string::npos) << far->outputs[1].reason;
    EXPECT_GE(far->outputs[1].rmseRef, 0) << form.op;  // not NaN: there is a reference
    EXPECT_LT(far->outputs[1].rmseRef, far->outputs[1].rmseRes) << form.op;
  }
}

TEST(HeldBytes, AreTheArenaAndStoragesOfTheirOwn) {
  Program program;
  program.arenaBytes = 4096;
  for (const SlotKind kind : {SlotKind::Fresh, SlotKind::Input, SlotKind::Fresh, SlotKind::Arena}) {
    Slot slot;
    slot.kind = kind;
    slot.sizes = {1 << 20, 100'000};
    slot.strides = {100'000, 1};
    program.slots.push_back(slot);
  }
  program.slots[2].sizes = {0, 8};
  program.slots[2].strides = {8, 1};
  EXPECT_EQ(heldBytes(program), 4096 + (std::int64_t{1} << 20) * 100'000 * 4);
}

}  // namespace
}  // namespace kerf
