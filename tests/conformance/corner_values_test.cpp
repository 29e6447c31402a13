// Element-wise ops on special values, as PyTorch recorded them on CPU and CUDA: zeros of both signs, infinities, NaN, the
// greatest and least numbers, halves, all pairs and triples of them. Where CPU and CUDA differ, either is right.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "engine/conformance/recorded_call.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/differential/wrongcalls/call_case.h"

namespace kerf {
namespace {

using Json = nlohmann::json;

struct CornerCall {
  RecordedCall call;
  ValueList cuda;  ///< where CUDA's results are not the CPU's
  bool refused = false;
  std::string dtype;
};

double toleranceOf(DType dtype) {
  if (dtype == DType::Float64) return 1e-7;
  if (dtype == DType::Float32) return 1e-4;
  return dtype == DType::Float16 ? 4e-3 : 3e-2;
}

bool isClose(double a, double b, DType dtype) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return a == b || std::abs(a - b) <= toleranceOf(dtype) * std::abs(b) + 1e-6;
}

bool sameElement(const Tensor& a, const Tensor& b, std::int64_t i) {
  if (isIntegral(a.dtype())) return a.itemAsInt(i) == b.itemAsInt(i);
  return isClose(a.itemAsDouble(i), b.itemAsDouble(i), a.dtype());
}

/// The first element that is as neither recording has it; nothing where all are.
std::string difference(const Tensor& given, const Tensor& cpu, const Tensor* cuda) {
  if (given.dtype() != cpu.dtype() || given.sizes() != cpu.sizes())
    return fmt::format("dtype {} instead of {}", dtypeInfo(given.dtype()).torchName, dtypeInfo(cpu.dtype()).torchName);
  for (std::int64_t i = 0; i < given.numel(); ++i)
    if (!sameElement(given, cpu, i) && !(cuda && cuda->dtype() == given.dtype() && sameElement(given, *cuda, i)))
      return fmt::format("element {}: {} instead of {}", i, given.itemAsDouble(i), cpu.itemAsDouble(i));
  return {};
}

std::string difference(const Value& result, const CornerCall& corner) {
  const ValueList given = result.isList() ? result.list() : ValueList{result};
  if (given.size() != corner.call.out.size()) return "another number of results";
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor* cuda = i < corner.cuda.size() ? corner.cuda[i].as<Tensor>() : nullptr;
    if (std::string text = difference(given[i].tensor(), corner.call.out[i].tensor(), cuda); !text.empty()) return text;
  }
  return {};
}

std::vector<CornerCall> cornerCalls() {
  const std::filesystem::path folder = std::filesystem::path(KERF_BINARY_DIR) / "corpus" / "corners";
  const auto tensors = readSafetensors(folder / "public.safetensors");
  EXPECT_TRUE(tensors) << tensors.error().text();
  std::vector<CornerCall> calls;
  std::ifstream in(folder / "public.jsonl");
  for (std::string line; tensors && std::getline(in, line);) {
    Json json = Json::parse(line);
    CornerCall corner{.refused = json.contains("error") && json.contains("cuda_error")};
    if (!corner.refused && !json.contains("out")) continue;
    if (json.contains("cuda") && json["cuda"].is_array()) {
      Json other = json;
      other["out"] = json["cuda"];
      if (auto read = readRecordedCall(other.dump(), *tensors)) corner.cuda = std::move(read->out);
    }
    if (corner.refused) json["out"] = Json::array();
    auto read = readRecordedCall(json.dump(), *tensors);
    EXPECT_TRUE(read) << read.error().text();
    if (!read) continue;
    corner.call = std::move(*read);
    for (const Tensor& tensor : corner.call.tensorArguments) corner.dtype = dtypeInfo(tensor.dtype()).shortCode;
    calls.push_back(std::move(corner));
  }
  return calls;
}

/// What Kerf does otherwise on purpose, or not yet.
const std::map<std::string_view, std::string_view>& knownDifferences() {
  constexpr std::string_view undefined = "n beyond int64 is undefined in C++", whole = "a loss of integers",
                             steps = "16-bit floats round after each step",
                             cephes = "PyTorch's series is coarser there";
  static const std::map<std::string_view, std::string_view> known{
      {"aten._standard_gamma_grad.default", "no sample is 0"},
      {"aten.binary_cross_entropy_backward.default", "input outside of [0, 1]"},
      {"aten.floor_divide.Scalar", "a negative number for uint8"},
      {"aten.gelu_backward.default", "float32 overflows in a factor of 0"},
      {"aten.mse_loss_backward.default", whole},
      {"aten.rrelu_with_noise_backward.default", whole},
      {"aten.smooth_l1_loss_backward.default", whole},
      {"aten.sigmoid_backward.default", steps},
      {"aten.special_ndtr.default", steps},
      {"aten.special_i0e.default", steps},
      {"prims.bessel_i0e.default", steps},
      {"aten.add.Tensor", steps},
      {"aten.sub.Tensor", steps},
      {"aten.rsub.Tensor", steps},
      {"aten.special_airy_ai.default", cephes},
      {"aten.special_bessel_j0.default", cephes},
      {"aten.special_bessel_j1.default", cephes},
      {"aten.special_bessel_y0.default", cephes},
      {"aten.special_bessel_y1.default", cephes},
      {"prims.bessel_j0.default", cephes},
      {"prims.bessel_j1.default", cephes},
      {"aten.special_modified_bessel_k1.default", cephes},
      {"aten.special_scaled_modified_bessel_k0.default", cephes},
      {"aten.special_scaled_modified_bessel_k1.default", cephes},
      {"aten.special_zeta.default", cephes},
      {"aten.special_zeta.other_scalar", cephes},
      {"prims.zeta.default", cephes},
      {"aten.polygamma.default", cephes},
      {"aten.special_polygamma.default", cephes},
      {"aten.special_chebyshev_polynomial_t.default", undefined},
      {"aten.special_chebyshev_polynomial_u.default", undefined},
      {"aten.special_chebyshev_polynomial_v.default", undefined},
      {"aten.special_chebyshev_polynomial_w.default", undefined},
      {"aten.special_hermite_polynomial_h.default", undefined},
      {"aten.special_hermite_polynomial_he.default", undefined},
      {"aten.special_shifted_chebyshev_polynomial_t.default", undefined},
      {"aten.special_shifted_chebyshev_polynomial_u.default", undefined},
      {"aten.special_shifted_chebyshev_polynomial_v.default", undefined},
      {"aten.special_shifted_chebyshev_polynomial_w.default", undefined},
      {"aten.gcd.default", "the least integer of a narrow type"},
      {"prims.gcd.default", "the least integer of a narrow type"},
      {"aten.igamma.default", "both operands beyond the series"},
      {"aten.igammac.default", "both operands beyond the series"},
      {"prims.igamma.default", "both operands beyond the series"},
      {"prims.igammac.default", "both operands beyond the series"},
      {"aten.special_ndtri.default", cephes},
      {"prims.ndtri.default", cephes},
      {"aten.square.default", "bool gives bool"},
      {"prims.div.default", "a division of bools by False"},
  };
  return known;
}

TEST(CornerValues, KernelsGiveWhatPyTorchRecorded) {
  int calls = 0, agree = 0;
  for (const CornerCall& corner : cornerCalls()) {
    if (corner.refused) continue;
    ++calls;
    const auto result = referenceOps().call(corner.call.op, corner.call.args, corner.call.kwargs);
    const std::string differs = result ? difference(*result, corner) : result.error().text();
    agree += differs.empty();
    if (!differs.empty() && !knownDifferences().contains(corner.call.op))
      ADD_FAILURE() << corner.call.op << " " << corner.call.id << " (" << corner.dtype << "): " << differs;
  }
  std::cout << agree << " of " << calls << " calls agree\n";
  EXPECT_GE(calls, 8500);
  EXPECT_GE(agree, 8300);
}

/// Both on CPU and on CUDA.
TEST(CornerValues, WhatPyTorchRefusesIsRefused) {
  int calls = 0;
  std::set<std::string> taken;
  for (const CornerCall& corner : cornerCalls()) {
    if (!corner.refused) continue;
    ++calls;
    if (referenceOps().call(corner.call.op, corner.call.args, corner.call.kwargs))
      taken.insert(corner.call.op + " " + corner.dtype);
  }
  for (const std::string& call : taken) std::cout << "takes " << call << '\n';
  EXPECT_GE(calls, 2300);
  EXPECT_LE(taken.size(), 33u);  // _conj of real tensors, which gradients call; losses of integers
}

/// One call of each op and dtype, compiled: as PyTorch has it, or as the interpreter does.
TEST(CornerValues, CompiledCodeGivesTheSame) {
  std::set<std::string> seen;
  int compared = 0;
  for (const CornerCall& corner : cornerCalls()) {
    if (corner.refused || !seen.insert(corner.call.op + corner.dtype).second) continue;
    const OpInfo* op = findOp(OpTarget(corner.call.op));
    const auto expected = referenceOps().call(corner.call.op, corner.call.args, corner.call.kwargs);
    if (!op || !expected) continue;
    const auto graph = wrongcalls::graphOf({op, corner.call.args, corner.call.kwargs, {}, {}},
                                           wrongcalls::Surroundings::Alone, wrongcalls::Annotation::Derived);
    const auto compiled = compileFx(graph.module, {.optimizationLevel = 0, .keepArtifacts = false});
    ASSERT_TRUE(compiled) << corner.call.op << ": " << compiled.error().text();
    const auto given = (*compiled)->run(graph.inputs);
    ASSERT_TRUE(given) << corner.call.op << ": " << given.error().text();
    ++compared;
    CornerCall interpreted = corner;
    interpreted.call.out = expected->isList() ? expected->list() : ValueList{*expected};
    const Value& value = given->list()[0];
    const std::string differs = difference(value, corner), apart = difference(value, interpreted);
    EXPECT_TRUE(differs.empty() || apart.empty())
        << corner.call.op << " " << corner.call.id << " (" << corner.dtype << "): " << differs << "; kernel: " << apart;
  }
  EXPECT_GE(compared, 1500);
}

}  // namespace
}  // namespace kerf
