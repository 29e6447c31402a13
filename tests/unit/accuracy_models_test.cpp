#include <gtest/gtest.h>
#include <algorithm>

#include "engine/accuracy/same_two_models.h"

namespace kerf {
namespace {

/// An OpCaller with just enough ops: multiplication by two, and a cast.
class TinyOps : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const Tensor& input = args.at(0).tensor();
    if (target.text == "double") {
      KERF_TRY(Tensor out, input.clone());
      for (std::int64_t i = 0; i < out.numel(); ++i) {
        if (out.dtype() == DType::Float64)
          out.data<double>()[i] *= 2;
        else
          out.data<float>()[i] *= 2;
      }
      return Value(out);
    }
    if (target.text == "torch.ops.prims.convert_element_type.default") {
      KERF_TRY(Tensor out, input.to(*args.at(1).as<DType>()));
      return Value(out);
    }
    if (target.text == "single" && input.dtype() == DType::Float32) return args.at(0);
    if (target.text == "kwarg") {
      KERF_TRY(Tensor out, input.to(*kwargs.at(0).second.as<DType>()));
      return Value(out);
    }
    return fail(ErrorCode::UnsupportedOp, "no {} for {}", target.text, dtypeInfo(input.dtype()).torchName);
  }
};

struct Model {
  GraphModule module;
  NodeId x, last;

  explicit Model(std::string_view target, ArgumentList extra = {}, KeywordArguments kwargs = {}) {
    x = module.graph.placeholder("x");
    ArgumentList args{Argument(x)};
    args.insert(args.end(), extra.begin(), extra.end());
    last = module.graph.callFunction(target, std::move(args), std::move(kwargs), "y");
    module.graph.output(Argument::tuple({Argument(last)}));
  }
};

Tensor floats(std::initializer_list<float> values) {
  Tensor t = Tensor::zeros(DType::Float32, {std::int64_t(values.size())}).value();
  std::ranges::copy(values, t.data<float>());
  return t;
}

TEST(CastToFp64, ChangesConversionsKeywordsAndAttributesButNotOtherPositions) {
  Model convert("torch.ops.prims.convert_element_type.default", {Argument(DType::BFloat16)});
  convert.module.attributes.add("w", {floats({1}), false, ""});
  convert.module.attributes.add("n", {Tensor::scalarInt(3, DType::Int64), false, ""});
  const GraphModule cast = castToFp64(convert.module).value();
  EXPECT_EQ(*cast.graph.node(convert.last).args()[1].as<DType>(), DType::Float64);
  EXPECT_EQ(cast.attribute("w")->tensor.dtype(), DType::Float64);
  EXPECT_EQ(cast.attribute("n")->tensor.dtype(), DType::Int64);
  EXPECT_EQ(*convert.module.graph.node(convert.last).args()[1].as<DType>(), DType::BFloat16);

  const Model keyword("f", {}, {{"dtype", Argument(DType::Float16)}, {"other", Argument(DType::Float16)}});
  const GraphModule casted = castToFp64(keyword.module).value();
  EXPECT_EQ(*casted.graph.node(keyword.last).kwargs()[0].second.as<DType>(), DType::Float64);
  EXPECT_EQ(*casted.graph.node(keyword.last).kwargs()[1].second.as<DType>(), DType::Float16);

  const Model positional("f", {Argument(DType::Float16)});
  const GraphModule kept = castToFp64(positional.module).value();
  EXPECT_EQ(*kept.graph.node(positional.last).args()[1].as<DType>(), DType::Float16);
  const Model whole("torch.ops.prims.convert_element_type.default", {Argument(DType::Int32)});
  EXPECT_EQ(*castToFp64(whole.module).value().graph.node(whole.last).args()[1].as<DType>(), DType::Int32);
}

/// A conversion between float types copies, and copies still where both are float64.
TEST(CastToFp64, KeepsCopiesThatConversionsMake) {
  struct Converted {
    Opcode op;
    std::string_view target;
    ArgumentList more;
    DType to;
    bool copies;
  };
  for (const auto& [op, target, more, to, copies] : std::vector<Converted>{
           {Opcode::CallMethod, "double", {}, DType::Float64, true},
           {Opcode::CallMethod, "to", {Argument(DType::Float64)}, DType::Float64, true},
           {Opcode::CallMethod, "type", {Argument(DType::Float16)}, DType::Float16, true},
           {Opcode::CallMethod, "float", {}, DType::Float32, false},
           {Opcode::CallFunction, "torch.ops.aten.to.dtype", {Argument(DType::Float64)}, DType::Float64, true},
           {Opcode::CallFunction, "torch.ops.aten.to.dtype", {Argument(DType::Float32)}, DType::Float32, false},
       }) {
    GraphModule module;
    Graph& graph = module.graph;
    const NodeId x = graph.placeholder("x");
    ArgumentList args{Argument(x)};
    args.insert(args.end(), more.begin(), more.end());
    const NodeId y = op == Opcode::CallMethod ? graph.callMethod(target, std::move(args), {}, "y")
                                              : graph.callFunction(target, std::move(args), {}, "y");
    TensorMeta from, made;
    from.dtype = DType::Float32;
    made.dtype = to;
    graph.setValueMeta(x, ValueMeta{from});
    graph.setValueMeta(y, ValueMeta{made});
    graph.output(Argument::tuple({Argument(y)}));
    const GraphModule cast = castToFp64(module).value();
    const Node& node = cast.graph.node(y);
    const auto isCopy = [](const auto& keyword) {
      return keyword.first == "copy" && *keyword.second.template as<bool>();
    };
    EXPECT_EQ(std::ranges::any_of(node.kwargs(), isCopy), copies) << target;
    if (!copies || op != Opcode::CallMethod) continue;
    EXPECT_EQ(node.target(), "to") << target;
  }
}

TEST(CloneInputs, KeepsAliasesStridesAndDtypeRules) {
  const Tensor base = floats({1, 2, 3, 4, 5, 6});
  const Tensor turned = base.viewAs({2, 2}, {1, 2}, 1);
  const Tensor count = Tensor::scalarInt(7, DType::Int64);
  for (const bool wide : {false, true}) {
    const ValueList clones = cloneInputs({base, turned, count, Value(2.5)}, wide).value();
    const Tensor& first = clones[0].tensor();
    const Tensor& second = clones[1].tensor();
    EXPECT_EQ(first.dtype(), wide ? DType::Float64 : DType::Float32);
    EXPECT_EQ(first.storage(), second.storage());
    EXPECT_NE(first.storage(), base.storage());
    EXPECT_EQ(second.strides(), (Sizes{1, 2}));
    EXPECT_EQ(second.itemAsDouble(1), 4);
    EXPECT_EQ(clones[2].tensor().dtype(), DType::Int64);
    EXPECT_NE(clones[2].tensor().storage(), count.storage());
    EXPECT_EQ(*clones[3].as<double>(), 2.5);
  }
}

TEST(CloneInputs, ConvertsTensorsThatShareAStorageUnderTwoDtypes) {
  const Tensor base = floats({1, 2});
  const Tensor bits(base.storage(), DType::Int32, {2}, {1});
  const ValueList clones = cloneInputs({base, bits}, true).value();
  EXPECT_EQ(clones[0].tensor().itemAsDouble(1), 2);
  EXPECT_EQ(clones[1].tensor().itemAsInt(0), 0x3f800000);
}

TEST(SameTwoModels, AcceptsTheReferenceItselfAndRejectsAFault) {
  const Model model("double");
  const ValueList inputs{floats({1, 2, 3})};
  const auto run = [](float factor) {
    return [factor](const ValueList& in) -> Result<Value> {
      KERF_TRY(const Tensor t, in.at(0).tensor().clone());
      for (std::int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] *= factor;
      return Value(ValueList{t});
    };
  };
  const auto good = sameTwoModels(model.module, TinyOps(), run(2), inputs, {}).value();
  EXPECT_TRUE(good.same);
  EXPECT_TRUE(good.haveFp64);
  EXPECT_EQ(good.outputs.at(0).rmseRes, 0);
  EXPECT_EQ(inputs[0].tensor().itemAsDouble(0), 1);
  const auto bad = sameTwoModels(model.module, TinyOps(), run(3), inputs, {}).value();
  EXPECT_FALSE(bad.same);
  EXPECT_EQ(bad.outputs.at(0).maxAbsError, 3);
}

TEST(SameTwoModels, ExceptionOfTheCompiledSideCountsAsPassing) {
  const Model model("double");
  const auto broken = [](const ValueList&) -> Result<Value> { return fail(ErrorCode::RuntimeFailed, "boom"); };
  const auto report = sameTwoModels(model.module, TinyOps(), broken, {floats({1})}, {}).value();
  EXPECT_TRUE(report.same);
  EXPECT_NE(report.failure.find("boom"), std::string::npos);
  const auto stopped = [](const ValueList&) -> Result<Value> { return fail(ErrorCode::Cancelled, "stop"); };
  EXPECT_EQ(sameTwoModels(model.module, TinyOps(), stopped, {floats({1})}, {}).error().code, ErrorCode::Cancelled);
}

TEST(SameTwoModels, MissingFp64ReferenceIsANoteOrAnError) {
  const Model model("single");
  const auto identity = [](const ValueList& in) -> Result<Value> { return Value(ValueList{in.at(0)}); };
  const auto report = sameTwoModels(model.module, TinyOps(), identity, {floats({1})}, {}).value();
  EXPECT_TRUE(report.same);
  EXPECT_FALSE(report.haveFp64);
  EXPECT_NE(report.fp64Note.find("no single for torch.float64"), std::string::npos);
  const auto refused = sameTwoModels(model.module, TinyOps(), identity, {floats({1})}, {.requireFp64 = true});
  EXPECT_EQ(refused.error().code, ErrorCode::UnsupportedOp);
  EXPECT_FALSE(sameTwoModels(model.module, TinyOps(), identity, {floats({1})}, {.useFp64 = false}).value().haveFp64);
}

}  // namespace
}  // namespace kerf
