// Every row of the tables of uses, on a call that is made from the op's own schema: what it asks for, and values that
// meet it.
#include <cmath>
#include <map>
#include <ranges>
#include <set>

#include <gtest/gtest.h>

#include "engine/capture/plausible/fill_need.h"
#include "engine/capture/plausible/infer_needs.h"
#include "engine/capture/plausible/use_rules.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

const Sizes others{6, 5, 4, 3};  ///< of every other tensor of the call

ValueMeta metaOf(DType dtype, const Sizes& sizes) {
  TensorMeta meta;
  meta.dtype = dtype;
  for (const std::int64_t size : sizes) meta.sizes.push_back(dim(size));
  return {std::move(meta)};
}

/// Numbers of the calls, by argument; a rule that looks for a certain one finds it.
const std::map<std::string, Argument, std::less<>>& numbers() {
  static const std::map<std::string, Argument, std::less<>> table{
      {"exponent", 0.5},
      {"value", -1e38},
      {"dim", 1},
      {"num_weights", 6},
      {"num_classes", 6},
      {"output_size", Argument::list({4, 3})},
      {"kernel_size", Argument::list({2, 3})},
      {"kernel_width", 6},
      {"max", 6},
      {"min", 0},
      {"minlength", 6},
      {"reduce", "sum"},
      {"transposed", false},
      {"axis", 0},
      {"accumulate", false},
      {"groups", 1},
  };
  return table;
}

/// The row once for each of its ops.
std::vector<UseRule> forEachOp(const UseRule& row) {
  std::vector<UseRule> rules;
  for (const auto op : std::views::split(row.ops, ' ')) {
    rules.push_back(row);
    rules.back().ops = std::string_view(op);
  }
  return rules;
}

std::vector<UseRule> forEachOp(UseRules rows) {
  std::vector<UseRule> rules;
  for (const UseRule& row : rows) std::ranges::move(forEachOp(row), std::back_inserter(rules));
  return rules;
}

/// The row of the table with that base name and argument whose first return is not a list of the same op in place.
const OpInfo* rowFor(const UseRule& rule) {
  const OpInfo* found = nullptr;
  for (const OpInfo& info : allOps()) {
    const std::string target = "torch.ops." + info.schema.qualifiedName();
    if (baseOpName(target) != rule.ops || target.ends_with("masked_fill.Tensor") ||
        target.ends_with("masked_fill_.Tensor"))
      continue;
    for (const SchemaArgument& argument : info.schema.arguments) {
      const bool named = argument.name == rule.argument ||
                         (rule.argument == "self" && (argument.name == "input" || argument.name == "a")) ||
                         (rule.argument == "other" && argument.name == "b");
      const bool isTensor = argument.type.starts_with("Tensor") || argument.type == "Any" ||
                            argument.type.starts_with("Scalar") || argument.type.starts_with("SymInt");
      if (named && isTensor && (found == nullptr || argument.type.starts_with("Tensor"))) found = &info;
    }
  }
  return found;
}

struct Call {
  GraphModule module;
  NodeId x;
};

/// x in the place of the rule's argument; every other tensor [6, 5, 4, 3].
Call callOf(const OpInfo& info, const UseRule& rule, DType dtype, const Sizes& sizes) {
  Call call;
  Graph& graph = call.module.graph;
  call.x = graph.placeholder("x");
  graph.setValueMeta(call.x, metaOf(dtype, sizes));
  const NodeId other = graph.placeholder("y");
  graph.setValueMeta(other, metaOf(DType::Float32, others));
  ArgumentList args;
  KeywordArguments kwargs;
  for (const SchemaArgument& argument : info.schema.arguments) {
    const bool isX = argument.name == rule.argument ||
                     (rule.argument == "self" && (argument.name == "input" || argument.name == "a")) ||
                     (rule.argument == "other" && argument.name == "b");
    const bool isList = argument.type.find("[]") != std::string::npos && argument.type.starts_with("Tensor");
    Argument value;
    const auto number = numbers().find(argument.name);
    if (isX)
      value = isList ? Argument::list({call.x}) : Argument(call.x);
    else if (argument.type.starts_with("Tensor"))
      value = isList ? Argument::list({other}) : Argument(other);
    else if (number != numbers().end())
      value = number->second;
    else if (argument.defaultValue)
      value = *argument.defaultValue;
    else
      value = 1;
    if (argument.keywordOnly)
      kwargs.emplace_back(argument.name, value);
    else
      args.push_back(value);
  }
  const NodeId node = graph.callFunction("torch.ops." + info.schema.qualifiedName(), args, kwargs);
  graph.output(Argument::tuple({node}));
  return call;
}

/// Rules that ask for something in some calls only; they have tests of their own (capture_plausible_inputs_test.cpp).
bool isConditional(std::string_view op) {
  static const std::set<std::string_view> ops{"mul", "add", "sub", "le",    "lt",     "ge",
                                              "gt",  "eq",  "mm",  "addmm", "matmul", "where"};
  return ops.contains(op);
}

struct Bounds {
  double lower, upper;
};

/// What the words of a reason promise of every value.
std::optional<Bounds> promised(const std::string& reason) {
  static const std::pair<std::string_view, Bounds> promises[] = {
      {"positive", {0.05, 16}},
      {"a probability", {0.02, 0.98}},
      {"between 0 and 1", {0, 1}},
      {"between -1 and 1", {-1, 1}},
      {"above 1", {1.05, 16}},
      {"above -1", {-0.9, 16}},
      {"a count of steps", {1, 1000}},
      {"a quantization scale", {1e-3, 1}},
      {"a zero point", {0, 7}},
      {"a pivot", {1, 5}},
      {"a switch", {0, 1}},
      {"a number of bits", {0, 6}},
      {"small enough", {-8, 8}},
      {"a mask", {0, 1}},
      {"a saved softmax", {0, 1}},
      {"logarithms", {-40, 0}},
      {"a gain near 1", {0.6, 1.4}},
      {"a shift near 0", {-0.4, 0.4}},
      {"ascending offsets", {0, 360}},
      {"offsets of rows", {0, 6}},
      {"lengths of", {0, 360}},
      {"sizes of bags", {0, 360}},
      {"numbers of repeats", {0, 64}},
      {"numbers of bins", {0, 6}},
      {"a size or position", {1, 4}},
      {"in the range", {0, 6}},
      {"sorted", {-1e9, 1e9}},
      {"a weight", {-4, 4}},
      {"a matrix", {-1, 3}},
      {"a saved logsumexp", {0, 5}},
  };
  for (const auto& [words, bounds] : promises)
    if (reason.starts_with(words)) return bounds;
  std::int64_t size = 0;
  if (std::sscanf(reason.c_str(), "an index below %ld", &size) == 1) return Bounds{0, double(size - 1)};
  return {};
}

void expectValues(const UseRule& rule, const ValueNeed& need, DType dtype, const Sizes& sizes) {
  const auto bounds = promised(need.reasons.front());
  ASSERT_TRUE(bounds) << rule.ops << " " << rule.argument << ": " << need.text();
  auto tensor = Tensor::zeros(dtype, sizes);
  ASSERT_TRUE(tensor);
  fillAsNeeded(*tensor, need, FillPart::Storage, seedOfInput(7, "x"));
  for (std::int64_t i = 0; i < tensor->numel(); ++i) {
    const double value = tensor->itemAsDouble(i);
    EXPECT_TRUE(std::isfinite(value)) << rule.ops << " " << rule.argument;
    EXPECT_GE(value, bounds->lower) << rule.ops << " " << rule.argument << ": " << need.text();
    EXPECT_LE(value, bounds->upper) << rule.ops << " " << rule.argument << ": " << need.text();
    if (need.whole) {
      EXPECT_EQ(value, std::floor(value)) << rule.ops << " " << rule.argument;
    }
    if (::testing::Test::HasFailure()) return;
  }
}

/// Integers where the op takes them, else floats; both where both do.
DType dtypeFor(UseRules rules, const UseRule& rule) {
  static const std::set<std::string_view> integers{"indices", "index",   "target",   "targets",       "offsets",
                                                   "lengths", "repeats", "bag_size", "input_lengths", "target_lengths"};
  const bool isIndexTable = rules.data() == indexRules().data();
  const bool isTarget = rule.argument == "target" && !isIndexTable;
  if (isIndexTable || (integers.contains(rule.argument) && !isTarget)) return DType::Int64;
  if (rule.ops == "_local_scalar_dense" || rule.ops == "item" || rule.ops == "bincount") return DType::Int64;
  const bool isMask = rule.argument == "mask" || rule.argument == "condition" || rule.argument.starts_with("attn_");
  return isMask && rules.data() == patternRules().data() ? DType::Bool : DType::Float32;
}

void checkRules(UseRules rules, std::size_t leastChecked) {
  std::size_t checked = 0;
  for (const UseRule& rule : forEachOp(rules)) {
    const OpInfo* info = rowFor(rule);
    if (info == nullptr) continue;  // torch.nn.functional's own names, and ops that only other builds of PyTorch have
    const DType dtype = dtypeFor(rules, rule);
    const Sizes sizes = dtype == DType::Float32 && rules.data() == scaleRules().data() ? Sizes{4, 3, 2} : Sizes{6, 5};
    const Call call = callOf(*info, rule, dtype, sizes);
    const ValueNeed need = needOfNode(call.module, call.x);
    if (isConditional(rule.ops) && need.unknown()) continue;
    ASSERT_FALSE(need.unknown()) << rule.ops << " " << rule.argument << " of " << info->schema.text;
    expectValues(rule, need, dtype, sizes);
    ++checked;
  }
  EXPECT_GE(checked, leastChecked);
}

TEST(UseRules, Domains) { checkRules(domainRules(), 70); }
TEST(UseRules, Indices) { checkRules(indexRules(), 35); }
TEST(UseRules, Scales) { checkRules(scaleRules(), 40); }
TEST(UseRules, Numbers) { checkRules(numberRules(), 3); }
TEST(UseRules, Patterns) { checkRules(patternRules(), 35); }

TEST(UseRules, NameArgumentsThatTheOpHas) {
  for (const UseRules rules : {domainRules(), indexRules(), scaleRules(), patternRules(), numberRules()})
    for (const UseRule& rule : forEachOp(rules)) {
      bool known = false;
      for (const OpInfo& info : allOps())
        known = known || baseOpName("torch.ops." + info.schema.qualifiedName()) == rule.ops;
      if (known) {
        EXPECT_NE(rowFor(rule), nullptr) << rule.ops << " has no argument " << rule.argument;
      }
    }
}

}  // namespace
}  // namespace kerf
