// Random ops against a seeded PyTorch: bit for bit on the CPU, and on CUDA where no fast intrinsic is involved.
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "engine/ops/random/state.h"
#include "recorded_json.h"

namespace kerf {
namespace {

using namespace testing;

/// Elements of the result that were recorded, as a contiguous line.
Tensor sampled(const Tensor& got, const Json& record) {
  Tensor flat = *got.contiguous();
  const std::int64_t step = record.value("step", std::int64_t{1});
  const std::int64_t count = (flat.numel() + step - 1) / step;
  const bool parts = isComplex(flat.dtype());
  const DType dtype = flat.dtype() == DType::Complex128  ? DType::Float64
                      : flat.dtype() == DType::Complex64 ? DType::Float32
                                                         : flat.dtype();
  if (parts) return Tensor(flat.storage(), dtype, {count * 2}, {1}, flat.offset() * 2);
  return *flat.viewAs({count}, {step}, flat.offset()).contiguous();
}

/// Empty when equal; `tolerance` 0 asks for equal bits.
std::string difference(const Tensor& got, const Json& record, double tolerance) {
  if (dtypeInfo(got.dtype()).torchName != "torch." + record.at("dtype").get<std::string>())
    return fmt::format("dtype {}", dtypeInfo(got.dtype()).torchName);
  if (got.sizes() != record.at("shape").get<Sizes>()) return fmt::format("sizes [{}]", fmt::join(got.sizes(), ", "));
  if (got.numel() > 1 && got.strides() != record.at("stride").get<Sizes>())
    return fmt::format("strides [{}]", fmt::join(got.strides(), ", "));
  const Tensor here = sampled(got, record), there = elementsOf(record);
  if (here.numel() != there.numel()) return fmt::format("{} elements instead of {}", here.numel(), there.numel());
  for (std::int64_t i = 0; i < here.numel(); ++i) {
    const double a = here.itemAsDouble(i), b = there.itemAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance * (1 + std::abs(b))))
      return fmt::format("element {}: {:.9g} instead of {:.9g}", i, a, b);
  }
  return {};
}

struct Summary {
  int cases = 0;
  std::map<std::string, std::string> failures;  ///< the first of every op
};

Summary replay(const std::string& name, const Device& device, const std::map<std::string, double>& tolerances,
               const std::set<std::string>& skipped) {
  Summary summary;
  const Json recording = readRecording(name);
  for (const Json& json : recording.at("cases")) {
    const RandomScope scope(json.at("seed").get<std::uint64_t>());
    ++summary.cases;
    for (const Json& stepJson : json.at("steps")) {
      const RecordedStep step = stepFrom(stepJson, device);
      if (stepJson.contains("error")) continue;
      if (skipped.contains(step.op)) break;
      const auto result = referenceOps().call(step.op, step.args, step.kwargs);
      if (!result) {
        summary.failures.emplace(step.op, result.error().text());
        break;
      }
      const auto tolerance = tolerances.find(step.op);
      std::string text;
      const auto results = resultsOf(*result);
      for (std::size_t i = 0; i < results.size() && text.empty(); ++i)
        text = difference(results[i].tensor(), stepJson.at("out")[i].at("tensor"),
                          tolerance == tolerances.end() ? 0 : tolerance->second);
      if (text.empty()) continue;
      summary.failures.emplace(
          step.op, fmt::format("{} {} {}: {}", json.at("seed").dump(), stepJson.at("args").dump().substr(0, 150),
                               stepJson.at("kwargs").dump().substr(0, 80), text));
      break;
    }
  }
  return summary;
}

TEST(RandomRecorded, CpuIsBitExact) {
  const Summary summary = replay("random_cpu", {}, {}, {});
  EXPECT_GT(summary.cases, 150);
  for (const auto& [op, text] : summary.failures) ADD_FAILURE() << op << ": " << text;
}

TEST(RandomRecorded, CudaIsExactOutsideOfFastIntrinsics) {
  const std::map<std::string, double> tolerances = {
      {"aten.randn.default", 2e-6},       {"aten.randn_like.default", 2e-6},  {"aten.normal_functional.default", 2e-6},
      {"aten.normal.Tensor_float", 2e-6}, {"aten.normal.float_Tensor", 2e-6}, {"aten.normal.Tensor_Tensor", 2e-6},
      {"aten.exponential.default", 2e-6}, {"aten.log_normal.default", 2e-6},  {"aten.cauchy.default", 1e-5},
  };
  const Summary summary = replay("random_cuda", {"cuda", 0}, tolerances,
                                 {"aten.poisson.default", "aten.rrelu_with_noise_functional.default"});
  EXPECT_GT(summary.cases, 150);
  for (const auto& [op, text] : summary.failures) ADD_FAILURE() << op << ": " << text;
}

void replayInductor(const std::string& name, const Device& device, double normalTolerance) {
  const Json recording = readRecording(name);
  int checked = 0;
  for (const Json& json : recording.at("cases")) {
    if (json.contains("error")) continue;
    ++checked;
    const std::string kind = json.at("name");
    const RandomScope scope(json.at("seed").get<std::uint64_t>());
    const Json& outs = json.at("out");
    auto seeds = referenceOps().call("prims.inductor_seeds.default", {std::int64_t(outs.size()), device}, {});
    ASSERT_TRUE(seeds);
    for (std::size_t i = 0; i < outs.size(); ++i) {
      const Json& record = outs[i].at("tensor");
      EXPECT_EQ(seeds->tensor().itemAsInt(std::int64_t(i)), json.at("seeds")[i].get<std::int64_t>());
      auto seed = referenceOps().call("prims.inductor_lookup_seed.default", {*seeds, std::int64_t(i)}, {});
      ASSERT_TRUE(seed);
      ValueList sizes;
      for (const Json& size : record.at("shape")) sizes.emplace_back(size.get<std::int64_t>());
      Result<Value> drawn;
      if (kind.starts_with("randint"))
        drawn = referenceOps().call("prims.inductor_randint.default",
                                    {kind == "randint" ? std::int64_t{0} : std::int64_t{-5},
                                     kind == "randint" ? std::int64_t{10} : std::int64_t{1} << 40, sizes, *seed},
                                    {});
      else
        drawn = referenceOps().call("prims.inductor_random.default",
                                    {sizes, *seed, kind.starts_with("randn") ? "randn" : "rand"}, {});
      ASSERT_TRUE(drawn) << drawn.error().text();
      if (kind == "dropout") {
        Tensor mask = referenceOps().call("aten.gt.Scalar", {*drawn, 0.3}, {})->tensor();
        drawn = referenceOps().call("aten.mul.Tensor", {mask, 1 / 0.7}, {});
      }
      const std::string text = difference(drawn->tensor(), record, kind.starts_with("randn") ? normalTolerance : 0);
      EXPECT_EQ(text, "") << name << " " << kind << " output " << i;
    }
  }
  EXPECT_GE(checked, 12) << name;
}

TEST(RandomRecorded, InductorOnCpu) { replayInductor("random_inductor_cpu", {}, 2e-6); }
TEST(RandomRecorded, InductorOnCuda) { replayInductor("random_inductor_cuda", {"cuda", 0}, 2e-6); }

}  // namespace
}  // namespace kerf
