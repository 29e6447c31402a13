// Recorded calls with every size made a symbol: at the recorded sizes the derived expressions are the recorded shapes
// and strides, and at other sizes that the guards allow they are what the rule gives for those sizes.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>

#include "engine/conformance/recorded_call.h"
#include "engine/conformance/recorded_calls.h"
#include "engine/support/recordings.h"
#include "engine/support/sanitizers.h"
#include "tests/support/symbolic_values.h"

namespace kerf {
namespace {

using namespace testing_support;

Value valuesOf(const KeywordValues& kwargs) {
  ValueList values;
  for (const auto& [name, value] : kwargs) values.push_back(value);
  return values;
}

KeywordValues withValues(KeywordValues kwargs, const Value& values) {
  for (std::size_t i = 0; i < kwargs.size(); ++i) kwargs[i].second = values.list()[i];
  return kwargs;
}

constexpr int drawsElsewhere = addressSanitizer ? 1 : 4;  ///< other sizes for each call

class SymbolicCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = recordedCallsFile(recordingsFolder() / "opinfo");
    ASSERT_TRUE(file) << "no recorded calls in the recordings";
    tensors = readSafetensors(std::filesystem::path(*file).replace_extension(".safetensors")).value();
    std::ifstream lines(*file);
    for (std::string line; std::getline(lines, line);) calls.push_back(readRecordedCall(line, tensors).value());
  }

  void checkAll(Naming naming) {
    for (const RecordedCall& call : calls) {
      const OpInfo* op = findOp(call.op);
      if (!op || has(op->traits, OpTrait::DataDependent)) continue;
      check(*op, call, naming);
    }
    fmt::print("{} calls of {} overloads at the recorded sizes, {} at others; {} overloads lose a symbol\n", compared,
               overloads.size(), elsewhere, losing.size());
    for (const auto& [name, why] : losing) fmt::print("  {}: {}\n", name, why);
  }

  void check(const OpInfo& op, const RecordedCall& call, Naming naming) {
    const auto fact = inferShapes(op.id, call.args, call.kwargs);
    if (!fact) return;  // what has no shape without data
    ShapeEnv env;
    const ShapeEnv::Scope scope(env);
    Symboliser symbolic(env, naming);
    const Value args = symbolic(Value(call.args)), kwargs = symbolic(valuesOf(call.kwargs));
    const std::string title = fmt::format("{} (call {})", call.op, call.id);
    const auto derived = inferShapes(op.id, args.list(), withValues(call.kwargs, kwargs));
    if (!derived) return void(ADD_FAILURE() << title << ": " << derived.error().text());
    const auto known = atSizes(*derived, env.hints());
    if (!known) return void(ADD_FAILURE() << title << ": " << known.error().text());
    const std::string difference = shapeDifference(*fact, *known);
    EXPECT_EQ(difference, "") << title;
    ++compared;
    overloads.insert(call.op);
    for (const auto& replacement : env.replacements())
      if (replacement.value.asInteger())
        losing.try_emplace(call.op, replacement.symbol + " = " + replacement.value.text());
    if (difference.empty()) checkElsewhere(op, call, env, args, kwargs, *derived, title);
  }

  void checkElsewhere(const OpInfo& op, const RecordedCall& call, const ShapeEnv& env, const Value& args,
                      const Value& kwargs, const Value& derived, const std::string& title) {
    const SymbolBindings hints = env.hints();
    for (int draw = 0; draw < drawsElsewhere && !hints.empty(); ++draw) {
      SymbolBindings sizes;
      for (const auto& [name, hint] : hints)
        sizes[name] = draw == 0 ? 2 * hint : hint + std::int64_t(random() % 4) + (hint < 2 ? 0 : 1);
      if (env.violated(sizes)) continue;
      const auto otherArgs = atSizes(args, sizes), otherKwargs = atSizes(kwargs, sizes),
                 expected = atSizes(derived, sizes);
      ASSERT_TRUE(otherArgs && otherKwargs) << title;
      const auto direct = inferShapes(op.id, otherArgs->list(), withValues(call.kwargs, *otherKwargs));
      std::string at;
      for (const auto& [name, value] : sizes) at += fmt::format(" {}={}", name, value);
      if (!direct || !expected) {
        ADD_FAILURE() << title << " at" << at << ": " << (direct ? expected : direct).error().text();
        continue;
      }
      EXPECT_EQ(shapeDifference(*direct, *expected), "") << title << " at" << at;
      ++elsewhere;
    }
  }

  SafetensorsFile tensors;
  std::vector<RecordedCall> calls;
  int compared = 0, elsewhere = 0;
  std::set<std::string> overloads;
  std::map<std::string, std::string> losing;
  std::mt19937 random{5};
};

TEST_F(SymbolicCalls, WithEqualSizesSharingASymbol) {
  checkAll(Naming::Duck);
  EXPECT_GE(overloads.size(), 400u);
}

TEST_F(SymbolicCalls, WithASymbolForEverySize) {
  checkAll(Naming::Distinct);
  EXPECT_GE(overloads.size(), 400u);
}

}  // namespace
}  // namespace kerf
