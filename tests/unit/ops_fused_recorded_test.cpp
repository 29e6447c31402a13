// Fused attention, quantization, optimizers and recurrent layers against recorded calls.
#include <cmath>
#include <map>
#include <set>

#include "engine/ops/nn/attention_dropout.h"
#include "engine/ops/random/engines.h"
#include "engine/ops/random/state.h"
#include "recorded_json.h"

namespace kerf {
namespace {

using namespace testing;

void flatten(const Value& value, std::vector<Value>& out) {
  if (!value.isList()) return out.push_back(value);
  for (const Value& item : value.list()) flatten(item, out);
}

double toleranceOf(DType dtype) {
  if (dtype == DType::BFloat16) return 1.6e-2;
  return dtype == DType::Float16 ? 2e-3 : 2e-5;
}

/// Empty when they agree.
std::string difference(const Value& got, const Value& want) {
  if (!want.isTensor()) {
    if (want.isNone()) return got.isNone() ? "" : "expected None";
    return got.as<std::int64_t>() && *got.as<std::int64_t>() == *want.as<std::int64_t>() ? "" : "another number";
  }
  if (!got.isTensor()) return "no tensor";
  const Tensor &a = got.tensor(), &b = want.tensor();
  if (a.dtype() != b.dtype()) return fmt::format("dtype {}", dtypeInfo(a.dtype()).torchName);
  if (a.sizes() != b.sizes()) return fmt::format("sizes [{}]", fmt::join(a.sizes(), ", "));
  if (a.numel() > 0 && a.strides() != b.strides())
    return fmt::format("strides [{}] instead of [{}]", fmt::join(a.strides(), ", "), fmt::join(b.strides(), ", "));
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.itemAsDouble(i), y = b.itemAsDouble(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::abs(x - y) <= toleranceOf(b.dtype()) * (1 + std::abs(y))))
      return fmt::format("element {}: {} instead of {}", i, x, y);
  }
  return {};
}

/// Outputs that hold seeds or padding, which a mathematical definition does not give.
bool isOpaque(const std::string& op, std::size_t output) {
  if (op == "aten._scaled_dot_product_efficient_attention.default") return output >= 1;
  if (op.find("attention.default") != std::string::npos && op.find("cpu") == std::string::npos) return output >= 6;
  return false;
}

struct Replay {
  std::map<std::string, std::string> failures;  ///< the first of every op
  int compared = 0;                             ///< outputs
};

Replay replay(const std::string& name, const Device& device, const std::set<std::string>& skipped) {
  Replay replay;
  auto& failures = replay.failures;
  const Json recording = readRecording(name);
  for (const Json& json : recording.at("cases")) {
    const RecordedStep step = stepFrom(json, device);
    const double dropout =
        step.op.find("attention") != std::string::npos && step.args.size() > 5 && step.args[5].as<double>()
            ? *step.args[5].as<double>()
        : step.args.size() > 3 && step.args[3].as<double>() ? *step.args[3].as<double>()
                                                            : 0;
    if (skipped.contains(step.op) || (dropout > 0 && step.op.find("attention") != std::string::npos)) continue;
    const auto result = referenceOps().call(step.op, step.args, step.kwargs);
    if (json.contains("error")) {
      if (result && json.at("error") != "crashed") failures.emplace(step.op, "should have failed");
      continue;
    }
    if (!result) {
      failures.emplace(step.op, result.error().text());
      continue;
    }
    std::vector<Value> got, want;
    flatten(*result, got);
    flatten(valueFrom(json.at("out"), device), want);
    if (got.size() != want.size()) {
      failures.emplace(step.op, fmt::format("{} outputs instead of {}", got.size(), want.size()));
      continue;
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (isOpaque(step.op, i)) continue;
      ++replay.compared;
      const std::string text = difference(got[i], want[i]);
      if (!text.empty()) failures.emplace(step.op, fmt::format("output {}: {}", i, text));
    }
  }
  return replay;
}

void expectAgreement(const Replay& replay, int atLeast) {
  EXPECT_GT(replay.compared, atLeast);
  for (const auto& [op, text] : replay.failures) ADD_FAILURE() << op << ": " << text;
}

TEST(QuantizedRecorded, EveryCallAgrees) {
  expectAgreement(replay("quantized", {}, {"aten._thnn_fused_lstm_cell.default"}), 50);
}

TEST(AttentionRecorded, CpuFormsAgree) { expectAgreement(replay("attention_cpu", {}, {}), 15); }

TEST(AttentionRecorded, CudaFormsAgree) { expectAgreement(replay("attention_cuda", {"cuda", 0}, {}), 60); }

TEST(AttentionRecorded, DropoutOfTheEfficientKernelIsExact) {
  int found = 0;
  const Device cuda{"cuda", 0};
  const Json recording = readRecording("attention_cuda");
  for (const Json& json : recording.at("cases")) {
    const RecordedStep step = stepFrom(json, cuda);
    if (step.op != "aten._scaled_dot_product_efficient_attention.default" || *step.args[5].as<double>() == 0) continue;
    ++found;
    const RandomScope scope(5);
    const auto result = referenceOps().call(step.op, step.args, step.kwargs);
    ASSERT_TRUE(result) << result.error().text();
    for (std::size_t output : {0, 2, 3})
      EXPECT_EQ(difference(result->list()[output], valueFrom(json.at("out")[output], cuda)), "") << output;
  }
  EXPECT_EQ(found, 1);
}

TEST(AttentionDropout, DrawsAsOneNumberAfterTheOther) {
  for (const DropoutStream stream : {DropoutStream{7, 0}, DropoutStream{-3, 5}, DropoutStream{1 << 30, -6},
                                     DropoutStream{9, (std::int64_t{1} << 34) - 9}})
    for (const double p : {0.1, 0.5, 0.999, 1e-12, 1 - 1e-12})
      for (const std::int64_t first : {0, 1, 30, 63}) {
        std::vector<float> factors(75, -1.0f);
        std::vector<double> wide(75, -1.0);
        dropoutFactors({stream, p}, first, 74, factors.data());
        dropoutFactors({stream, p}, first, 74, wide.data());
        for (std::int64_t i = 0; i < 74; ++i) {
          const std::uint64_t at = std::uint64_t(stream.offset) + std::uint64_t(first + i);
          const bool kept = curandUniform(philox(std::uint64_t(stream.seed), at / 4, 0)[at % 4]) > float(p);
          ASSERT_EQ(factors[std::size_t(i)], kept ? float(1 / (1 - p)) : 0.0f) << p << " at " << at;
          ASSERT_EQ(wide[std::size_t(i)], kept ? 1 / (1 - p) : 0.0) << p << " at " << at;
        }
        EXPECT_EQ(factors[74], -1.0f);
      }
}

}  // namespace
}  // namespace kerf
